"""A device of each architecture for the tests of tensim.ttnn."""

import pytest

import tensim.ttnn as ttnn
from tensim.ttnn import devices


@pytest.fixture(scope="module")
def device():
    """A Wormhole."""
    device = ttnn.open_device(device_id=0)
    yield device
    ttnn.close_device(device)


@pytest.fixture
def fresh_device():
    """A Wormhole on which nothing was allocated."""
    device = ttnn.open_device(device_id=1)
    yield device
    ttnn.close_device(device)


@pytest.fixture
def blackhole():
    """A Blackhole."""
    before = devices.configure(arch="blackhole")
    device = ttnn.open_device(device_id=2)
    yield device
    ttnn.close_device(device)
    devices.configure(**{name: getattr(before, name) for name in ("arch",)})
