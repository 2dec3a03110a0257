"""The kernels that a release's operations compile are built, or refused by name.

TENSIM_LIBRARY_COMMANDS holds files of recorded compile commands, separated as in PATH: a JSON list [folder, arguments] a line.
The generated files must still lie where the commands ran.
"""

import json
import os

import pytest

from tensim.library.kernels import kernel_of_command
from tensim.sim.arch import load_arch
from tensim.sim.cores.riscv.compiler import compile_each
from tensim.sim.host.frozen_program import BuildTarget

FILES = list(filter(None, os.environ.get("TENSIM_LIBRARY_COMMANDS", "").split(os.pathsep)))


def recorded(file):
    """{folder of the generated files: (chip, `LibraryKernel`)} of a file's commands."""
    kernels = {}
    with open(file) as lines:
        for folder, arguments in map(json.loads, lines):
            generated = os.path.dirname(folder)
            if generated not in kernels and (found := kernel_of_command(arguments, folder)) is not None:
                kernels[generated] = "blackhole" if "-DARCH_BLACKHOLE" in arguments else "wormhole_b0", found
    return kernels


@pytest.mark.skipif(not FILES, reason="TENSIM_LIBRARY_COMMANDS names no recorded commands")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("file", FILES)
def test_all_kernels_build(file):
    kernels, failed = recorded(file), {}
    for generated, (arch, found) in kernels.items():
        target = BuildTarget(load_arch(arch), found.circular_buffers)
        ((_, error),) = compile_each([list(found.kernel.builds(found.parameters, target))])
        if error is not None and "refused" not in error.where:
            failed[generated] = str(error).splitlines()[0]
    assert kernels and not failed, f"{len(failed)} of {len(kernels)} kernels: {failed}"
