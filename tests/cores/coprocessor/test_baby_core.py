"""RISC-V cores of a tile's threads: instructions of Zba and Zbb, what fetching costs, what stops a program."""

import pytest

from tensim.sim.cores.coprocessor.bit_instructions import BitCode, bit_record
from tensim.sim.cores.coprocessor.instruction_table import CHIPS, instructions
from tensim.sim.cores.coprocessor.tile import Tile
from tensim.sim.cores.disassembly.instruction_text import text_of
from tensim.sim.cores.riscv.decode import decode
from tensim.sim.errors import SimulatorError

BASE = 0x10000  # L1 address of programs
EBREAK, NOTHING = 0x00100073, 0x00000013
A, B, RESULT = 10, 11, 12  # registers
MASK = 0xFFFFFFFF


def immediate(f3, value, to, source):
    """An instruction on a register and 12 bits."""
    return value << 20 | source << 15 | f3 << 12 | to << 7 | 0x13


def two(f7, f3):
    """RESULT from A and B."""
    return f7 << 25 | B << 20 | A << 15 | f3 << 12 | RESULT << 7 | 0x33


def one(f3, value):
    """RESULT from A."""
    return immediate(f3, value, RESULT, A)


def load_constant(register, value):
    """lui, addi: 32 bits in a register."""
    low = value & 0xFFF
    high = (value + 0x800) & 0xFFFFF000
    return [high | register << 7 | 0x37, immediate(0, low, register, register)]


def ran(chip, words):
    """A tile whose unpack thread has run a program of instruction words."""
    tile = Tile(chip)
    text = b"".join(word.to_bytes(4, "little") for word in [*words, EBREAK])
    tile.load(0, text, BASE, BASE)
    for thread in (1, 2):
        tile.load(thread, EBREAK.to_bytes(4, "little"), BASE, BASE)
    tile.run()
    return tile


def rotated(a, count):
    return (a >> count % 32 | a << (32 - count % 32)) & MASK


def signed(a):
    return a - (1 << 32) if a >> 31 else a


# Words with the plain meaning of what they calculate of two 32-bit numbers
MEANING = {
    "SH1ADD": (two(0x10, 2), lambda a, b: 2 * a + b), "SH2ADD": (two(0x10, 4), lambda a, b: 4 * a + b),
    "SH3ADD": (two(0x10, 6), lambda a, b: 8 * a + b), "ANDN": (two(0x20, 7), lambda a, b: a & ~b),
    "ORN": (two(0x20, 6), lambda a, b: a | ~b), "XNOR": (two(0x20, 4), lambda a, b: ~(a ^ b)),
    "MIN": (two(5, 4), lambda a, b: min(a, b, key=signed)), "MINU": (two(5, 5), min),
    "MAX": (two(5, 6), lambda a, b: max(a, b, key=signed)), "MAXU": (two(5, 7), max),
    "ROL": (two(0x30, 1), lambda a, b: rotated(a, 32 - b % 32)), "ROR": (two(0x30, 5), rotated),
    "RORI": (one(5, 0x600 | 7), lambda a, b: rotated(a, 7)), "CLZ": (one(1, 0x600), lambda a, b: 32 - a.bit_length()),
    "CTZ": (one(1, 0x601), lambda a, b: (a & -a).bit_length() - 1 if a else 32),
    "CPOP": (one(1, 0x602), lambda a, b: a.bit_count()),
    "SEXT_B": (one(1, 0x604), lambda a, b: (a & 255) - (256 if a & 128 else 0)),
    "SEXT_H": (one(1, 0x605), lambda a, b: (a & 0xFFFF) - (0x10000 if a & 0x8000 else 0)),
    "ZEXT_H": (4 << 25 | A << 15 | 4 << 12 | RESULT << 7 | 0x33, lambda a, b: a & 0xFFFF),
    "ORC_B": (one(5, 0x287), lambda a, b: sum(255 << 8 * i for i in range(4) if a >> 8 * i & 255)),
    "REV8": (one(5, 0x698), lambda a, b: int.from_bytes(a.to_bytes(4, "little"), "big")),
}  # fmt: skip
NUMBERS = (0, 1, 0x80, 0xFFFF, 0x8000_0000, 0xFFFF_FFFF, 0x1234_5678, 0x00FF_0080, 0x7FFF_FFE3)


def test_every_instruction_has_a_meaning_here():
    assert {code.name for code in BitCode} == set(MEANING)


@pytest.mark.parametrize("name", MEANING)
def test_blackhole_counts_and_moves_bits(name):
    word, meaning = MEANING[name]
    assert bit_record(word) & 255 == BitCode[name]
    for a in NUMBERS:
        for b in NUMBERS[1::3]:
            tile = ran("blackhole", [*load_constant(A, a), *load_constant(B, b), word])
            assert int(tile.cores.registers[0][RESULT]) & MASK == meaning(a, b) & MASK, (hex(a), hex(b))


def test_wormhole_has_no_such_instructions():
    with pytest.raises(SimulatorError, match="T0: illegal instruction at 0x10000"):
        ran("wormhole_b0", [MEANING["CLZ"][0]])


def test_a_listing_names_them():
    text = MEANING["MINU"][0].to_bytes(4, "little") + MEANING["CLZ"][0].to_bytes(4, "little")
    decoded = decode(text)
    texts = [text_of(decoded, index, word, "blackhole") for index, word in enumerate(decoded.records.tolist())]
    assert texts == ["minu a2, a0, a1", "clz a2, a0"]


@pytest.mark.parametrize("chip, a_line", [("wormhole_b0", 0), ("blackhole", 1)])
def test_lines_of_text_are_fetched_once(chip, a_line):
    """A line of four instructions costs `riscv.fetch_miss` when it is not in the instruction cache."""
    first, second = (int(ran(chip, [NOTHING] * count).cores.records["clock"][0]) for count in (64, 128))
    assert second - first == 64 + 16 * a_line
    looped = [*load_constant(A, 2), *[NOTHING] * 61, immediate(0, 0xFFF, A, A)]
    back = -4 * 62 & 0x1FFF  # bne: over the loop again
    high, low = (back >> 12) << 6 | back >> 5 & 63, (back >> 1 & 15) << 1 | back >> 11 & 1
    branch = high << 25 | A << 15 | 1 << 12 | low << 7 | 0x63
    once = int(ran(chip, [*looped, NOTHING]).cores.records["clock"][0])
    twice = int(ran(chip, [*looped, branch]).cores.records["clock"][0])
    assert twice - once == 63


# --- bad programs end, each with its reason


@pytest.mark.parametrize("chip", CHIPS)
def test_what_is_no_instruction_stops_with_its_place(chip):
    with pytest.raises(SimulatorError, match="T0: illegal instruction at 0x10008"):
        ran(chip, [NOTHING, NOTHING, 0xFFFFFFFF])


@pytest.mark.parametrize("chip", CHIPS)
def test_a_jump_out_of_the_text_stops(chip):
    with pytest.raises(SimulatorError, match="T0: jump out of the text at 0x10400"):
        ran(chip, [0x4000006F])  # jal zero, 0x400


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("address, says", [(0xFFF00000, "UNMAPPED_REGISTER"), (0x00400000, "UNMAPPED_REGISTER")])
def test_a_load_from_nowhere_stops(chip, address, says):
    with pytest.raises(SimulatorError, match=says):
        ran(chip, [*load_constant(A, address), 0 << 20 | A << 15 | 2 << 12 | B << 7 | 0x03])


FEATURE_DISABLE = 0xFFB12068
STORE = B << 20 | A << 15 | 2 << 12 | 0x23  # sw B, 0(A)


@pytest.mark.parametrize("chip", CHIPS)
def test_a_register_that_makes_dst_wide(chip):
    program = [*load_constant(A, FEATURE_DISABLE), *load_constant(B, 1 << 11), STORE]
    tile = ran(chip, [*program, 2 << 12 | A << 15 | RESULT << 7 | 0x03])  # and read
    assert tile.arrays.record["dst_access_16_as_32"][0] == tile.cores.registers[0][RESULT] == 1 << 11
    assert ran(chip, [*program, *load_constant(B, 0), STORE]).arrays.record["dst_access_16_as_32"][0] == 0
    with pytest.raises(SimulatorError, match="0xffb12068, where nothing is modelled"):
        ran(chip, [*load_constant(A, FEATURE_DISABLE), *load_constant(B, 1 << 3), STORE])


def embedded(word):
    """A Tensix word in a program's text."""
    return (word << 2 | word >> 30) & MASK


@pytest.mark.parametrize("chip", CHIPS)
def test_a_word_of_no_instruction_stops_by_its_number(chip):
    code = next(code for code in range(1, 0xC0) if code not in {one.opcode for one in instructions(chip).values()})
    with pytest.raises(SimulatorError, match=f"UNKNOWN_INSTRUCTION at T0.*{code << 24:#010x}"):
        ran(chip, [embedded(code << 24)])


@pytest.mark.parametrize("chip", CHIPS)
def test_a_full_fifo_that_nothing_empties_is_a_deadlock(chip):
    """SEMWAIT on a semaphore that nobody posts, then more words than all FIFOs hold."""
    wait = instructions(chip)["SEMWAIT"].word(stall_res=0x1FF, sem_sel=1, wait_sem_cond=1)
    with pytest.raises(SimulatorError, match="deadlock at cycle.*T0 core"):
        ran(chip, [embedded(wait), *[embedded(instructions(chip)["SEMPOST"].word(sem_sel=2))] * 100])


ATOMICS = {  # by function: what is left in memory
    0: lambda old, b: old + b, 1: lambda old, b: b, 4: lambda old, b: old ^ b, 8: lambda old, b: old | b,
    12: lambda old, b: old & b, 16: lambda old, b: min(signed(old), signed(b)), 20: lambda old, b: max(signed(old), signed(b)),
    24: min, 28: max,
}  # fmt: skip


@pytest.mark.parametrize("function", ATOMICS)
def test_blackhole_changes_l1_in_one_step(function):
    """The old value goes to the register, for any ordering bits."""
    for old in NUMBERS:
        for b in NUMBERS[::2]:
            word = function << 27 | 3 << 25 | B << 20 | A << 15 | 2 << 12 | RESULT << 7 | 0x2F
            place = [*load_constant(A, 0x1000), *load_constant(B, old & MASK), B << 20 | A << 15 | 2 << 12 | 0x23]
            tile = ran("blackhole", [*place, *load_constant(B, b & MASK), word])
            assert int(tile.cores.registers[0][RESULT]) & MASK == old & MASK
            left = int.from_bytes(tile.l1[0x1000:0x1004].tobytes(), "little")
            assert left == ATOMICS[function](old & MASK, b & MASK) & MASK


def test_an_atomic_instruction_is_for_l1():
    with pytest.raises(SimulatorError, match="L1_ADDRESS"):
        ran("blackhole", [*load_constant(A, 0xFFB00000), 1 << 27 | B << 20 | A << 15 | 2 << 12 | RESULT << 7 | 0x2F])
    with pytest.raises(SimulatorError, match="illegal instruction"):
        ran("wormhole_b0", [1 << 27 | B << 20 | A << 15 | 2 << 12 | RESULT << 7 | 0x2F])
