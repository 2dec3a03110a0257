"""What the threads of a finished program did, added to the totals of its chip."""

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.interval import TOTALS
from tensim.sim.chip.launch_work import CORE_COUNTERS, Sparse, columns_of
from tensim.sim.cores.slots import THREADS_PER_CORE, TRISC0
from tensim.sim.engine.entry_points import take_ended
from tensim.sim.loop.ended_threads import BUFFER_SUM, ENDED_THREAD, REQUEST, TRAFFIC_WORDS

COUNTERS = tuple(dict.fromkeys((*CORE_COUNTERS, *TOTALS)))  # of compute cores


class Accounting:
    """Adds what threads of finished programs did to a chip's `work` and `core_cycles`, its oddities and totals of compute cores."""

    def __init__(self, chip):
        self._chip = chip
        n_threads = len(chip.work)
        self._request = np.zeros(1, REQUEST)
        self._addresses = chip.arrays.address, self._request.ctypes.data
        self._found = np.zeros((n_threads, ENDED_THREAD.itemsize), np.uint8)
        self._stalls, self._traffic = (
            np.zeros((2, n_threads * columns), np.int64) for columns in (st.N_REASONS, TRAFFIC_WORDS)
        )
        r = self._request[0]
        r["work_at"], r["core_cycles_at"] = chip.work.ctypes.data, chip.core_cycles.ctypes.data
        r["ended_at"] = self._found.ctypes.data
        for places, values, pair in (
            ("stall_places_at", "stalls_at", self._stalls),
            ("traffic_places_at", "traffic_at", self._traffic),
        ):
            r[places], r[values] = (row.ctypes.data for row in pair)

    def add(self, slot, record, launch):
        """Add the program of launch `slot`; its `record` in `launches` gets its end and, when it is kept, its `LaunchWork`."""
        chip = self._chip
        record["ended"] = int(chip.arrays["launches"][slot]["ended"])
        chip.oddities.drain()
        buffers = _buffers_of(launch)
        ended, stalls, traffic = self._take(slot, record, buffers, launch)
        threads = ended["thread"]
        compute = threads[threads % THREADS_PER_CORE == TRISC0] // THREADS_PER_CORE
        counters = columns_of(chip.arrays["cores"], COUNTERS, compute)
        by_name = dict(zip(COUNTERS, counters.T, strict=True))
        work = chip.works.collect(record, ended, stalls, traffic, compute, by_name, buffers, launch)
        if work is not None:
            record["work"] = work
        for name, total in zip(COUNTERS, counters.sum(axis=0).tolist(), strict=True):
            if name in TOTALS:
                setattr(chip, name, getattr(chip, name) + total)
        chip.compute_cores.update(compute.tolist())

    def _take(self, slot, record, buffers, launch):
        """(ENDED_THREAD of each thread, `Sparse` stalls and traffic), which the chip's totals then have; fills `buffers`."""
        threads, r = np.sort(np.asarray(record["threads"], np.int64)), self._request[0]
        r["slot"], r["launch_started"], r["launch_ended"] = slot, record["started"], record["ended"]
        r["threads_at"], r["n"] = threads.ctypes.data, len(threads)
        r["buffers_at"], r["n_buffers"] = buffers.ctypes.data, len(buffers)
        if len(buffers):
            r["buffer_rows_at"] = launch.buffer_rows.ctypes.data
        take_ended(*self._addresses)
        n = int(r["n_ended"])
        stalls, traffic = (
            Sparse((n, columns), *pair[:, : int(r[count])].copy())
            for pair, columns, count in (
                (self._stalls, st.N_REASONS, "n_stalls"),
                (self._traffic, TRAFFIC_WORDS, "n_traffic"),
            )
        )
        return self._found[:n].copy().view(ENDED_THREAD)[:, 0], stalls, traffic


def _buffers_of(launch):
    """BUFFER_SUM of the circular buffers of a launch, to be filled; none of recorded NoC events."""
    cores = {} if launch is None else launch.buffer_cores
    sums = np.zeros(len(cores), BUFFER_SUM)
    if cores:
        sums["index"], sums["n_cores"] = list(cores), [len(mine) for mine in cores.values()]
    return sums
