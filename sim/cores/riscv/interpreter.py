"""RV32IM instruction by instruction, with timing: an in-order core with a ready time per register.

`interpret` runs a core from where it stands to its next operation and posts that, as a Python kernel's coroutine does
(`tensim.sim.cores.threads`).  Costs are the `riscv.*` parameters from which plain code of Python kernels is charged.  Loads
and stores of L1 are seen by others: they happen in the order of events.  While no event is due before one, it is
carried out at once; else it is posted as LOAD or STORE.  Both ways give the same cycles, counters and bytes.

The clock of a compute thread's core is `issued`; the event heap knows the time of its coprocessor, which the core has to reach
before it looks at L1.  Cycles are counted per instruction in the rows of the line table, from `line_base` on.
"""

import numpy as np

from tensim.sim.cores.faults import Fault
from tensim.sim.cores.local_memory import begin_load, store
from tensim.sim.cores.noc_record import record_call
from tensim.sim.cores.operations import Op
from tensim.sim.cores.riscv.core import BROKEN, FAULTED, LOADED, PRINTED, REGISTER_BYTES, RESULT, RETRY, core_table
from tensim.sim.cores.riscv.core_memory import (
    CB_POINTER,
    FIRST_SHARED_COLUMN,
    fetch,
    loaded,
    ordered_until,
    put,
    set_pointer,
    size_of,
    window_place,
)
from tensim.sim.cores.riscv.core_operations import (
    ROW_BYTES,
    TAINT_CONTROL,
    TAINT_OPERAND,
    argument_refused,
    division,
    hand_operation,
    hand_over,
    note_print,
    post,
    put_arguments,
    resume_core,
    set_fault,
    stack_pointer,
    unknown_reaches,
)
from tensim.sim.cores.riscv.decode import MISALIGNED_TARGET
from tensim.sim.cores.riscv.instruction_results import (
    BGEU,
    BREAK,
    FENCE,
    ILLEGAL,
    JAL,
    JALR,
    LB,
    LW,
    MULHU,
    OPERATION,
    REMU,
    SUB_SP,
    SW,
    WORD_MASK,
    computed,
    is_taken,
    moved,
    product,
)
from tensim.sim.cores.riscv.layout import CB_STRIDE, CB_WINDOW, LOCAL_BASE, WALL_CLOCK_HIGH_AT, WALL_CLOCK_LOW
from tensim.sim.cores.riscv.traps import Service
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT
from tensim.sim.cores.threads import OPERATION_END, fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.engine.memory import load_i64, load_u8, store_8, store_64
from tensim.sim.state import cores_of, machine_table, threads_of

OP_LOAD, OP_STORE, OP_SPEND, OP_FAIL = int(Op.LOAD), int(Op.STORE), int(Op.SPEND), int(Op.FAIL)
SERVICE_END, SERVICE_PRINT = int(Service.END), int(Service.DPRINT)
SERVICE_ASSERT, SERVICE_HIGH = int(Service.FAIL_ASSERT), int(Service.RESULT_HIGH)
_ILLEGAL, _JUMP, _ADDRESS = int(Fault.ILLEGAL_INSTRUCTION), int(Fault.JUMP_OUTSIDE), int(Fault.NO_MEMORY)
_UNALIGNED, _UNKNOWN = int(Fault.MISALIGNED_ACCESS), int(Fault.DATA_NOT_KNOWN)
FUEL = 4_000  # cycles after which a backward jump reports to the event loop
NO_ACCESS, LOADING, STORING = range(3)
NEVER_DECODED = 255


@compiled(inline="always")
def count_access(t, base, now, start):
    """Account for a compute thread's core up to the end of an access of L1 that it asked for at `now` and that starts later."""
    t.busy += start + 1 - base
    t.issue_busy += now - base


@compiled()
def hand_spend(m, t, index, pc, base, origin, cycle):
    """Let the core come back at `cycle` before it goes on; returns the cycle of that event."""
    post(m, t, OP_SPEND, pc, 0, 0, 0)
    return hand_over(m, t, index, base, origin, cycle)


@compiled()
def hand_service(m, t, core, index, base, origin, cycle, pc, operation, to):
    """Post what the core asks of the machine, whose result goes to register `to`; returns the cycle of its effect."""
    if operation == SERVICE_END:
        t.operation, t.line = OPERATION_END, pc >> 2
        end = hand_over(m, t, index, base, origin, cycle)
        if m.record_on != 0:
            record_call(m, t, index, end)
        return end
    if operation == SERVICE_PRINT:
        t.operation, t.line, core.pending = OP_SPEND, pc >> 2, PRINTED
        return hand_over(m, t, index, base, origin, cycle)
    t.operation = OP_FAIL if operation == SERVICE_ASSERT else operation
    core.pending, core.pending_to = RESULT, to
    return hand_operation(m, t, index, base, origin, cycle, pc)


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
    check, unknown_from, reserved_end = m.data_on == 0, m.user_base, m.reserved_end
    known = m.l1_known_at + t.core * (m.l1_size >> 2)
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
                    reached = unknown_reaches(mask, record)
                    if reached >= 0:
                        fault, code = set_fault(core, _UNKNOWN, reached, 0, 0), NEVER_DECODED
        cycle = max(cycle, max(load_i64(first + REGISTER_BYTES), load_i64(second + REGISTER_BYTES)))
        retired += 1
        if code <= FENCE:
            v = computed(code, first, second, immediate)
        elif code <= SUB_SP:
            v, fault = stack_pointer(core, moved(code, first, second, immediate))
        elif code <= MULHU:
            v, cost, late = product(code, load_i64(first), load_i64(second)), mul, mul_use
        elif code <= LW:
            access = LOADING
        elif code <= SW:
            access = STORING
        elif code <= BGEU:
            cost = branch
            if is_taken(code, load_i64(first), load_i64(second)):
                following = pc + immediate
        elif code == JAL:
            v, cost, following = pc + 4, branch, pc + immediate
        elif code == JALR:
            v, cost, following = pc + 4, branch, (load_i64(first) + immediate) & 0xFFFFFFFE
            if following & 2 != 0:
                following |= MISALIGNED_TARGET
        elif code <= REMU:
            v, cost, fault = division(m, core, index, pc, code, load_i64(first), load_i64(second))
        elif code == OPERATION:
            operands = core.operands_at + 8 * immediate
            operation, following = load_i64(operands), pc + load_i64(operands + 8)
            ready, used = put_arguments(t, core, operands)
            cycle, cost, retired = max(cycle, ready), 0, retired - 1
            if mask & used != 0 and operation != SERVICE_PRINT:
                fault = set_fault(core, _UNKNOWN, TAINT_OPERAND, 0, 0)
            elif operation == SERVICE_HIGH:
                v = core.result >> 32
            else:
                end = hand_service(m, t, core, index, base, origin, cycle, pc, operation, to)
        elif code == ILLEGAL:
            fault = set_fault(core, _ILLEGAL, immediate & WORD_MASK, 0, 0)
        elif code == BREAK:
            core.pending, following, retired = BROKEN, pc, retired - 1
            end = hand_spend(m, t, index, pc, base, origin, cycle)
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
                if check and address >= unknown_from:
                    tainted = 1 - load_u8(known + (address >> 2))
                if now <= load_until:
                    start = begin_load(m, t, now)
                    v, late, cost = loaded(l1 + address, code), m.l1_load - 1, 1
                    if compute:
                        count_access(t, base, now, start)
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
                    core.pending, following = RETRY, pc
                    end = hand_spend(m, t, index, pc, base, origin, cycle)
                else:
                    granted = False
                    v, late = loaded(window_place(m, t, address), code), local_use
            elif WALL_CLOCK_LOW <= address <= WALL_CLOCK_HIGH_AT and size == 4:
                now, late = max(cycle, base) if compute else cycle, m.timestamp - 1
                if address == WALL_CLOCK_LOW:
                    v, core.clock_high = now & WORD_MASK, now >> 32
                else:
                    v = core.clock_high if address == WALL_CLOCK_HIGH_AT else now >> 32
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
                if check and address >= unknown_from:
                    mark = known + (address >> 2)
                    store_8(mark, 0 if tainted != 0 else load_u8(mark) | (size == 4))
                    m.knows = 1
                if tainted != 0 and address < unknown_from:
                    fault = set_fault(core, _UNKNOWN, TAINT_CONTROL, 0, 0)
                elif now <= store_until and address >= reserved_end:
                    put(l1 + address, code, load_i64(second))
                    issued, _ = store(m, t, address, now)
                    cost = 1
                    if compute:
                        count_access(t, base, now, issued)
                        origin = base = issued + 1
                        before += now - cycle
                    cycle = issued
                else:
                    post(m, t, OP_STORE, pc, address, load_i64(second) & WORD_MASK, size)
                    end = hand_over(m, t, index, base, origin, cycle)
            elif CB_WINDOW <= address < CB_WINDOW + CB_STRIDE * N_CIRCULAR_BUFFERS:
                if tainted != 0:
                    fault = set_fault(core, _UNKNOWN, TAINT_CONTROL, 0, 0)
                elif code != SW or not set_pointer(m, t, index, pc, address, load_i64(second) & WORD_MASK):
                    fault = set_fault(core, CB_POINTER, address, load_i64(second) & WORD_MASK, 0)
            else:
                fault = set_fault(core, _ADDRESS, address, size, 0)
        row = rows + 6 * pc
        if fault:
            end = hand_spend(m, t, index, pc, base, origin, cycle)
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
                fault = set_fault(core, _JUMP, following & WORD_MASK, text_bytes, 0)
            if fault or cycle >= fuel:
                end = hand_spend(m, t, index, pc, base, origin, cycle)
                pc = pc if fault else following
                break
        pc = following
    core.pc, core.tainted = pc, mask
    m.instructions += retired
    return end
