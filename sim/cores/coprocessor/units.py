"""The backend's units in time: which one executes an instruction, since when and until when each is busy.

`Cost` of an instruction: cycles until its unit takes the next one (`occupancy`), and until it has left the unit's pipeline
(`latency`), which is what STALLWAIT looks at.
"""

import numpy as np

from tensim.sim.cores.coprocessor.instruction_table import by_opcode
from tensim.sim.cores.coprocessor.state import N_THREADS
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.tables import table

(SYNC, UNPACK_0, UNPACK_1, MATRIX, PACK, VECTOR, SCALAR, CONFIG, MOVER, MISCELLANEOUS, NO_UNIT) = range(11)
N_UNITS = 11
UNIT_NAMES = "sync unpacker0 unpacker1 matrix packers vector scalar config mover counters none".split()
UNKNOWN, UNIT_MASK, BLOCK_AT = 255, 255, 8
_RESOURCES = {"SYNC": SYNC, "UNPACK": UNPACK_0, "MATH": MATRIX, "PACK": PACK, "SFPU": VECTOR, "THCON": SCALAR, "CFG": CONFIG,
              "XMOV": MOVER, "TDMA": MISCELLANEOUS, "NONE": NO_UNIT}  # fmt: skip
# bits of STALLWAIT's block mask that hold up a unit's instructions (ISA: STALLWAIT.md)
_BLOCKED_BY = {SYNC: 1 << 1, UNPACK_0: 1 | 1 << 3, UNPACK_1: 1 | 1 << 3, MATRIX: 1 << 6, PACK: 1 | 1 << 2, VECTOR: 1 << 8,
               SCALAR: 1 | 1 << 5, CONFIG: 1 << 7, MOVER: 1 | 1 << 4, MISCELLANEOUS: 1, NO_UNIT: 0}  # fmt: skip
DST_BLOCKS = 128  # of 8 rows

# `free`: cycle from which a unit takes an instruction; `busy`: by thread, cycle until which the unit has one of its
# instructions, `left`: until which any of them has (ISA: TTSync.md, CoprocessorDoneCheck); `writes`: cycle until which an unpacker
# writes, `port`: until which both have their joint port to L1 taken, `held`: what packers still take of it (cycles, FRACTION);
# `entered`: when an unpacker took its last instruction; `bank_wait`: by thread, cycle since which its instruction has waited for a
# bank, -1 for none; `ahead`: cycles by which its next ones would be earlier if the unpackers had not waited for banks;
# `src_a_valid`, `src_b_valid`: cycle from which a bank that was given can be read, by bank; `src_a_given`, `src_b_given`: when the
# matrix unit gave it back;
# `configured`: cycle from which the matrix unit has a thread's configuration, `ended_product`: is the thread's last one there
# an MVMUL or a SETRWC as behind a product?; `dst_ready`: cycle from which a block of Dst can be read; `instructions`: by
# opcode, the unit and, from bit `BLOCK_AT` on, which bits of STALLWAIT's block mask hold it up;
# `issued`: instructions so far, `worked`: cycles of work, by unit;
# `flops`: of the matrix unit, those of a product once for all of its fidelity phases; for a timeline: `spans_at`, address of
# SPAN[SPANS], 0 when nobody asks, `n_spans` in it, `newest`: the last one of each unit, -1 if it has none there
SPAN = np.dtype([(name, np.int64) for name in "unit thread opcode start end".split()])
SPANS = 1024
UNITS = np.dtype(
    [("free", np.int64, N_UNITS), ("busy", np.int64, (N_THREADS, N_UNITS)), ("writes", np.int64, 2), ("port", np.int64),
     ("held", np.int64), ("entered", np.int64, 2), ("bank_wait", np.int64, N_THREADS), ("ahead", np.int64, N_THREADS),
     ("src_a_valid", np.int64, 2), ("src_b_valid", np.int64, 2), ("src_a_given", np.int64, 2), ("src_b_given", np.int64, 2),
     ("dst_ready", np.int64, DST_BLOCKS), ("configured", np.int64, N_THREADS), ("ended_product", np.int64, N_THREADS),
     ("issued", np.int64, N_UNITS), ("worked", np.int64, N_UNITS), ("flops", np.int64), ("spans_at", np.int64),
     ("n_spans", np.int64), ("newest", np.int64, N_UNITS),
     ("left", np.int64, N_THREADS), ("instructions", np.int64, 256)]
)  # fmt: skip
units_table, span_table = table(UNITS), table(SPAN)


def make_units(arch):
    """UNITS[1] of idle units of a chip."""
    units = np.zeros(1, UNITS)
    units["instructions"] = UNKNOWN
    for code, instruction in by_opcode(arch).items():
        unit = _RESOURCES[instruction.unit]
        units["instructions"][0, code] = _BLOCKED_BY[unit] << BLOCK_AT | unit
    units["newest"] = units["bank_wait"] = -1
    return units


@compiled()
def busy_until(c, thread, unit):
    """Cycle until which a unit has an instruction of a thread in its pipeline."""
    return units_table(c.units_at)[0].busy[thread, unit]


@compiled()
def occupy(c, thread, unit, now, occupancy, latency):
    """Account for an instruction that enters a unit."""
    u = units_table(c.units_at)[0]
    u.free[unit] = now + occupancy
    u.busy[thread, unit] = max(u.busy[thread, unit], now + latency)
    if unit != NO_UNIT:
        u.left[thread] = max(u.left[thread], now + latency)
    u.issued[unit] += 1
    u.worked[unit] += occupancy


@compiled()
def note_span(u, unit, thread, opcode, start, end):
    """Tell a timeline what a unit did; equal instructions of a thread without a gap are one span."""
    last = u.newest[unit]
    if last >= 0:
        span = span_table(u.spans_at)[last]
        if span.thread == thread and span.opcode == opcode and start <= span.end:
            span.end = max(span.end, end)
            return
    if u.n_spans < SPANS:
        span, u.newest[unit] = span_table(u.spans_at)[u.n_spans], u.n_spans
        span.unit, span.thread, span.opcode, span.start, span.end = unit, thread, opcode, start, end
        u.n_spans += 1


@compiled()
def has_room_for_spans(c):
    """Can the units of a tile tell of another cycle?"""
    u = units_table(c.units_at)[0]
    return u.spans_at == 0 or u.n_spans <= SPANS - N_THREADS
