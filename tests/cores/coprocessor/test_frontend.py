"""The frontend: MOP and REPLAY expand to the words that the instruction set's documentation says, one a cycle."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensim.sim.cores.coprocessor.instruction_table import CHIPS, instructions
from tensim.sim.cores.coprocessor.tile import Tile
from tensim.sim.errors import SimulatorError

BASE, OFFSET_HALF = 20, 2 * 21  # GPR with the L1 address of the trace, half GPR with the offset in it
TRACE = 0x1000


def mark(table, register):
    """A word that appends the number in a GPR to the trace in L1."""
    return table["STOREIND"].word(
        AddrRegIndex=BASE,
        DataRegIndex=register,
        AutoIncSpec=1,
        OffsetIndex=OFFSET_HALF,
        RegSizeSel=0,
        SizeSel=1,
        MemHierSel=1,
    )


class Traced:
    """A tile whose GPR k holds k, with the trace that words of `mark` leave."""

    def __init__(self, chip):
        self.table, self.tile = instructions(chip), Tile(chip)
        self.tile.arrays.gprs[:] = range(64)
        self.tile.arrays.gprs[:, BASE], self.tile.arrays.gprs[:, BASE + 1] = TRACE // 16, 0

    def mark(self, register):
        return mark(self.table, register)

    def set_mop(self, thread, words):
        self.tile.set_mop(thread, words)

    def run(self, words, thread=0):
        """The numbers that the words have appended."""
        self.tile.execute(thread, words)
        count = int(self.tile.arrays.gprs[thread, BASE + 1]) // 2
        return self.tile.l1[TRACE : TRACE + 2 * count].view("<u2").tolist()


@pytest.fixture(params=CHIPS)
def chip(request):
    return request.param


def looped(outer, inner, words):
    """Words of a MOP of template 1, as MOPExpander.md says: `words`: start, end0, end1, loop, loop1, last of all, last of outer."""
    start, end0, end1, loop, loop1, last, last_inner = words
    alternates = loop1 is not None
    count = 2 * inner if alternates else inner
    if outer == 1 and start is None and count == 0 and end0 is not None:
        outer += 128
    result, current = [], loop
    for j in range(outer):
        if start is not None:
            result.append(start)
        for i in range(count):
            if i != count - 1:
                result.append(current)
            else:
                result.append(last_inner if j != outer - 1 else last)
            if alternates:
                current = loop1 if current == loop else loop
        if end0 is not None:
            result += [end0] if end1 is None else [end0, end1]
    return result


def masked(mask, count, flags, words):
    """Words of a MOP of template 0: `words`: B, A0, A1, A2, A3, the one for a skipped A0, for a skipped B."""
    b, a0, a1, a2, a3, skip_a, skip_b = words
    result = []
    for i in range(count):
        if mask >> i & 1 == 0:
            result += [a0] + ([a1, a2, a3] if flags & 2 else []) + ([b] if flags & 1 else [])
        else:
            result += [skip_a] + ([skip_b] if flags & 1 else [])
    return result


register = st.integers(1, 15)
maybe = st.one_of(st.none(), register)


@settings(max_examples=40, deadline=None)
@given(
    outer=st.integers(0, 5), inner=st.integers(0, 6),
    words=st.tuples(maybe, maybe, maybe, register, maybe, register, register), thread=st.integers(0, 2),
)  # fmt: skip
def test_a_mop_of_template_1_loops(outer, inner, words, thread):
    traced = Traced("wormhole_b0")
    nop = traced.table["NOP"].word()
    traced.set_mop(thread, [outer, inner, *(nop if word is None else traced.mark(word) for word in words)])
    assert traced.run([traced.table["MOP"].word(mop_type=1)], thread) == looped(outer, inner, words)


@settings(max_examples=40, deadline=None)
@given(
    mask=st.integers(0, (1 << 32) - 1), count=st.integers(1, 40), flags=st.integers(0, 3),
    words=st.tuples(*[register] * 7),
)  # fmt: skip
def test_a_mop_of_template_0_chooses_by_its_mask(mask, count, flags, words):
    traced = Traced("blackhole")
    b, a0, a1, a2, a3, skip_a, skip_b = map(traced.mark, words)
    traced.set_mop(0, [0, flags, b, a0, a1, a2, a3, skip_a, skip_b])
    table = traced.table
    program = [
        table["MOP_CFG"].word(zmask_hi16=mask >> 16),
        table["MOP"].word(mop_type=0, loop_count=count - 1, zmask_lo16_or_loop_count=mask & 0xFFFF),
    ]
    assert traced.run(program) == masked(mask, count, flags, words)


@pytest.mark.parametrize("execute", [0, 1])
def test_replay_records_and_gives_back(chip, execute):
    traced = Traced(chip)
    replay, words = traced.table["REPLAY"], [traced.mark(k) for k in (3, 5, 7, 9)]
    program = [replay.word(start_idx=30, len=4, execute_while_loading=execute, load_mode=1), *words, traced.mark(1)]
    program += [replay.word(start_idx=30, len=4), replay.word(start_idx=31, len=2)]
    assert traced.run(program) == ([3, 5, 7, 9] if execute else []) + [1, 3, 5, 7, 9, 5, 7]


def test_a_mop_may_replay(chip):
    traced = Traced(chip)
    replay, nop = traced.table["REPLAY"], traced.table["NOP"].word()
    again = replay.word(start_idx=0, len=2)
    traced.set_mop(0, [2, 3, nop, traced.mark(9), nop, again, nop, again, again])
    program = [
        replay.word(start_idx=0, len=2, load_mode=1),
        traced.mark(1),
        traced.mark(2),
        traced.table["MOP"].word(mop_type=1),
    ]
    assert traced.run(program) == 2 * ([1, 2] * 3 + [9])


def test_expansions_take_a_cycle_a_word(chip):
    """A hundred words of a unit that takes one a cycle, from one MOP: a hundred cycles and the way through the stages."""
    traced = Traced(chip)
    table = traced.table
    step = table["INCADCXY"].word(Ch0_Y=1, CntSetMask=1)
    nop = table["NOP"].word()
    traced.set_mop(0, [4, 25, nop, nop, nop, step, nop, step, step])
    traced.run([table["MOP"].word(mop_type=1)])
    assert traced.tile.arrays.adcs[0, 0, 0]["y"] == 100
    assert 100 <= traced.tile.cycle <= 106


def test_an_unknown_word_stops_by_name(chip):
    tile = Tile(chip)
    with pytest.raises(SimulatorError, match="UNKNOWN_INSTRUCTION.*0xff000000"):
        tile.execute(0, [0xFF000000])
