"""Random programs against a plain model: data, failures and order, whatever the layouts, places, types and queues (I1-I3, I5,
I8, I9, I15 of docs/hardware/runtime.md#invariants).

TENSIM_RANDOM_PROGRAMS: how many (150), from the seed TENSIM_RANDOM_SEED (0) on; 20000 for a night.
"""

import os
import random
import warnings

import pytest

from tests.runtime.program_model import check
from tests.runtime.program_runs import Run, fault_of, looking, times
from tests.runtime.random_programs import make_program

PROGRAMS, FIRST = int(os.environ.get("TENSIM_RANDOM_PROGRAMS", 150)), int(os.environ.get("TENSIM_RANDOM_SEED", 0))
BATCH = 25
VARIATIONS = ("look", "fault", "queues")


def play(program, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of more queues than the chip has
        return Run(program, **settings)


def vary(program, seed):
    """Run a program twice, the second time with looks between its ops, a fault in one of them, or on other queues."""
    plain = play(program)
    check(plain)
    expected, how = times(plain), VARIATIONS[seed % len(VARIATIONS)]
    fault = fault_of(plain, seed)
    plain.close()
    rng = random.Random(seed)
    if how == "look":
        varied = play(program, look=looking(seed, program.ideal))
    elif how == "fault":
        varied = play(program, fault=fault)
    else:
        varied = play(program, remap=lambda mask: 1 << rng.randrange(program.queues))
    check(varied)
    if how == "look":
        assert times(varied) == expected  # I2
    varied.close()


@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS, BATCH))
def test_programs_do_what_the_model_says(first):
    for seed in range(first, min(first + BATCH, FIRST + PROGRAMS)):
        try:
            vary(make_program(seed), seed)
        except Exception as error:
            error.add_note(f"program of seed {seed}")
            raise
