"""A device for the tests of metal traces."""

import pytest

import tensim as tt
from tests.host_api.metal_trace.programs import REGION


@pytest.fixture
def device(fake):
    """A device with two queues and room for traces."""
    with tt.create_device(0, num_hw_cqs=2, trace_region_size=REGION) as device:
        yield device
