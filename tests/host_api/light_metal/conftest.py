"""A device for the tests of Light Metal."""

import pytest

import tensim as tt


@pytest.fixture
def device():
    device = tt.create_device(0, trace_region_size=4096)
    yield device
    tt.close_device(device)
