"""What went wrong on a chip, as errors: faults of the engine, deadlocks, with core, thread, kernel line and cycle."""

import numpy as np

from tensim.sim.chip.deadlock import wait_for_graph
from tensim.sim.cores.checks.faults import FIRST
from tensim.sim.cores.faults import MESSAGES, SIMULATOR_FAULTS, Fault
from tensim.sim.cores.kernels.conventions import RAISE_MESSAGES
from tensim.sim.cores.operations import Op, unknown_value
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.engine import state as st
from tensim.sim.errors import CycleLimitError, DeadlockError, ProgramError, SimulatorError

SHOWN = 4  # threads that an error about all of them names
# What data reach that were never moved, by the constants TAINT_ of `tensim.sim.cores.riscv.interpreter`
UNMOVED_REACHED = (
    "a branch", "the address of a load, a store or a jump", "an operand of an operation", "a division, whose time depends on it",
    "memory that controls the kernel",
)  # fmt: skip


def fault(chip):
    """The error of the fault that stopped the engine."""
    m = chip.machine
    if int(m["error"]) >= FIRST:
        return chip.checks.error()
    code = Fault(int(m["error"]))
    a, b, c = (int(m[name]) for name in ("error_a", "error_b", "error_c"))
    thread = int(m["error_thread"])
    where = chip.thread_place(thread)
    message = ""
    if code == Fault.KERNEL_FAILED:
        found = chip.line_programs[int(chip.arrays["threads"][thread]["line_base"])].message(a)
        message = f"the kernel failed: {found}" if found is not None else "the kernel failed"
    elif code == Fault.KERNEL_RAISED:
        message = RAISE_MESSAGES.get(a, "the kernel stopped without a reason")
    elif code == Fault.UNKNOWN_VALUE:
        message = unknown_value(Op(a), b, c)
    elif code == Fault.DATA_NOT_MOVED:
        message = UNMOVED_REACHED[a]
    elif code in (Fault.COPROCESSOR, Fault.COMPUTE_CORE):
        message = chip.coprocessors.fault(thread // THREADS_PER_CORE)
    elif code == Fault.UNORDERED_WRITERS:
        where["other"] = chip.thread_place(c)
    text = describe(chip, code, a, b, c, message)
    if code in SIMULATOR_FAULTS:
        return SimulatorError(text, where=where)
    return ProgramError(text, where=where | {"values": [a, b, c]}, kind=code.name.lower())


def describe(chip, code, a, b, c, message=""):
    """What a fault, or something odd, is in words; `a`, `b`, `c`: its values."""
    if code == Fault.UNORDERED_WRITERS:
        other = chip.thread_place(c)
        c = f"{other['thread']} of core {other['core']}, {other.get('file')}:{other.get('line')}"
    return MESSAGES[code].format(a=a, b=b, c=c, message=message)


def deadlock(chip, odd):
    """The error of threads that wait and cannot be woken; `odd`: what was odd before that, in words."""
    cause, lines, graph = wait_for_graph(chip)
    before = "".join(f"\nbefore that: {text}" for text in odd)
    return DeadlockError(
        f"deadlock: {cause}\nno event is left and these threads wait\n  " + "\n  ".join(lines) + before,
        where={"cycle": chip.cycle, "waiting": graph},
        hint="the first lines are the cause; look for the push, increment or release that is missing",
    )


def cycle_limit(chip, limit):
    """The error of a run that took more than `limit` cycles: it names the first threads that have not ended."""
    places = live_threads(chip)
    lines = [f"\n  core {at['core']} {at['thread']}: {at.get('file')}:{at.get('line')}" for at in places[:SHOWN]]
    return CycleLimitError(
        f"the run passed the limit of {limit} cycles{', among others in' if lines else ''}{''.join(lines)}",
        where={"cycle": chip.max_cycles, "threads": places},
        hint="raise the limit (max_cycles, --max-cycles) or look for a loop that does not end",
    )


def live_threads(chip):
    """Where the first threads that have not ended are."""
    states = chip.arrays["threads"]["state"]
    return [chip.thread_place(i) for i in np.flatnonzero((states == st.RUNNING) | (states == st.PARKED))[:20]]
