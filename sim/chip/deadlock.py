"""The wait-for graph of a chip in which nothing can happen any more."""

import numpy as np

from tensim.sim.cores import context as ctx
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.engine import state as st

BARRIERS = {
    st.WAIT_READ_BARRIER: "the read barrier",
    st.WAIT_WRITE_BARRIER: "the write barrier",
    st.WAIT_ATOMIC_BARRIER: "the atomic barrier",
    st.WAIT_NOC_ISSUE: "the command buffer, whose packet cannot leave,",
    st.WAIT_FLUSH: "the write flush",
}
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
    }[reason]


def _waited_for(chip, thread):
    """Words for what a parked thread waits for, and the threads of its core that could end the wait."""
    t = chip.arrays["threads"][thread]
    reason, a, b, c = (int(t[name]) for name in ("wait", "wait_a", "wait_b", "wait_c"))
    core = int(t["core"])
    if reason < st.WAIT_READ_BARRIER:
        row = chip.arrays["circular_buffers"][core, a]
        used = int(row[ctx.CB_RECEIVED] - row[ctx.CB_ACKED])
        others = [
            core * THREADS_PER_CORE + slot
            for slot in range(THREADS_PER_CORE)
            if core * THREADS_PER_CORE + slot != thread
        ]
        if reason < st.WAIT_CB_BACK:
            return f"cb_wait_front({a}, {b}): {used} of {int(row[ctx.CB_PAGES])} pages are there", others
        return f"cb_reserve_back({a}, {b}): {int(row[ctx.CB_PAGES]) - used} pages are free", others
    if reason == st.WAIT_SEMAPHORE:
        value = int(chip.l1[core, a : a + 4].view(np.uint32)[0])
        index, inside = divmod(a - chip.arrays.semaphore_base, 16)
        name = f"semaphore {index}" if 0 <= index < 16 and inside == 0 else f"L1 word {a:#x}"
        return f"{name} {'>=' if c else '=='} {b}: its value is {value}", []
    if reason in COUPLING:
        words, slot = COUPLING[reason]
        return words, [core * THREADS_PER_CORE + slot]
    return f"{BARRIERS[reason]} of NoC {b}", []


def wait_for_graph(chip):
    """(lines for people, nodes for machines) of every parked thread of the chip, by core and thread."""
    states, lines, graph = chip.arrays["threads"]["state"], [], []
    for thread in np.flatnonzero(states == st.PARKED):
        place = chip.thread_place(int(thread))
        what, others = _waited_for(chip, int(thread))
        since = int(chip.arrays["threads"][thread]["wait_since"])
        ends = []
        for other in others:
            if states[other] == st.PARKED:
                ends.append(chip.thread_place(other)["thread"])
            elif states[other] == st.ENDED:
                ends.append(chip.thread_place(other)["thread"] + " (ended)")
        lines.append(
            f"core {place['core']} {place['thread']} {place.get('file', '')}:{place.get('line', '')} waits for {what}, "
            f"since cycle {since}" + (f"; could come from {', '.join(ends)}" if ends else "")
        )
        graph.append(place | {"waits_for": what, "since": since, "could_come_from": ends})
    shown = lines[:40] + ([f"... and {len(lines) - 40} more threads"] if len(lines) > 40 else [])
    return shown, graph
