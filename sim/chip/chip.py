"""A chip: the compiled engine's state, and the calls through which the host reaches it.

`Chip` builds the machine record and its arrays from an architecture, starts programs, runs the engine, turns faults into
errors with core, thread, kernel line and cycle, and gives functional access to L1 and DRAM.
"""

import functools
import sys
from mmap import mmap

import numpy as np

from tensim.sim.chip.failures import deadlock, fault, live_threads
from tensim.sim.chip.functional_memory import CHUNK_BYTES, CHUNKS_PER_SLAB, FunctionalMemory
from tensim.sim.chip.launch import Launch
from tensim.sim.cores import context as ctx
from tensim.sim.cores.numerics.data_format import tile_size
from tensim.sim.cores.numerics.exact_math import SCRATCH_BYTES
from tensim.sim.cores.numerics.sfpu_costs import sfpu_cycle_table
from tensim.sim.cores.numerics.tile import FACE_DATUMS, TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.operations import Role
from tensim.sim.cores.riscv.program import RiscvKernel
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE, TRISC0
from tensim.sim.cores.tensix.data import EXACT
from tensim.sim.cores.tensix.instructions import instruction_table
from tensim.sim.dram.channel import build_banks, build_channels, build_dram_params
from tensim.sim.engine import state as st
from tensim.sim.engine.entry_points import flit_event, l1_written, run, start_threads
from tensim.sim.engine.event_heap import KEY_BITS, MAX_CORES, NEVER, new_heap
from tensim.sim.engine.limits import MAX_RUNTIME_ARGS, N_CIRCULAR_BUFFERS, N_SEMAPHORES
from tensim.sim.engine.memory import zeros_in_cache_lines
from tensim.sim.errors import CycleLimitError, ProgramError, SimulatorError, UsageError
from tensim.sim.noc.flit_network import PACKET
from tensim.sim.noc.packet import PACKET_DTYPE, build_links, build_noc_params, build_ports, build_vcs

READ_COSTS = ("issue_read", "issue_read_stateful", "issue_read_one_packet", "issue_read_page")
NUMERICS = {"off": 0, "fast": 1, "exact": EXACT}  # -> data_on
NOC_MODELS = ("packet", "flit")
CLOCK_EVENTS = 64  # void ones of the flit model's clock among them, at most one per cycle of a hop
LOG_ENTRIES = 1 << 18
SEMAPHORE_STRIDE = 16  # bytes: one L1 alignment unit each (docs/hardware/host_api.md#semaphores)
ARGS_STRIDE = 1376  # bytes of L1 reserved for one thread's arguments, a multiple of 16
DEFAULT_MAX_CYCLES = 20_000_000_000
FIDELITY_PHASES = {0: 1, 2: 2, 3: 3, 4: 4}
# Context words with the cost of plain code -> architecture keys
COST_WORDS = {
    ctx.COST_ALU: "riscv.alu",
    ctx.COST_BRANCH: "riscv.branch",
    ctx.COST_MUL: "riscv.mul",
    ctx.COST_DIV: "riscv.div",
    ctx.COST_LOAD: "riscv.local_load",
    ctx.COST_MUL_USE: "riscv.mul_use",
    ctx.FETCH_MISS: "riscv.fetch_miss",
}
ICACHE_LINE = 16  # bytes: one read of L1 (docs/hardware/riscv.md#instruction-fetch)
CB_TABLE_BYTES = N_CIRCULAR_BUFFERS * ctx.CB_WORDS * 8  # rows of a core's circular buffers
# What a thread starts without
THREAD_COUNTERS = (
    "phase step count wait sequence busy operations fraction reads_open issued issue_busy pushed drained fifo_head "
    "load_1 load_2 load_3 load_4 store_1 store_2 store_3 store_4"
).split()
ROLES = (Role.DATA_MOVEMENT, Role.DATA_MOVEMENT, Role.UNPACK, Role.MATH, Role.PACK)


class Chip:
    """One simulated chip.

    `arch`: from `tensim.sim.arch.load_arch`; `numerics`: "exact", "fast" or "off"; `noc`: "packet" or "flit"; `max_cycles`:
    a run past this cycle is an error.  Times are cycles of the chip's clock.
    """

    def __init__(self, arch, numerics="fast", noc="packet", max_cycles=None, seed=0):
        if numerics not in NUMERICS:
            raise UsageError(f"numerics {numerics!r} is not one of {', '.join(NUMERICS)}")
        if noc not in NOC_MODELS:
            raise UsageError(f"NoC model {noc!r} is not one of {', '.join(NOC_MODELS)}")
        if max_cycles is not None and max_cycles <= 0:
            raise UsageError(f"max_cycles is {max_cycles}; it must be positive")
        if not run.is_compiled:
            from tensim.sim.engine.first_start import compile_engine  # imports numba, which takes a third of a second

            compile_engine()
        self.arch, self.numerics, self.noc, self.seed = arch, numerics, noc, seed
        self.max_cycles = max_cycles or DEFAULT_MAX_CYCLES
        self.n_workers = len(arch.worker_coords)
        if self.n_workers > MAX_CORES:
            raise UsageError(f"{self.n_workers} worker cores; a chip has at most {MAX_CORES}")
        self.work = np.zeros(self.n_workers * THREADS_PER_CORE, st.WORK)  # of each thread, over the programs that ended
        self.core_cycles = np.zeros(self.n_workers, np.int64)  # from the start of each program to its end on the core
        self.flops, self.fpu_busy, self.sfpu_busy, self.compute_cores = 0, 0, 0, set()
        self.log_chunks, self.noc_call_chunks = [], []
        self.on_print = functools.partial(print, file=sys.stderr)  # called with each line of DPRINT
        self._arrays, self._idle = {}, {}
        self._next_time, self._settled = None, False
        self._flits, self._riscv, self._printed = None, None, {}
        self.slabs, self._running, self.launches, self._kept = [], {}, {}, {}
        self.machine_array = np.zeros(1, st.MACHINE)
        self.machine, self._machine_address = self.machine_array[0], self.machine_array.ctypes.data
        self._memory = FunctionalMemory(self)
        self._build()

    def protect_trace_region(self, start):
        """Refuse kernels' writes to offsets from `start` on in every DRAM bank."""
        self.machine["trace_start"] = start

    def array(self, name):
        """An array of the machine's state by its name (`state`), as it is now: pools grow between two runs."""
        return self._arrays[name]

    # --- construction

    def _place(self, name, array, count=None):
        """Keep an array alive and tell the machine its address and length."""
        self._arrays[name] = array
        self.machine[f"{name}_at"] = array.ctypes.data
        if count is not None:
            self.machine[count] = len(array)
        return array

    def _place_idle(self, name, array, count=None):
        """Place the idle state of networks or memories, and keep a copy of it."""
        self._place(name, array, count)
        self._idle[name] = array.copy()

    def _make_idle(self, *names):
        """Bring the state of networks or memories back to how it was placed."""
        for name in names:  # as bytes: numpy copies records field by field
            self._arrays[name].view(np.uint8)[:] = self._idle[name].view(np.uint8)

    def _build(self):
        arch, m = self.arch, self.machine
        width, height = arch.noc_size
        m["grid_width"], m["max_cycles"] = width, self.max_cycles
        for field, (key, scale) in st.PARAMETERS.items():
            m[field] = round(arch[key] * scale)
        overlap, shortest = m["issue_read_overlap"], min(m[field] for field in READ_COSTS)
        if not 0 <= overlap < shortest:
            raise UsageError(
                f"{arch.path}: riscv.issue.read_overlap is {overlap}; it must be from 0 to less than the shortest read, {shortest}"
            )
        m["flit_bytes"], m["max_packet"] = arch["noc.flit_bytes"], arch["noc.max_packet_bytes"]
        m["l1_size"], m["bank_bytes"] = arch.l1_size, arch.dram_bank_bytes
        m["trace_start"] = arch.dram_bank_bytes
        m["reserved_end"], m["user_base"] = arch["l1.reserved_end"], arch.l1_user_base
        m["self_at"] = self._machine_address
        m["l1_congruence"] = arch["alignment.l1"]
        m["dram_read_congruence"], m["dram_write_congruence"] = (
            arch["alignment.dram_read"],
            arch["alignment.dram_write"],
        )
        m["data_on"] = NUMERICS[self.numerics]
        self.semaphore_base = -(-int(arch["l1.reserved_end"]) // 16) * 16
        self.args_base = self.semaphore_base + N_SEMAPHORES * SEMAPHORE_STRIDE
        if self.args_base + THREADS_PER_CORE * ARGS_STRIDE > arch.l1_user_base:
            raise UsageError("l1.user_base leaves no room for semaphores and runtime arguments")
        self._build_tiles(width, height)
        self._build_cores(width)
        self._build_pools()
        self._place_idle("links", build_links(arch))
        self._place_idle("vcs", build_vcs(arch))
        self._place_idle("ports", build_ports(arch))
        self._place("noc_params", build_noc_params(arch))
        self._build_flits()
        self._place_idle("channels", build_channels(arch), "n_channels")
        self._place_idle("banks", build_banks(arch))
        self._place("dram_params", build_dram_params(arch))
        chunks_per_bank = -(-arch.dram_bank_bytes // CHUNK_BYTES)
        m["chunk_bytes"], m["chunks_per_bank"] = CHUNK_BYTES, chunks_per_bank
        self._place("dram_chunks", np.zeros(arch.dram_banks * chunks_per_bank, np.int64))
        self._place("sfpu_cycles", sfpu_cycle_table(arch))
        self._place("fifo", np.zeros(self.n_workers * THREADS_PER_CORE * st.FIFO_ENTRIES * 2, np.int64))
        self._place("instruction_cycles", instruction_table(arch))
        self._place("unit_free", np.zeros(self.n_workers * st.UNIT_SLOTS, np.int64))
        size = self.n_workers * arch.l1_size
        # Without data few pages of an L1 are ever touched: small ones then, not the huge ones that numpy asks for
        l1 = np.frombuffer(mmap(-1, size), np.uint8) if self.numerics == "off" else np.zeros(size, np.uint8)
        self.l1 = self._place("l1", l1.reshape(self.n_workers, arch.l1_size))

    def _build_tiles(self, width, height):
        tiles = self._place("tiles", np.zeros(width * height, st.CHIP_TILE), "n_tiles")
        tiles["open_writes"] = -1
        mask = self._place("workers_mask", np.zeros(width * height, np.int64))
        for name, axis in zip(("noc_columns", "noc_rows"), self.arch.noc_axes(), strict=True):
            self._place(name, np.array(axis, np.int64))
        self._place("receivers", np.zeros(2 * width * height, np.int64))
        for index, (x, y) in enumerate(self.arch.worker_coords):
            tiles[y * width + x] = (st.TILE_WORKER, index, -1)
            mask[y * width + x] = 1
        self.dram_bank_addresses = np.zeros(self.arch.dram_banks, np.int64)
        for bank, (x, y, offset) in enumerate(self.arch.dram_endpoints):
            tiles[y * width + x] = (st.TILE_DRAM, bank - offset // self.arch.dram_bank_bytes, -1)
            self.dram_bank_addresses[bank] = (x << 36) | (y << 42) | offset
        self.l1_bank_addresses = np.array([(x << 36) | (y << 42) for x, y in self.arch.worker_coords], np.int64)

    def _build_cores(self, width):
        n_threads = self.n_workers * THREADS_PER_CORE
        cores = self._place("cores", np.zeros(self.n_workers, st.CORE))
        threads = self._place("threads", np.zeros(n_threads, st.THREAD))
        for index, (x, y) in enumerate(self.arch.worker_coords):
            cores[index]["tile"], cores[index]["x"], cores[index]["y"] = y * width + x, x, y
        threads["core"] = np.arange(n_threads) // THREADS_PER_CORE
        threads["slot"] = np.arange(n_threads) % THREADS_PER_CORE
        threads["role"] = np.tile([int(role) for role in ROLES], self.n_workers)
        self._place("circular_buffers", np.zeros((self.n_workers, N_CIRCULAR_BUFFERS, ctx.CB_WORDS), np.int64))
        self._place("stalls", np.zeros((n_threads, st.N_REASONS), np.int64))
        self._place("noc_words", np.zeros((n_threads, st.NOC_WORDS), np.int64))
        self._place("lines", np.zeros((1, 3), np.int64))
        self.line_programs = {}  # first row in the line table -> program
        self._place("launches", np.zeros(64, st.LAUNCH))
        self._place("done", np.zeros(64, np.int64))
        self._place("log", np.zeros(1, st.LOG), "log_capacity")
        self._place("noc_calls", np.zeros(1, st.NOC_CALL), "noc_calls_capacity")
        contexts = np.zeros((n_threads, ctx.CONTEXT_WORDS), np.int64)
        self._arrays["contexts"] = contexts
        threads["context"] = contexts.ctypes.data + np.arange(n_threads) * contexts.strides[0]
        source = (self.n_workers * 2 + 1) * 1024 if self.numerics != "off" else 1
        self._place("src_a", np.zeros(source, np.float32), "n_source_words")
        self._place("src_b", np.zeros(source, np.float32))
        self._place(
            "dst",
            np.zeros(self.n_workers * 16 * 1024 if self.numerics != "off" else 1, np.float32),
            "n_dst_words",
        )
        self._place("scratch", np.zeros(SCRATCH_BYTES if self.numerics == "exact" else 1, np.uint8))

    def _build_pools(self):
        m = self.machine
        m["event_heap_capacity"] = 0
        self._place("event_heap", new_heap(0))
        self._place("transactions", np.zeros(0, st.TRANSACTION), "n_transactions")
        self._place("packets", np.zeros(0, PACKET_DTYPE))
        m["free_transaction"] = -1
        self._grow_transactions(1 << 13)
        m["staging_bytes"] = m["max_packet"]
        self._place("staging_free", np.zeros(0, np.int64))
        self._place("staging_uses", np.zeros(0, np.int64))
        self._place("staging", np.zeros((0, int(m["staging_bytes"])), np.uint8))
        self._grow_staging(1 << 11)
        self._place("spare_chunks", np.zeros(4 * CHUNKS_PER_SLAB, np.int64))
        self.add_chunks()

    def _build_flits(self):
        """An idle flit network, when that is the NoC model; its code is compiled when it is used first."""
        if self.noc != "flit":
            return
        from tensim.sim.cores.niu.flits import flit_network

        self._flits = flit_network(self.arch, self._arrays["links"], self._arrays["ports"])
        self._grow_flits()
        self._place("flits", self._flits.record)
        self.machine["flit_model_at"] = flit_event.address

    # --- pools that grow between two stretches of a run

    def _grow_transactions(self, count):
        m, old = self.machine, self._arrays["transactions"]
        new = np.zeros(len(old) + count, st.TRANSACTION)
        new[: len(old)] = old
        new["next_open"][len(old) :] = np.arange(len(old) + 1, len(new) + 1)
        new["next_open"][-1] = m["free_transaction"]
        m["free_transaction"] = len(old)
        self._place("transactions", new, "n_transactions")
        packets = zeros_in_cache_lines(len(new), PACKET_DTYPE)
        packets[: len(old)] = self._arrays["packets"]
        self._place("packets", packets)
        self._grow_flits()
        self._grow_event_heap(len(new) + len(self._arrays["threads"]) + CLOCK_EVENTS)

    def _grow_flits(self):
        """A flit packet for each transaction."""
        if self._flits is not None:
            packets = np.zeros(len(self._arrays["transactions"]), PACKET)
            old = self._flits.arrays.get("packets", packets[:0])[: len(packets)]
            packets[: len(old)] = old
            self._flits.place_packets(packets)

    def _grow_staging(self, count):
        m = self.machine
        slots, left = len(self._arrays["staging_free"]), int(m["staging_left"])
        staging = np.zeros((slots + count, int(m["staging_bytes"])), np.uint8)
        staging[:slots] = self._arrays["staging"]
        free, uses = np.zeros(slots + count, np.int64), np.zeros(slots + count, np.int64)
        free[:left] = self._arrays["staging_free"][:left]
        free[left : left + count] = np.arange(slots + count - 1, slots - 1, -1)
        uses[:slots] = self._arrays["staging_uses"]
        self._place("staging", staging)
        self._place("staging_free", free)
        self._place("staging_uses", uses)
        m["staging_left"] = left + count

    def _grow_event_heap(self, capacity):
        """Room for an event of every transaction and thread, which have one at a time, and the clock's."""
        if capacity <= self.machine["event_heap_capacity"]:
            return
        old, new = self._arrays["event_heap"], new_heap(capacity)
        new[: len(old)] = old
        self.machine["event_heap_capacity"] = capacity
        self._place("event_heap", new)

    def add_chunks(self):
        """Make a slab of DRAM chunks; its pages cost memory only when they are written."""
        m = self.machine
        slab = np.zeros((CHUNKS_PER_SLAB, CHUNK_BYTES), np.uint8)
        self.slabs.append(slab)
        start = int(m["n_spare"])
        addresses = slab.ctypes.data + np.arange(CHUNKS_PER_SLAB - 1, -1, -1) * CHUNK_BYTES
        self._arrays["spare_chunks"][start : start + CHUNKS_PER_SLAB] = addresses
        m["n_spare"] = start + CHUNKS_PER_SLAB

    def _enlarge(self):
        m = self.machine
        if m["n_transactions"] - m["transactions_used"] < 1024:
            self._grow_transactions(len(self._arrays["transactions"]))
        if m["staging_left"] < 64:
            self._grow_staging(len(self._arrays["staging_free"]))
        if m["n_spare"] < 16:
            self.add_chunks()

    # --- running

    @property
    def cycle(self):
        """Cycle the engine has reached."""
        return int(self.machine["now"])

    def next_time(self):
        """Cycle of the earliest pending event, or None.  A fault is pending at once."""
        if not self._settled:  # asked before each Python event: looked up once after each change
            time = None
            if self.machine["stop"] == st.STOP_ERROR:
                time = self.cycle
            elif self.machine["event_heap_size"] > 0:
                time = int(self._arrays["event_heap"][0]) >> KEY_BITS
            self._next_time, self._settled = time, True
        return self._next_time

    def advance(self, limit, fuel=200_000):
        """Run to the first completion, past no event later than `limit`, for at most `fuel` events.

        Returns [(launch id, cycle)] of programs that ended.  Raises ProgramError, DeadlockError, CycleLimitError or
        SimulatorError; the chip is then unusable until `abort`.
        """
        stop = self._run(min(limit, self.max_cycles), fuel)
        if stop == st.STOP_ERROR:
            self._print(rest=True)
            raise fault(self)
        if stop == st.STOP_LAUNCH_DONE:
            return self._completions()
        if stop == st.STOP_EMPTY and self._running:
            raise deadlock(self)
        if stop == st.STOP_LIMIT and self.max_cycles <= limit:
            raise CycleLimitError(
                f"the run passed the limit of {self.max_cycles} cycles",
                where={"cycle": self.max_cycles, "threads": live_threads(self)},
                hint="raise the limit (max_cycles, --max-cycles) or look for a loop that does not end",
            )
        return []

    def _run(self, limit, fuel):
        """Run the engine until it stops for more than memory or a full log; returns why."""
        self._settled = False
        while self.machine["stop"] != st.STOP_ERROR:  # a thread that the host woke (`write_l1`) may have failed
            run(self._machine_address, limit, fuel)
            if self.machine["stop"] == st.STOP_MEMORY:
                self._enlarge()
            elif self.machine["stop"] == st.STOP_LOG:
                self._drain_logs()
            else:
                break
        return self.machine["stop"]

    def _completions(self):
        done = []
        for i in range(int(self.machine["n_done"])):
            slot = int(self._arrays["done"][i])
            launch_id = self._running.pop(slot)
            self._account(slot)
            self.launches[launch_id]["ended"] = int(self._arrays["launches"][slot]["ended"])
            done.append((launch_id, self.launches[launch_id]["ended"]))
        self._print(rest=True)
        self.machine["n_done"] = 0
        return done

    def _account(self, slot):
        """Add what the threads of a finished program did to `work`, `core_cycles` and the totals of the compute cores."""
        threads = self._arrays["threads"]
        mine = np.flatnonzero((threads["launch"] == slot) & (threads["state"] == st.ENDED) & (threads["ended"] > 0))
        ended, time = threads["ended"][mine], threads["ended"][mine] - threads["started"][mine]
        for name, amount in (
            ("busy", threads["busy"][mine]),
            ("issue", threads["issue_busy"][mine]),
            ("operations", threads["operations"][mine]),
            ("time", time),
        ):
            self.work[name][mine] += amount
        self.work["longest"][mine] = np.maximum(self.work["longest"][mine], time)
        self.work["stalls"][mine] += self._arrays["stalls"][mine]
        last = np.zeros(self.n_workers, np.int64)
        np.maximum.at(last, threads["core"][mine], ended)
        self.core_cycles += np.maximum(last - self._arrays["launches"][slot]["started"], 0)
        threads["state"][mine], threads["launch"][mine] = st.IDLE, -1
        cores = set(threads["core"][mine[threads["slot"][mine] == TRISC0]].tolist())
        for core in cores:
            self.flops += int(self._arrays["cores"][core]["flops"])
            self.fpu_busy += int(self._arrays["cores"][core]["fpu_busy"])
            self.sfpu_busy += int(self._arrays["cores"][core]["sfpu_busy"])
        self.compute_cores |= cores

    def close_rows(self):
        """Precharge every DRAM bank, so that no row is open: the state of a chip that nothing has run on."""
        self._make_idle("banks")
        self._arrays["channels"]["writing"] = 0

    def abort(self):
        """Drop every thread and event; memory keeps its contents."""
        self._settled = False
        m = self.machine
        m["event_heap_size"], m["stop"] = 0, st.STOP_EMPTY
        self._arrays["event_heap"][:] = NEVER
        self._arrays["threads"]["state"] = st.IDLE
        self._arrays["threads"]["in_event_heap"] = 0
        self._arrays["cores"]["semaphore_waiters"] = 0
        self._arrays["noc_words"][:] = 0
        self._arrays["tiles"]["open_writes"] = -1
        self._running.clear()
        self._place("transactions", np.zeros(0, st.TRANSACTION), "n_transactions")
        self._place("packets", np.zeros(0, PACKET_DTYPE))
        self._release_network()
        m["transactions_used"], m["free_transaction"] = 0, -1
        self._grow_transactions(1 << 13)
        slots = len(self._arrays["staging_free"])
        self._arrays["staging_free"][:] = np.arange(slots)
        m["staging_left"], m["n_done"] = slots, 0

    def _release_network(self):
        """Take all packets off the links, which keep their counts."""
        links = self._arrays["links"]
        counts = {name: links[name].copy() for name in ("flits", "packets", "stall")}
        self._make_idle("links", "vcs")
        for name, count in counts.items():
            links[name] = count
        self._build_flits()

    def rewind(self):
        """Back to cycle 0 with idle links and closed DRAM rows, when no program runs; memory keeps its contents."""
        self.machine["now"], self._settled = 0, False
        self._make_idle("links", "vcs", "ports", "channels", "banks")
        self._build_flits()
        self.launches.clear()

    def close(self):
        """Give the memory back; the chip cannot be used afterwards."""
        self.machine["event_heap_size"] = 0
        self._arrays.clear()
        self._idle.clear()
        self.slabs.clear()
        self._kept.clear()
        self.l1 = None

    # --- starting a program

    def launch(self, launch: Launch, cycle: int) -> int:
        """Start the threads of a program at `cycle`; returns the launch id that `advance` reports at its end."""
        slot = self._free_slot()
        self._check_launch(launch)
        for semaphore in launch.semaphores:
            for core in semaphore.cores:
                address = self.semaphore_base + SEMAPHORE_STRIDE * semaphore.id
                self.l1[core, address : address + 4].view(np.uint32)[0] = semaphore.initial & 0xFFFFFFFF
        self._configure_circular_buffers(launch)
        threads, texts = [], self._place_texts(launch)
        self._kept[slot] = []  # what the threads point to lives until the slot is used again
        for kernel in launch.kernels:
            threads += self._prepare_kernel(launch, kernel, slot, texts)
        return self._begin(launch.name, slot, threads, cycle)

    def launch_front_end(self, name, front_end, threads, rows, counts, cycle):
        """Start threads that a compiled front end drives from a table, instead of kernels; returns the launch id.

        `front_end`: `MachineCode` of a generator over a context's address.  `threads`: thread indices; `rows`, `counts`:
        for each the host address and number of its table rows, which the front end finds in `COMPILE_ARGS` and
        `N_COMPILE_ARGS`; the caller keeps the table alive until the program has ended.
        """
        slot = self._free_slot()
        table, contexts = self._arrays["threads"], self._arrays["contexts"]
        contexts[threads] = 0
        contexts[threads, ctx.COMPILE_ARGS], contexts[threads, ctx.N_COMPILE_ARGS] = rows, counts
        frames = [front_end.frame(address) for address in table["context"][threads].tolist()]
        self._reset_threads(threads, slot, line_base=0, first=0, n_lines=1)
        table["function"][threads], table["riscv"][threads] = front_end.address, 0
        table["frame"][threads] = [frame.ctypes.data for frame in frames]
        self._kept[slot] = [frames]
        return self._begin(name, slot, threads, cycle)

    def _free_slot(self):
        slots = self._arrays["launches"]
        slot = next((i for i in range(len(slots)) if i not in self._running), None)
        if slot is None:
            raise SimulatorError(f"more than {len(slots)} programs at once")
        return slot

    def _begin(self, name, slot, threads, cycle):
        """Schedule the prepared threads of a program; returns its launch id."""
        self._settled = False
        launch_id = len(self.launches)
        self._arrays["launches"][slot] = (len(threads), cycle, 0)
        self._running[slot] = launch_id
        self.launches[launch_id] = {"name": name, "started": cycle, "threads": threads}
        indices = np.asarray(threads, np.int64)
        start_threads(self._machine_address, indices.ctypes.data, len(indices), cycle)
        return launch_id

    def _reset_threads(self, threads, slot, line_base, first, n_lines):
        """Make threads (an index or an array of them) ready to start as a part of the program in `slot`."""
        table = self._arrays["threads"]
        for name in THREAD_COUNTERS:
            table[name][threads] = 0
        table["launch"][threads], table["state"][threads] = slot, st.RUNNING
        table["line_base"][threads], table["first_line"][threads], table["line"][threads] = line_base, first, first
        table["n_lines"][threads] = n_lines
        self._arrays["stalls"][threads] = 0
        self._arrays["noc_words"][threads] = 0

    def _check_launch(self, launch):
        taken = self._arrays["threads"]["state"]
        for kernel in launch.kernels:
            reason = kernel.compiled.loaded_data_reaches_control
            if self.numerics == "off" and reason:
                raise ProgramError(
                    f"kernel {kernel.compiled.name} cannot run with numerics=off: {reason}",
                    hint="use numerics=fast",
                )
            for core in kernel.cores:
                for offset in self._slots(kernel):
                    if taken[core * THREADS_PER_CORE + offset] in (st.RUNNING, st.PARKED):
                        raise SimulatorError(f"core {core} {THREAD_NAMES[offset]} is busy with another program")

    @staticmethod
    def _slots(kernel):
        return (kernel.slot,) if kernel.slot is not None else (TRISC0, TRISC0 + 1, TRISC0 + 2)

    def _configure_circular_buffers(self, launch):
        table = self._arrays["circular_buffers"]
        for core in {core for kernel in launch.kernels for core in kernel.cores}:
            table[core] = 0
        for cb in launch.circular_buffers:
            tile = tile_size(cb.data_format) * cb.tile_hw // TILE_DATUMS
            row = np.zeros(ctx.CB_WORDS, np.int64)
            row[ctx.CB_PAGES], row[ctx.CB_PAGE_SIZE] = cb.size // cb.page_size, cb.page_size
            row[ctx.CB_BASE], row[ctx.CB_SIZE], row[ctx.CB_FORMAT] = cb.address, cb.size, cb.data_format
            row[ctx.CB_WRITE_PTR] = row[ctx.CB_READ_PTR] = cb.address
            row[ctx.CB_TILE_SIZE], row[ctx.CB_TILE_HW], row[ctx.CB_FACES] = (
                tile,
                cb.tile_hw,
                max(cb.tile_hw // FACE_DATUMS, 1),
            )
            for core in cb.cores:
                table[core, cb.index] = row

    def _place_texts(self, launch):
        """L1 address of the code of each (worker, slot) that runs a RISC-V kernel of the program."""
        kernels = [kernel for kernel in launch.kernels if isinstance(kernel.compiled, RiscvKernel)]
        if not kernels:
            return {}
        if self._riscv is None:
            from tensim.sim.chip.riscv_cores import RiscvCores  # compiles the interpreter

            text_base = self.args_base + THREADS_PER_CORE * ARGS_STRIDE
            n_threads = self.n_workers * THREADS_PER_CORE
            self._riscv = RiscvCores(self.arch, self.machine, self.l1, n_threads, text_base, self.semaphore_base)
        return self._riscv.place_texts(kernels, self._slots)

    def _prepare_kernel(self, launch, kernel, launch_slot, texts):
        compile_args = np.array([*kernel.compile_args, 0], np.int64)
        frames, prepared = [], {slot: [] for slot in self._slots(kernel)}
        common_words = self._common_words(kernel, compile_args)
        for core in kernel.cores:
            for slot, threads in prepared.items():
                index = core * THREADS_PER_CORE + slot
                self._write_context(launch, kernel, core, slot, index, common_words)
                t, program = self._arrays["threads"][index], kernel.compiled.on(slot)
                if (core, slot) in texts:
                    t["function"], t["riscv"] = self._prepare_core(index, program, texts[core, slot])
                else:
                    frames.append(program.code.frame(int(t["context"])))
                    t["function"], t["frame"], t["riscv"] = program.code.address, frames[-1].ctypes.data, 0
                threads.append(index)
            if kernel.slot is None:
                self._configure_compute(core, kernel.compute)
        for slot, threads in prepared.items():
            program = kernel.compiled.on(slot)
            self._reset_threads(threads, launch_slot, self._line_region(program), program.first_row, program.n_rows)
        self._kept[launch_slot].append((frames, compile_args, kernel.compiled))
        return [index for core in zip(*prepared.values(), strict=True) for index in core]

    def _prepare_core(self, index, program, text_l1):
        """(function, state) of a thread that runs a RISC-V program."""
        words, core = self._arrays["contexts"][index], index // THREADS_PER_CORE
        logical, relative = words[[ctx.LOGICAL_X, ctx.LOGICAL_Y]], words[[ctx.RELATIVE_X, ctx.RELATIVE_Y]]
        place = self.arch.kernel_coords[core], logical, relative, int(words[ctx.NOC])
        return self._riscv.prepare(index, program, text_l1, words, place)

    def _common_words(self, kernel, compile_args):
        """The context block as far as it is the same for all threads of a kernel."""
        arch, words = self.arch, np.zeros(ctx.CONTEXT_WORDS, np.int64)
        words[ctx.L1_SIZE], words[ctx.NOC] = arch.l1_size, kernel.noc
        words[ctx.N_COMMON_ARGS] = len(kernel.common_args)
        words[ctx.N_COMPILE_ARGS], words[ctx.COMPILE_ARGS] = len(kernel.compile_args), compile_args.ctypes.data
        words[ctx.N_DRAM_BANKS], words[ctx.DRAM_BANKS] = arch.dram_banks, self.dram_bank_addresses.ctypes.data
        words[ctx.N_L1_BANKS], words[ctx.L1_BANKS] = self.n_workers, self.l1_bank_addresses.ctypes.data
        words[ctx.DRAM_ALIGNMENT], words[ctx.L1_ALIGNMENT] = arch.dram_alignment, arch.l1_alignment
        words[ctx.SEMAPHORE_BASE], words[ctx.MAX_BURST] = self.semaphore_base, self.machine["max_packet"]
        for word, key in COST_WORDS.items():
            words[word] = arch[key]
        words[ctx.ICACHE_LINES] = arch["riscv.icache_bytes"] // ICACHE_LINE
        return words

    def _write_context(self, launch, kernel, core, slot, index, common_words):
        words = self._arrays["contexts"][index]
        words[:] = common_words
        args, common = kernel.args.get(core, []), kernel.common_args
        if len(args) + len(common) > MAX_RUNTIME_ARGS:
            raise UsageError(
                f"{len(args)} unique and {len(common)} common runtime arguments; the limit is {MAX_RUNTIME_ARGS}"
            )
        l1 = int(self.machine["l1_at"]) + core * self.arch.l1_size
        unique_at = self.args_base + slot * ARGS_STRIDE
        common_at = unique_at + 4 * len(args)
        values = np.array([value & 0xFFFFFFFF for value in (*args, *common)], np.uint32)
        self.l1[core, unique_at : unique_at + values.nbytes] = values.view(np.uint8)
        words[ctx.L1], words[ctx.N_ARGS] = l1, len(args)
        words[ctx.ARGS], words[ctx.COMMON_ARGS] = l1 + unique_at, l1 + common_at
        words[ctx.L1_ARGS], words[ctx.L1_COMMON_ARGS] = unique_at, common_at
        words[ctx.MY_X], words[ctx.MY_Y] = self.arch.worker_coords[core]
        words[ctx.KERNEL_X], words[ctx.KERNEL_Y] = self.arch.kernel_coords[core]
        logical_y, logical_x = divmod(core, self.arch.grid[0])
        words[ctx.LOGICAL_X], words[ctx.LOGICAL_Y] = logical_x, logical_y
        words[ctx.RELATIVE_X] = logical_x - launch.sub_device_origin[0]
        words[ctx.RELATIVE_Y] = logical_y - launch.sub_device_origin[1]
        words[ctx.ROLE], words[ctx.CORE], words[ctx.THREAD] = int(ROLES[slot]), core, index
        words[ctx.CBS] = int(self.machine["circular_buffers_at"]) + core * CB_TABLE_BYTES

    def _configure_compute(self, core, compute):
        record = self._arrays["cores"][core]
        sections = 1 if compute.dst_full_sync_en else 2
        tiles = self.arch["tensix.dst.tiles32" if compute.fp32_dest_acc_en else "tensix.dst.tiles16"]
        if tiles == 0:
            raise UsageError(f"{self.arch.name} has no 32-bit Dst (fp32_dest_acc_en)")
        record["fidelity_phases"], record["fp32_dest"] = (
            FIDELITY_PHASES[compute.math_fidelity],
            compute.fp32_dest_acc_en,
        )
        record["sections"], record["capacity"] = sections, tiles // sections
        record["approx"] = compute.math_approx_mode
        to_dst = compute.unpack_to_dest_mode[:N_CIRCULAR_BUFFERS]
        record["unpack_to_dst"] = sum(1 << index for index, mode in enumerate(to_dst) if mode)
        record["pack_precise"] = compute.bfp8_pack_precise
        record["source_rows"] = TILE_SIDE
        for name in (
            "pack_relu pack_threshold l1_accumulate src_started src_filled src_taken src_released dst_acquired "
            "dst_committed dst_released fresh fpu_busy sfpu_busy flops"
        ).split():
            record[name] = 0

    def _line_region(self, program):
        """First row of a program in the line table; it keeps its rows over launches."""
        for base, known in self.line_programs.items():
            if known is program:
                return base
        old = self._arrays["lines"]
        base = len(old)
        self.line_programs[base] = program
        new = np.zeros((base + program.n_rows, 3), np.int64)
        new[: len(old)] = old
        self._place("lines", new)
        return base

    # --- functional memory (`functional_memory`)

    def read_l1(self, core, address, size):
        """`size` bytes of the L1 of worker `core`."""
        return self._memory.read_l1(core, address, size)

    def write_l1(self, core, address, data, cycle=0):
        """Write bytes into the L1 of worker `core`; its threads that poll a semaphore there see them at `cycle`.

        A cycle the engine has passed already counts as its present one.
        """
        self._memory.write_l1(core, address, data, cycle)

    def l1_written(self, core, address, size, cycle):
        """Tell the engine that the host has changed bytes of an L1."""
        self._settled = False
        l1_written(self._machine_address, core, address, size, max(cycle, self.cycle))

    def read_dram(self, bank, address, size):
        """`size` bytes of a DRAM bank; memory never written reads as zero."""
        return self._memory.read_dram(bank, address, size)

    def write_dram(self, bank, address, data):
        """Write bytes into a DRAM bank."""
        self._memory.write_dram(bank, address, data)

    def image_sha256(self):
        """SHA-256 (hex) of all bytes in DRAM and in L1: {"dram", "l1"}.  Memory never written counts as zeros."""
        return self._memory.image_sha256()

    # --- errors

    def thread_place(self, index):
        """Where a thread stands: core, thread, kernel file and line, for messages."""
        t = self._arrays["threads"][index]
        core = int(t["core"])
        x, y = core % self.arch.grid[0], core // self.arch.grid[0]
        place = {"core": f"({x},{y})", "thread": THREAD_NAMES[int(t["slot"])], "cycle": self.cycle}
        program = self.line_programs.get(int(t["line_base"]))
        if program is not None:
            place |= {"kernel": program.name} | program.place(int(t["line"]))
        return place

    def enable_log(self):
        """Record every span of every thread from now on (for the timeline)."""
        self._place("log", np.zeros(LOG_ENTRIES, st.LOG), "log_capacity")
        self.machine["log_on"] = 1

    def log(self):
        """The recorded spans (`state.LOG` records), in order."""
        self._drain_logs()
        return np.concatenate(self.log_chunks)

    def record_noc(self):
        """Record every NoC call of every data-movement thread from now on (for NoC event traces)."""
        self._place("noc_calls", np.zeros(LOG_ENTRIES, st.NOC_CALL), "noc_calls_capacity")
        self.machine["record_on"] = 1

    def noc_calls(self):
        """The recorded calls (`state.NOC_CALL` records), in the order in which they were posted."""
        self._drain_logs()
        return np.concatenate(self.noc_call_chunks)

    def _drain_logs(self):
        m = self.machine
        self.log_chunks.append(self._arrays["log"][: int(m["n_log"])].copy())
        self.noc_call_chunks.append(self._arrays["noc_calls"][: int(m["n_noc_calls"])].copy())
        m["n_log"] = m["n_noc_calls"] = 0
        self._print()

    def _print(self, rest=False):
        """Print what kernels have printed, with core and thread; `rest`: also lines that are not complete."""
        if self._riscv is None:
            return
        from tensim.sim.chip.prints import Stream

        for entry in self._riscv.drain_prints():
            thread = int(entry["thread"])
            if thread not in self._printed:
                program = self.line_programs[int(self._arrays["threads"][thread]["line_base"])]
                self._printed[thread] = Stream(program.image.string_at)
            self._show(thread, self._printed[thread].add(entry))
        for thread in sorted(self._printed) if rest else ():
            self._show(thread, self._printed.pop(thread).rest())

    def _show(self, thread, lines):
        core, slot = divmod(thread, THREADS_PER_CORE)
        y, x = divmod(core, self.arch.grid[0])
        for line in lines:
            self.on_print(f"({x},{y}) {THREAD_NAMES[slot]}: {line}")
