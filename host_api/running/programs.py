"""Running one program on one device, as the settings say.

`tensim.running.execution`, and with it the engine, is imported when the program and the chip are known to exist: a wrong
name costs no second.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tensim.running.options import Options
from tensim.running.runnable import find_program


@dataclass(frozen=True)
class Settings:
    """What to run and how; None means the program's default.  `program`: an example's name, a file or a function."""

    program: str | Path | Callable
    arch: str = "wormhole_b0"
    device: str | None = None  # a device spec, in place of `arch`
    overrides: dict = field(default_factory=dict)
    grid: str | None = None
    shape: str | None = None
    dtype: str | None = None
    fidelity: str | None = None
    parameters: dict = field(default_factory=dict)
    numerics: str = "fast"
    noc: str = "packet"
    check: bool = False
    seed: int = 0
    loops: int = 1  # how often the program runs, one after the other
    max_cycles: int | None = None
    timeline: str | None = None
    noc_trace: str | None = None  # file of a NoC event trace to write
    image_hash: bool = False
    capture: str | None = None  # file of a Light Metal binary to write
    compress: bool = False
    disassemble: str | None = None  # C++ kernel whose instructions the summary lists

    @property
    def options(self):
        """Those of the program's `run`."""
        return Options(self.shape, self.dtype, self.fidelity, self.grid, self.seed, self.parameters)


def run_program(settings, on_progress=lambda text: None):
    """Run a program and return its summary (docs/design.md#9-machine-readable-output).  The device is closed in any case."""
    begun = time.perf_counter()
    program = find_program(settings.program)
    arch, device_options = _chip(settings)
    from tensim.running.execution import execute

    summary = execute(program, settings, arch, {"seed": settings.seed, **device_options}, begun, on_progress)
    return summary | {"host_seconds": time.perf_counter() - begun}


def _chip(settings):
    """(Arch, further options of create_device) of the settings."""
    from tensim.sim.arch import load_arch

    if settings.device is None:
        return load_arch(settings.arch, settings.overrides), {}
    from tensim.running.device_choice import choose_chip

    chosen = choose_chip(settings.device)
    return chosen.load(settings.overrides), chosen.device_options()
