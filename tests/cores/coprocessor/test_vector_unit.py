"""Every instruction of the vector unit against a plain model of it (`vector_model`), over bit patterns and states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensim.sim.cores.coprocessor.instruction_table import instructions
from tensim.sim.cores.coprocessor.vector_flags import refresh_enabled
from tensim.sim.cores.coprocessor.vector_state import (
    FLAGS,
    LANE_CONFIG,
    RANDOM,
    SHUFFLED,
    STACK_FLAGS,
    STACK_USE,
    USE_FLAGS,
)
from tests.cores.coprocessor.coprocessor_bench import CHIPS, Bench
from tests.cores.coprocessor.vector_model import Model

SPECIAL = np.array(
    [0, 1, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x3F800000, 0xBF800000, 0x00800000, 0x007FFFFF,
     0x807FFFFF, 0x7F7FFFFF, 0xFFFFFFFF, 0x7FFFFFFF, 0x40000000, 0x3F000000, 0x3FC00000, 0x40400000, 0x40800000, 0x4B800000],
    np.uint32,
)  # fmt: skip
MODES = {
    "SFPMAD": (0, 4, 8, 12), "SFPADD": (0, 8), "SFPMUL": (0,), "SFPADDI": (0, 8), "SFPMULI": (0, 8), "SFPLUT": (0, 4, 8),
    "SFPLUTFP32": (0, 2, 3, 4, 6, 7, 10), "SFPDIVP2": (0, 1), "SFPEXEXP": (0, 1, 2, 8, 10, 9), "SFPEXMAN": (0, 1),
    "SFPIADD": (0, 1, 2, 4, 5, 6, 8, 9, 10), "SFPSHFT": (0, 1), "SFPABS": (0, 1), "SFPAND": (0,), "SFPOR": (0,),
    "SFPXOR": (0,), "SFPNOT": (0,), "SFPLZ": (0, 2, 4, 6, 8, 10), "SFPSETEXP": (0, 1, 2), "SFPSETMAN": (0, 1),
    "SFPSETSGN": (0, 1), "SFPCAST": (0, 1), "SFP_STOCH_RND": tuple(range(16)), "SFPMOV": (0, 1, 2, 8),
    "SFPLOADI": (0, 1, 2, 4, 8, 10), "SFPSWAP": (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15), "SFPTRANSP": (0,),
    "SFPSHFT2": (0, 1, 2, 3, 4, 5, 6), "SFPSETCC": (0, 1, 2, 4, 6, 8), "SFPENCC": (0, 1, 2, 8, 10), "SFPPUSHC": (0,),
    "SFPPOPC": tuple(range(16)), "SFPCOMPC": (0,), "SFPLOAD": tuple(range(1, 16)), "SFPSTORE": tuple(range(1, 16)),
}  # fmt: skip
BLACKHOLE_MODES = {
    "SFPMAD": (0, 1, 2, 3, 4, 8, 15), "SFPADD": (0, 1, 2, 3), "SFPMUL": (0, 1), "SFPSHFT": (0, 1, 2, 3, 5, 7),
    "SFPAND": (0, 1), "SFPOR": (0, 1), "SFPCAST": (0, 1, 2, 3), "SFPGT": (1, 8), "SFPLE": (1, 8), "SFPMUL24": (0, 1, 4, 8),
    "SFPARECIP": (0,), "SFPLOAD": (*range(1, 13), 14, 15), "SFPSTORE": (*range(1, 13), 14, 15),
}  # fmt: skip
CASES = [
    (chip, name)
    for chip in CHIPS
    for name in (MODES if chip == "wormhole_b0" else MODES | BLACKHOLE_MODES)
]  # fmt: skip


def patterns(rng, shape):
    """Words: any bits, small integers, float32 of like size, special ones."""
    kinds = [
        rng.integers(0, 1 << 32, shape, np.uint32),
        rng.integers(-70, 70, shape).astype(np.int32).view(np.uint32),
        (rng.integers(0, 1 << 32, shape, np.uint32) & 0x80FFFFFF) | (rng.integers(100, 150, shape, np.uint32) << 23),
        rng.choice(SPECIAL, shape),
    ]
    return np.choose(rng.integers(0, 4, shape), kinds).astype(np.uint32)


def start(bench, rng, name):
    """Put the same random state into a bench and a model, which is returned."""
    model, rows = Model(bench.chip == "blackhole"), bench.vector.rows
    rows[:8] = patterns(rng, (8, 32))
    rows[7] = rng.integers(0, 1 << 32, 32, np.uint32) if rng.random() < 0.5 else rng.integers(0, 16, 32)
    rows[11:15], rows[16] = patterns(rng, (4, 32)), patterns(rng, 32)
    rows[RANDOM], rows[SHUFFLED] = rng.integers(0, 1 << 32, 32, np.uint32), patterns(rng, 32)
    for row in (FLAGS, USE_FLAGS, *range(STACK_FLAGS, STACK_FLAGS + 3), *range(STACK_USE, STACK_USE + 3)):
        rows[row] = -rng.integers(0, 2, 32)
    bits = {"SFPSWAP": 0x104, "SFPLOAD": 0x6D, "SFPSTORE": 0x90}.get(name, 0) | 0xF000 * (rng.random() < 0.3)
    config = (
        np.tile(rng.integers(0, 1 << 16, 8, np.uint32) & bits, 4) if rng.random() < 0.6 else np.zeros(32, np.uint32)
    )
    rows[LANE_CONFIG], depth = config, int(rng.integers(0, 4))
    bench.vector.record["depth"], bench.vector.record["config_bits"] = depth, np.bitwise_or.reduce(config)
    refresh_enabled(bench.vector.record[0])
    bench.arrays.dst[:] = rng.integers(0, 1 << 16, bench.arrays.dst.shape, np.uint16)
    model.lregs = rows[:17].tolist()
    model.flags, model.use = (rows[FLAGS] != 0).tolist(), (rows[USE_FLAGS] != 0).tolist()
    model.config, model.random, model.shuffled = config.tolist(), rows[RANDOM].tolist(), rows[SHUFFLED].tolist()
    model.stack = [((rows[STACK_FLAGS + i] != 0).tolist(), (rows[STACK_USE + i] != 0).tolist()) for i in range(depth)]
    model.dst = bench.arrays.dst.tolist()
    return model


def instruction(bench, rng, name):
    """Random fields of an instruction that the model has."""
    entry = bench.table[name]
    modes = BLACKHOLE_MODES.get(name, MODES.get(name)) if bench.chip == "blackhole" else MODES[name]
    values = {key: int(rng.integers(0, 1 << width)) for key, (_, width) in entry.fields.items()}
    mode = "instr_mod0" if "instr_mod0" in values else "instr_mod1"
    values[mode] = int(rng.choice(modes))
    target = "lreg_ind" if "lreg_ind" in values else "lreg_dest"
    values[target] = int(rng.integers(0, 8 if rng.random() < 0.8 else 12))
    if name in ("SFPLOAD", "SFPSTORE"):
        values["dest_reg_addr"] &= 0x3FE
    if name == "SFPMOV" and values[mode] == 8:
        values["lreg_c"] = int(rng.choice([9, 15]))
    return values


def agree(model, bench):
    rows = bench.vector.rows
    lregs, expected = rows[:17].tolist(), model.lregs
    for number in range(17):
        for lane in range(32):
            if expected[number][lane] == "nan":
                assert lregs[number][lane] & 0x7F800001 == 0x7F800001, (number, lane, hex(lregs[number][lane]))
                expected[number][lane] = lregs[number][lane]
        assert lregs[number] == expected[number], (number, *map(hex, lregs[number]), *map(hex, expected[number]))
    assert (rows[FLAGS] != 0).tolist() == model.flags
    assert (rows[USE_FLAGS] != 0).tolist() == model.use
    assert rows[RANDOM].tolist() == model.random
    assert bench.vector.record["depth"][0] == len(model.stack)
    for i, (flags, use) in enumerate(model.stack):
        assert (rows[STACK_FLAGS + i] != 0).tolist() == flags and (rows[STACK_USE + i] != 0).tolist() == use
    assert np.array_equal(bench.arrays.dst, np.array(model.dst, np.uint16))


BENCHES = {chip: Bench(chip) for chip in CHIPS}


@pytest.mark.parametrize(("chip", "name"), CASES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_an_instruction(chip, name, seed):
    rng, bench = np.random.default_rng(seed), BENCHES[chip]
    model = start(bench, rng, name)
    values = instruction(bench, rng, name)
    if name == "SFPPOPC" and values["instr_mod1"] == 0 and not model.stack:
        return
    model.execute(name, values)
    bench.run(bench.word(name, **values))
    assert bench.fault == (0, 0, 0)
    agree(model, bench)


def test_every_instruction_is_here():
    for chip in CHIPS:
        names = {name for name, entry in instructions(chip).items() if entry.unit == "SFPU"}
        tested = {name for which, name in CASES if which == chip}
        assert names - tested == {"SFPNOP", "SFPCONFIG", "SFPLOADMACRO"}
