"""Programs of the vector unit through the pass: the words compute what numpy does."""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tensim.sim.cores.coprocessor.instruction_table import CHIPS, text_of
from tensim.sim.errors import KernelCompileError
from tests.cores.riscv.vector_machine import VectorMachine, bits
from tests.cores.riscv.vector_programs import FLOATS, INTEGERS, lowered_text, programs, source_of, words_of

HEADER = '#include "sfpi.h"\n'


def lanes(seed):
    """{variable: 32 lanes} that meet signs, zeros and the ends of the range."""
    random = np.random.default_rng(seed)
    edges = np.array([0, 1, -1, 0x7FFFFFFF, -0x80000000, 5, 255, -7])
    variables = {}
    for name in INTEGERS:
        values = random.integers(-0x80000000, 0x7FFFFFFF, 32)
        values[random.permutation(32)[:16]] = random.choice(edges, 16)
        variables[name] = values
    for name in FLOATS:
        variables[name] = random.integers(-8, 9, 32).astype(np.float64)
    return variables


def run(words, chip, variables):
    """{variable: lanes as bits} that a program's words leave in Dst."""
    dst = {2 * at: (variables[name] & 0xFFFFFFFF).astype(np.uint32) for at, name in enumerate(INTEGERS)}
    dst |= {2 * (at + 4): bits(variables[name].astype(np.float32)) for at, name in enumerate(FLOATS)}
    machine = VectorMachine(chip, dst)
    machine.run(words)
    found = {name: machine.dst[2 * (at + 8)] for at, name in enumerate(INTEGERS)}
    return found | {name: machine.dst[2 * (at + 12)] for at, name in enumerate(FLOATS)}


@pytest.mark.parametrize("chip", CHIPS)
@settings(max_examples=3, deadline=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(programs, min_size=6, max_size=6), st.integers(0, 1000))
def test_words_compute_what_the_program_says(chip, batch, seed):
    fitting = {}
    for number, program in enumerate(batch):
        source = source_of(program, f"program_{number}")
        try:
            fitting |= {number: words_of(HEADER + source, chip)[f"program_{number}"]}
        except KernelCompileError as error:
            assert "more than eight vector values" in error.message
    for number, words in fitting.items():
        variables = lanes(seed)
        found = run(words, chip, variables)
        everywhere = np.ones(32, bool)
        for statement in batch[number]:
            statement.run(variables, everywhere)
        for name in INTEGERS:
            np.testing.assert_array_equal(found[name], (variables[name] & 0xFFFFFFFF).astype(np.uint32), err_msg=name)
        for name in FLOATS:
            np.testing.assert_array_equal(found[name], bits((variables[name] + 0.0).astype(np.float32)), err_msg=name)


def names(source, chip):
    """Instructions of the function `k`, by name."""
    return [text_of(chip, word).split()[0] for word in words_of(HEADER + source, chip)["k"]]
