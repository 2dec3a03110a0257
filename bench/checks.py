"""What checks of kernels cost: processor time of the same programs with and without them."""

import time

import tensim as tt
from tensim.running.options import Options
from tensim.running.runnable import find_program

# What users run: data movement, arithmetic with data, many cores
PROGRAMS = {"dram_loopback": "2048x2048", "eltwise_add": "512x512", "matmul_multicast": "1024x1024x1024"}
ROUNDS = 3


def seconds(name, shape, check, language="python", numerics="fast"):
    """The shortest processor time of a run that finds everything compiled."""
    found = []
    for _ in range(ROUNDS + 1):
        with tt.create_device(0, numerics=numerics, check=check) as device:
            begun = time.process_time()
            find_program(name).run_on(device, Options(shape, parameters={"kernels": language}))
            found.append(time.process_time() - begun)
    return min(found[1:])


def ratios(programs=None, **options):
    """{program: time with checks by time without}."""
    programs = programs or PROGRAMS
    return {
        name: seconds(name, shape, True, **options) / seconds(name, shape, False, **options)
        for name, shape in programs.items()
    }
