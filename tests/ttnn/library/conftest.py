"""A device that computes the chip's bits, and the skip for a machine without the wheels."""

import pytest

import tensim.ttnn as ttnn
from tensim.ttnn import devices


@pytest.fixture(scope="module")
def device():
    before = devices.configure(numerics="exact")
    device = ttnn.open_device(device_id=0)
    yield device
    ttnn.close_device(device)
    devices.configure(numerics=before.numerics)
