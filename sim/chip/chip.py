"""A chip: the compiled engine's state, and the calls through which the host reaches it.

`Chip` starts programs (`loading`) on the machine's arrays (`arrays`), runs the engine, turns faults into errors with core,
thread, kernel line and cycle (`failures`, `deadlock`), and gives functional access to L1 and DRAM (`functional_memory`).
"""

import functools
import sys

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.arrays import NUMERICS, MachineArrays
from tensim.sim.chip.failures import cycle_limit, deadlock, fault, interrupted, spinning
from tensim.sim.chip.functional_memory import FunctionalMemory
from tensim.sim.chip.host_log import HostLog
from tensim.sim.chip.interval import TOTALS
from tensim.sim.chip.launch import Launch
from tensim.sim.chip.launch_work import WorkCollector
from tensim.sim.chip.loading import ProgramLoader
from tensim.sim.chip.occupancy import OccupancyRecorder
from tensim.sim.chip.oddities import Oddities, odd_warnings
from tensim.sim.cores import context as ctx
from tensim.sim.cores.noc_record import ARRIVED
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE, TRISC0
from tensim.sim.engine.entry_points import l1_written, run, start_threads
from tensim.sim.engine.event_heap import KEY_BITS, MAX_CORES
from tensim.sim.errors import SimulatorError, UsageError

NOC_MODELS = ("packet", "flit")
LOG_ENTRIES = 1 << 18
DEFAULT_MAX_CYCLES = 20_000_000_000
# Cycles in which a thread runs and no kernel does anything: without a limit of the user's, an error
SPINNING = 1_000_000_000


def _as_slice(rows):
    """Rows of a table as a slice where they follow each other: a view of the table instead of a copy."""
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1:
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


def _add(column, rows, amount):
    """Add to rows of a column; where they are a slice, in place."""
    if isinstance(rows, slice):
        part = column[rows]
        part += amount
    else:
        column[rows] += amount


class Chip:
    """One simulated chip.

    `arch`: from `tensim.sim.arch.load_arch`; `numerics`: "exact", "fast" or "off"; `noc`: "packet" or "flit"; `max_cycles`:
    so many cycles from its start, or its last `restart`, are an error; `check`: look for mistakes of kernels (docs/checks.md).
    Times are cycles of the chip's clock.
    """

    def __init__(self, arch, numerics="fast", noc="packet", max_cycles=None, seed=0, check=False):
        if numerics not in NUMERICS:
            raise UsageError(f"numerics {numerics!r} is not one of {', '.join(NUMERICS)}")
        if noc not in NOC_MODELS:
            raise UsageError(f"NoC model {noc!r} is not one of {', '.join(NOC_MODELS)}")
        if max_cycles is not None and max_cycles <= 0:
            raise UsageError(f"max_cycles is {max_cycles}; it must be positive")
        if not run.is_compiled:
            from tensim.sim.chip.first_compilation import compile_once

            compile_once()
        self.arch, self.numerics, self.noc, self.seed = arch, numerics, noc, seed
        self._limit = self.max_cycles = max_cycles or DEFAULT_MAX_CYCLES
        self._spun, self._last_look = 0, (0, 0)  # cycles without an operation; (operations, cycle) when last looked at
        self.n_workers = len(arch.worker_coords)
        if self.n_workers > MAX_CORES:
            raise UsageError(f"{self.n_workers} worker cores; a chip has at most {MAX_CORES}")
        self.work = np.zeros(self.n_workers * THREADS_PER_CORE, st.WORK)  # of each thread, over the programs that ended
        self.core_cycles = np.zeros(self.n_workers, np.int64)  # from the start of each program to its end on the core
        self.flops, self.fpu_busy, self.sfpu_busy, self.compute_cores = 0, 0, 0, set()
        self.long_sums, self.sensitive_functions = 0, 0  # what `numerics=fast` hides
        self.wide_products = 0  # of four fidelity phases into a 32-bit Dst
        self.log_chunks, self.noc_call_chunks, self.host_log = [], [], HostLog()
        self.on_print = functools.partial(print, file=sys.stderr)  # called with each line of DPRINT
        self._next_time, self._settled = None, False
        self.run_engine = run  # or what a debugger runs in its place, with the same arguments
        self._printed, self._running, self.launches = {}, {}, {}
        self.arrays = MachineArrays(arch, numerics, noc)
        self.machine, self._machine_address = self.arrays.machine, self.arrays.address
        self.machine["max_cycles"] = self.max_cycles
        self._works = WorkCollector(self.arrays)
        self.occupancy = OccupancyRecorder(self.arrays)  # of the whole time; others look at a part of it
        self.recorders = [self.occupancy]
        self._loader, self._memory = ProgramLoader(arch, self.arrays), FunctionalMemory(self)
        self.oddities = Oddities(self)
        self.routers = None  # `tensim.sim.chip.routers.Routers` of a chip on a fabric
        self.checks = None
        if check:
            from tensim.sim.chip.checks import Checks

            self.checks = Checks(self)

    def protect_trace_region(self, start):
        """Refuse kernels' writes to offsets from `start` on in every DRAM bank."""
        self.machine["trace_start"] = start

    def number_l1_banks(self, workers):
        """Let L1 bank i be that of `workers[i]`, for programs from now on; without it bank i is worker i."""
        self.arrays.number_l1_banks(workers)
        self._loader.l1_banks, self._loader.riscv = list(workers), None
        self._loader.forget_images()

    @property
    def l1(self):
        """uint8 (worker, byte)."""
        return self.arrays.l1

    @property
    def line_programs(self):
        """{first row in the line table: program}."""
        return self._loader.line_programs

    @property
    def riscv(self):
        """`tensim.sim.chip.riscv_cores.RiscvCores`, None before the first kernel in C++."""
        return self._loader.riscv

    @property
    def coprocessors(self):
        """`tensim.sim.chip.coprocessors.Coprocessors`, None before the first kernel at the instruction level."""
        return self._loader.coprocessors

    # --- running

    @property
    def cycle(self):
        """Cycle the engine has reached."""
        return int(self.machine["now"])

    def next_time(self):
        """Cycle of the earliest pending event, or None.  A fault is pending at once."""
        # Asked before each Python event: looked up once after each change, always where packets come from other chips
        if not self._settled or self.routers is not None:
            time = None
            if self.machine["stop"] == st.STOP_ERROR:
                time = self.cycle
            elif self.machine["event_heap_size"] > 0:
                time = int(self.arrays["event_heap"][0]) >> KEY_BITS
            self._next_time, self._settled = time, True
        return self._next_time

    def advance(self, limit, fuel=200_000):
        """Run to the first completion, or look at the counters, past no event later than `limit`, for at most `fuel` events.

        Returns [(launch id, cycle)] of programs that ended.  Raises ProgramError, DeadlockError, CycleLimitError or
        SimulatorError; the chip is then unusable until `abort` or `restart`.  Ctrl-C says where its threads stand.
        """
        try:
            return self._advance(limit, fuel)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(interrupted(self)) from None

    def _advance(self, limit, fuel):
        look = min(recorder.next for recorder in self.recorders)
        stop = self._run(min(limit, self.max_cycles, look), fuel)
        if stop == st.STOP_ERROR:
            raise fault(self)
        if stop == st.STOP_LAUNCH_DONE:
            return self._completions()
        if stop == st.STOP_EMPTY and self._running and not (self.routers is not None and self.routers.busy_peers):
            raise deadlock(self, odd_warnings(self.oddities.rows()))
        if stop == st.STOP_LIMIT and self.machine["limit"] < min(limit, self.max_cycles, look):
            return []  # what it has sent to another chip may be answered
        if stop == st.STOP_LIMIT and look < min(limit, self.max_cycles):
            for recorder in self.recorders:
                recorder.look(self.next_time() - 1)
            return []
        if stop == st.STOP_LIMIT and self.max_cycles <= limit:
            raise cycle_limit(self, self._limit)
        if self._spins():
            raise spinning(self, self._spun)
        return []

    def _spins(self):
        """Whether threads have run for long and done nothing, and nobody has said how long they may."""
        operations, cycle = int(self.machine["operations"]), self.cycle
        before, since = self._last_look
        self._spun = self._spun + cycle - since if operations == before else 0
        self._last_look = operations, cycle
        if self._spun <= SPINNING or self._limit != DEFAULT_MAX_CYCLES:
            return False
        return bool((self.arrays["threads"]["state"] == st.RUNNING).any())

    def _run(self, limit, fuel):
        """Run the engine until it stops for more than memory or a full log; returns why."""
        self._settled = False
        while self.machine["stop"] != st.STOP_ERROR:  # a thread that the host woke (`write_l1`) may have failed
            self.run_engine(self._machine_address, limit, fuel)
            if self.machine["stop"] == st.STOP_MEMORY:
                self.arrays.enlarge()
            elif self.machine["stop"] == st.STOP_LOG:
                self._drain_logs()
            else:
                break
        return self.machine["stop"]

    def _completions(self):
        done = []
        for i in range(int(self.machine["n_done"])):
            slot = int(self.arrays["done"][i])
            launch_id, launch = self._running.pop(slot)
            self._account(slot, self.launches[launch_id], launch)
            done.append((launch_id, self.launches[launch_id]["ended"]))
        self._print(rest=True)
        self.machine["n_done"] = 0
        return done

    def _account(self, slot, record, launch):
        """Add what the threads of a finished program did to `work`, `core_cycles`, oddities and the totals of the compute cores.

        Its `record` in `launches` gets its end and, when it is kept, its `LaunchWork`.
        """
        record["ended"] = int(self.arrays["launches"][slot]["ended"])
        self.oddities.drain()
        table, started = self.arrays["threads"], record["started"]
        mine = np.sort(np.asarray(record["threads"], np.int64))
        mine = mine[(table["launch"][mine] == slot) & (table["state"][mine] == st.ENDED) & (table["ended"][mine] > 0)]
        rows, work = _as_slice(mine), self.work
        threads = table[rows]
        ended, time = threads["ended"], threads["ended"] - threads["started"]
        for name, amount in (
            ("busy", threads["busy"]),
            ("issue", threads["issue_busy"]),
            ("operations", threads["operations"]),
            ("time", time),
            ("stalls", self.arrays["stalls"][rows]),
        ):
            _add(work[name], rows, amount)
        work["longest"][rows] = np.maximum(work["longest"][rows], time)
        last = np.zeros(self.n_workers, np.int64)
        np.maximum.at(last, threads["core"], ended)
        self.core_cycles += np.maximum(last - started, 0)
        work = self._works.collect(slot, mine, rows, launch)
        if work is not None:
            record["work"] = work
        table["state"][rows], table["launch"][rows] = st.IDLE, -1
        cores = mine[mine % THREADS_PER_CORE == TRISC0] // THREADS_PER_CORE
        for name in TOTALS:
            setattr(self, name, getattr(self, name) + int(self.arrays["cores"][name][cores].sum()))
        self.compute_cores.update(cores.tolist())

    def close_rows(self):
        """Precharge every DRAM bank, so that no row is open: the state of a chip that nothing has run on."""
        self.arrays.make_idle("banks")
        self.arrays["channels"]["writing"] = 0

    def abort(self):
        """Drop every thread and event; memory keeps its contents.  What kernels have printed so far is printed."""
        self._print(rest=True)
        self._settled = False
        self.machine["stop"] = st.STOP_EMPTY
        self.arrays["threads"]["state"] = st.IDLE
        self.arrays["threads"]["in_event_heap"] = 0
        self.arrays["cores"]["semaphore_waiters"] = 0
        self.arrays["noc_words"][:] = 0
        self.arrays["traffic"][:] = 0
        self.arrays["tiles"]["open_writes"] = -1
        self._running.clear()
        self.arrays.clear()
        if self.routers is not None:
            self.routers.reset()
        if self.coprocessors is not None:
            self.coprocessors.forget()
        if self.checks is not None:
            self.checks.forget()

    def restart(self):
        """Go on after a failure: memory and time stay, nothing runs, and the limit of cycles counts from here."""
        self.abort()
        self.max_cycles = self.cycle + self._limit
        self.machine["max_cycles"] = self.max_cycles

    def rewind(self):
        """Back to cycle 0 with idle links and closed DRAM rows, when no program runs; memory keeps its contents."""
        self.machine["now"], self._settled = 0, False
        self.arrays.make_idle("links", "vcs", "ports", "channels", "banks")
        self.arrays.build_flits()
        self._works.restart()
        for recorder in self.recorders:
            recorder.forget()
        self.launches.clear()

    def close(self):
        """Give the memory back; the chip cannot be used afterwards."""
        self._print(rest=True)
        self.machine["event_heap_size"] = 0
        self._memory.free()
        self.arrays.free()
        self._loader.drop()

    # --- starting a program

    def launch(self, launch: Launch, cycle: int, known=None) -> int:
        """Start the threads of a program at `cycle`; returns the launch id that `advance` reports at its end.

        `known`: for checks, the clocks up to which all is over for its queue; None: all that is.
        """
        slot = self._free_slot()
        threads, setup = self._loader.load(launch, slot, cycle)
        if self.checks is not None:
            self.checks.launch(launch, slot, known)
        return self._begin(launch.name, slot, threads, cycle, launch, setup)

    def launch_front_end(self, name, front_end, threads, rows, counts, cycle):
        """Start threads that a compiled front end drives from a table, instead of kernels; returns the launch id.

        `front_end`: `MachineCode` of a generator over a context's address.  `threads`: thread indices; `rows`, `counts`:
        for each the host address and number of its table rows, which the front end finds in `COMPILE_ARGS` and
        `N_COMPILE_ARGS`; the caller keeps the table alive until the program has ended.
        """
        slot = self._free_slot()
        table, contexts = self.arrays["threads"], self.arrays["contexts"]
        contexts[threads] = 0
        contexts[threads, ctx.COMPILE_ARGS], contexts[threads, ctx.N_COMPILE_ARGS] = rows, counts
        frames = [front_end.frame(address) for address in table["context"][threads].tolist()]
        self._loader.reset_threads(threads, slot, line_base=0, first=0, n_lines=1)
        table["function"][threads], table["riscv"][threads] = front_end.address, 0
        table["frame"][threads], table["executes"][threads] = [frame.ctypes.data for frame in frames], 0
        self._loader.keep(slot, frames)
        return self._begin(name, slot, threads, cycle)

    def _free_slot(self):
        slots = self.arrays["launches"]
        slot = next((i for i in range(len(slots)) if i not in self._running), None)
        if slot is None:
            raise SimulatorError(f"more than {len(slots)} programs at once")
        return slot

    def _begin(self, name, slot, threads, cycle, launch=None, setup=0):
        """Schedule the prepared threads of a program, each `setup` cycles behind `cycle`; returns its launch id."""
        self._settled = False
        if not self._running:
            self.arrays.forget_touched()
        for recorder in self.recorders:
            recorder.begin(cycle)
        launch_id = len(self.launches)
        self.arrays["launches"][slot] = (len(threads), cycle, 0)
        self._running[slot] = launch_id, launch
        self.launches[launch_id] = {"name": name, "started": cycle, "threads": threads}
        indices = np.asarray(threads, np.int64)
        times = np.full(len(indices), cycle) + setup
        start_threads(self._machine_address, indices.ctypes.data, times.ctypes.data, len(indices))
        return launch_id

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

    def write_dram_rows(self, bank, address, rows, stride):
        """Write rows, uint8 (n, bytes), into a DRAM bank, each `stride` bytes behind the one before; zeros between them."""
        self._memory.write_dram_rows(bank, address, rows, stride)

    def read_dram_rows(self, bank, address, stride, rows):
        """Read into `rows`, which hold zeros, what lies in a DRAM bank, each `stride` bytes behind the one before."""
        self._memory.read_dram_rows(bank, address, stride, rows)

    def image_sha256(self):
        """SHA-256 (hex) of all bytes in DRAM and in L1: {"dram", "l1"}.  Memory never written counts as zeros."""
        return self._memory.image_sha256()

    # --- errors

    @property
    def is_running(self):
        """Has a program not ended yet?"""
        return bool(self._running)

    def core_name(self, core):
        """Logical coordinates of a worker core, for messages."""
        return f"({core % self.arch.grid[0]},{core // self.arch.grid[0]})"

    def thread_place(self, index, line=None, line_base=None):
        """Where a thread stands, or was at a row `line`: core, thread, kernel file and line, for messages.

        `line_base`: of the lines of the kernel that it ran then.
        """
        t = self.arrays["threads"][index]
        if t["core"] >= self.n_workers:
            return {"core": self.routers.name(int(t["core"])), "thread": "router", "cycle": self.cycle}
        place = {"core": self.core_name(int(t["core"])), "thread": THREAD_NAMES[int(t["slot"])], "cycle": self.cycle}
        program = self.line_programs.get(int(t["line_base"]) if line_base is None else line_base)
        if program is not None:
            place |= {"kernel": program.name} | program.place(int(t["line"]) if line is None else line)
        return place

    def enable_log(self):
        """Record every span of every thread from now on (for the timeline)."""
        self.arrays.place("log", np.zeros(LOG_ENTRIES, st.LOG), "log_capacity")
        self.machine["log_on"], self.host_log.on = 1, True

    def log(self):
        """The recorded spans (`state.LOG` records), in order."""
        self._drain_logs()
        return np.concatenate(self.log_chunks)

    def record_noc(self):
        """Record every NoC call of every data-movement thread from now on (for NoC event traces)."""
        self.arrays.place("noc_calls", np.zeros(LOG_ENTRIES, st.NOC_CALL), "noc_calls_capacity")
        self.machine["record_on"] = 1

    def noc_calls(self):
        """The recorded calls and zones (`state.NOC_CALL` records), in the order in which they were posted."""
        record = self.noc_record()
        return record[record["moment"] != ARRIVED]

    def noc_record(self):
        """The recorded calls, zones and arrivals (`tensim.sim.cores.noc_record`), in the order in which they were noted."""
        self._drain_logs()
        return np.concatenate(self.noc_call_chunks)

    def wait_seldom(self, periods):
        """Let only each n-th read barrier of a kernel wait, in programs from now on; {kernel: n}.

        For experiments: that is how long the program takes when it issues n times as many reads before each barrier; n
        `ONLY_FLUSHED`: when its write barriers wait for writes to leave.  UsageError with numerics on, where data would be used
        before it is there.
        """
        self._require_no_data("barriers cannot be left out")
        self._loader.barrier_periods = dict(periods)
        self._loader.forget_images()

    def rotate_banks(self):
        """Let DRAM bank b of worker i be bank b + i, modulo their number, in programs from now on.

        For experiments: that is how long the program takes when each core begins at another bank.  UsageError with numerics on.
        """
        self._require_no_data("banks cannot be exchanged")
        self._loader.rotate_banks()

    def _require_no_data(self, what):
        if self.numerics != "off":
            raise UsageError(f"{what} with numerics={self.numerics}", hint="use numerics=off")

    def _drain_logs(self):
        m = self.machine
        self.log_chunks.append(self.arrays["log"][: int(m["n_log"])].copy())
        self.noc_call_chunks.append(self.arrays["noc_calls"][: int(m["n_noc_calls"])].copy())
        m["n_log"] = m["n_noc_calls"] = 0
        self.oddities.drain()
        self._print()

    def _print(self, rest=False):
        """Print what kernels have printed, with core and thread; `rest`: also lines that are not complete."""
        count, self.machine["n_prints"] = int(self.machine["n_prints"]), 0
        if count == 0 and not self._printed:
            return
        from tensim.sim.chip.prints import Stream

        for entry in self.arrays["prints"][:count].copy():
            thread = int(entry["thread"])
            if thread not in self._printed:
                program = self.line_programs[int(self.arrays["threads"][thread]["line_base"])]
                self._printed[thread] = Stream(program.printed_text)
            self._show(thread, self._printed[thread].add(entry))
        for thread in sorted(self._printed) if rest else ():
            self._show(thread, self._printed.pop(thread).rest())

    def _show(self, thread, lines):
        core, slot = divmod(thread, THREADS_PER_CORE)
        y, x = divmod(core, self.arch.grid[0])
        for line in lines:
            self.on_print(f"({x},{y}) {THREAD_NAMES[slot]}: {line}")
