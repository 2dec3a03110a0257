"""Every chip that the ranges and relations of parameters allow can be simulated: both ends of each range, one at a time."""

import pytest

import tensim as tt
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.arch import load_arch
from tensim.sim.arch.loader import MODEL, declaration
from tensim.sim.arch.parameters import schema_of
from tensim.sim.errors import SimulatorError, TensimError

LIMIT = 10_000_000  # cycles: a program on a chip that waits for a second is stopped


def ends(section):
    """(key, value) of both ends of the ranges of a section's numbers."""
    for key in load_arch(MODEL).section(section):
        declared = declaration(f"{section}.{key}")
        schema = schema_of(declared["unit"], declared.get("range"))
        if schema["type"] != "array":
            yield from ((f"{section}.{key}", schema[end]) for end in ("minimum", "maximum"))


@pytest.mark.parametrize(
    "section", ["clock", "alignment", "l1", "noc", "dram", "riscv", "tensix", "host", "dispatch", "pcie"]
)
def test_the_ends_of_ranges_run_or_are_refused(section):
    program, ran = find_program("eltwise_add"), 0
    for key, value in ends(section):
        try:
            device = tt.create_device(0, arch=load_arch(MODEL, {key: value}), numerics="off", max_cycles=LIMIT)
        except TensimError as error:
            assert not isinstance(error, SimulatorError), (key, value)
            continue
        try:
            program.run_on(device, Options(shape="64x64"))
            assert 0 < device.chip.cycle < LIMIT and device.system.env.now > 0, (key, value)
            ran += 1
        except TensimError as error:
            assert not isinstance(error, SimulatorError), (key, value)
        finally:
            tt.close_device(device)
    assert ran
