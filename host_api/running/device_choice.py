"""Which chip a device spec of the command line means (docs/hardware/runtime.md#device-specs)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import tensim.device as metal
from tensim.runtime.specs import Target, parse_devices
from tensim.runtime.system import System
from tensim.runtime.systems import SystemConfig
from tensim.sim.arch.loader import architectures, load_arch
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.runtime.selection import DeviceInfo
    from tensim.sim.arch.loader import Arch

OPTIONS = {"cqs": "num_hw_cqs", "l1_small": "l1_small_size", "trace_region": "trace_region_size", "seed": "seed"}
RUNNABLE = {*OPTIONS, "clock_mhz", "timing", "mesh"}


@contextlib.contextmanager
def declared(boards: str, **settings: Any) -> Iterator[System]:
    """A System of these boards, with nothing open; afterwards the plain host API has its own system again."""
    before = metal.current_system()
    system = System(SystemConfig.named(boards, **settings))
    try:
        yield system
    finally:
        system.close()
        metal.use_system(before)


def boards_for(spec: str | None = None) -> str:
    """One chip of every architecture, and of every file that a spec names."""
    terms = [term for device in parse_devices(spec) for term in device.terms] if spec is not None else []
    files = [term.arch for term in terms if isinstance(term, Target) and term.arch.endswith((".yaml", ".yml"))]
    return ",".join(dict.fromkeys([*architectures(), *files]))


class ChosenChip:
    """The chip of a spec.  `arch`: as `load_arch` takes it; `params`: of the spec; `spec`: text that selects it."""

    def __init__(self, info: DeviceInfo, params: dict[str, Any]) -> None:
        self.arch, self.params, self.spec = info.arch, params, info.spec

    def load(self, overrides: Mapping[str, Any]) -> Arch:
        """Its `Arch`, with overrides of parameters and the spec's own clock and number of queues."""
        changes = dict(overrides)
        if "clock_mhz" in self.params:
            changes["clock.aiclk_mhz"] = self.params["clock_mhz"]
        arch = load_arch(self.arch, changes)
        if self.params.get("cqs", 1) > arch["dispatch.max_queues"]:
            arch = load_arch(self.arch, {**changes, "dispatch.max_queues": self.params["cqs"]})
        return arch

    def device_options(self) -> dict[str, Any]:
        """What `create_device` and its record take besides the architecture, as far as the spec says it."""
        return {name: self.params[key] for key, name in OPTIONS.items() if key in self.params}


def choose_chip(spec: str) -> ChosenChip:
    """The ChosenChip of one spec, its terms tried in order; UsageError if the spec does not select exactly one
    cycle-timed chip.

    Selection knows one chip of every architecture.  SpecSyntax, DeviceNotFound.
    """
    with declared(boards_for(spec)) as system:
        choices = list(system.explain(spec).values())
    if len(choices) != 1 or choices[0].info is None:
        raise UsageError(
            f"--device {spec!r} does not select exactly one device",
            hint="for example sim://blackhole, or alternatives to try in order: A,B",
        )
    info, params = choices[0].info, choices[0].params
    foreign = sorted(set(params) - RUNNABLE)
    single = info.scheme == "sim" and params.get("timing", "cycle") == "cycle" and params.get("mesh", (1, 1)) == (1, 1)
    if not single or foreign:
        raise UsageError(
            f"--device {spec!r}: programs of kernels run on one chip with cycle timing"
            + (f", which does not accept {', '.join(foreign)}" if foreign else ""),
            hint="as sim://blackhole?cqs=2",
        )
    return ChosenChip(info, params)
