"""A chip: the compiled engine's state, and the calls through which the host reaches it.

`Chip` starts programs (`loading`) on the machine's arrays (`arrays`), runs the engine, turns faults into errors with core,
thread, kernel line and cycle (`failures`, `deadlock`).  Its `memory` is functional access to L1 and DRAM
(`functional_memory`), its `recordings` what is recorded for timelines and traces.
"""

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.accounting import Accounting
from tensim.sim.chip.arrays import NUMERICS, MachineArrays
from tensim.sim.chip.failures import cycle_limit, deadlock, fault, interrupted, spinning
from tensim.sim.chip.functional_memory import FunctionalMemory
from tensim.sim.chip.host_log import HostLog
from tensim.sim.chip.launch import Launch
from tensim.sim.chip.launch_work import WorkCollector
from tensim.sim.chip.loading import ProgramLoader
from tensim.sim.chip.numerics_threads import run_stretch
from tensim.sim.chip.occupancy import NEVER, OccupancyRecorder
from tensim.sim.chip.oddities import Oddities, odd_warnings
from tensim.sim.chip.printer import Printer
from tensim.sim.chip.recordings import Recordings
from tensim.sim.cores import context as ctx
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.engine.entry_points import flit_event, l1_written, run, start_threads
from tensim.sim.engine.event_heap import KEY_BITS, MAX_CORES
from tensim.sim.errors import SimulatorError, UsageError

NOC_MODELS = ("packet", "flit")
DEFAULT_MAX_CYCLES = 20_000_000_000
# Cycles in which a thread runs and no kernel does anything: without a limit of the user's, an error
SPINNING = 1_000_000_000


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

            compile_once(check)
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
        self.host_log = HostLog()
        self._next_time, self._settled = None, False
        self.run_engine = run  # or what a debugger runs in its place, with the same arguments
        self._running, self.launches = {}, {}
        self.arrays = MachineArrays(arch, numerics, noc)
        self.machine, self._machine_address = self.arrays.machine, self.arrays.address
        self.machine["max_cycles"], self.machine["run_at"] = self.max_cycles, run.address
        if noc == "flit":
            self.machine["flit_model_at"] = flit_event.address  # compiled when it is used first
        self.works, self.accounting = WorkCollector(self.arrays), Accounting(self)
        self.occupancy = OccupancyRecorder(self.arrays)  # of the whole time; others look at a part of it
        self.recorders = [self.occupancy]
        self.loader, self.memory = ProgramLoader(arch, self.arrays), FunctionalMemory(self)
        self.recordings, self.printer = Recordings(self), Printer(self)
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
        self.loader.l1_banks, self.loader.riscv = list(workers), None
        self.loader.forget_images()

    @property
    def l1(self):
        """uint8 (worker, byte)."""
        return self.arrays.l1

    @property
    def line_programs(self):
        """{first row in the line table: program}."""
        return self.loader.line_programs

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
        look = min((recorder.next for recorder in self.recorders), default=NEVER)
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
            run_stretch(self, limit, fuel)
            if self.machine["stop"] == st.STOP_MEMORY:
                self.arrays.enlarge()
            elif self.machine["stop"] == st.STOP_TEAM:
                limit = min(limit, int(self.machine["limit"]))
            elif self.machine["stop"] == st.STOP_LOG:
                self.drain_logs()
            else:
                break
        return self.machine["stop"]

    def _completions(self):
        done = []
        for i in range(int(self.machine["n_done"])):
            slot = int(self.arrays["done"][i])
            launch_id, launch = self._running.pop(slot)
            self.accounting.add(slot, self.launches[launch_id], launch)
            done.append((launch_id, self.launches[launch_id]["ended"]))
        self.printer.show(rest=True)
        self.machine["n_done"] = 0
        return done

    def close_rows(self):
        """Precharge every DRAM bank, so that no row is open: the state of a chip that nothing has run on."""
        self.arrays.make_idle("banks")
        self.arrays["channels"]["writing"] = 0

    def abort(self):
        """Drop every thread and event; memory keeps its contents.  What kernels have printed so far is printed."""
        self.printer.show(rest=True)
        self._settled = False
        self.machine["stop"] = st.STOP_EMPTY
        self.arrays["threads"]["state"] = st.IDLE
        self.arrays["threads"]["in_event_heap"] = 0
        for name in ("semaphore_waiters", "linked_noc0", "linked_noc1"):
            self.arrays["cores"][name] = 0
        self.arrays["mailboxes"]["count"] = 0
        self.arrays["noc_words"][:] = 0
        self.arrays["traffic"][:] = 0
        self.arrays["tiles"]["open_writes"] = -1
        self._running.clear()
        self.arrays.clear()
        if self.routers is not None:
            self.routers.reset()
        if self.loader.coprocessors is not None:
            self.loader.coprocessors.forget()
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
        self.works.restart()
        for recorder in self.recorders:
            recorder.forget()
        self.launches.clear()

    def close(self):
        """Nothing happens any more; the chip cannot be used afterwards."""
        self.printer.show(rest=True)
        self.machine["event_heap_size"] = 0
        self.loader.drop()

    def free(self):
        """Give the memory back of a closed chip."""
        self.memory.free()
        self.arrays.free()

    # --- starting a program

    def launch(self, launch: Launch, cycle: int, known=None) -> int:
        """Start the threads of a program at `cycle`; returns the launch id that `advance` reports at its end.

        `known`: for checks, the clocks up to which all is over for its queue; None: all that is.
        """
        slot = self._free_slot()
        threads, setup = self.loader.load(launch, slot, cycle, alone=not self._running)
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
        self.loader.reset_threads(threads, slot, line_base=0, first=0, n_lines=1)
        table["function"][threads], table["riscv"][threads] = front_end.address, 0
        table["frame"][threads], table["executes"][threads] = [frame.ctypes.data for frame in frames], 0
        self.loader.keep(slot, frames)
        return self._begin(name, slot, threads, cycle)

    def _free_slot(self):
        slots = self.arrays["launches"]
        slot = next((i for i in range(len(slots)) if i not in self._running), None)
        if slot is None:
            raise SimulatorError(f"more than {len(slots)} programs at once")
        return slot

    def _begin(self, name, slot, threads, cycle, launch=None, setup=None):
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
        times = np.full(len(indices), cycle) if setup is None else cycle + setup
        start_threads(self._machine_address, indices.ctypes.data, times.ctypes.data, len(indices))
        return launch_id

    def l1_written(self, core, address, size, cycle):
        """Tell the engine that the host has changed bytes of an L1."""
        self._settled = False
        l1_written(self._machine_address, core, address, size, max(cycle, self.cycle))

    @property
    def is_running(self):
        """Has a program not ended yet?"""
        return bool(self._running)

    def drain_logs(self):
        """Take out of the machine what has been recorded, found odd and printed."""
        self.recordings.drain()
        self.oddities.drain()
        self.printer.show()
