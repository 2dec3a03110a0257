"""Devices with fake chips."""

import sys

import pytest

import tensim as tt
from tests.host_api.fake_chip import fake_module


@pytest.fixture
def fake(monkeypatch):
    """From here on `create_device` opens fake chips."""
    monkeypatch.setitem(sys.modules, "tensim.sim.chip.chip", fake_module())


@pytest.fixture
def device(fake):
    """A device with one queue."""
    device = tt.create_device(0)
    yield device
    tt.close_device(device)


@pytest.fixture
def two_queues(fake):
    """A device with two queues."""
    device = tt.create_device(0, num_hw_cqs=2)
    yield device
    tt.close_device(device)
