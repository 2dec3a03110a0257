"""What a RISC-V core posts for the event loop: operations, accesses, faults and prints; and what it gets back."""

import numpy as np

from tensim.sim.cores import context as ctx
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.noc_record import record_call
from tensim.sim.cores.oddities import note
from tensim.sim.cores.print_log import MORE, PRINT_BYTES, TEXT_FROM_END, TEXT_PIECE, print_table
from tensim.sim.cores.print_tiles import BUFFER_TILE, DST_TILE, print_buffer_tile, print_dst_tile
from tensim.sim.cores.riscv.core import FAULTED, LOADED, NOTHING, REGISTER_BYTES, RESULT
from tensim.sim.cores.riscv.decode import SINK
from tensim.sim.cores.riscv.instruction_results import (
    DIV,
    DIVU,
    JALR,
    LB,
    LH,
    REMU,
    SMALLEST,
    SW,
    WORD_MASK,
    bit_length,
    quotient,
    remainder,
)
from tensim.sim.cores.riscv.layout import LOCAL_BASE
from tensim.sim.cores.riscv.traps import Form, Print
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT
from tensim.sim.cores.threads import argument, issue, log_span
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_i64, load_u8, store_8, store_64, zero_bytes
from tensim.sim.state import WAIT_NONE

FORM_PAIR, FORM_UNSIGNED, FORM_IMMEDIATE = int(Form.PAIR), int(Form.UNSIGNED), int(Form.IMMEDIATE)
_STACK = int(Fault.STACK_OVERFLOW)
_ARGUMENT_UNSET = int(Fault.ARGUMENT_UNSET)
_DIVISION_BY_ZERO = int(Fault.DIVISION_BY_ZERO)
ROW_BYTES = 24  # of the line table
TAINT_BRANCH, TAINT_ADDRESS, TAINT_OPERAND, TAINT_DIVISION, TAINT_CONTROL = range(5)  # what unknown data reached
PRINT_TEXT, PRINT_FORMAT = int(Print.TEXT), int(Print.FORMAT)
MAX_PRINTED = 512  # bytes of a text in local memory


@compiled()
def division(m, core, index, pc, code, a, b):
    """(result, cycles, whether it is a fault) of a division or remainder (docs/hardware/riscv.md#pipeline).

    As RISC-V demands: a division by zero gives -1 and the dividend, the one that overflows gives the dividend and 0.  With checks
    on the first is a fault.
    """
    if code == DIVU or code == REMU:
        a, b = a & WORD_MASK, b & WORD_MASK
    is_quotient = code == DIV or code == DIVU
    if b == 0:
        refused = m.checker_at != 0 and set_fault(core, _DIVISION_BY_ZERO, a, 0, 0)
        if not refused:
            note(m, index, pc >> 2, _DIVISION_BY_ZERO, a, 0, 0)
        return -1 if is_quotient else a, m.division_short, refused
    cycles = m.division_short
    if b != 1 and not (a == SMALLEST and b == -1):
        steps = (bit_length(abs(a)) + m.division_bits - 1) // m.division_bits
        cycles = min(m.division_base + m.division_bits * max(steps, 1), m.division_longest)
    return quotient(a, b) if is_quotient else remainder(a, b), cycles, False


@compiled()
def unknown_reaches(mask, record):
    """What data that are not known decide in an instruction that is no arithmetic, or -1: they may be stored."""
    code = record & 255
    if code <= SW:
        return TAINT_ADDRESS if mask >> (record >> 16 & 255) & 1 != 0 else -1
    if code == JALR:
        return TAINT_ADDRESS
    return TAINT_DIVISION if code >= DIV else TAINT_BRANCH


@compiled()
def resume_core(m, t, core, cycle):
    """Give the core the result of what it had posted."""
    if core.pending == LOADED or core.pending == RESULT:
        value = load_i64(t.context + 8 * ctx.RESULT)
        ready = cycle
        if core.pending == LOADED:
            ready = load_i64(t.context + 8 * ctx.READY)
            if core.pending_code == LB:
                value = np.int64(np.int8(value))
            elif core.pending_code == LH:
                value = np.int64(np.int16(value))
        elif core.pending_to != SINK:
            core.result = value
        at = core.registers_at + 8 * core.pending_to
        store_64(at, np.int64(np.int32(value)))
        store_64(at + REGISTER_BYTES, ready)
    core.pending = NOTHING


@compiled()
def post(m, t, operation, pc, a, b, c):
    """Leave an operation of the core itself for the event loop."""
    t.operation, t.line = operation, pc >> 2
    store_64(t.context + 8 * ctx.ARG0, a)
    store_64(t.context + 8 * (ctx.ARG0 + 1), b)
    store_64(t.context + 8 * (ctx.ARG0 + 2), c)


@compiled()
def set_fault(core, fault, a, b, c):
    """Note why the core fails behind the SPEND that it posts next; returns True."""
    core.pending, core.fault, core.fault_a, core.fault_b, core.fault_c = FAULTED, fault, a, b, c
    return True


@compiled()
def stack_pointer(core, value):
    """(a new value of the stack pointer, whether it lies outside the stack, which is a fault)."""
    if core.data_end <= (value & WORD_MASK) - LOCAL_BASE <= core.local_bytes:
        return value, False
    return value, set_fault(core, _STACK, value & WORD_MASK, LOCAL_BASE + core.data_end, LOCAL_BASE + core.local_bytes)


@compiled()
def note_print(m, t, core, index, now):
    """Append what the core prints to the log, with the text if that lies in its local memory."""
    kind, value, extra = argument(t, 0), argument(t, 1) & WORD_MASK, argument(t, 2)
    place, left = value - LOCAL_BASE, 0
    if kind == BUFFER_TILE:
        print_buffer_tile(m, index, now, value & 255, extra, value >> 8 & 255, value >> 16)
        return
    if kind == DST_TILE:
        print_dst_tile(m, index, now, value)
        return
    if kind == PRINT_TEXT or kind == PRINT_FORMAT:
        left = min(max(core.local_bytes - place, 0), MAX_PRINTED) if place >= 0 else 0
    while True:
        entry = print_table(m.prints_at)[m.n_prints]
        entry.thread, entry.time, entry.kind, entry.value, entry.extra = index, now, kind, value, extra
        m.n_prints += 1
        texts = m.prints_at + m.n_prints * PRINT_BYTES - TEXT_FROM_END
        zero_bytes(texts, TEXT_PIECE)
        for i in range(min(left, TEXT_PIECE)):
            byte = load_u8(core.local_at + place + i)
            store_8(texts + i, byte)
            if byte == 0:
                return
        place, left, kind = place + TEXT_PIECE, left - TEXT_PIECE, MORE
        if left <= 0:
            return


@compiled()
def hand_over(m, t, index, base, origin, cycle):
    """Account for the core's work up to `cycle`, at which it acts itself; returns the cycle of that event."""
    end = max(base, cycle)
    if t.slot >= FIRST_COMPUTE_SLOT:
        t.issued = cycle
        t.busy += end - base
        t.issue_busy += end - base
    else:
        t.busy += cycle - origin
    if m.log_on != 0:
        log_span(m, index, WAIT_NONE, base, end, 0)
    return end


@compiled()
def hand_operation(m, t, index, base, origin, cycle, pc):
    """Post the operation in the context block; returns the cycle at which it takes effect."""
    t.line = pc >> 2
    t.operations += 1
    m.operations += 1
    row = m.lines_at + ROW_BYTES * (t.line_base + t.line)
    store_64(row + 16, load_i64(row + 16) + 1)
    end = cycle
    if t.slot >= FIRST_COMPUTE_SLOT:
        t.issued = cycle
        end = issue(m, index, base, 0)
        store_64(row, load_i64(row) + end - max(base, cycle))
    else:
        t.busy += cycle - origin
    if m.log_on != 0:
        log_span(m, index, WAIT_NONE, base, end, 0)
    if m.record_on != 0:
        record_call(m, t, index, end)
    return end


@compiled()
def argument_refused(m, t, core, index, pc, address):
    """A runtime argument is read that was not set: whether that is a fault, with checks on; else it is what L1 holds."""
    number = (address - load_i64(t.context + 8 * ctx.L1_ARGS)) >> 2
    given, common = load_i64(t.context + 8 * ctx.N_ARGS), load_i64(t.context + 8 * ctx.N_COMMON_ARGS)
    if m.checker_at != 0:
        return set_fault(core, _ARGUMENT_UNSET, number, given, common)
    note(m, index, pc >> 2, _ARGUMENT_UNSET, number, given, common)
    return False


@compiled()
def put_arguments(t, core, operands):
    """Write an operation's arguments into the context block: (cycle from which all of them can be used, registers)."""
    count, ready, used = load_i64(operands + 16), 0, 0
    for i in range(count):
        word = load_i64(operands + 24 + 8 * i)
        form, first, second = word & 255, word >> 8 & 255, word >> 16 & 255
        at = core.registers_at + 8 * first
        value = load_i64(at)
        ready = max(ready, load_i64(at + REGISTER_BYTES))
        used |= 1 << first
        if form == FORM_IMMEDIATE:
            value = word >> 32
        elif form == FORM_UNSIGNED:
            value &= WORD_MASK
        elif form == FORM_PAIR:
            at = core.registers_at + 8 * second
            value = (value & WORD_MASK) | (load_i64(at) << 32)
            ready = max(ready, load_i64(at + REGISTER_BYTES))
            used |= 1 << second
        store_64(t.context + 8 * (ctx.ARG0 + i), value)
    return ready, used & ~1
