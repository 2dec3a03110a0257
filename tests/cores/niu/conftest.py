"""Two devices for the tests of data movement."""

import pytest

import tensim as tt


@pytest.fixture(scope="module")
def device():
    device = tt.create_device(0, max_cycles=5_000_000)
    yield device
    tt.close_device(device)


@pytest.fixture
def fresh_device():
    """A device of its own for programs that fail."""
    device = tt.create_device(1, max_cycles=5_000_000)
    yield device
    tt.close_device(device)
