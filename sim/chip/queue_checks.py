"""What the queues of a device do for the host, among what programs do to the same buffers: races with programs of other queues.

Source of the cells and clocks: `tensim.sim.cores.checks.races` and `clocks`; what a queue knows: `tensim.sim.host.knowledge`.
"""

import numpy as np

from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.races import ALL_UNITS, CLOCK_SHIFT, LANE_MASK, LINE_MASK, LINE_SHIFT
from tensim.sim.cores.checks.shadow import CELL_SHIFT, CELL_UNITS, DRAM_UNIT_SHIFT, LANES
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, THREADS_PER_CORE

HOST_LANES = THREADS_PER_CORE  # behind those of the cores: of what queues write and read for the host
MAX_LAUNCHES = 8  # of a thread whose lines are remembered


class QueueChecks:
    """Of a chip whose device has several queues.  `checks`: its `tensim.sim.chip.checks.Checks`."""

    def __init__(self, checks, chip):
        self._checks, self._chip = checks, chip
        self._first = chip.n_workers * LANES
        self.clocks = np.zeros(HOST_LANES, np.int32)
        self._launches = {}  # thread -> [(cycle of its start, its line base)], the last ones

    def launched(self, threads):
        """Threads have been loaded: remember where their lines are."""
        bases, cycle = self._chip.arrays["threads"]["line_base"], self._chip.cycle
        for thread in threads:
            known = self._launches.setdefault(thread, [])
            known.append((cycle, int(bases[thread])))
            del known[:-MAX_LAUNCHES]

    def line_base(self, thread, cycle):
        """Of the lines of the kernel that a thread ran at a cycle; None: the one that it runs now."""
        before = [base for started, base in self._launches.get(thread, ()) if started <= cycle]
        return before[-1] if before else None

    def ended(self, threads, row):
        """All that a program's threads did is over, for whoever goes by the clocks `row`."""
        now, threads = self._checks.clocks_now(), np.asarray(threads)
        lanes = threads // THREADS_PER_CORE * LANES + threads % THREADS_PER_CORE
        moving = threads % THREADS_PER_CORE < FIRST_COMPUTE_SLOT
        lanes = np.concatenate([lanes, lanes[moving] + THREADS_PER_CORE])
        row[lanes] = np.maximum(row[lanes], now[lanes])

    def access(self, queue, known, buffer, cells, place, start, size, writes):
        """A queue writes or reads bytes of a buffer for the host.  `place`: a worker, or -1 - a DRAM bank, and its `cells`.

        ProgramError when a thread, or another queue, was there and `known`, the clocks that the queue goes by, does not say
        that this is over.
        """
        shift = DRAM_UNIT_SHIFT if place < 0 else 0
        first, end = start + (1 << shift) - 1 >> shift, start + size >> shift
        if first >= end:
            return
        part = cells[first >> CELL_SHIFT : (end - 1 >> CELL_SHIFT) + 1]
        masks = np.full(len(part), ALL_UNITS, np.int64)
        masks[0] &= ALL_UNITS << (first & CELL_UNITS - 1)
        if end & CELL_UNITS - 1:
            masks[-1] &= (1 << (end & CELL_UNITS - 1)) - 1
        if not (writes and buffer.unordered):
            self._look(
                queue, known, part["writer"], part["written"] & masks, part["written_at"], writes, True, place, start,
                size,
            )  # fmt: skip
        if writes:
            self._look(
                queue, known, part["reader"], part["read"] & masks, part["read_at"], writes, False, place, start, size
            )
        lane = queue.index % HOST_LANES
        self.clocks[lane] += 1
        known[self._first + lane] = self.clocks[lane]
        mine = int(self.clocks[lane]) << CLOCK_SHIFT | self._first + lane
        who, what, when = ("writer", "written", "written_at") if writes else ("reader", "read", "read_at")
        part[who], part[what], part[when] = mine, masks, self._chip.cycle & 0x7FFFFFFF

    def _look(self, queue, known, accesses, touched, cycles, writes, written, place, start, size):
        """Refuse an access of the host beside others, which `written` or read the bytes, that are not known to be over."""
        lanes = accesses & LANE_MASK
        unknown = np.flatnonzero((touched != 0) & (accesses >> CLOCK_SHIFT > known[lanes]))
        if not len(unknown):
            return
        code = Check.RACE_READ if not writes else Check.RACE_WRITES if written else Check.RACE_WRITE
        access, cycle = int(accesses[unknown[0]]), int(cycles[unknown[0]])
        thread = self.thread(access & LANE_MASK)
        raise self._checks.queue_race(
            code, queue.index, place, start, size, thread, access >> LINE_SHIFT & LINE_MASK, cycle
        )

    def thread(self, lane):
        """The thread of a lane; behind all threads: the queue of a lane of the host."""
        core, slot = divmod(lane, LANES)
        return core * THREADS_PER_CORE + slot % THREADS_PER_CORE
