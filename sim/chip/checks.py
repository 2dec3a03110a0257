"""Checks of kernels on a chip: the checker's tables, what a launch puts into them, and its findings as errors."""

import sys
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap

import numpy as np

from tensim.sim.chip.places import core_name, format_name, thread_place
from tensim.sim.chip.queue_checks import HOST_LANES, QueueChecks
from tensim.sim.cores.checks import shadow
from tensim.sim.cores.checks.buffers import BASE, NAMED
from tensim.sim.cores.checks.clocks import VECTOR
from tensim.sim.cores.checks.faults import ADVICE, MESSAGES, ON_CORE, RACES, Check
from tensim.sim.cores.checks.shadow import (
    DRAM_READ,
    DST_TILE,
    L1_BYTES,
    L1_READ,
    L1_SENT,
    LEFT_OVER,
    PLACE_SHIFT,
    UNWRITTEN,
    WRITTEN,
)
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, THREADS_PER_CORE, UNPACK_SLOT
from tensim.sim.cores.tensix.initialisation import CALLS
from tensim.sim.engine.entry_points import check_event, spread_bytes
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS, N_SEMAPHORES
from tensim.sim.errors import ProgramError

NO_RESERVE = 0x4000 if sys.platform == "linux" else 0  # MAP_NORESERVE, which mmap has from Python 3.13 on


QUEUE_ADVICE = (
    "let the queue wait for an event that the other one records behind its command, or the host for the other queue"
)
UNWRITTEN_CHECKS = {
    L1_BYTES: Check.UNWRITTEN_L1,
    DST_TILE: Check.UNWRITTEN_DST,
    L1_SENT: Check.UNWRITTEN_SENT,
    L1_READ: Check.UNWRITTEN_READ,
    DRAM_READ: Check.UNWRITTEN_READ,
}


def _granules(address, size):
    """The slice of the states of bytes."""
    return slice(address // shadow.GRANULE, -(-(address + size) // shadow.GRANULE))


def _untouched(size):
    """Zeros, which take memory where they are written."""
    return mmap(-1, size, flags=MAP_PRIVATE | MAP_ANONYMOUS | NO_RESERVE)


class Checks:
    """The checker of `chip`, a `tensim.sim.chip.chip.Chip`; made once, before its first launch."""

    def __init__(self, chip):
        self._chip, n = chip, chip.n_workers
        self._record = np.zeros(1, shadow.SHADOW)
        self._buffers = np.zeros((n, N_CIRCULAR_BUFFERS), shadow.BUFFER)
        self._configured = np.zeros((n, shadow.CONFIGURED), np.int64)
        self._threads = np.zeros(n * THREADS_PER_CORE, shadow.THREAD)
        self._writes = np.zeros((n * THREADS_PER_CORE, shadow.MAX_WRITES), shadow.WRITE)
        self._kept = {}  # launch slot -> arrays that the tables point to
        self._cores = np.zeros(n, shadow.CORE)
        self._origins = np.zeros(shadow.MAX_ORIGINS, shadow.ORIGIN)
        self._dst = np.ones((n, 16), np.uint8)
        self._semaphores = np.zeros(n, np.int64)
        self._make_clocks(n)
        self._l1, self._dram = self._memory_states() if chip.numerics != "off" else (None, None)
        for name in (
            "buffers", "configured", "threads", "writes", "cores", "origins", "dst", "semaphores", "clocks", "cells",
            "dram_cells", "blocks", "ends", "steps", "words", "signals", "uses",
        ):  # fmt: skip
            self._record[f"{name}_at"] = getattr(self, f"_{name}").ctypes.data
        if self._l1 is not None:
            self._record["data"], self._record["l1_at"] = 1, self._l1.ctypes.data
            self._record["dram_at"] = self._dram.ctypes.data
        self._record["semaphore_base"] = chip.arrays.semaphore_base
        self.forget()
        chip.machine["shadow_at"], chip.machine["checker_at"] = self._record.ctypes.data, check_event.address

    def _make_clocks(self, n):
        """What races are found by: clocks, and who touched the L1 of `n` cores last.

        What they cost in memory: docs/checks.md, races.
        """
        self.n_clocks = n * shadow.LANES + HOST_LANES
        self._queues = QueueChecks(self, self._chip)
        length = -(-self.n_clocks // VECTOR) * VECTOR
        self._record["n_cores"], self._record["clock_bytes"] = n, 4 * length
        self._clocks = np.zeros((n * THREADS_PER_CORE, length), np.int32)
        self._signals = np.zeros((shadow.MAX_WORDS + n * N_SEMAPHORES, length), np.int32)
        self._words = np.zeros(shadow.MAX_WORDS, np.int64)
        self._uses = np.zeros((n, N_CIRCULAR_BUFFERS, THREADS_PER_CORE), shadow.USE)
        self._ends = np.zeros((n, N_CIRCULAR_BUFFERS, 2, shadow.MAX_ENDS), shadow.END)
        self._steps = np.zeros((n, FIRST_COMPUTE_SLOT, shadow.MAX_STEPS), shadow.STEP)
        self._merged = np.zeros((n * THREADS_PER_CORE, THREADS_PER_CORE), np.int64)
        self._threads["merged_at"] = self._merged.ctypes.data + np.arange(len(self._merged)) * self._merged.strides[0]
        self._reads = np.zeros((n, 2 * shadow.MAX_READS), np.int64)
        self._threads["reads_at"][UNPACK_SLOT::THREADS_PER_CORE] = (
            self._reads.ctypes.data + np.arange(n) * self._reads.strides[0]
        )
        arch = self._chip.arch
        for name, units in (
            ("_cells", n * arch.l1_size),
            ("_dram_cells", arch.dram_banks * arch.dram_bank_bytes >> shadow.DRAM_UNIT_SHIFT),
        ):
            setattr(
                self, name, np.frombuffer(_untouched((units >> shadow.CELL_SHIFT) * shadow.CELL.itemsize), shadow.CELL)
            )
        # Buffers begin where the user's memory does: so do blocks
        lead = -(arch.l1_user_base >> shadow.CELL_SHIFT << shadow.CELL_SHIFT) % (1 << shadow.BLOCK_SHIFT)
        n_blocks = (arch.l1_size - 1 + lead >> shadow.BLOCK_SHIFT) + 1
        self._blocks = np.zeros((n, n_blocks), shadow.BLOCK)
        self._record["n_blocks"], self._record["lead"] = n_blocks, lead

    def _memory_states(self):
        """States of L1 (worker, granule) and of DRAM (bank, granule); of DRAM those take memory that are written."""
        arch, n = self._chip.arch, self._chip.n_workers
        l1 = np.zeros((n, arch.l1_size // shadow.GRANULE), np.uint8)
        l1[:, : -(-arch.l1_user_base // shadow.GRANULE)] = WRITTEN  # arguments, semaphores, code
        shape = arch.dram_banks, arch.dram_bank_bytes // shadow.GRANULE
        return l1, np.frombuffer(_untouched(shape[0] * shape[1]), np.uint8).reshape(shape)

    def host_wrote_l1(self, core, address, size):
        """The host has written bytes of an L1."""
        if self._l1 is not None:
            self._l1[core, _granules(address, size)] = WRITTEN

    def host_wrote_dram(self, bank, address, size):
        """The host has written bytes of a DRAM bank."""
        if self._dram is not None:
            self._dram[bank, _granules(address, size)] = WRITTEN

    def check_read(self, in_dram, bank, address, page, stride, count):
        """Refuse a read by the host, of `count` pages `stride` apart, of data that were computed from memory nobody wrote.

        ProgramError at the line that used that memory.
        """
        states = self._dram if in_dram else self._l1
        if states is not None:
            pages = states[bank, _granules(address, stride * count)].reshape(count, -1)
            worst = int(pages[:, : page // shadow.GRANULE].max(initial=0))
            if worst >= shadow.FIRST_ORIGIN:
                raise self._unwritten(self._origins[worst - shadow.FIRST_ORIGIN])

    def _unwritten(self, origin):
        """The error of a result that derives from memory nobody wrote."""
        place = thread_place(self._chip, int(origin["thread"]), int(origin["line"]), int(origin["line_base"]))
        kind, address = int(origin["kind"]), int(origin["address"])
        code, values = UNWRITTEN_CHECKS[kind], [address]
        if kind in (L1_READ, DRAM_READ):
            number, address = address >> PLACE_SHIFT, address & (1 << PLACE_SHIFT) - 1
            values = [number, address]
            number = number if kind == L1_READ else -1 - number
            text = MESSAGES[code].format(place=self._place(address, number))
        else:
            text = MESSAGES[code].format(a=address)
        where = place | {"cycle": int(origin["cycle"]), "values": values}
        return ProgramError(text, where=where, hint=ADVICE[code], kind=code.name.lower())

    # --- several queues

    def host_access(self, queue, buffer, bank, start, size, writes):
        """A queue writes or reads bytes of a buffer, in a DRAM bank or the L1 of a worker, for the host.

        ProgramError when a thread, or another queue, was there and nothing orders the two.
        """
        if not buffer.in_dram:
            spread_bytes(self._chip.arrays.address, bank, start, size)
        cells = self._dram_cells if buffer.in_dram else self._cells
        of_bank = cells.reshape(self._chip.arch.dram_banks if buffer.in_dram else self._chip.n_workers, -1)[bank]
        place = -1 - bank if buffer.in_dram else bank
        self._queues.access(queue, queue.known.of(self), buffer, of_bank, place, start, size, writes)

    def host_signals(self):
        """The host writes a word that threads may wait for: what it has done so far comes before that."""
        first = self.n_clocks - HOST_LANES
        self._clocks[:, first : self.n_clocks] = self._queues.clocks

    def ended(self, launch, row):
        """A program is over, for whoever goes by the clocks `row`."""
        self._queues.ended(self._chip.launches[launch]["threads"], row)

    def queue_race(self, code, queue, place, start, size, other, line, cycle):
        """The error of an access by a queue for the host that nothing orders behind what a thread did at a line."""
        other = self._other_place(other, line, cycle)
        text = MESSAGES[code].format(place=self._place(start, place), b=size, d=cycle)
        where = {"queue": queue, "other": other, "values": [start, size, place]}
        text = f"by queue {queue} for the host: {text}{self._named(other, None)}"
        return ProgramError(text, where=where, hint=QUEUE_ADVICE, kind=code.name.lower())

    def _other_place(self, other, line, cycle):
        """Where the second thread of a race was, or which queue it was."""
        if other >= len(self._threads):
            return {"thread": f"queue {other - len(self._threads)} for the host", "cycle": cycle}
        return thread_place(self._chip, other, line, self._queues.line_base(other, cycle)) | {"cycle": cycle}

    @staticmethod
    def _named(other, core):
        """The second thread of a fault, for a message; `core`: that of the first one."""
        if "core" not in other:
            return f" ({other['thread']})"
        place = f" of core {other['core']}" if other["core"] != core else ""
        return f" ({other['thread']}{place}, {other.get('file')}:{other.get('line')})"

    def forget(self):
        """No fault has been found."""
        for name in ("line", "other", "other_line"):
            self._record[name] = -1

    def launch(self, launch, slot, known=None):
        """A program is loaded: its threads and circular buffers begin anew.  `known`: as of `Chip.launch`."""
        for core in {core for part in (*launch.kernels, *launch.circular_buffers) for core in part.cores}:
            self._buffers[core] = 0
            self._uses[core] = 0
            self._configured[core] = 0
            self._cores[core] = 0
            self._semaphores[core] = 0
        for semaphore in launch.semaphores:
            self._semaphores[semaphore.cores] |= 1 << semaphore.id
        for cb in launch.circular_buffers:
            for core in cb.cores:
                self._buffers[core, cb.index]["tensor"] = cb.on_buffer
                count = self._configured[core, 0] = self._configured[core, 0] + 1
                self._configured[core, count] = cb.index
                if self._l1 is not None and not cb.on_buffer:
                    states = self._l1[core, _granules(cb.address, cb.size)]
                    states[states != UNWRITTEN] = LEFT_OVER
        buffers = np.array(launch.dram_buffers, np.int64).reshape(-1, len(shadow.DRAM_BUFFER.names))
        buffers = np.ascontiguousarray(buffers[np.argsort(buffers[:, 0], kind="stable")])
        unordered = np.array(launch.unordered_buffers, np.int64).reshape(-1, len(shadow.UNORDERED.names))
        self._record["unordered_at"], self._record["n_unordered"] = unordered.ctypes.data, len(unordered)
        self._kept[slot] = [buffers, unordered]
        l1_buffers = self._l1_buffers(launch.l1_buffers, slot)
        places = [word for cb in launch.circular_buffers for word in (cb.address, cb.address + 1)]
        on_l1 = np.minimum(self._known_of(l1_buffers, np.array(places, np.int64)), NAMED)
        for kernel in launch.kernels:
            slots = (kernel.slot,) if kernel.slot is not None else range(2, THREADS_PER_CORE)
            for core_slot in slots:
                polls = self._kept_polls(kernel.compiled.on(core_slot), slot)
                self._threads["polls_at"][np.multiply(kernel.cores, THREADS_PER_CORE) + core_slot] = polls
            for core in kernel.cores:
                words = (*kernel.args.get(core, ()), *kernel.common_args, *kernel.compile_args)
                named, l1_named = (self._known_of(table, np.array(words, np.int64)) for table in (buffers, l1_buffers))
                np.maximum(l1_named, on_l1, out=l1_named)
                self._kept[slot] += (named, l1_named)
                rows = np.array(kernel.suspects.get(core, ()), np.int64)
                self._kept[slot].append(rows)
                for thread in (core * THREADS_PER_CORE + slot for slot in slots):
                    t = self._threads[thread]
                    t["suspects_at"], t["n_suspects"] = rows.ctypes.data, len(rows)
                    t["dram_at"], t["n_dram"] = buffers.ctypes.data, len(buffers)
                    t["named_at"], t["names"] = named.ctypes.data, named.max(initial=0)
                    t["l1_at"], t["n_l1"] = l1_buffers.ctypes.data, len(l1_buffers)
                    t["l1_named_at"], t["l1_names"] = l1_named.ctypes.data, l1_named.max(initial=0)

        self._start_clocks([
            core * THREADS_PER_CORE + place
            for kernel in launch.kernels
            for core in kernel.cores
            for place in ((kernel.slot,) if kernel.slot is not None else range(2, THREADS_PER_CORE))
        ], known, slot)  # fmt: skip

    def _l1_buffers(self, buffers, slot):
        """The table of L1 buffers, (address, end, bytes on each worker), by their addresses."""
        held = np.array([buffer[2] for buffer in buffers], np.int64).reshape(len(buffers), self._chip.n_workers)
        self._kept[slot].append(held)
        rows = [(start, end, held.ctypes.data + i * held.strides[0]) for i, (start, end, _) in enumerate(buffers)]
        table = np.array(sorted(rows), np.int64).reshape(-1, len(shadow.L1_BUFFER.names))
        self._kept[slot].append(table)
        return table

    def clocks_now(self):
        """Up to where the clock of each lane has come: int32 of `n_clocks`."""
        now = self._threads["clock"].reshape(-1, THREADS_PER_CORE)
        now = np.concatenate([now, now[:, :FIRST_COMPUTE_SLOT]], 1).ravel()
        return np.concatenate([now, self._queues.clocks]).astype(np.int32)

    def _start_clocks(self, threads, known, slot):
        """Threads start behind everything that any thread has done so far, but for what their queue does not know to be over."""
        clock, now = self._threads["clock"], self.clocks_now()
        self._clocks[threads, : len(now)] = now
        self._threads["hides"][threads] = 0
        if known is not None:
            self._queues.launched(threads)
        if known is not None and (known < now).any():
            rows = np.stack([known, now])
            self._kept[slot].append(rows)
            self._threads["hides"][threads] = 1
            self._threads["order_at"][threads] = rows.ctypes.data
            self._threads["start_at"][threads] = rows.ctypes.data + rows.strides[0]
        clock[threads] += 1
        self._threads["first"][threads] = clock[threads]
        self._record["versions"] += 1
        self._threads["version"][threads] = self._merged[threads] = int(self._record["versions"][0])
        if not self._chip.is_running:
            self._words[:], self._record["n_words"] = 0, 0

    def _kept_polls(self, program, slot):
        """Address of a byte for each row of a program's lines: whether loads there wait for another's write; 0: none do."""
        if not program.polls:
            return 0
        rows = np.zeros(program.n_rows, np.uint8)
        rows[np.array(sorted(program.polls)) - program.first_row] = 1
        self._kept[slot].append(rows)
        return rows.ctypes.data

    @staticmethod
    def _known_of(buffers, words):
        """For each buffer: whether an argument lies in it or is its address."""
        named = np.zeros(len(buffers), np.uint8)
        starts, ends = buffers[:, 0], buffers[:, 1]
        at = np.searchsorted(starts, words, "right") - 1
        found, words = at[at >= 0], words[at >= 0]
        np.maximum.at(named, found[words < ends[found]], NAMED)
        np.maximum.at(named, found[words == starts[found]], BASE)
        return named

    def _place(self, address, core):
        """Where bytes lie, for messages; -1 - a bank instead of a worker: in DRAM."""
        if core < 0:
            return f"DRAM bank {-1 - core}, offset {address:#x}"
        return f"L1 {address:#x} of core {core_name(self._chip, core)}"

    def error(self):
        """The error of the check that stopped the engine."""
        m, record = self._chip.machine, self._record[0]
        code, values = Check(int(m["error"])), [int(m[name]) for name in ("error_a", "error_b", "error_c")]
        line = int(record["line"])
        where = thread_place(self._chip, int(m["error_thread"]), None if line < 0 else line)
        words = dict(zip("abc", values, strict=True)) | {"d": int(record["other_cycle"])}
        if code in (Check.INIT_MISSING, Check.INIT_WRONG):
            words |= {"a": CALLS[values[0]], "b": CALLS[values[1]]}
        if code in (Check.FORMAT_A, Check.FORMAT_B, Check.FORMAT_OUT):
            words |= {"b": format_name(values[1]), "c": format_name(values[2])}
        if code == Check.SEMAPHORE_MISSING:
            words["b"] = core_name(self._chip, values[1])
        if code == Check.GENERATOR_MEMORY:
            words |= {"a": ("L1", "DRAM")[values[0]], "c": ("L1", "DRAM")[values[2]]}
        if code in ON_CORE:
            words["place"] = self._place(values[0], values[2])
        text = MESSAGES[code].format(**words)
        if record["other"] >= 0:
            if code in RACES:
                other = self._other_place(*(int(record[name]) for name in ("other", "other_line", "other_cycle")))
            else:
                other = thread_place(self._chip, int(record["other"]), int(record["other_line"]))
            where["other"] = other
            text += self._named(other, where["core"])
        return ProgramError(text, where=where | {"values": values}, hint=ADVICE[code], kind=code.name.lower())
