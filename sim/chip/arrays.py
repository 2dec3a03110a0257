"""The state of one chip as arrays that the compiled engine reads and writes: made from an architecture, grown between runs."""

from mmap import MADV_DONTNEED, MAP_ANONYMOUS, MAP_PRIVATE, mmap

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.functional_memory import CHUNK_BYTES, CHUNKS_PER_SLAB
from tensim.sim.chip.sfpu_cycle_table import sfpu_cycle_table
from tensim.sim.cores import context as ctx
from tensim.sim.cores.numerics.tile import TILE_DATUMS
from tensim.sim.cores.operations import Mailbox, Role
from tensim.sim.cores.print_log import PRINT
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.cores.tensix.instructions import instruction_table
from tensim.sim.cores.tensix.queue_state import (
    DST_TILES,
    LINE_WORDS,
    MAX_THREADS,
    OPERATION,
    QUEUE,
    QUEUE_SIZE,
    SOURCE_PLACES,
)
from tensim.sim.dram.channel import build_banks, build_channels, build_dram_params
from tensim.sim.engine.event_heap import NEVER, new_heap
from tensim.sim.engine.known_words import WORD
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS, N_SEMAPHORES, SEMAPHORE_STRIDE
from tensim.sim.engine.memory import lazy_zeros, zeros_in_cache_lines
from tensim.sim.noc.flit_network import PACKET
from tensim.sim.noc.packet_state import PACKET_DTYPE, build_links, build_noc_params, build_ports, build_vcs

NUMERICS = {"off": 0, "fast": 1, "exact": st.EXACT}  # -> data_on
CLOCK_EVENTS = 64  # void ones of the flit model's clock among them, at most one per cycle of a hop
ARGS_STRIDE = 1376  # bytes of L1 reserved for one thread's arguments, a multiple of 16
ROLES = (Role.DATA_MOVEMENT, Role.DATA_MOVEMENT, Role.UNPACK, Role.MATH, Role.PACK)
TRANSACTIONS = 1 << 13  # to begin with
# grain of what is read of DRAM: its smallest alignment; room for a bit of each
TOUCHED_SHIFT, MAX_TOUCHED_BYTES = 5, 1 << 27

PRINTS, MARGIN_PRINTS = 1 << 14, 128  # records; what an event may add


class MachineArrays:
    """The machine record of a chip (`machine`, at `address`) and its arrays, by the names of `tensim.sim.state`.

    `numerics`, `noc`: as those of `tensim.sim.chip.chip.Chip`.  `l1`: uint8 (worker, byte);
    `l1_of_tiles` has the Ethernet tiles behind them.  `l1_known`: uint8 (tile, word), which are known, or None where all are
    (`tensim.sim.engine.known_words`).
    """

    def __init__(self, arch, numerics, noc):
        self.arch, self.numerics, self.noc = arch, numerics, noc
        self.tracks_known = numerics == "off"
        self.n_workers = len(arch.worker_coords)
        self._arrays, self._idle, self.slabs, self.flits = {}, {}, [], None
        self._more_events = 0
        self.record = np.zeros(1, st.MACHINE)
        self.machine, self.address = self.record[0], self.record.ctypes.data
        self._build()

    def __getitem__(self, name):
        """An array as it is now: pools grow between two stretches of a run."""
        return self._arrays[name]

    def place(self, name, array, count=None):
        """Keep an array alive and tell the machine its address and length."""
        self._arrays[name] = array
        self.machine[f"{name}_at"] = array.ctypes.data
        if count is not None:
            self.machine[count] = len(array)
        return array

    def place_idle(self, name, array, count=None):
        """Place the idle state of networks or memories, and keep a copy of it."""
        self.place(name, array, count)
        self._idle[name] = array.copy()

    def make_idle(self, *names):
        """Bring the state of networks or memories back to how it was placed."""
        for name in names:  # as bytes: numpy copies records field by field
            self[name].view(np.uint8)[:] = self._idle[name].view(np.uint8)

    def _build(self):
        arch, m = self.arch, self.machine
        width, height = arch.noc_size
        m["grid_width"] = width
        for field, (key, scale) in st.PARAMETERS.items():
            m[field] = round(arch[key] * scale)
        m["flit_bytes"], m["max_packet"] = arch["noc.flit_bytes"], arch["noc.max_packet_bytes"]
        m["l1_size"], m["bank_bytes"] = arch.l1_size, arch.dram_bank_bytes
        m["dram_tile_bytes"] = arch["dram.banks_per_tile"] * arch.dram_bank_bytes
        m["trace_start"] = arch.dram_bank_bytes
        m["reserved_end"], m["user_base"] = arch["l1.reserved_end"], arch.l1_user_base
        m["self_at"] = self.address
        m["l1_congruence"] = arch["alignment.l1"]
        m["dram_read_congruence"], m["dram_write_congruence"] = (
            arch["alignment.dram_read"],
            arch["alignment.dram_write"],
        )
        m["data_on"] = NUMERICS[self.numerics]
        m["n_workers"] = self.n_workers
        self.semaphore_base = -(-int(arch["l1.reserved_end"]) // 16) * 16
        m["semaphore_base"] = self.semaphore_base
        self.args_base = self.semaphore_base + N_SEMAPHORES * SEMAPHORE_STRIDE
        self._build_tiles(width, height)
        self._build_cores(width)
        self._build_pools()
        self.place_idle("links", build_links(arch))
        self.place_idle("vcs", build_vcs(arch))
        self.place_idle("ports", build_ports(arch))
        self.place("noc_params", build_noc_params(arch))
        self.build_flits()
        self.place_idle("channels", build_channels(arch), "n_channels")
        self.place_idle("banks", build_banks(arch))
        self.place("dram_params", build_dram_params(arch))
        chunks_per_bank = -(-arch.dram_bank_bytes // CHUNK_BYTES)
        m["chunk_bytes"], m["chunks_per_bank"] = CHUNK_BYTES, chunks_per_bank
        self.place("dram_chunks", np.zeros(arch.dram_banks * chunks_per_bank, np.int64))
        self._build_touched()
        self.place("sfpu_cycles", sfpu_cycle_table(arch))
        self.place("fifo", np.zeros(self.n_workers * THREADS_PER_CORE * st.FIFO_ENTRIES * 2, np.int64))
        self.place("instruction_cycles", instruction_table(arch))
        self.place("unit_free", np.zeros(self.n_workers * st.UNIT_SLOTS, np.int64))
        rows = self.n_workers + (len(arch["ethernet.tiles"]) if "ethernet.tiles" in arch else 0)
        self.l1_of_tiles = lazy_zeros((rows, arch.l1_size), np.uint8)
        self.l1 = self.place("l1", self.l1_of_tiles[: self.n_workers])
        self.l1_known = None
        if self.tracks_known:
            self.l1_known = self.place("l1_known", lazy_zeros((rows, arch.l1_size // WORD), np.uint8))
            self.l1_known[:, : arch.l1_user_base // WORD] = 1  # arguments, semaphores, code

    def _build_touched(self):
        """A bit per 32 bytes of DRAM that have been read, fewer on chips with much more of it; untouched pages cost nothing."""
        m, arch = self.machine, self.arch
        m["touched_shift"] = TOUCHED_SHIFT
        while arch.dram_banks * arch.dram_bank_bytes >> m["touched_shift"] + 3 > MAX_TOUCHED_BYTES:
            m["touched_shift"] += 1
        m["touched_words"] = (arch.dram_bank_bytes >> m["touched_shift"] + 6) + 1
        size = arch.dram_banks * int(m["touched_words"]) * 8
        self._touched = mmap(-1, size, flags=MAP_PRIVATE | MAP_ANONYMOUS)
        self.place("touched", np.frombuffer(self._touched, np.int64))

    def forget_touched(self):
        """Nothing of DRAM has been read."""
        self._touched.madvise(MADV_DONTNEED)
        self.machine["first_reads"] = 0

    @property
    def first_read_bytes(self):
        """Bytes of DRAM that have been read since then, each counted once."""
        return int(self.machine["first_reads"]) << int(self.machine["touched_shift"])

    def _build_tiles(self, width, height):
        tiles = self.place("tiles", np.zeros(width * height, st.CHIP_TILE), "n_tiles")
        tiles["open_writes"] = -1
        mask = self.place("workers_mask", np.zeros(width * height, np.int64))
        for name, axis in zip(("noc_columns", "noc_rows"), self.arch.noc_axes(), strict=True):
            self.place(name, np.array(axis, np.int64))
        self.place("receivers", np.zeros(2 * width * height, np.int64))
        for index, (x, y) in enumerate(self.arch.worker_coords):
            tiles[y * width + x] = (st.TILE_WORKER, index, -1)
            mask[y * width + x] = 1
        for (x, y), first in self.arch.dram_tiles.items():
            tiles[y * width + x] = (st.TILE_DRAM, first, -1)
        self.dram_bank_addresses = np.array(
            [[(x << 36) | (y << 42) | offset for x, y, offset in places] for places in self.arch.dram_endpoints],
            np.int64,
        )
        self.l1_bank_addresses = np.zeros(self.n_workers, np.int64)
        self.number_l1_banks(range(self.n_workers))

    def number_l1_banks(self, workers):
        """Let L1 bank i be that of `workers[i]`."""
        places = [self.arch.worker_coords[worker] for worker in workers]
        self.l1_bank_addresses[:] = [(x << 36) | (y << 42) for x, y in places]

    def _build_cores(self, width):
        n_threads = self.n_workers * THREADS_PER_CORE
        cores = self.place("cores", zeros_in_cache_lines(self.n_workers, st.CORE))
        threads = self.place("threads", np.zeros(n_threads, st.THREAD))
        for index, (x, y) in enumerate(self.arch.worker_coords):
            cores[index]["tile"], cores[index]["x"], cores[index]["y"] = y * width + x, x, y
        threads["core"] = np.arange(n_threads) // THREADS_PER_CORE
        threads["slot"] = np.arange(n_threads) % THREADS_PER_CORE
        threads["role"] = np.tile([int(role) for role in ROLES], self.n_workers)
        self.place("circular_buffers", np.zeros((self.n_workers, N_CIRCULAR_BUFFERS, ctx.CB_WORDS), np.int64))
        self.place("stalls", np.zeros((n_threads, st.N_REASONS), np.int64))
        self.place("noc_words", np.zeros((n_threads, st.NOC_WORDS), np.int64))
        self.place("semaphore_writers", np.zeros((self.n_workers, N_SEMAPHORES, 2), np.int64))
        self.place("mailboxes", np.zeros((self.n_workers, len(Mailbox), len(Mailbox)), st.MAILBOX))
        self.place("traffic", np.zeros(n_threads, st.TRAFFIC))
        self.place("lines", np.zeros((1, 3), np.int64))
        self.place("launches", np.zeros(64, st.LAUNCH))
        self.place("done", np.zeros(64, np.int64))
        self.place("log", np.zeros(1, st.LOG), "log_capacity")
        self.place("noc_calls", np.zeros(1, st.NOC_CALL), "noc_calls_capacity")
        self.place("prints", np.zeros(PRINTS, PRINT))
        self.machine["prints_room"] = PRINTS - MARGIN_PRINTS
        contexts = np.zeros((n_threads, ctx.CONTEXT_WORDS), np.int64)
        self._arrays["contexts"] = contexts
        threads["context"] = contexts.ctypes.data + np.arange(n_threads) * contexts.strides[0]
        self._build_tile_arithmetic(self.n_workers if self.numerics != "off" else 0)

    def _build_tile_arithmetic(self, n_cores):
        """Registers of the Tensix engines with data, and queues of what is to be done to them."""
        source = (n_cores * SOURCE_PLACES + 1) * TILE_DATUMS
        self.place("src_a", lazy_zeros((source,), np.float32), "n_source_words")
        self.place("src_b", lazy_zeros((source,), np.float32))
        for name in ("source_formats", "source_uses"):
            self.place(name, np.zeros(n_cores * 2 * SOURCE_PLACES, np.int64))
        self.place("dst", lazy_zeros((max(n_cores * DST_TILES, 1) * TILE_DATUMS,), np.float32), "n_dst_words")
        self.place("queues", zeros_in_cache_lines(max(n_cores, 1), QUEUE))
        self.place("operations", zeros_in_cache_lines(n_cores * QUEUE_SIZE + 1, OPERATION))
        self.place("ready", zeros_in_cache_lines(-(-n_cores // 64) * LINE_WORDS, np.dtype(np.int64)))
        self.place("scratch", lazy_zeros((n_cores and MAX_THREADS * self._scratch_bytes(),), np.uint8))
        self.machine["queue_room"] = QUEUE_SIZE

    @staticmethod
    def _scratch_bytes():
        """Of one thread; a chip without data need not load the module that knows."""
        from tensim.sim.cores.numerics.exact_math import SCRATCH_BYTES

        return SCRATCH_BYTES

    def _build_pools(self):
        m = self.machine
        m["event_heap_capacity"] = 0
        self.place("event_heap", new_heap(0))
        self.place("transactions", np.zeros(0, st.TRANSACTION), "n_transactions")
        self.place("packets", np.zeros(0, PACKET_DTYPE))
        m["free_transaction"] = -1
        self.grow_transactions(TRANSACTIONS)
        m["staging_bytes"] = m["max_packet"]
        self.place("staging_free", np.zeros(0, np.int64))
        self.place("staging_uses", np.zeros(0, np.int64))
        self.place("staging", np.zeros((0, int(m["staging_bytes"])), np.uint8))
        self.place("staging_known", np.zeros((0, int(m["staging_bytes"]) // WORD + 1), np.uint8))
        self._grow_staging(1 << 11)
        self.place("spare_chunks", np.zeros(4 * CHUNKS_PER_SLAB, np.int64))
        self.add_chunks()

    def build_flits(self):
        """An idle flit network, when that is the NoC model."""
        if self.noc != "flit":
            return
        from tensim.sim.cores.niu.flits import flit_network

        self.flits = flit_network(self.arch, self["links"], self["ports"])
        self._grow_flits()
        self.place("flits", self.flits.record)

    # --- pools that grow between two stretches of a run

    def grow_transactions(self, count):
        m, old = self.machine, self["transactions"]
        new = np.zeros(len(old) + count, st.TRANSACTION)
        new[: len(old)] = old
        new["next_open"][len(old) :] = np.arange(len(old) + 1, len(new) + 1)
        new["next_open"][-1] = m["free_transaction"]
        m["free_transaction"] = len(old)
        self.place("transactions", new, "n_transactions")
        packets = lazy_zeros((len(new),), PACKET_DTYPE)
        packets[: len(old)] = self["packets"]
        self.place("packets", packets)
        self._grow_flits()
        self._grow_event_heap(len(new) + len(self["threads"]) + CLOCK_EVENTS + self._more_events)

    def _grow_flits(self):
        """A flit packet for each transaction."""
        if self.flits is not None:
            packets = lazy_zeros((len(self["transactions"]),), PACKET)
            old = self.flits.arrays.get("packets", packets[:0])[: len(packets)]
            packets[: len(old)] = old
            self.flits.place_packets(packets)

    def _grow_staging(self, count):
        m = self.machine
        slots, left = len(self["staging_free"]), int(m["staging_left"])
        staging = lazy_zeros((slots + count, int(m["staging_bytes"])), np.uint8)
        staging[:slots] = self["staging"]
        free, uses = np.zeros(slots + count, np.int64), np.zeros(slots + count, np.int64)
        free[:left] = self["staging_free"][:left]
        free[left : left + count] = np.arange(slots + count - 1, slots - 1, -1)
        uses[:slots] = self["staging_uses"]
        self.place("staging", staging)
        if self.tracks_known:
            known = lazy_zeros((slots + count, self["staging_known"].shape[1]), np.uint8)
            known[:slots] = self["staging_known"]
            self.place("staging_known", known)
        self.place("staging_free", free)
        self.place("staging_uses", uses)
        m["staging_left"] = left + count

    def _grow_event_heap(self, capacity):
        """Room for an event of every transaction and thread, which have one at a time, and the clock's."""
        if capacity <= self.machine["event_heap_capacity"]:
            return
        old, new = self["event_heap"], new_heap(capacity)
        new[: len(old)] = old
        self.machine["event_heap_capacity"] = capacity
        self.place("event_heap", new)

    def make_room(self, events):
        """Room in the event heap for so many events of others."""
        self._more_events += events
        self._grow_event_heap(len(self["transactions"]) + len(self["threads"]) + CLOCK_EVENTS + self._more_events)

    def add_chunks(self):
        """Make a slab of DRAM chunks; its pages cost memory only when they are written."""
        m = self.machine
        slab = lazy_zeros((CHUNKS_PER_SLAB, CHUNK_BYTES + (CHUNK_BYTES // WORD if self.tracks_known else 0)), np.uint8)
        self.slabs.append(slab)
        start = int(m["n_spare"])
        addresses = slab.ctypes.data + np.arange(CHUNKS_PER_SLAB - 1, -1, -1) * slab.shape[1]
        self["spare_chunks"][start : start + CHUNKS_PER_SLAB] = addresses
        m["n_spare"] = start + CHUNKS_PER_SLAB

    def enlarge(self):
        m = self.machine
        if m["n_transactions"] - m["transactions_used"] < 1024:
            self.grow_transactions(len(self["transactions"]))
        if m["staging_left"] < 64:
            self._grow_staging(len(self["staging_free"]))
        if m["n_spare"] < 16:
            self.add_chunks()

    def clear(self):
        """Nothing is on its way: no events, transactions or packets; links and ports keep their counts."""
        m, links = self.machine, self["links"]
        m["event_heap_size"] = 0
        self["event_heap"][:] = NEVER
        self.place("transactions", np.zeros(0, st.TRANSACTION), "n_transactions")
        self.place("packets", np.zeros(0, PACKET_DTYPE))
        counts = {name: links[name].copy() for name in ("flits", "packets", "stall", "longest", "waiter")}
        self.make_idle("links", "vcs")
        for name, count in counts.items():
            links[name] = count
        self.build_flits()
        m["transactions_used"], m["free_transaction"] = 0, -1
        self.grow_transactions(TRANSACTIONS)
        slots = len(self["staging_free"])
        self["staging_free"][:] = np.arange(slots)
        m["staging_left"], m["n_done"] = slots, 0

    def free(self):
        """Give the memory back."""
        self._arrays.clear()
        self._idle.clear()
        self.slabs.clear()
        self.l1 = self.l1_of_tiles = self.l1_known = None
