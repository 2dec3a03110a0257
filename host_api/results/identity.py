"""What makes a result repeatable: the program, its kernels and their arguments, the chip, the user's choices, tensim itself.

The `identity` of a `Result` has

- "tensim_version", "code_sha256" (`code_digest`), "engine_digest" (of compiled code, numba and this machine's processor),
  "python_version";
- "program", "program_file", "program_sha256" (of that file) and "parameters";
- "arch", "arch_file", "arch_sha256" (over all parameters), "board", "device" (its spec), "overrides";
- "shape", "dtype", "fidelity", "grid", "seed", "loops", "numerics", "noc_model", "check", "max_cycles": as they were after
  defaults, null where a program has none;
- "kernels": a dict per kernel and set of compile-time arguments (`Launches`), and "arguments_sha256" over the runtime
  arguments of all enqueues in their order.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensim import __version__
from tensim.results.code_digest import code_digest
from tensim.sim.engine.cache import DIRECTORY
from tensim.sim.host import commands as c
from tensim.sim.host.frozen_program import build_target
from tensim.types import MathFidelity

if TYPE_CHECKING:
    from tensim.sim.arch import Arch
    from tensim.sim.chip.chip import Chip
    from tensim.sim.host.executor import Executor
    from tensim.sim.host.program import Program, ProgramKernel

CHOICES = ("shape", "dtype", "fidelity", "grid", "seed", "loops", "check", "max_cycles")


def of_tensim() -> dict[str, Any]:
    """Of this tensim and what it runs on."""
    return {
        "tensim_version": __version__, "code_sha256": code_digest(), "engine_digest": DIRECTORY.name,
        "python_version": platform.python_version(),
    }  # fmt: skip


def of_program(
    name: str, file: str | Path | None = None, parameters: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Of a program that a file holds, or that comes with tensim (`file` None)."""
    return {
        "program": name, "program_file": None if file is None else str(file),
        "program_sha256": None if file is None else file_sha256(file), "parameters": dict(parameters or {}),
    }  # fmt: skip


def of_chip(chip: Chip, device: str | None = None, overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Of a chip, the spec that chose it and the parameters that the user changed."""
    arch = chip.arch
    return {
        "arch": arch.name, "arch_file": arch.path, "arch_sha256": arch.digest, "board": arch.board, "device": device,
        "overrides": dict(overrides or {}), "numerics": chip.numerics, "noc_model": chip.noc,
    }  # fmt: skip


def of_choices(**choices: Any) -> dict[str, Any]:
    """Of what the user chose, null where nothing was chosen."""
    return dict.fromkeys(CHOICES) | choices


def file_sha256(path: str | Path) -> str | None:
    """SHA-256 (hex) of a file; None when it cannot be read."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return None


class Launches:
    """The kernels that programs were enqueued with, and a hash over their runtime arguments."""

    def __init__(self, executor_of: Callable[[], Executor]) -> None:
        self._executor_of, self._kernels, self._arguments = executor_of, {}, hashlib.sha256()

    def __call__(self, record: c.Command, result: object) -> None:
        """Observe a command of an executor."""
        if isinstance(record, c.EnqueueProgram):
            executor = self._executor_of()
            device = executor.devices.get(record.device)
            if device is not None:
                self._note(executor.program(record.program), device.arch)

    def _note(self, program: Program, arch: Arch) -> None:
        buffers = None
        for one in program.kernels:
            key = id(one.kernel), one.config, tuple(one.cores)
            if key not in self._kernels:
                buffers = buffers or [cb.snapshot() for cb in program.circular_buffers]
                self._kernels[key] = one.kernel, _described(one, build_target(one, buffers, arch))
            self._arguments.update(repr((sorted(one.args.items()), one.common_args)).encode())

    def identity(self) -> dict[str, Any]:
        """{"kernels": [{"name", "file", "sha256", ...}], "arguments_sha256"}."""
        kernels = sorted(
            (told for _, told in self._kernels.values()), key=lambda told: json.dumps(told, sort_keys=True)
        )
        distinct = [told for i, told in enumerate(kernels) if i == 0 or told != kernels[i - 1]]
        return {"kernels": distinct, "arguments_sha256": self._arguments.hexdigest()}


def _described(kernel: ProgramKernel, target: Any) -> dict[str, Any]:
    """{"name", "file", "sha256", "processor", ..., "cores"} of a `ProgramKernel`.

    "sha256": of the source text, with what it takes from its surroundings; in C++ with the machine code, too.
    """
    digest, config = hashlib.sha256(kernel.kernel.source.encode()), kernel.config
    if kernel.kernel.is_cpp:
        for slot, program in sorted(kernel.kernel.build(config, target).programs.items()):
            digest.update(bytes([slot]) + program.image.text + b"".join(data for _, data in program.image.data))
    place: dict[str, Any]
    if isinstance(config, c.ComputeParameters):
        place = {"processor": "TRISC", "fidelity": MathFidelity(config.math_fidelity).name}
    else:
        place = {"processor": ("BRISC", "NCRISC")[config.processor], "noc": config.noc}
    return {
        "name": kernel.name, "file": str(kernel.kernel.file), "sha256": digest.hexdigest(), **place,
        "compile_args": list(config.compile_args), "named_compile_args": dict(config.named_compile_args),
        "defines": dict(config.defines), "cores": len(kernel.cores),
    }  # fmt: skip


@contextmanager
def launches(executor_of: Callable[[], Executor]) -> Iterator[Launches]:
    """The `Launches` of a block; `executor_of()`: the executor that carries out its commands."""
    found, observers = Launches(executor_of), executor_of().observers
    observers.append(found)
    try:
        yield found
    finally:
        observers.remove(found)
