"""Profiler zones of kernels (`DeviceZoneScopedN`), from the log of a chip: how often each was entered, and for how long."""

from bisect import bisect_right

import numpy as np

from tensim.sim import state as st
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE


def zones(chip, since=0):
    """[{"zone", "kernel", "thread", "count", "cycles", "shortest_cycles", "longest_cycles"}] of the zones that ended.

    Over all cores, for each kind of thread; `since`: only of programs that started from this cycle on.  The chip has recorded
    its log (`tensim.sim.chip.recordings`).
    """
    log = chip.recordings.log()
    entries = log[(log["kind"] == st.LOG_ZONE_BEGIN) | (log["kind"] == st.LOG_ZONE_END)]
    columns = (entries[name].tolist() for name in ("thread", "kind", "start", "line"))
    programs, opened, durations = _Programs(chip, since), {}, {}
    for thread, kind, cycle, number in zip(*columns, strict=True):
        if kind == st.LOG_ZONE_BEGIN:
            opened.setdefault(thread, []).append(cycle)
            continue
        if not opened.get(thread):  # it began before the log did
            continue
        begun = opened[thread].pop()
        program = programs.of(thread, begun)
        if program is not None:
            key = zone_name(program, number), program.name, THREAD_NAMES[thread % THREADS_PER_CORE]
            durations.setdefault(key, []).append(cycle - begun)
    return [
        {
            "zone": zone, "kernel": kernel, "thread": thread, "count": len(found), "cycles": sum(found),
            "shortest_cycles": min(found), "longest_cycles": max(found),
        }
        for (zone, kernel, thread), found in sorted(durations.items())
    ]  # fmt: skip


class _Programs:
    """Which kernel a thread ran at a cycle."""

    def __init__(self, chip, since):
        self._chip, self._starts, self._bases = chip, {}, {}
        for launch in chip.launches.values():
            work, started = launch.get("work"), launch["started"]
            if started < since:
                continue
            threads = np.asarray(launch["threads"]).tolist()
            bases = (
                dict.fromkeys(threads)
                if work is None
                else dict(zip(work.threads.tolist(), work.line_base.tolist(), strict=True))
            )
            for thread in threads:
                self._starts.setdefault(thread, []).append(started)
                self._bases.setdefault(thread, []).append(bases.get(thread))

    def of(self, thread, cycle):
        """The compiled kernel; None before the programs looked at, and of launches whose work the chip has not kept."""
        at = bisect_right(self._starts.get(thread, ()), cycle)
        return self._chip.line_programs.get(self._bases[thread][at - 1]) if at else None


def zone_name(program, number):
    """Name of a zone of a compiled kernel, of either front end."""
    return program.image.zone_at(number) if hasattr(program, "image") else program.zones[number]
