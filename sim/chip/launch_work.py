"""What a program did on the chip in one launch: per thread, per circular buffer, on links and in DRAM.

Collected from the engine's counters when the program has ended; nothing here runs during a simulation.  Traffic of links and
DRAM channels is what the chip moved since the last program ended: with several programs at once, all that ran meanwhile.
"""

from __future__ import annotations

import functools
import math
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tensim.sim import state as st
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tensim.sim.chip.launch import Launch

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
    "coprocessor": st.WAIT_COPROCESSOR,  # and mailboxes
}
WAIT_NAMES = tuple(WAITS)
MAX_DETAILED = 1024  # launches whose work is kept; of later ones only their times are
CORE_COUNTERS = ("flops", "fpu_busy", "sfpu_busy", "products", "product_calls")
LINK_COUNTERS = ("flits",)
CHANNEL_COUNTERS = ("read_bytes", "write_bytes", "row_hits", "row_misses", "busy")


class Sparse(NamedTuple):
    """An array (int64) most of which is zero: `places` in the flat array, and their `values`."""

    shape: tuple
    places: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, array):
        """What an array holds."""
        flat = array.ravel()
        places = np.flatnonzero(flat)
        return cls(array.shape, places, flat[places])

    @property
    def indices(self):
        """Of the values, an array for each dimension."""
        return np.unravel_index(self.places, self.shape)

    def whole(self):
        """The array."""
        flat = np.zeros(math.prod(self.shape), np.int64)
        flat[self.places] = self.values
        return flat.reshape(self.shape)


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
    left: int  # pages pushed and not popped at the end, which the next program does not find
    packed: int  # tiles that the packer wrote into it
    levels: np.ndarray
    waits: dict
    most: dict
    producers: tuple
    consumers: tuple


@dataclass
class LaunchWork:
    """What a launch did.  Arrays of n rows are per thread, those of `compute_cores` per core that ran a compute kernel.

    `stalls`: cycles (n, reasons) by reason (`state.WAIT_*`); `traffic_words`: `state.TRAFFIC` records as words; `line_base`: of its
    kernel in the line table; `buffer_sums`: BUFFER_SUM of its circular buffers (`tensim.sim.loop.ended_threads`); `channels`:
    {counter: of each DRAM channel}; `links`: flits over each link; `first_read_bytes`: bytes of DRAM that it read, each counted
    once.
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
    stalls: Sparse
    traffic_words: Sparse
    compute_cores: np.ndarray
    core_counters: dict[str, np.ndarray]
    buffer_sums: np.ndarray
    channels: dict[str, np.ndarray]
    links: Sparse
    first_read_bytes: int
    launch: Launch | None = field(repr=False, default=None)  # None for recorded NoC events

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

    @functools.cached_property
    def stall_rows(self):
        """Place in `threads` of every wait that occurred."""
        return self.stalls.indices[0]

    @functools.cached_property
    def stall_reasons(self):
        """Its reason."""
        return self.stalls.indices[1]

    @property
    def stall_cycles(self):
        """Its cycles."""
        return self.stalls.values

    @functools.cached_property
    def traffic(self):
        """`state.TRAFFIC` records of the threads."""
        return self.traffic_words.whole().view(st.TRAFFIC).ravel()

    @property
    def link_flits(self):
        """Flits over each link."""
        return self.links.whole()

    @functools.cached_property
    def waits(self):
        """Cycles (n, kinds of `WAIT_NAMES`) that each thread waited."""
        result = np.zeros((len(self.threads), len(WAIT_NAMES)), np.int64)
        kinds = np.searchsorted(list(WAITS.values()), self.stall_reasons, "right") - 1
        np.add.at(result, (self.stall_rows, kinds), self.stall_cycles)
        return result

    @functools.cached_property
    def buffers(self):
        """[BufferWork] of the circular buffers, by index."""
        return [self._buffer(one) for one in np.sort(self.buffer_sums, order="index")]

    def _buffer(self, one):
        index, waits, most = int(one["index"]), {}, {}
        cores = self.launch.buffer_cores[index]
        for side, first in (("front", st.WAIT_CB_FRONT), ("back", st.WAIT_CB_BACK)):
            mine = np.flatnonzero(self.stall_reasons == first + index)
            cycles = self.stall_cycles[mine]
            waits[side], most[side] = int(cycles.sum()), (0, int(cores[0]))
            if len(mine):
                worst = int(np.argmax(cycles))
                most[side] = int(cycles[worst]), int(self.cores[self.stall_rows[mine[worst]]])
        producers, consumers = (
            tuple(slot for slot in range(THREADS_PER_CORE) if one[users] >> slot & 1)
            for users in ("producers", "consumers")
        )
        return BufferWork(
            index, int(one["pages"]), int(one["page_size"]), int(one["data_format"]), cores, int(one["pushed"]),
            int(one["left"]), int(one["packed"]), one["levels"], waits, most, producers, consumers,
        )  # fmt: skip


class WorkCollector:
    """Makes the `LaunchWork` of every program of a chip that ends: copies of counters, so that a launch costs little."""

    def __init__(self, arrays):
        self._arrays = arrays
        self.restart()

    def restart(self):
        """Counters of links and channels, and launches, start anew."""
        self._count = 0
        self._before = {
            name: {counter: self._arrays[name][counter].copy() for counter in counters}
            for name, counters in (("channels", CHANNEL_COUNTERS), ("links", LINK_COUNTERS))
        }

    def collect(self, record, ended, stalls, traffic, cores, buffers, launch):
        """The work of the program of a `record` in `launches`; `ended`: `ENDED_THREAD` of its threads, ascending, with their
        `stalls` and `traffic`; `cores`: `CORE_WORK` of those with a compute kernel; `buffers`: `BUFFER_SUM`.

        None beyond `MAX_DETAILED` launches.
        """
        self._count += 1
        if self._count > MAX_DETAILED:
            return None
        return LaunchWork(
            started=record["started"], ended=record["ended"], threads=ended["thread"], line_base=ended["line_base"],
            starts=ended["started"], ends=ended["ended"], busy=ended["busy"], issue=ended["issue"],
            operations=ended["operations"], stalls=stalls, traffic_words=traffic, compute_cores=cores["core"],
            core_counters={name: cores[name] for name in CORE_COUNTERS}, buffer_sums=buffers,
            channels=self._moved("channels"), links=Sparse.of(self._moved("links")["flits"]),
            first_read_bytes=self._arrays.first_read_bytes, launch=launch,
        )  # fmt: skip

    def _moved(self, name):
        """{counter: by how much it has grown since the last program, of each link or channel}."""
        table, moved, before = self._arrays[name], {}, self._before[name]
        for counter, old in before.items():
            now = table[counter].copy()
            moved[counter], before[counter] = now - old, now
        return moved
