"""What checks of kernels cost: processor time of the same programs with and without them."""

import time
from unittest.mock import patch

import tensim as tt
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.engine.entry_points import EntryPoint

# What users run: data movement, arithmetic with data, many cores
PROGRAMS = {"dram_loopback": "2048x2048", "eltwise_add": "512x512", "matmul_multicast": "1024x1024x1024"}
ENGINE = "matmul_multicast", "1024x1024x1024"  # without data: the share of checks is the largest
ROUNDS = 3


def run(name, shape, check, language="python", numerics="fast"):
    """Processor time of a run."""
    with tt.create_device(0, numerics=numerics, check=check) as device:
        begun = time.process_time()
        find_program(name).run_on(device, Options(shape, parameters={"kernels": language}))
        return time.process_time() - begun


def seconds(*program, **options):
    """The shortest processor time of a run that finds everything compiled."""
    return min([run(*program, **options) for _ in range(ROUNDS + 1)][1:])


def ratios(programs=None, **options):
    """{program: time with checks by time without}."""
    programs = programs or PROGRAMS
    return {
        name: seconds(name, shape, True, **options) / seconds(name, shape, False, **options)
        for name, shape in programs.items()
    }


def engine_ratio():
    """Time in compiled code of `ENGINE` with checks by that without them."""
    return _engine_seconds(True) / _engine_seconds(False)


def _engine_seconds(check):
    call, found = EntryPoint.__call__, []

    def timed(entry, *arguments):
        begun = time.process_time()
        call(entry, *arguments)
        found[-1] += time.process_time() - begun

    with patch.object(EntryPoint, "__call__", timed):
        for _ in range(ROUNDS + 1):
            found.append(0.0)
            run(*ENGINE, check, numerics="off")
    return min(found[1:])
