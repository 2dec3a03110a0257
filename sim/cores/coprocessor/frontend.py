"""A thread's frontend: FIFO, MOP expander, FIFO, replay expander, FIFO, wait gate (ISA: README.md, MOPExpander.md, REPLAY.md).

Each stage takes and gives at most one word a cycle.  Sizes of the FIFOs: ISA, drawing TensixFrontend.  The first FIFO keeps the
cycle from which a word is there, so a RISC-V core may push ahead of the coprocessor's clock.
"""

import numpy as np

from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.state import BLACKHOLE, N_THREADS, chip_of
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import in_cache_lines, load_i64, load_u32, store_32, store_64, zeros_in_cache_lines
from tensim.sim.engine.tables import table

MOP, NOP, MOP_CFG, REPLAY = opcodes("MOP NOP MOP_CFG REPLAY")
FIRST_FIFO = (32, 16, 16)  # words, by thread
MIDDLE_FIFO, GATE_FIFO = 8, 2
REPLAY_WORDS = 32
MOP_WORDS = 9
RING = 32  # entries of each ring in memory
NOTHING = -1
# Bits of the counts of a MOP's loops, by chip: ISA, MOPExpander.md; Blackhole's go to 1000 and beyond
# (tensix_sync_mop_drain_test.cpp of tt-llk in ttnn 0.81.1)
LOOP_MASKS = (0x7F, 0x3FF)
PASS, LOADING, LOADING_AND_PASSING, REPLAYING = range(4)  # of the replay expander
NO_WAIT, STALL_WAIT, SEMAPHORE_WAIT = range(3)  # latched at the wait gate
NO_TIME = 1 << 62

# `*_head`, `*_count`: of the rings; `mop_*`: the expansion under way (`mop_left` words, 0: none): its template, iteration of the
# outer and inner loop and place in it, mask; `replay_*`: what the replay expander does and what is left of it;
# `wait_*`: the latched instruction; `wait_from`: first cycle at which its conditions are looked at; `held_until`: cycle until
# which the scalar unit holds the thread; `pushed`, `passed`: words taken in and let through so far, `passed_at`:
# cycle of the last one let through; `look_at`: the first cycle at which the gate is to be looked at again, unless what it waits
# for changes before (`look_at_gates`), `passes_at`: the one from which it lets its word through by itself; `move_at`, `moves_at`:
# likewise when the expanders are to be looked at again, and when they do something by themselves
FRONTEND = in_cache_lines(
    [(name, np.int64) for name in (
        "first_head first_count middle_head middle_count gate_head gate_count "
        "mop_on mop_template mop_outer mop_inner mop_place mop_outer_count mop_inner_count mop_mask mop_mask_high "
        "replay_mode replay_index replay_left wait_kind wait_block wait_condition wait_semaphores wait_from held_until "
        "pushed passed passed_at look_at passes_at move_at moves_at line"
    ).split()]
    + [("first", np.uint32, RING), ("first_time", np.int64, RING), ("middle", np.uint32, RING), ("gate", np.uint32, RING),
       ("replay", np.uint32, REPLAY_WORDS), ("mop", np.uint32, MOP_WORDS)]
)  # fmt: skip
frontend_table = table(FRONTEND)
_AT = {name: FRONTEND.fields[name][1] for name in ("first", "first_time", "middle", "gate", "replay", "mop")}
FIRST_AT, FIRST_TIME_AT, MIDDLE_AT, GATE_AT, REPLAY_AT, MOP_AT = _AT.values()
FRONTEND_BYTES = FRONTEND.itemsize


def make_frontends():
    """FRONTEND[3] after reset."""
    return zeros_in_cache_lines(N_THREADS, FRONTEND)


@compiled(inline="always")
def frontend_of(c, thread):
    """A thread's frontend."""
    return frontend_table(c.frontends_at)[thread]


@compiled(inline="always")
def frontend_at(c, thread):
    """Host address of a thread's frontend."""
    return c.frontends_at + FRONTEND_BYTES * thread


@compiled(inline="always")
def first_fifo_words(thread):
    """Words that the FIFO behind a RISC-V core holds."""
    return FIRST_FIFO[0] if thread == 0 else FIRST_FIFO[1]


@compiled()
def has_room(c, thread):
    """May the thread's RISC-V core push a word?"""
    return frontend_of(c, thread).first_count < first_fifo_words(thread)


@compiled()
def push(c, thread, word, time):
    """Take in a word that arrives at a cycle; the FIFO has room."""
    f, at = frontend_of(c, thread), frontend_at(c, thread)
    place = (f.first_head + f.first_count) % RING
    store_32(at + FIRST_AT + 4 * place, word)
    store_64(at + FIRST_TIME_AT + 8 * place, time)
    f.first_count += 1
    f.pushed += 1
    f.move_at = 0


@compiled()
def set_mop(c, thread, index, word):
    """Write an entry of the MOP expander's configuration."""
    store_32(frontend_at(c, thread) + MOP_AT + 4 * index, word)


@compiled(inline="always")
def _mop_word(at, index):
    return load_u32(at + MOP_AT + 4 * index)


@compiled(inline="always")
def is_nop(word):
    """Does the MOP expander leave a word out?"""
    return word >> 24 == NOP


@compiled()
def begin_mop(f, at, word, loop_mask):
    """Set up the expansion of a MOP; `loop_mask`: bits of a loop's count."""
    f.mop_on, f.mop_template, f.mop_outer, f.mop_inner, f.mop_place = 1, word >> 23 & 1, 0, 0, 0
    if f.mop_template == 0:
        f.mop_mask = f.mop_mask_high << 16 | (word & 0xFFFF)
        f.mop_outer_count = (word >> 16 & 0x7F) + 1
        return
    f.mop_outer_count, f.mop_inner_count = _mop_word(at, 0) & loop_mask, _mop_word(at, 1) & loop_mask
    start, end = _mop_word(at, 2), _mop_word(at, 3)
    if f.mop_outer_count == 1 and is_nop(start) and f.mop_inner_count == 0 and not is_nop(end):
        f.mop_outer_count += loop_mask + 1  # a fault of the hardware (ISA: MOPExpander.md)
    if not is_nop(_mop_word(at, 6)):
        f.mop_inner_count *= 2


@compiled()
def masked_word(f, at):
    """Next word of a MOP of template 0, NOTHING at its end: mask bits choose between two groups of words."""
    flags = _mop_word(at, 1)
    while f.mop_outer < f.mop_outer_count:
        place, skipped = f.mop_place, f.mop_mask >> min(f.mop_outer, 32) & 1
        f.mop_place += 1
        if skipped == 0:
            if place == 0:
                return _mop_word(at, 3)
            if place <= 3 and flags & 2 != 0:
                return _mop_word(at, 3 + place)
            if place == 4 and flags & 1 != 0:
                return _mop_word(at, 2)
        else:
            if place == 0:
                return _mop_word(at, 7)
            if place == 4 and flags & 1 != 0:
                return _mop_word(at, 8)
        if place >= 4:
            f.mop_place = 0
            f.mop_outer += 1
    return NOTHING


@compiled()
def looped_word(f, at):
    """Next word of a MOP of template 1, NOTHING at its end: start, inner loop, two words at the end, in an outer loop."""
    while f.mop_outer < f.mop_outer_count:
        if f.mop_place == 0:
            f.mop_place, f.mop_inner = 1, 0
            if not is_nop(_mop_word(at, 2)):
                return _mop_word(at, 2)
        if f.mop_place == 1:
            if f.mop_inner < f.mop_inner_count:
                i = f.mop_inner
                f.mop_inner += 1
                if i == f.mop_inner_count - 1:
                    return _mop_word(at, 8 if f.mop_outer != f.mop_outer_count - 1 else 7)
                # two loop words alternate, over the outer loop too: the inner count is then even
                other = i & 1 != 0 and not is_nop(_mop_word(at, 6))
                return _mop_word(at, 6 if other else 5)
            f.mop_place = 2
        if f.mop_place == 2:
            f.mop_place = 3
            if not is_nop(_mop_word(at, 3)):
                return _mop_word(at, 3)
            f.mop_place = 4
        if f.mop_place == 3:
            f.mop_place = 4
            if not is_nop(_mop_word(at, 4)):
                return _mop_word(at, 4)
        f.mop_place = 0
        f.mop_outer += 1
    return NOTHING


@compiled()
def is_next(c, thread, now, code):
    """Has a word of an opcode, NOTHING for any, arrived at the MOP expander?"""
    f, at = frontend_of(c, thread), frontend_at(c, thread)
    if f.first_count == 0 or load_i64(at + FIRST_TIME_AT + 8 * f.first_head) > now:
        return False
    return code == NOTHING or load_u32(at + FIRST_AT + 4 * f.first_head) >> 24 == code


@compiled(forceinline=True)
def step_mop(c, thread, now):
    """One cycle of the MOP expander; True when it has done something."""
    f, at = frontend_of(c, thread), frontend_at(c, thread)
    if f.middle_count >= MIDDLE_FIFO:
        return False
    word = NOTHING
    if f.mop_on != 0:
        word = masked_word(f, at) if f.mop_template == 0 else looped_word(f, at)
        if word == NOTHING:
            f.mop_on = 0
            if not is_next(c, thread, now, MOP):
                return True  # the expander turns back, which takes a cycle (ISA: MOPExpander.md, Performance)
    while word == NOTHING:
        if not is_next(c, thread, now, NOTHING):
            return False
        word = load_u32(at + FIRST_AT + 4 * f.first_head)
        f.first_head = (f.first_head + 1) % RING
        f.first_count -= 1
        c.cores_look = 1
        if word >> 24 == MOP:
            begin_mop(f, at, word, LOOP_MASKS[1] if chip_of(c) == BLACKHOLE else LOOP_MASKS[0])
            word = masked_word(f, at) if f.mop_template == 0 else looped_word(f, at)
            if word == NOTHING:
                f.mop_on = 0
        elif word >> 24 == MOP_CFG:
            f.mop_mask_high = word & 0xFFFF
            return True
    store_32(at + MIDDLE_AT + 4 * ((f.middle_head + f.middle_count) % RING), word)
    f.middle_count += 1
    return True


@compiled(forceinline=True)
def step_replay(c, thread):
    """One cycle of the replay expander; True when it has done something."""
    f, at = frontend_of(c, thread), frontend_at(c, thread)
    if f.gate_count >= GATE_FIFO:
        return False
    word = NOTHING
    if f.replay_mode != REPLAYING:
        if f.middle_count == 0:
            return False
        word = load_u32(at + MIDDLE_AT + 4 * f.middle_head)
        f.middle_head = (f.middle_head + 1) % RING
        f.middle_count -= 1
        if f.replay_mode == PASS and word >> 24 == REPLAY:
            f.replay_index, f.replay_left = word >> 14 & 31, word >> 4 & 63
            if f.replay_left == 0:
                f.replay_left = 64
            if word & 1 != 0:
                f.replay_mode = LOADING_AND_PASSING if word & 2 != 0 else LOADING
                return True
            f.replay_mode = REPLAYING
    mode = f.replay_mode
    if mode != PASS:
        place = at + REPLAY_AT + 4 * (f.replay_index % REPLAY_WORDS)
        if mode == REPLAYING:
            word = load_u32(place)
        else:
            store_32(place, word)
        f.replay_index += 1
        f.replay_left -= 1
        if f.replay_left == 0:
            f.replay_mode = PASS
        if mode == LOADING:
            return True
    store_32(at + GATE_AT + 4 * ((f.gate_head + f.gate_count) % RING), word)
    if f.gate_count == 0:
        f.look_at = 0
    f.gate_count += 1
    return True


@compiled()
def look_at_gates(c):
    """Something has changed that a gate or a core may wait for: they are looked at in the next cycle that is simulated.

    What the passing of time changes, and busy units, need not be told: a gate is looked at when they let its word pass.
    """
    c.cores_look = 1
    for thread in range(N_THREADS):
        frontend_of(c, thread).look_at = 0


@compiled()
def at_gate(c, thread):
    """The word that waits at the thread's gate, or NOTHING."""
    f = frontend_of(c, thread)
    return load_u32(frontend_at(c, thread) + GATE_AT + 4 * f.gate_head) if f.gate_count > 0 else NOTHING


@compiled()
def leave_gate(c, thread, now):
    """Take the word at the gate away, in a cycle."""
    f = frontend_of(c, thread)
    f.gate_head = (f.gate_head + 1) % RING
    f.gate_count -= 1
    f.move_at = 0
    f.passed += 1
    f.passed_at = now


@compiled()
def is_empty(c, thread):
    """Does no stage of the thread's frontend hold anything?"""
    f = frontend_of(c, thread)
    return f.first_count + f.middle_count + f.gate_count + f.mop_on == 0 and f.replay_mode != REPLAYING


@compiled()
def expands_no_mop(c, thread):
    """Has the MOP expander nothing to expand, now or waiting before it?  (ISA: TTSync.md, MOPExpanderDoneCheck.)"""
    f, at = frontend_of(c, thread), frontend_at(c, thread)
    if f.mop_on != 0:
        return False
    for i in range(f.first_count):
        if load_u32(at + FIRST_AT + 4 * ((f.first_head + i) % RING)) >> 24 == MOP:
            return False
    return True


@compiled()
def next_word_time(c, thread):
    """Cycle from which the first word of the first FIFO is there, NO_TIME when there is none."""
    f = frontend_of(c, thread)
    return load_i64(frontend_at(c, thread) + FIRST_TIME_AT + 8 * f.first_head) if f.first_count > 0 else NO_TIME
