"""What the threads of a finished program did, added to the totals of its chip."""

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.interval import TOTALS
from tensim.sim.chip.launch_work import Sparse
from tensim.sim.engine.entry_points import take_ended
from tensim.sim.loop.ended_threads import BUFFER_SUM, CORE_WORK, ENDED_THREAD, REQUEST, TRAFFIC_WORDS


class Accounting:
    """Adds what threads of finished programs did to a chip's `work` and `core_cycles`, its oddities and totals of compute cores."""

    def __init__(self, chip):
        self._chip = chip
        n_threads = len(chip.work)
        self._request = np.zeros(1, REQUEST)
        self._addresses = chip.arrays.address, self._request.ctypes.data
        self._found, self._cores = (  # as bytes: numpy copies records field by field
            np.zeros((rows, dtype.itemsize), np.uint8)
            for rows, dtype in ((n_threads, ENDED_THREAD), (chip.n_workers, CORE_WORK))
        )
        self._stalls, self._traffic = (
            np.zeros((2, n_threads * columns), np.int64) for columns in (st.N_REASONS, TRAFFIC_WORDS)
        )
        r = self._request[0]
        r["work_at"], r["core_cycles_at"] = chip.work.ctypes.data, chip.core_cycles.ctypes.data
        r["ended_at"], r["cores_at"] = self._found.ctypes.data, self._cores.ctypes.data
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
        ended, cores, stalls, traffic = self._take(slot, record, buffers, launch)
        work = chip.works.collect(record, ended, stalls, traffic, cores, buffers, launch)
        if work is not None:
            record["work"] = work
        for name in TOTALS:
            setattr(chip, name, getattr(chip, name) + int(cores[name].sum()))
        chip.compute_cores.update(cores["core"].tolist())

    def _take(self, slot, record, buffers, launch):
        """(ENDED_THREAD of each thread, CORE_WORK of each compute core, `Sparse` stalls and traffic); fills `buffers`."""
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
        ended, cores = (
            rows[:count].copy().view(dtype)[:, 0]
            for rows, count, dtype in ((self._found, n, ENDED_THREAD), (self._cores, int(r["n_cores"]), CORE_WORK))
        )
        return ended, cores, stalls, traffic


def _buffers_of(launch):
    """BUFFER_SUM of the circular buffers of a launch, to be filled; none of recorded NoC events."""
    cores = {} if launch is None else launch.buffer_cores
    sums = np.zeros(len(cores), BUFFER_SUM)
    if cores:
        sums["index"], sums["n_cores"] = list(cores), [len(mine) for mine in cores.values()]
    return sums
