"""What a program did on the chip in one launch: per thread, per circular buffer, on links and in DRAM.

Collected from the engine's counters when the program has ended; nothing here runs during a simulation.  Traffic of links and
DRAM channels is what the chip moved since the last program ended: with several programs at once, all that ran meanwhile.
"""

from dataclasses import dataclass, field

import numpy as np

from tensim.sim.cores import context as ctx
from tensim.sim.cores.slots import THREADS_PER_CORE, TRISC0
from tensim.sim.engine import state as st

# Kinds of waits: neighbouring stall reasons together
WAITS = {
    "circular_buffer_front": st.WAIT_CB_FRONT,
    "circular_buffer_back": st.WAIT_CB_BACK,
    "noc_read_barrier": st.WAIT_READ_BARRIER,
    "noc_write_barrier": st.WAIT_WRITE_BARRIER,  # and writes to leave
    "noc_atomic_barrier": st.WAIT_ATOMIC_BARRIER,
    "semaphore": st.WAIT_SEMAPHORE,
    "dst": st.WAIT_DST_FREE,
    "source_bank": st.WAIT_SOURCE_FREE,
    "noc_issue": st.WAIT_NOC_ISSUE,
}
WAIT_NAMES = tuple(WAITS)
_FIRST_REASONS = [*WAITS.values(), st.WAIT_NOC_ISSUE + 1]
MAX_DETAILED = 4096  # launches whose work is kept; of later ones only their times are
CORE_COUNTERS = ("flops", "fpu_busy", "sfpu_busy", "products", "product_calls")
CHANNEL_COUNTERS = ("read_bytes", "write_bytes", "row_hits", "row_misses", "busy")


@dataclass
class BufferWork:
    """A circular buffer index over all cores that used it.  Times are cycles, summed over these cores.

    `levels`: cycles at each level, from empty in eighths of the capacity, rounded up; `waits`: {"front", "back"}: cycles in
    which threads waited for pages, or for room; `most`: (cycles, core) of the core that waited most for either;
    `producers`, `consumers`: slots of the threads that reserved and waited.
    """

    index: int
    pages: int
    page_size: int
    data_format: int
    cores: np.ndarray
    pushed: int
    packed: int  # tiles that the packer wrote into it
    levels: np.ndarray
    waits: dict
    most: dict
    producers: tuple
    consumers: tuple


@dataclass
class LaunchWork:
    """What a launch did.  Arrays of n rows are per thread, those of `compute_cores` per core that ran a compute kernel.

    `waits`: cycles (n, kinds of `WAIT_NAMES`); `stall_rows`, `stall_reasons`, `stall_cycles`: the same by stall reason, where
    any is: place in `threads`, reason (`state.WAIT_*`), cycles; `traffic`: `state.TRAFFIC` records; `line_base`: of its kernel
    in the line table; `channels`: {counter: of each DRAM channel}; `link_flits`: of each link; `first_read_bytes`: bytes of DRAM
    that it read, each counted once.
    """

    started: int
    ended: int
    threads: np.ndarray
    line_base: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    busy: np.ndarray
    issue: np.ndarray
    operations: np.ndarray
    waits: np.ndarray
    stall_rows: np.ndarray
    stall_reasons: np.ndarray
    stall_cycles: np.ndarray
    traffic: np.ndarray
    compute_cores: np.ndarray
    core_counters: dict
    buffers: list
    channels: dict
    link_flits: np.ndarray
    link_stalls: np.ndarray
    first_read_bytes: int
    launch: object = field(repr=False, default=None)  # `tensim.sim.chip.launch.Launch`, None for recorded NoC events

    @property
    def cycles(self):
        """From its start to its end."""
        return self.ended - self.started

    @property
    def cores(self):
        """Worker index of each thread."""
        return self.threads // THREADS_PER_CORE

    @property
    def slots(self):
        """Slot of each thread (`tensim.sim.cores.slots`)."""
        return self.threads % THREADS_PER_CORE


class WorkCollector:
    """Makes the `LaunchWork` of every program of a chip that ends."""

    def __init__(self, arrays):
        self._arrays, self._count = arrays, 0
        self.restart()

    def restart(self):
        """Counters of links and channels start anew."""
        self._channels = {name: self._arrays["channels"][name].copy() for name in CHANNEL_COUNTERS}
        self._links = {name: self._arrays["links"][name].copy() for name in ("flits", "stall")}

    def collect(self, slot, threads, launch):
        """The work of the program in launch `slot`, which ran `threads`; None beyond `MAX_DETAILED`."""
        self._count += 1
        if self._count > MAX_DETAILED:
            return None
        arrays, table = self._arrays, self._arrays["threads"]
        rows, stalls = table[threads], arrays["stalls"][threads]
        begun = int(arrays["launches"][slot]["started"])
        ended = int(arrays["launches"][slot]["ended"])
        compute = np.unique(rows["core"][rows["slot"] == TRISC0])
        stalled = np.nonzero(stalls)
        channels, links = self._moved("channels", self._channels), self._moved("links", self._links)
        return LaunchWork(
            started=begun, ended=ended, threads=threads, line_base=rows["line_base"], starts=rows["started"],
            ends=rows["ended"], busy=rows["busy"], issue=rows["issue_busy"], operations=rows["operations"],
            waits=np.add.reduceat(stalls, _FIRST_REASONS, axis=1)[:, :-1],
            stall_rows=stalled[0], stall_reasons=stalled[1], stall_cycles=stalls[stalled], traffic=arrays["traffic"][threads],
            compute_cores=compute, core_counters={name: arrays["cores"][name][compute] for name in CORE_COUNTERS},
            buffers=self._buffers(threads, stalls, ended), channels=channels, link_flits=links["flits"],
            link_stalls=links["stall"], first_read_bytes=arrays.first_read_bytes, launch=launch,
        )  # fmt: skip

    def _moved(self, name, before):
        """What counters of links or channels have grown by since the last program."""
        table, moved = self._arrays[name], {}
        for counter, old in before.items():
            now = table[counter].copy()
            moved[counter], before[counter] = now - old, now
        return moved

    def _buffers(self, threads, stalls, ended):
        cores = threads // THREADS_PER_CORE
        used = np.unique(cores)
        table = self._arrays["circular_buffers"][used]
        return [
            self._buffer(index, used[mine], table[mine, index], cores, stalls, ended)
            for index in np.flatnonzero(table[:, :, ctx.CB_PAGES].any(axis=0)).tolist()
            for mine in [table[:, index, ctx.CB_PAGES] > 0]
        ]

    @staticmethod
    def _buffer(index, cores, rows, thread_cores, stalls, ended):
        left = rows[:, ctx.CB_RECEIVED] - rows[:, ctx.CB_ACKED]
        levels = rows[:, ctx.CB_LEVEL_CYCLES : ctx.CB_LEVEL_CYCLES + ctx.CB_LEVELS].sum(axis=0)
        last = left * rows[:, ctx.CB_LEVEL_SCALE] + ctx.CB_LEVEL_ONE - 1 >> ctx.CB_LEVEL_BITS
        np.add.at(levels, last, ended - rows[:, ctx.CB_LEVEL_AT])
        waits, most = {}, {}
        for side, first in (("front", st.WAIT_CB_FRONT), ("back", st.WAIT_CB_BACK)):
            cycles = stalls[:, first + index]
            worst = int(np.argmax(cycles))
            waits[side], most[side] = int(cycles.sum()), (int(cycles[worst]), int(thread_cores[worst]))
        producers, consumers = (
            tuple(int(slot) for slot in np.unique((users[users > 0] - 1) % THREADS_PER_CORE))
            for users in (rows[:, ctx.CB_PRODUCER], rows[:, ctx.CB_CONSUMER])
        )
        return BufferWork(
            index, int(rows[0, ctx.CB_PAGES]), int(rows[0, ctx.CB_PAGE_SIZE]), int(rows[0, ctx.CB_FORMAT]), cores,
            int(rows[:, ctx.CB_RECEIVED].sum()), int(rows[:, ctx.CB_TILES_PACKED].sum()), levels, waits, most,
            producers, consumers,
        )  # fmt: skip
