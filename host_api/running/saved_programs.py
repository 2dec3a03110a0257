"""Running the programs of a saved binary for the command line: bind, submit each in turn, report."""

from __future__ import annotations

import time
import typing
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tensim.analysis.summary import collect
from tensim.results import identity
from tensim.results.result import Result
from tensim.running.device_choice import boards_for, declared
from tensim.running.execution import Files, timed, unheard
from tensim.runtime.binaries import Binary
from tensim.runtime.dtypes import DType, cast
from tensim.runtime.tensors import Tensor
from tensim.sim.arch import architectures
from tensim.sim.errors import UsageError
from tensim.sim.output_files import write_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tensim.light_metal.replay import ReplayOptions
    from tensim.running.execution import LogFiles
    from tensim.runtime.bound_programs import BoundBinary
    from tensim.runtime.devices import SimAccelerator
    from tensim.runtime.program_info import ProgramInfo, TensorInfo
    from tensim.runtime.system import System
    from tensim.sim.arch import Arch
    from tensim.traces.light_metal.binary import Binary as File

Outputs: TypeAlias = dict[tuple[str, str], Tensor]  # by program and output


def run_saved(
    file: str | Path,
    opened: File,
    options: ReplayOptions,
    program: str | None,
    loops: int,
    logs: LogFiles,
    on_progress: Callable[[str], object],
    configure: Callable[[dict[str, Any], Arch], object] = unheard,
) -> Result:
    """Run the programs of a saved binary (or one, by index or name) `loops` times; returns the `Result`.

    `options`: ReplayOptions; inputs are zeros, their goldens, or what `bind` holds under PROGRAM/INPUT; `save` keeps
    PROGRAM/OUTPUT.  Outputs with goldens are compared when nothing was bound.  `configure`: called with identity and `Arch`.
    """
    if options.launch or options.kernel_path:
        raise UsageError(f"{file} contains programs with their kernels", hint="--program chooses one to run")
    begun, binary = time.perf_counter(), Binary.load(opened)
    infos = _chosen(binary, program)
    spec = options.device or f"sim://{options.arch or _architecture(infos)}"
    _check_names(infos, options)
    settings = {
        "numerics": options.numerics or "fast", "overrides": options.overrides, "check": options.check_kernels,
    }  # fmt: skip
    with declared(boards_for(spec), **settings) as system:
        on_progress(f"{file}: opening {spec}")
        device = typing.cast("SimAccelerator", system.open(spec))  # programs of kernels run on chips
        binary.check(device).require()
        device.chip.max_cycles = options.max_cycles or device.chip.max_cycles
        if options.log:
            device.chip.recordings.enable_log()
        bound = binary.bind(device)
        inputs = {info.name: [_input(info, item, options, device) for item in info.inputs] for info in infos}
        durations, outputs = [], {}
        with identity.launches(lambda: system.executor) as launches:
            for number in range(loops):
                on_progress(f"{file}: loop {number + 1} of {loops}")
                outputs, duration = timed([device.chip], lambda: _run(system, bound, infos, inputs))
                durations.append(duration)
        compares = _compares(infos, outputs) if options.check and not options.bind else []
        files = Files(on_progress)
        _save(options.save, outputs, files)
        summary = collect(device.chip)
        summary |= logs.write(files, device.chip, Path(file).name)
        summary["unwritten"] = files.unwritten
        images = device.chip.memory.image_sha256()
        told = (
            identity.of_tensim()
            | identity.of_program(Path(file).name, file)
            | identity.of_chip(device.chip, spec, options.overrides)
            | identity.of_choices(loops=loops, check=options.check_kernels, max_cycles=options.max_cycles)
            | launches.identity()
        )
        configure(told, device.chip.arch)
    summary |= {
        "file": str(file), "name": Path(file).name, "commands": len(opened), "compares": compares,
        "captured_cycles": opened.root.cycles, "differs": [], "image_sha256": images,
        "verified": all(item["passed"] for item in compares) if compares else None, "loops": durations,
        "programs": [info.name for info in infos], "host_seconds": time.perf_counter() - begun,
    }  # fmt: skip
    return Result(summary, told)


def _chosen(binary: Binary, program: str | None) -> list[ProgramInfo]:
    """The programs that run: the one asked for, or all that are not private."""
    if program is None:
        return [info for info in binary.programs if not info.private]
    return [binary.programs[binary.index(int(program) if program.isdecimal() else program)]]


def _check_names(infos: Sequence[ProgramInfo], options: ReplayOptions) -> None:
    """UsageError, before anything runs, for what --bind and --save name and the chosen programs have not."""
    for side, names in (("input", options.bind), ("output", [name for name, _ in options.save])):
        known = [f"{info.name}/{item.name}" for info in infos for item in getattr(info, f"{side}s")]
        for name in names:
            if name not in known:
                raise UsageError(f"there is no such {side}: {name}", hint=f"{side}s: {', '.join(known) or 'none'}")


def _architecture(infos: Sequence[ProgramInfo]) -> str:
    """The architecture that the first program was built for."""
    archs = [v.target.partition("://")[2] for info in infos for v in info.variants if v.build is not None]
    if not archs:
        raise UsageError("the binary has no programs of kernels", hint="submit it on host://local from Python")
    if archs[0] not in architectures():
        raise UsageError(f"the binary was built for a chip {archs[0]!r}", hint="--arch FILE.yaml says what that is")
    return archs[0]


def _input(info: ProgramInfo, one: TensorInfo, options: ReplayOptions, device: SimAccelerator) -> Tensor:
    """The tensor of an input."""
    data = options.bind.get(f"{info.name}/{one.name}")
    if data is not None:
        itemsize = one.desc.dtype.itemsize
        if len(data) != one.desc.volume * itemsize:
            raise UsageError(
                f"--bind {info.name}/{one.name} holds {len(data)} B, the input takes {one.desc.volume * itemsize} B",
                hint=f"an array of {one.desc.dtype} {one.desc.shape}",
            )
        values = np.frombuffer(data, one.desc.dtype.numpy)
    else:
        values = np.asarray(info.goldens.get(one.name, np.zeros(one.desc.shape, one.desc.dtype.numpy)))
    values = cast(values, one.desc.dtype).reshape(one.desc.shape)
    return _on_device(Tensor.from_numpy(values, system=device.system, name=one.name), one, device)


def _on_device(tensor: Tensor, one: TensorInfo, device: SimAccelerator) -> Tensor:
    from tensim.runtime.conversion import to_layout

    return to_layout(tensor, one.layout, device)


def _run(system: System, bound: BoundBinary, infos: Sequence[ProgramInfo], inputs: dict[str, list[Tensor]]) -> Outputs:
    """{(program, output): tensor} of one submit of each program, when all have ended."""
    done = {info.name: bound.submit(info.name, inputs[info.name]).outputs for info in infos}
    system.drain()
    return {
        (info.name, one.name): tensor
        for info in infos
        for one, tensor in zip(info.outputs, done[info.name], strict=True)
    }


def _compares(infos: Sequence[ProgramInfo], outputs: Outputs) -> list[dict[str, Any]]:
    rows = []
    for info in infos:
        for output in info.outputs:
            if output.name in info.goldens:
                rows.append(
                    _compare(f"{info.name}/{output.name}", outputs[info.name, output.name], info.goldens[output.name])
                )
    return rows


def _compare(name: str, tensor: Tensor, golden: ArrayLike) -> dict[str, Any]:
    got, want = tensor.numpy().reshape(-1), np.asarray(golden).reshape(-1)
    different = np.flatnonzero(got != want)
    first = [[int(i), want[i].item(), got[i].item()] for i in different[:5]]
    return {
        "name": name, "passed": not len(different), "mismatches": len(different), "total": len(want), "first": first,
    }  # fmt: skip


def _save(savings: Sequence[tuple[str, str]], outputs: Outputs, files: Files) -> None:
    for name, file in savings:
        program, _, output = name.partition("/")
        values = outputs[program, output].numpy()
        plain = values.view(np.uint16) if values.dtype == DType.BF16.numpy else values
        files.write(file, partial(write_array, file, plain))
