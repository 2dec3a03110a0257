"""Running one program on one device for the command line: open, run, collect, close."""

import importlib.util
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from tensim.sim.chip import statistics
from tensim.sim.errors import TensimError, UsageError


@dataclass(frozen=True)
class Settings:
    """What `tensim run` was asked for; None means the program's default."""

    name: str
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
    seed: int = 0
    loops: int = 1  # how often the program runs, one after the other
    max_cycles: int | None = None
    timeline: str | None = None
    noc_trace: str | None = None  # file of a NoC event trace to write
    image_hash: bool = False
    capture: str | None = None  # file of a Light Metal binary to write
    compress: bool = False


def load_program(path):
    """The program of a Python file (a `run` function with the examples' signature) as an `Example`."""
    from tensim.examples import Example, Options

    file = Path(path)
    if not file.is_file():
        raise UsageError(f"no such program file: {path}", hint="give an example's name (tensim examples) or a .py file")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except TensimError:
        raise
    except Exception as error:
        line = next(
            (f.lineno for f in traceback.extract_tb(error.__traceback__)[::-1] if f.filename == str(file)), None
        )
        where = {"file": str(file), "line": getattr(error, "lineno", None) or line}
        raise UsageError(f"{path} cannot be loaded: {type(error).__name__}: {error}", where=where) from error
    if not callable(getattr(module, "run", None)):
        raise UsageError(f"{path} has no function run(device, *, shape, dtype, fidelity, grid, rng)")

    axes = tuple(getattr(module, "AXES", "MKN"))
    defaults = Options(shape=getattr(module, "SHAPE", None), dtype="bf16", fidelity="HiFi4", grid="full")
    return Example((module.__doc__ or file.stem).strip().split("\n")[0], file.stem, axes, defaults, module)


def summarise(chip):
    """What a chip did, as the commands report it."""
    return statistics.collect(chip)


def _chip(settings):
    """(Arch, further options of create_device) of the settings."""
    from tensim.sim.arch import load_arch

    if settings.device is None:
        return load_arch(settings.arch, settings.overrides), {}
    from tensim.running.device_choice import choose_chip

    chosen = choose_chip(settings.device)
    return chosen.load(settings.overrides), chosen.device_options()


def timed(chip, work):
    """(result of `work`, {"cycles", "device_seconds"} that the programs of a chip took in it)."""
    before = statistics.program_cycles(chip)
    result = work()
    cycles = statistics.program_cycles(chip) - before
    return result, {"cycles": cycles, "device_seconds": cycles / (chip.arch.clock_mhz * 1e6)}


def _run_loops(count, run, chip, on_progress):
    """(result, durations): of a wrong loop if there is one, else of the last."""
    results, loops = [], []
    for number in range(count):
        on_progress("running" if count == 1 else f"loop {number + 1} of {count}")
        result, duration = timed(chip, run)
        results.append(result)
        loops.append(duration)
    return next((one for one in results if not one.verified), results[-1]), loops


def run_program(settings, on_progress=lambda text: None):
    """Run a program and return its summary (section 9 of the design page).  The device is closed in any case."""
    import tensim as tt
    from tensim.examples import Options, get_example, run_example

    begun = time.perf_counter()
    example = load_program(settings.name) if settings.name.endswith(".py") else get_example(settings.name)
    arch, options_of_device = _chip(settings)
    on_progress("opening the device")
    device = tt.create_device(
        0,
        arch=arch,
        numerics=settings.numerics,
        noc=settings.noc,
        max_cycles=settings.max_cycles,
        **{"seed": settings.seed, **options_of_device},
    )
    try:
        chip = device.chip
        if settings.timeline:
            chip.enable_log()
        if settings.noc_trace:
            chip.record_noc()

        def report(now, chips):
            rate = int(chip.machine["operations"]) / max(time.perf_counter() - begun, 1e-9)
            on_progress(f"simulated {chip.now:,} cycles, {rate / 1e6:.2f} M operations/s")

        device.system.env.on_progress(report)
        options = Options(
            settings.shape,
            settings.dtype,
            settings.fidelity,
            settings.grid,
            settings.seed,
            settings.parameters,
        )
        if settings.capture:
            tt.light_metal_begin_capture(settings.compress)
        try:
            result, loops = _run_loops(settings.loops, lambda: run_example(example, device, options), chip, on_progress)
        finally:
            binary = tt.light_metal_end_capture() if settings.capture else None
        summary = summarise(chip) | {
            "name": example.name,
            "description": result.description,
            "verified": result.verified if settings.numerics != "off" else None,
            "warnings": [],
            "loops": loops,
        }
        if binary is not None:
            binary.save_to_file(settings.capture)
            summary |= {"file": settings.capture, "bytes": binary.size()}
        if settings.image_hash:
            summary["image_sha256"] = chip.image_sha256()
        if settings.timeline:
            from tensim.traces.timeline import write_timeline

            on_progress(f"writing {settings.timeline}")
            summary["timeline_events"] = write_timeline(chip, settings.timeline)
        if settings.noc_trace:
            from tensim.traces.noc_events import write_noc_events

            on_progress(f"writing {settings.noc_trace}")
            summary["noc_trace_events"] = write_noc_events(chip, settings.noc_trace)
    finally:
        tt.close_device(device)
    summary["host_seconds"] = time.perf_counter() - begun
    return summary
