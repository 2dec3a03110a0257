"""What went wrong on a chip, as errors: faults of the engine, deadlocks, with core, thread, kernel line and cycle."""

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.deadlock import wait_for_graph
from tensim.sim.chip.places import core_name, format_name, thread_place
from tensim.sim.cores.checks.faults import FIRST
from tensim.sim.cores.faults import FRONT_END_FAULTS, MESSAGES, SIMULATOR_FAULTS, Fault
from tensim.sim.cores.kernels.conventions import RAISE_MESSAGES
from tensim.sim.cores.operations import Op, unknown_value
from tensim.sim.cores.riscv.layout import REGISTERS
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.errors import CycleLimitError, DeadlockError, ProgramError, SimulatorError

SHOWN = 4  # threads that an error about all of them names
LISTED = 20  # of those: in its data
TRAP = 0xC0001073  # the instruction that clang leaves where no code is
UNDEFINED = (
    "here the kernel's C++ has no defined behaviour, and the compiler has left no code for it: look for a division by zero, a call "
    "through a null pointer or a function that ends without its return, on this line or after it"
)
REGISTER = (
    "access to {a:#x}, {b} bytes: of the chip's registers tensim models only the words of the wall clock, for loads; "
    "use the calls of the API"
)
# Faults whose first values are data formats, and how many
NAMES_FORMATS = {
    Fault.FORMAT_PAIR: 2, Fault.INTEGER_OPERANDS: 2, Fault.UNKNOWN_FORMAT: 1, Fault.ACCUMULATED_FORMAT: 1, Fault.ROWS_FORMAT: 1,
}  # fmt: skip
# What data reach that are not known with numerics off, by the constants TAINT_ of `tensim.sim.cores.riscv.core_operations`
UNKNOWN_REACHED = (
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
    where = thread_place(chip, thread)
    message = ""
    if code == Fault.KERNEL_FAILED:
        found = chip.line_programs[int(chip.arrays["threads"][thread]["line_base"])].message(a)
        message = f"the kernel failed: {found}" if found is not None else "the kernel failed"
    elif code == Fault.KERNEL_RAISED:
        message = RAISE_MESSAGES.get(a, "the kernel stopped without a reason")
    elif code == Fault.UNKNOWN_VALUE:
        message = unknown_value(Op(a), b, c)
    elif code == Fault.DATA_NOT_KNOWN:
        message = UNKNOWN_REACHED[a]
    elif code in (Fault.COPROCESSOR, Fault.COMPUTE_CORE):
        message = chip.loader.coprocessors.fault(thread // THREADS_PER_CORE)
    elif code == Fault.UNORDERED_WRITERS:
        where["other"] = thread_place(chip, c)
    text = describe(chip, code, a, b, c, message)
    of_binary = thread >= 0 and int(chip.arrays["threads"][thread]["riscv"]) != 0
    if code in SIMULATOR_FAULTS or (code in FRONT_END_FAULTS and not of_binary):
        return SimulatorError(text, where=where)
    hint = "numerics fast (--numerics fast) computes them" if code == Fault.DATA_NOT_KNOWN else None
    return ProgramError(text, where=where | {"values": [a, b, c]}, kind=code.name.lower(), hint=hint)


def describe(chip, code, a, b, c, message=""):
    """What a fault, or something odd, is in words; `a`, `b`, `c`: its values."""
    if code == Fault.UNORDERED_WRITERS:
        other = thread_place(chip, c)
        c = f"{other['thread']} of core {other['core']}, {other.get('file')}:{other.get('line')}"
    if code == Fault.NO_MEMORY and a >= REGISTERS:
        return REGISTER.format(a=a, b=b)
    if code == Fault.L1_RANGE:
        c = core_name(chip, c)
    if code == Fault.ILLEGAL_INSTRUCTION and a == TRAP:
        return UNDEFINED
    return MESSAGES[code].format(a=a, b=b, c=c, message=message) + _formats_in_words(code, a, b)


def _formats_in_words(code, *values):
    """Which formats the numbers in a message are."""
    codes = dict.fromkeys(values[: NAMES_FORMATS.get(code, 0)])
    return f" ({', '.join(f'{one}: {format_name(one)}' for one in codes)})" if codes else ""


def deadlock(chip, odd):
    """The error of threads that wait and cannot be woken; `odd`: what was odd before that, in words."""
    cause, lines, graph = wait_for_graph(chip)
    before = "".join(f"\nbefore that: {text}" for text in odd)
    routers = [line for one in _fabric_of(chip) for line in one.waiting()]
    before += "".join(f"\n  {line}" for line in routers)
    return DeadlockError(
        f"deadlock: {cause}\nno event is left and these threads wait\n  " + "\n  ".join(lines) + before,
        where={"cycle": chip.cycle, "waiting": graph},
        hint="the first lines are the cause; look for the push, increment or release that is missing",
    )


def _fabric_of(chip):
    """The routers of a chip and of all that its links lead to, also through others."""
    found = [chip.routers] if chip.routers is not None else []
    for routers in found:
        found += [peer.routers for peer in routers.peers if peer.routers not in found]
    return found


def cycle_limit(chip, limit):
    """The error of a run that took more than `limit` cycles: it names the first threads that have not ended."""
    places = live_threads(chip)
    return CycleLimitError(
        f"the run passed the limit of {limit} cycles{_standing(places)}",
        where={"cycle": chip.max_cycles, "threads": places},
        hint="raise the limit (max_cycles, --max-cycles) or look for a loop that does not end",
    )


def spinning(chip, cycles):
    """The error of threads that have run for so many cycles and done nothing that another one could see."""
    places = live_threads(chip)
    return CycleLimitError(
        f"no kernel has done anything for {cycles:,} cycles{_standing(places)}",
        where={"cycle": chip.cycle, "threads": places},
        hint="look for a loop that does not end; with a limit of your own (max_cycles, --max-cycles) it may go on until then",
    )


def interrupted(chip):
    """What Ctrl-C has interrupted, in words."""
    return f"interrupted in cycle {chip.cycle:,}{_standing(live_threads(chip))}"


def _standing(places):
    """Where the first threads stand, as lines."""
    lines = [f"\n  core {at['core']} {at['thread']}: {at.get('file')}:{at.get('line')}" for at in places[:SHOWN]]
    more = f"\n  and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return f"; these threads stand at{''.join(lines)}{more}" if lines else ""


def live_threads(chip):
    """Where the first threads that have not ended are: those that run, then those that wait."""
    states = chip.arrays["threads"]["state"]
    found = [*np.flatnonzero(states == st.RUNNING), *np.flatnonzero(states == st.PARKED)]
    return [thread_place(chip, int(i)) for i in found[:LISTED]]
