"""The wait-for graph of a chip in which nothing can happen any more."""

import re
from dataclasses import field

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.places import thread_place
from tensim.sim.cores import context as ctx
from tensim.sim.cores.operations import Mailbox
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, PACK_SLOT, THREADS_PER_CORE, UNPACK_SLOT
from tensim.sim.engine.limits import N_SEMAPHORES, SEMAPHORE_STRIDE
from tensim.sim.lazy_dataclass import dataclass

SHOWN = 40  # lines of a report
WAYPOINT = re.compile(r"""\bWAYPOINT\(\s*["']([^"']*)["']\s*\)""")
PRODUCING, CONSUMING = ("cb_reserve_back", "cb_push_back"), ("cb_wait_front", "cb_pop_front")

BARRIERS = {
    st.WAIT_READ_BARRIER: "the read barrier",
    st.WAIT_WRITE_BARRIER: "the write barrier",
    st.WAIT_ATOMIC_BARRIER: "the atomic barrier",
    st.WAIT_FLUSH: "the write flush",
}
COMMAND_BUFFERS = ("reads", "writes", "words", "atomics")  # st.READ_BUFFER to st.ATOMIC_BUFFER
COUPLING = {  # reason -> (words, slot of the thread that could end the wait)
    st.WAIT_DST_FREE: ("tile_regs_acquire: a Dst section to be released by the pack thread", 4),
    st.WAIT_DST_READY: ("tile_regs_wait: a Dst section to be committed by the math thread", 3),
    st.WAIT_SOURCE_FREE: ("unpack: a source bank to be freed by the math thread", 3),
    st.WAIT_SOURCE_READY: ("math: a source bank to be filled by the unpack thread", 2),
}


def reason_name(reason):
    """Stable name of a stall reason, as reports and `--json` use it."""
    if reason < st.WAIT_CB_BACK:
        return f"cb_wait_front[{reason}]"
    if reason < st.WAIT_READ_BARRIER:
        return f"cb_reserve_back[{reason - st.WAIT_CB_BACK}]"
    return {
        st.WAIT_READ_BARRIER: "noc_read_barrier",
        st.WAIT_WRITE_BARRIER: "noc_write_barrier",
        st.WAIT_FLUSH: "noc_writes_flushed",
        st.WAIT_ATOMIC_BARRIER: "noc_atomic_barrier",
        st.WAIT_SEMAPHORE: "semaphore",
        st.WAIT_DST_FREE: "tile_regs_acquire",
        st.WAIT_DST_READY: "tile_regs_wait",
        st.WAIT_SOURCE_FREE: "unpack_source_bank",
        st.WAIT_SOURCE_READY: "math_source_bank",
        st.WAIT_NOC_ISSUE: "noc_issue",
        st.WAIT_COPROCESSOR: "coprocessor",
        st.WAIT_MAILBOX: "mailbox",
    }[reason]


@dataclass
class Wait:
    """A parked thread: what it waits for, in words, and the threads that could end that.

    `missing`: what nobody has done so far, in words, where that is known.
    """

    thread: int
    what: str
    others: list
    missing: str = ""
    live: list = field(default_factory=list)  # of `others`: those that are parked themselves


def what_it_waits_for(chip, thread):
    """What a parked thread waits for, in words."""
    wait = _wait(chip, thread)
    return f"{wait.what}; {wait.missing}" if wait.missing else wait.what


def _wait(chip, thread):
    """The `Wait` of a parked thread."""
    t = chip.arrays["threads"][thread]
    reason, a, b, c = (int(t[name]) for name in ("wait", "wait_a", "wait_b", "wait_c"))
    core = int(t["core"])
    if reason < st.WAIT_READ_BARRIER:
        return _circular_buffer_wait(chip, thread, core, reason < st.WAIT_CB_BACK, a, b)
    if reason == st.WAIT_SEMAPHORE:
        return _semaphore_wait(chip, thread, core, a, b, bool(c))
    if reason == st.WAIT_COPROCESSOR:
        others = [core * THREADS_PER_CORE + slot for slot in range(FIRST_COMPUTE_SLOT, THREADS_PER_CORE)]
        return Wait(
            thread,
            f"the coprocessor: {chip.loader.coprocessors.waits(core, int(t['slot']))}",
            [one for one in others if one != thread],
        )
    if reason == st.WAIT_MAILBOX:
        other = core * THREADS_PER_CORE + FIRST_COMPUTE_SLOT + b
        what = "room in the mailbox of" if a == st.TO_WRITE else "mailbox_read: a word from"
        return Wait(thread, f"{what} the {Mailbox(b).name.lower()} thread", [other])
    if reason in COUPLING:
        words, slot = COUPLING[reason]
        return Wait(thread, words, [core * THREADS_PER_CORE + slot])
    if reason == st.WAIT_NOC_ISSUE:
        return Wait(thread, f"the command buffer of {COMMAND_BUFFERS[a]}, whose packet cannot leave, of NoC {b}", [])
    return Wait(thread, f"{BARRIERS[reason]} of NoC {b}", [])


def _circular_buffer_wait(chip, thread, core, is_front, index, pages):
    row = chip.arrays["circular_buffers"][core, index]
    capacity, used = int(row[ctx.CB_PAGES]), int(row[ctx.CB_RECEIVED] - row[ctx.CB_ACKED])
    if is_front:
        what, user = f"cb_wait_front({index}, {pages}): {used} of {capacity} pages are there", int(row[ctx.CB_PRODUCER])
    else:
        what, user = f"cb_reserve_back({index}, {pages}): {capacity - used} pages are free", int(row[ctx.CB_CONSUMER])
    if user:
        return Wait(thread, what, [user - 1])
    calls, slot = (PRODUCING, PACK_SLOT) if is_front else (CONSUMING, UNPACK_SLOT)
    return Wait(thread, what, _users(chip, thread, core, calls, slot), f"nobody has called {' or '.join(calls)} of it")


def _users(chip, thread, core, calls, slot):
    """Threads of a core whose kernels make one of some calls, of a compute kernel the one of `slot`."""
    found = []
    for other in range(core * THREADS_PER_CORE, (core + 1) * THREADS_PER_CORE):
        t = chip.arrays["threads"][other]
        program = chip.line_programs.get(int(t["line_base"]))
        known = getattr(program, "api_calls", None)  # None of a C++ kernel: it may make any
        mine = int(t["slot"]) < FIRST_COMPUTE_SLOT or int(t["slot"]) == slot
        if other != thread and t["state"] != st.IDLE and mine and (known is None or known & set(calls)):
            found.append(other)
    return found


def _semaphore_wait(chip, thread, core, address, wanted, at_least):
    value = int(chip.l1[core, address : address + 4].view(np.uint32)[0])
    index, inside = divmod(address - chip.arrays.semaphore_base, SEMAPHORE_STRIDE)
    is_semaphore = 0 <= index < N_SEMAPHORES and inside == 0
    name = f"semaphore {index}" if is_semaphore else f"L1 word {address:#x}"
    what = f"{name} {'>=' if at_least else '=='} {wanted}: its value is {value}"
    if not is_semaphore:
        return Wait(thread, what, [])
    writers = [int(writer) - 1 for writer in chip.arrays["semaphore_writers"][core, index] if writer]
    others = [writer for writer in writers if writer != thread]
    return Wait(thread, what, others, "" if others else "no other thread has set or incremented it")


def wait_for_graph(chip):
    """(sentence on the root cause, lines for people, nodes for machines) of every parked thread of the chip, causes first.

    A cause waits for nobody who could go on: for a thread that has ended, or for what no thread has ever done; without such a
    wait, the threads that wait for each other in a circle are the cause.
    """
    states = chip.arrays["threads"]["state"]
    waits = {int(thread): _wait(chip, int(thread)) for thread in np.flatnonzero(states == st.PARKED)}
    for wait in waits.values():
        wait.live = [other for other in wait.others if states[other] == st.PARKED]
    roots = [thread for thread, wait in waits.items() if not wait.live]
    circle = [] if roots or not waits else _circle(waits)
    first = sorted(roots, key=lambda thread: not waits[thread].missing) or circle
    order = [*first, *(thread for thread in waits if thread not in first)]
    lines = [_line(chip, waits[thread]) for thread in order]
    graph = [_node(chip, waits[thread], thread in first) for thread in order]
    shown = lines[:SHOWN] + ([f"... and {len(lines) - SHOWN} more threads"] if len(lines) > SHOWN else [])
    return _sentence(chip, waits, first, bool(circle)), shown, graph


def _circle(waits):
    """Threads each of which waits for the next, the last for the first."""
    thread, path = next(iter(waits)), []
    while thread not in path:
        path.append(thread)
        thread = waits[thread].live[0]
    return path[path.index(thread) :]


def _name(chip, thread):
    place = thread_place(chip, thread)
    return f"core {place['core']} {place['thread']}"


def _sentence(chip, waits, first, is_circle):
    """What is to blame, in words."""
    if not first:
        return "no thread can go on"
    wait = waits[first[0]]
    place = thread_place(chip, wait.thread)
    if is_circle:
        return f"{len(first)} threads wait for each other in a circle, among them {_name(chip, wait.thread)} for {wait.what}"
    alike = [
        other for other in first[1:] if (waits[other].what, _place(chip, other)) == (wait.what, _place(chip, wait.thread))
    ]  # fmt: skip
    also = f" ({len(alike)} more do so at the same place)" if alike else ""
    why = wait.missing or _ended(chip, wait) or "nothing on the chip can end that"
    at = f" at {place['file']}:{place['line']}" if "file" in place else ""
    return f"{_name(chip, wait.thread)} waits{at} for {wait.what}, and {why}{also}"


def _place(chip, thread):
    place = thread_place(chip, thread)
    return place.get("file"), place.get("line")


def _ended(chip, wait):
    """That who could end a wait has ended, in words."""
    return " and ".join(f"{_name(chip, other)} has ended" for other in wait.others)


def _others(chip, wait):
    """Names of the threads that could end a wait: of the own core without it."""
    states, own, names = chip.arrays["threads"]["state"], wait.thread // THREADS_PER_CORE, []
    for other in wait.others:
        ended = " (ended)" if states[other] == st.ENDED else ""
        name = thread_place(chip, other)["thread"] if other // THREADS_PER_CORE == own else _name(chip, other)
        names.append(name + ended)
    return names


def _line(chip, wait):
    place, since = thread_place(chip, wait.thread), int(chip.arrays["threads"][wait.thread]["wait_since"])
    ends = _others(chip, wait)
    text = (
        f"core {place['core']} {place['thread']} {place.get('file', '')}:{place.get('line', '')} waits for {wait.what}, "
        f"since cycle {since}"
    )
    if waypoint := _waypoint(chip, wait.thread, place):
        text += f", behind WAYPOINT {waypoint}"
    if wait.missing:
        text += f"; {wait.missing}"
    return text + (f"; could come from {', '.join(ends)}" if ends else "")


def _waypoint(chip, thread, place):
    """The name of the last WAYPOINT above the line at which a thread waits; None without one.

    The macro leaves no instruction, so that kernels take the same cycles with it: it is looked up in the text.
    """
    program = chip.line_programs.get(int(chip.arrays["threads"][thread]["line_base"]))
    above = [] if program is None else program.text_above(place)
    return next((found[1] for line in reversed(above) if (found := WAYPOINT.search(line))), None)


def _node(chip, wait, is_cause):
    since = int(chip.arrays["threads"][wait.thread]["wait_since"])
    told = {"waits_for": wait.what, "since": since, "could_come_from": _others(chip, wait), "is_cause": is_cause}
    place = thread_place(chip, wait.thread)
    return place | told | {"waypoint": _waypoint(chip, wait.thread, place)}
