"""Any words of instructions on any configuration: a coprocessor does what they say or stops with an error that names one."""

import os

import numpy as np
import pytest

from tensim.sim.cores.coprocessor.instruction_table import CHIPS, instructions
from tensim.sim.cores.coprocessor.tile import Tile
from tensim.sim.errors import SimulatorError

PROGRAMS = int(os.environ.get("TENSIM_EXAMPLES", 0)) or 150
WORDS = 12  # at most
WAITING = ("STALLWAIT", "SEMWAIT", "ATGETM", "STREAMWAIT", "STREAMWRCFG")  # others have to act
SHORT_CONFIGURATION = 0.5  # share of programs on a configuration as after reset


def random_words(random, table):
    found = []
    for one in random.choice(len(table), random.integers(1, WORDS + 1)):
        word = table[one].opcode << 24
        for low, width in table[one].fields.values():
            bits = int(random.integers(0, 1 << width)) if random.random() < 0.4 else 0
            word |= bits << low
        found.append(word & 0xFFFFFFFF)
    return found


@pytest.mark.parametrize("chip", CHIPS)
def test_any_words_end_or_stop_with_a_name(chip):
    random = np.random.default_rng(44)
    table = [one for name, one in instructions(chip).items() if name not in WAITING]
    ended = named = 0
    for _ in range(PROGRAMS):
        tile = Tile(chip, data=bool(random.random() < 0.7))
        if random.random() > SHORT_CONFIGURATION:
            config = tile.arrays.config[0]
            places = random.choice(len(config), 40)
            config[places] = random.integers(0, 1 << 32, len(places)) >> random.integers(0, 32, len(places))
        words = random_words(random, table)
        try:
            for thread in range(3):
                tile.execute(thread, words[thread::3], 20_000)
            ended += 1
        except SimulatorError as error:
            text = str(error)
            assert " at T" in text or "stuck behind" in text, text
            assert "has not come back" not in text
            named += 1
    assert ended and named
