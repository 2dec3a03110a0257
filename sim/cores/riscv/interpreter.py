"""RV32IM instruction by instruction, with timing: an in-order core with a ready time per register.

`interpret` runs a core from where it stands to its next operation and posts that, as a Python kernel's coroutine does
(`tensim.sim.cores.threads`).  Costs are the `riscv.*` parameters from which plain code of Python kernels is charged.  Loads
and stores of L1 are seen by others: they happen in the order of events.  While no event is due before one, it is
carried out at once; else it is posted as LOAD or STORE.  Both ways give the same cycles, counters and bytes.

The clock of a compute thread's core is `issued`; the event heap knows the time of its coprocessor, which the core has to reach
before it looks at L1.  Cycles are counted per instruction in the rows of the line table, from `line_base` on.
"""

import numpy as np

from tensim.sim.cores import context as ctx
from tensim.sim.cores.circular_buffer import write_pointer
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.local_memory import begin_load, begin_store
from tensim.sim.cores.noc_record import record_call
from tensim.sim.cores.oddities import note
from tensim.sim.cores.operations import Op
from tensim.sim.cores.print_log import MORE, PRINT_BYTES, TEXT_FROM_END, TEXT_PIECE, print_table
from tensim.sim.cores.print_tiles import BUFFER_TILE, DST_TILE, print_buffer_tile, print_dst_tile
from tensim.sim.cores.riscv.core import (
    BROKEN,
    FAULTED,
    LOADED,
    NOTHING,
    PRINTED,
    REGISTER_BYTES,
    RESULT,
    RETRY,
    core_table,
)
from tensim.sim.cores.riscv.decode import MISALIGNED_TARGET, SINK, Code
from tensim.sim.cores.riscv.layout import CB_STRIDE, CB_WINDOW, LOCAL_BASE, N_CIRCULAR_BUFFERS
from tensim.sim.cores.riscv.traps import Form, Print, Service
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT
from tensim.sim.cores.threads import (
    OPERATION_END,
    argument,
    fail,
    issue,
    log_span,
    thread_key,
)
from tensim.sim.engine import event_heap
from tensim.sim.engine.compiled import Intrinsic, compiled, ir, types
from tensim.sim.engine.memory import (
    load_i8,
    load_i16,
    load_i32,
    load_i64,
    load_u8,
    load_u16,
    store_8,
    store_16,
    store_32,
    store_64,
    zero_bytes,
)
from tensim.sim.state import RUNNING_ON, WAIT_NONE, cores_of, event_heap_of, machine_table, threads_of

(
    ADDI, ADD, SUB, LUI, SLLI, SRLI, SRAI, ANDI, ORI, XORI, SLTI, SLTIU, SLL, SRL, SRA, AND, OR, XOR, SLT, SLTU, FENCE,
    ADDI_SP, ADD_SP, SUB_SP, MUL, MULH, MULHSU, MULHU, LB, LBU, LH, LHU, LW, SB, SH, SW, BEQ, BNE, BLT, BGE, BLTU, BGEU,
    JAL, JALR, DIV, DIVU, REM, REMU, OPERATION, ILLEGAL, BREAK,
) = (int(code) for code in Code)  # fmt: skip
OP_LOAD, OP_STORE, OP_SPEND, OP_FAIL = int(Op.LOAD), int(Op.STORE), int(Op.SPEND), int(Op.FAIL)
FORM_PAIR, FORM_UNSIGNED, FORM_IMMEDIATE = int(Form.PAIR), int(Form.UNSIGNED), int(Form.IMMEDIATE)
SERVICE_END, SERVICE_PRINT = int(Service.END), int(Service.DPRINT)
SERVICE_ASSERT, SERVICE_HIGH = int(Service.FAIL_ASSERT), int(Service.RESULT_HIGH)
_ILLEGAL, _JUMP, _ADDRESS = int(Fault.ILLEGAL_INSTRUCTION), int(Fault.JUMP_OUTSIDE), int(Fault.NO_MEMORY)
_UNALIGNED, _STACK, _UNMOVED = int(Fault.MISALIGNED_ACCESS), int(Fault.STACK_OVERFLOW), int(Fault.DATA_NOT_MOVED)
_ARGUMENT_UNSET = int(Fault.ARGUMENT_UNSET)
_DIVISION_BY_ZERO = int(Fault.DIVISION_BY_ZERO)
_CB_POINTER = int(Fault.CB_POINTER)
WORD_MASK = 0xFFFFFFFF
SMALLEST = -(1 << 31)
FUEL = 4_000  # cycles after which a backward jump reports to the event loop
ROW_BYTES = 24  # of the line table
NO_ACCESS, LOADING, STORING = range(3)
NEVER_DECODED = 255
TAINT_BRANCH, TAINT_ADDRESS, TAINT_OPERAND, TAINT_DIVISION, TAINT_CONTROL = range(5)  # what unmoved data reached
PRINT_TEXT, PRINT_FORMAT = int(Print.TEXT), int(Print.FORMAT)
MAX_PRINTED = 512  # bytes of a text in local memory
FIRST_SHARED_COLUMN = ctx.CB_RECEIVED  # columns of a circular buffer's row that other threads change


def _division(operation):
    """Intrinsic of a division that rounds towards zero; the callers keep away a zero divisor."""

    def codegen(context, builder, signature, values):
        return getattr(builder, operation)(*values)

    @Intrinsic
    def divide(typingctx, dividend, divisor):
        return types.int64(types.int64, types.int64), codegen

    return divide


quotient, remainder = _division("sdiv"), _division("srem")


@Intrinsic
def bit_length(typingctx, value):
    """Bits that a number that is not negative takes."""

    def codegen(context, builder, signature, values):
        word = ir.IntType(64)
        return builder.sub(ir.Constant(word, 64), builder.ctlz(values[0], ir.Constant(ir.IntType(1), 0)))

    return types.int64(types.int64), codegen


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
def fetch(m, core, line):
    """Cycles that the fetch of a line of code takes: it is in the instruction cache or pushes out the oldest of its set."""
    entry = core.icache_at + 16 * (line & (core.icache_sets - 1))
    newest, oldest = load_i64(entry), load_i64(entry + 8)
    if newest == line:
        return 0
    store_64(entry, line)
    store_64(entry + 8, newest)
    return 0 if oldest == line else m.fetch_miss


@compiled()
def ordered_until(m, t, index):
    """The last cycle at which the thread may look at L1 before the other events, -1 if it has to post that.

    Only the thread whose event is being processed knows what comes next: the one that another's event has woken does not know
    what that event will still do.
    """
    heap = event_heap_of(m)
    if m.stop != RUNNING_ON or m.l1_posted != 0 or m.log_on != 0 or m.checker_at != 0 or heap[1] != -1 - index:
        return -1
    earliest = min(min(heap[2], heap[4]), min(heap[6], heap[8]))
    cycle = earliest >> event_heap.KEY_BITS
    if earliest & ((1 << event_heap.KEY_BITS) - 1) < thread_key(t):
        cycle -= 1
    return min(cycle, m.limit)


@compiled(inline="always")
def loaded(host, code):
    """The value that a load of this kind finds at a host address."""
    if code == LW:
        return load_i32(host)
    if code == LBU:
        return load_u8(host)
    if code == LHU:
        return load_u16(host)
    return load_i8(host) if code == LB else load_i16(host)


@compiled(inline="always")
def put(host, code, value):
    """A store of this kind at a host address."""
    if code == SW:
        store_32(host, value)
    elif code == SB:
        store_8(host, value)
    else:
        store_16(host, value)


@compiled(inline="always")
def size_of(code):
    """Bytes that a load or store moves."""
    if code == LW or code == SW:
        return 4
    return 1 if code == LB or code == LBU or code == SB else 2


@compiled()
def window_place(m, t, address):
    """Host address behind an address of the window on circular buffers, or 0; the pointers are the thread's own."""
    index, inside = (address - CB_WINDOW) // CB_STRIDE, (address - CB_WINDOW) % CB_STRIDE
    if inside >= 8 * ctx.CB_WORDS:
        return 0
    if 8 * ctx.CB_WRITE_PTR <= inside < 8 * (ctx.CB_READ_PTR + 1):
        inside += 8 * (write_pointer(t.slot) - ctx.CB_WRITE_PTR)
    return m.circular_buffers_at + 8 * ctx.CB_WORDS * (N_CIRCULAR_BUFFERS * t.core + index) + inside


@compiled()
def set_pointer(m, t, index, pc, address, value):
    """A store into the window: the thread's read and write pointers may be moved.  False when it is refused.

    On the chip they may lie anywhere; with checks on, inside their circular buffer.
    """
    host = window_place(m, t, address)
    column = (address - CB_WINDOW) % CB_STRIDE // 8
    if host == 0 or address % 8 != 0 or (column != ctx.CB_READ_PTR and column != ctx.CB_WRITE_PTR) or value > m.l1_size:
        return False
    row = window_place(m, t, address - 8 * column)
    base, size = load_i64(row + 8 * ctx.CB_BASE), load_i64(row + 8 * ctx.CB_SIZE)
    if not (base <= value <= base + size):  # its end comes between a step and the wrap behind it
        if m.checker_at != 0:
            return False
        note(m, index, pc >> 2, _CB_POINTER, address, value, 0)
    store_64(host, value)
    return True


@compiled()
def unmoved_reaches(mask, record):
    """What data that were never moved decide in an instruction that is no arithmetic, or -1: they may be stored."""
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


@compiled()
def interpret(machine, index, time):
    """Run the core of thread `index`, which goes on at `time`, to its next operation; returns the cycle of that."""
    m = machine_table(machine)[0]
    t = threads_of(m)[index]
    core = core_table(t.riscv)[0]
    compute = t.slot >= FIRST_COMPUTE_SLOT
    registers, text, text_bytes = core.registers_at, core.text_at, core.text_bytes
    local, local_bytes = core.local_at, core.local_bytes
    l1, l1_size = m.l1_at + t.core * m.l1_size, m.l1_size
    alu, branch, mul, mul_use, local_use = m.alu, m.branch, m.mul, m.mul_use, m.local_load - 1
    rows = m.lines_at + ROW_BYTES * t.line_base
    cached, text_l1 = m.fetch_miss != 0, core.text_l1
    check, unmoved_from, reserved_end = m.data_on == 0, m.user_base, m.reserved_end
    careful = cached or check
    waiters = cores_of(m)[t.core].semaphore_waiters
    until = ordered_until(m, t, index)
    load_until = until if t.reads_open == 0 else -1
    store_until = until if waiters == 0 else -1
    base = time
    cycle = t.issued if compute else time
    origin, fuel = cycle, cycle + FUEL
    granted = core.pending == RETRY
    if core.pending == FAULTED:
        fail(m, index, core.fault, core.fault_a, core.fault_b, core.fault_c)
        return -1
    if core.pending == PRINTED:
        note_print(m, t, core, index, time)
    resume_core(m, t, core, cycle)
    pc, mask, line, retired = core.pc, core.tainted, -1, 0
    end = -1
    while True:
        record = load_i64(text + (pc << 1))
        code, to, immediate = record & 255, record >> 8 & 255, record >> 32
        first, second = registers + (record >> 13 & 0x7F8), registers + (record >> 21 & 0x7F8)
        before = cycle
        following, cost, late, v, tainted = pc + 4, alu, 0, 0, 0
        access, fault = NO_ACCESS, False
        if careful:
            if cached and (text_l1 + pc) >> 4 != line and code != OPERATION and code != BREAK:
                line = (text_l1 + pc) >> 4
                cycle += fetch(m, core, line)
            if check:
                tainted = (mask >> (record >> 16 & 255) | mask >> (record >> 24 & 255)) & 1
                if tainted != 0 and code >= LB:
                    reached = unmoved_reaches(mask, record)
                    if reached >= 0:
                        fault, code = set_fault(core, _UNMOVED, reached, 0, 0), NEVER_DECODED
        cycle = max(cycle, max(load_i64(first + REGISTER_BYTES), load_i64(second + REGISTER_BYTES)))
        retired += 1
        if code == ADDI:
            v = load_i64(first) + immediate
        elif code == ADD:
            v = load_i64(first) + load_i64(second)
        elif code == SUB:
            v = load_i64(first) - load_i64(second)
        elif code == LUI:
            v = immediate
        elif code == SLLI:
            v = load_i64(first) << immediate
        elif code == SRLI:
            v = (load_i64(first) & WORD_MASK) >> immediate
        elif code == SRAI:
            v = load_i64(first) >> immediate
        elif code == ANDI:
            v = load_i64(first) & immediate
        elif code == ORI:
            v = load_i64(first) | immediate
        elif code == XORI:
            v = load_i64(first) ^ immediate
        elif code == SLTI:
            v = 1 if load_i64(first) < immediate else 0
        elif code == SLTIU:
            v = 1 if (load_i64(first) & WORD_MASK) < (immediate & WORD_MASK) else 0
        elif code == SLL:
            v = load_i64(first) << (load_i64(second) & 31)
        elif code == SRL:
            v = (load_i64(first) & WORD_MASK) >> (load_i64(second) & 31)
        elif code == SRA:
            v = load_i64(first) >> (load_i64(second) & 31)
        elif code == AND:
            v = load_i64(first) & load_i64(second)
        elif code == OR:
            v = load_i64(first) | load_i64(second)
        elif code == XOR:
            v = load_i64(first) ^ load_i64(second)
        elif code == SLT:
            v = 1 if load_i64(first) < load_i64(second) else 0
        elif code == SLTU:
            v = 1 if (load_i64(first) & WORD_MASK) < (load_i64(second) & WORD_MASK) else 0
        elif code == FENCE:
            v = 0
        elif code == ADDI_SP:
            v, fault = stack_pointer(core, load_i64(first) + immediate)
        elif code == ADD_SP:
            v, fault = stack_pointer(core, load_i64(first) + load_i64(second))
        elif code == SUB_SP:
            v, fault = stack_pointer(core, load_i64(first) - load_i64(second))
        elif code == MUL:
            v, cost, late = load_i64(first) * load_i64(second), mul, mul_use
        elif code == MULH:
            v, cost, late = (load_i64(first) * load_i64(second)) >> 32, mul, mul_use
        elif code == MULHSU:
            v, cost, late = (load_i64(first) * (load_i64(second) & WORD_MASK)) >> 32, mul, mul_use
        elif code == MULHU:
            product = np.uint64(load_i64(first) & WORD_MASK) * np.uint64(load_i64(second) & WORD_MASK)
            v, cost, late = np.int64(product >> np.uint64(32)), mul, mul_use
        elif code == LB:
            access = LOADING
        elif code == LBU:
            access = LOADING
        elif code == LH:
            access = LOADING
        elif code == LHU:
            access = LOADING
        elif code == LW:
            access = LOADING
        elif code == SB:
            access = STORING
        elif code == SH:
            access = STORING
        elif code == SW:
            access = STORING
        elif code == BEQ:
            cost = branch
            if load_i64(first) == load_i64(second):
                following = pc + immediate
        elif code == BNE:
            cost = branch
            if load_i64(first) != load_i64(second):
                following = pc + immediate
        elif code == BLT:
            cost = branch
            if load_i64(first) < load_i64(second):
                following = pc + immediate
        elif code == BGE:
            cost = branch
            if load_i64(first) >= load_i64(second):
                following = pc + immediate
        elif code == BLTU:
            cost = branch
            if (load_i64(first) & WORD_MASK) < (load_i64(second) & WORD_MASK):
                following = pc + immediate
        elif code == BGEU:
            cost = branch
            if (load_i64(first) & WORD_MASK) >= (load_i64(second) & WORD_MASK):
                following = pc + immediate
        elif code == JAL:
            v, cost, following = pc + 4, branch, pc + immediate
        elif code == JALR:
            v, cost, following = pc + 4, branch, (load_i64(first) + immediate) & 0xFFFFFFFE
            if following & 2 != 0:
                following |= MISALIGNED_TARGET
        elif code == DIV:
            v, cost, fault = division(m, core, index, pc, DIV, load_i64(first), load_i64(second))
        elif code == DIVU:
            v, cost, fault = division(m, core, index, pc, DIVU, load_i64(first), load_i64(second))
        elif code == REM:
            v, cost, fault = division(m, core, index, pc, REM, load_i64(first), load_i64(second))
        elif code == REMU:
            v, cost, fault = division(m, core, index, pc, REMU, load_i64(first), load_i64(second))
        elif code == OPERATION:
            operands = core.operands_at + 8 * immediate
            operation, following = load_i64(operands), pc + load_i64(operands + 8)
            ready, used = put_arguments(t, core, operands)
            cycle, cost, retired = max(cycle, ready), 0, retired - 1
            if mask & used != 0 and operation != SERVICE_PRINT:
                fault = set_fault(core, _UNMOVED, TAINT_OPERAND, 0, 0)
            elif operation == SERVICE_END:
                t.operation, t.line = OPERATION_END, pc >> 2
                end = hand_over(m, t, index, base, origin, cycle)
                if m.record_on != 0:
                    record_call(m, t, index, end)
            elif operation == SERVICE_HIGH:
                v = core.result >> 32
            elif operation == SERVICE_PRINT:
                t.operation, t.line, core.pending = OP_SPEND, pc >> 2, PRINTED
                end = hand_over(m, t, index, base, origin, cycle)
            else:
                t.operation = OP_FAIL if operation == SERVICE_ASSERT else operation
                core.pending, core.pending_to = RESULT, to
                end = hand_operation(m, t, index, base, origin, cycle, pc)
        elif code == ILLEGAL:
            fault = set_fault(core, _ILLEGAL, immediate & WORD_MASK, 0, 0)
        elif code == BREAK:
            core.pending, following, retired = BROKEN, pc, retired - 1
            post(m, t, OP_SPEND, pc, 0, 0, 0)
            end = hand_over(m, t, index, base, origin, cycle)
        if access == LOADING:
            address = (load_i64(first) + immediate) & WORD_MASK
            size = size_of(code)
            if address & (size - 1) != 0:
                fault = set_fault(core, _UNALIGNED, address, size, 0)
            elif 0 <= address - LOCAL_BASE < local_bytes:
                v, late = loaded(local + address - LOCAL_BASE, code), local_use
                if check:
                    tainted = load_u8(local + local_bytes + ((address - LOCAL_BASE) >> 2))
            elif core.args_end <= address < core.args_limit and argument_refused(m, t, core, index, pc, address):
                fault = True
            elif address < l1_size:
                now = max(cycle, base) if compute else cycle
                if check and address >= unmoved_from:
                    tainted = 1
                if now <= load_until:
                    start = begin_load(m, t, now)
                    v, late, cost = loaded(l1 + address, code), m.l1_load - 1, 1
                    if compute:
                        t.busy += start + 1 - base
                        t.issue_busy += now - base
                        origin = base = start + 1
                        before += now - cycle
                    cycle = start
                else:
                    post(m, t, OP_LOAD, pc, address, size, 0)
                    core.pending, core.pending_to, core.pending_code = LOADED, to, code
                    end = hand_over(m, t, index, base, origin, cycle)
            elif CB_WINDOW <= address < CB_WINDOW + CB_STRIDE * N_CIRCULAR_BUFFERS and window_place(m, t, address) != 0:
                now = max(cycle, base) if compute else cycle
                if (address & (CB_STRIDE - 1)) >= 8 * FIRST_SHARED_COLUMN and now > until and not granted:
                    post(m, t, OP_SPEND, pc, 0, 0, 0)
                    core.pending, following = RETRY, pc
                    end = hand_over(m, t, index, base, origin, cycle)
                else:
                    granted = False
                    v, late = loaded(window_place(m, t, address), code), local_use
            else:
                fault = set_fault(core, _ADDRESS, address, size, 0)
        elif access == STORING:
            address = (load_i64(first) + immediate) & WORD_MASK
            size = size_of(code)
            if address & (size - 1) != 0:
                fault = set_fault(core, _UNALIGNED, address, size, 0)
            elif 0 <= address - LOCAL_BASE < local_bytes:
                put(local + address - LOCAL_BASE, code, load_i64(second))
                if check:
                    mark = local + local_bytes + ((address - LOCAL_BASE) >> 2)
                    store_8(mark, tainted if size == 4 else tainted | load_u8(mark))
            elif address < l1_size:
                now = max(cycle, base) if compute else cycle
                if tainted != 0 and address < unmoved_from:
                    fault = set_fault(core, _UNMOVED, TAINT_CONTROL, 0, 0)
                elif now <= store_until and address >= reserved_end:
                    put(l1 + address, code, load_i64(second))
                    issued, _ = begin_store(m, t, address, now)
                    cost = 1
                    if compute:
                        t.busy += issued + 1 - base
                        t.issue_busy += now - base
                        origin = base = issued + 1
                        before += now - cycle
                    cycle = issued
                else:
                    post(m, t, OP_STORE, pc, address, load_i64(second) & WORD_MASK, size)
                    end = hand_over(m, t, index, base, origin, cycle)
            elif CB_WINDOW <= address < CB_WINDOW + CB_STRIDE * N_CIRCULAR_BUFFERS:
                if tainted != 0:
                    fault = set_fault(core, _UNMOVED, TAINT_CONTROL, 0, 0)
                elif code != SW or not set_pointer(m, t, index, pc, address, load_i64(second) & WORD_MASK):
                    fault = set_fault(core, _CB_POINTER, address, load_i64(second) & WORD_MASK, 0)
            else:
                fault = set_fault(core, _ADDRESS, address, size, 0)
        row = rows + 6 * pc
        if fault:
            post(m, t, OP_SPEND, pc, 0, 0, 0)
            end = hand_over(m, t, index, base, origin, cycle)
        if check:
            mask = (mask & ~(1 << to)) | (tainted << to)
        if end >= 0:
            store_64(row, load_i64(row) + cycle - before)
            pc = following
            break
        cycle += cost
        at = registers + 8 * to
        store_64(at, np.int64(np.int32(v)))
        store_64(at + REGISTER_BYTES, cycle + late)
        store_64(row, load_i64(row) + cycle - before)
        if not pc < following < text_bytes:
            if following < 0 or following >= text_bytes:
                following &= ~MISALIGNED_TARGET
                set_fault(core, _JUMP, following & WORD_MASK, text_bytes, 0)
                post(m, t, OP_SPEND, pc, 0, 0, 0)
                end = hand_over(m, t, index, base, origin, cycle)
                break
            if cycle >= fuel:
                post(m, t, OP_SPEND, pc, 0, 0, 0)
                end = hand_over(m, t, index, base, origin, cycle)
                pc = following
                break
        pc = following
    core.pc, core.tainted = pc, mask
    m.instructions += retired
    return end
