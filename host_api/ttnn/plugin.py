"""`pytest -p tensim.ttnn`: the fixtures that tests of ttnn programs use, and the report of their operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tensim.ttnn.devices as devices

OPTIONS = {
    "--arch": "Architecture name or a YAML file of your own.",
    "--numerics": "exact (the chip's bits), fast (float32) or off (timing only).",
    "--timeline": "Write a trace that Perfetto opens.",
    "--json": "Write the operations as JSON.",
    "--mesh": "The chips of a board, and their architecture (docs/ttnn.md).",
}


def add_options(parser: pytest.Parser) -> None:
    """The options of the runner."""
    group = parser.getgroup("tensim")
    for name, text in OPTIONS.items():
        group.addoption(name, dest=f"tensim_{name[2:]}", help=text)
    group.addoption("--set", dest="tensim_set", action="append", default=[], metavar="KEY=VALUE",
                    help="Change an architecture parameter.")  # fmt: skip


def configure(config: pytest.Config) -> None:
    """Register the fixtures and begin to observe."""
    for line in (
        "use_module_device: one device for a module (each test has its own)",
        "post_commit: for the marker only",
    ):
        config.addinivalue_line("markers", line)
    config.pluginmanager.register(Fixtures(config), "tensim_ttnn_fixtures")


class Fixtures:
    """Fixtures and hooks, registered under one name."""

    def __init__(self, config: pytest.Config) -> None:
        from tensim.ttnn.runner import Request, key_value, observed

        option = config.option
        settings = {name: getattr(option, f"tensim_{name}") for name in ("arch", "numerics")}
        settings["board"] = option.tensim_mesh
        settings = {name: value for name, value in settings.items() if value is not None}
        settings["overrides"] = dict(map(key_value, option.tensim_set))
        self.observation = observed(Request((), settings, option.tensim_timeline, option.tensim_json, quiet=True))
        self.observation.__enter__()

    @pytest.fixture
    def device_params(self, request: pytest.FixtureRequest) -> dict[str, Any]:
        """Arguments of CreateDevice, as a test parametrises them."""
        return getattr(request, "param", {})

    @pytest.fixture
    def device(self, device_params: dict[str, Any]) -> Iterator[Any]:
        """An open device, the default one."""
        yield from _opened(lambda: devices.CreateDevice(0, **_known(device_params)))

    @pytest.fixture
    def mesh_device(self, request: pytest.FixtureRequest, device_params: dict[str, Any]) -> Iterator[Any]:
        """A mesh of the board's chips, with the fabric of `device_params`; tests that ask for more chips are skipped."""
        from tensim.ttnn.enums import FabricConfig
        from tensim.ttnn.fabric_config import set_fabric_config
        from tensim.ttnn.systems import GetNumAvailableDevices

        given = getattr(request, "param", (1, 1))
        shape = (1, given) if isinstance(given, int) else tuple(given)
        if math.prod(shape) > GetNumAvailableDevices():
            pytest.skip(f"there are {GetNumAvailableDevices()} chips (--mesh), the test wants a mesh of {shape}")
        set_fabric_config(device_params.get("fabric_config") or FabricConfig.DISABLED)
        yield from _opened(lambda: devices.open_mesh_device(shape, **_known(device_params)))
        set_fabric_config(FabricConfig.DISABLED)

    @pytest.fixture
    def reset_seeds(self) -> None:
        """The same random numbers in every test."""
        import random
        import sys

        import numpy as np

        random.seed(0)
        np.random.seed(0)
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(0)

    @pytest.fixture
    def function_level_defaults(self) -> None:
        """Nothing to set."""

    @pytest.fixture
    def is_ci_env(self) -> bool:
        """Not on the vendor's CI."""
        return False

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell what the operations took."""
        from tensim.ttnn import measurements, report

        terminalreporter.section("tensim")
        terminalreporter.write_line(report.text(report.rows(measurements.all_operations()), {}))

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Write the files that were asked for."""
        self.observation.__exit__(None, None, None)


def _opened(open_one: Callable[[], Any]) -> Iterator[Any]:
    device = open_one()
    devices.SetDefaultDevice(device)
    yield device
    devices.close_device(device)


def _known(parameters: dict[str, Any]) -> dict[str, Any]:
    names = ("l1_small_size", "trace_region_size", "num_command_queues", "worker_l1_size", "dispatch_core_config")
    return {name: value for name, value in parameters.items() if name in names}
