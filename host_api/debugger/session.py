"""A program under a debugger: it runs from stop to stop, and at each somebody looks at it and says how it goes on."""

import signal
import threading
from dataclasses import dataclass

import numpy as np

from tensim.debugger.locations import find
from tensim.debugger.stops import Breakpoints, Stop
from tensim.running.execution import Watch
from tensim.sim import state as st
from tensim.sim.chip.places import core_name, thread_place
from tensim.sim.chip.stepping import AT_BREAK, AT_END, AT_WATCH, NO_STOP, EngineStops
from tensim.sim.cores.riscv.program import ThreadProgram
from tensim.sim.cores.threads import OPERATION_START
from tensim.sim.errors import UsageError

LAST = 1 << 62  # a cycle that no run reaches


class Left(BaseException):
    """The user leaves the program where it is; no `Exception`, so that no program takes it for a failure of its own."""


@dataclass
class Step:
    """What a thread does until it stops: so many lines, or instructions (of a Python kernel, operations)."""

    thread: int
    by_line: bool
    count: int
    start: tuple


class Session(Watch):
    """Runs a program; `driver(stop)` is called at each stop and returns when it is to go on.

    Between two stops, `step`, `until` and the breakpoints say where the next one is.  `trace`: an `InstructionTrace` or None;
    `stops_at_start`: whether the first stop is where the first program begins.
    """

    def __init__(self, driver, trace=None, stops_at_start=True):
        self.driver, self.trace, self._stops_at_start = driver, trace, stops_at_start
        self.breakpoints, self.watched, self.selected = Breakpoints(), None, None
        self.chip, self.stops, self.failure, self.has_ended = None, None, None, False
        self._step, self._until, self._begun, self._programs, self._interrupted = None, LAST, False, 0, False
        self._handler, self.cycle = None, 0  # `cycle`: of the last stop
        self.asks_to_stop = lambda: False  # looked at from time to time while the program runs

    # --- as a watch of the run

    def begin(self, device):
        """The device is open: its engine stops where the session says from now on."""
        self.chip, self.stops = device.chip, EngineStops(device.chip)
        self.chip.run_engine = self._run
        device.system.env.on_failure(self._failed)
        if self.trace is not None:
            self.trace.begin(self.chip)
        if threading.current_thread() is threading.main_thread():
            self._handler = signal.signal(signal.SIGINT, self._interrupt)

    def end(self, chip):
        """The program has run: what is left can be looked at."""
        self.has_ended = True
        self._tell(Stop("ended", chip.cycle, text="the program has ended"))
        return {}

    def close(self):
        """The run is over: leave nothing in programs that may run again."""
        if self.stops is not None:
            self.stops.restore()
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None

    def _interrupt(self, number, frame):
        """The first Ctrl-C stops the program, a second one before that ends it."""
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True

    # --- how it goes on

    @property
    def can_run(self):
        """Not when the program has failed or ended."""
        return self.failure is None and not self.has_ended

    def require_running(self):
        """UsageError when it cannot go on."""
        if not self.can_run:
            raise UsageError(
                "the program has ended" if self.has_ended else "the program has failed and cannot go on",
                hint="what is left can be looked at; quit leaves",
            )

    def step(self, thread, by_line, count=1):
        """Stop when a thread has come to another line, or has executed an instruction, `count` times."""
        self._step = Step(thread, by_line, count, self._place(thread))
        self.stops.step(thread)

    def until(self, cycle):
        """Stop when everything up to a cycle has happened."""
        self._until = cycle

    def break_at(self, asked, **options):
        """Set a `Breakpoint` at a location, as it was typed."""
        return self.add(find(asked, self.programs), asked, **options)

    def add(self, location, asked=None, **options):
        """Set a `Breakpoint` at a `Location`; `asked`: what it is looked up by when further programs are loaded."""
        one = self.breakpoints.add(location, asked, **options)
        self._set_rows()
        return one

    def delete(self, number):
        """Take a breakpoint away, or all (None).  UsageError for one that is not there."""
        if number is not None and number not in self.breakpoints.known:
            raise UsageError(f"there is no breakpoint {number}")
        for one in list(self.breakpoints.known) if number is None else [number]:
            del self.breakpoints.known[one]
        self._set_rows()

    def watch(self, core, address, size):
        """Stop when bytes of the L1 of a core change; None: no longer."""
        self.watched = None if core is None else (core, address, size, self.watched_value(core, address, size))
        if core is None:
            self.stops.unwatch()
        else:
            self.stops.watch(core, address, size)

    def watched_value(self, core, address, size):
        """Bytes of L1 as a number."""
        return int.from_bytes(self.chip.l1[core, address : address + size].tobytes(), "little")

    @property
    def programs(self):
        """{base in the line table: program} of all that have been loaded."""
        return {} if self.chip is None else self.chip.line_programs

    def _set_rows(self):
        self.stops.set_rows(self.breakpoints.rows())
        self.stops.set_operations(self.breakpoints.operations())

    # --- running

    def _run(self, address, limit, fuel):
        """In place of the engine's loop, with its arguments."""
        self._meet_programs()
        if not self._begun and self.chip.is_running:
            self._begun = True
            if self._stops_at_start:
                self._tell(Stop("start", self.stops.next_cycle(), self._scheduled(), "the program begins"))
        while True:
            if self._interrupted or self.asks_to_stop():
                self._interrupted = False
                self._tell(Stop("interrupted", self.chip.cycle, self.selected))
            reason, thread, fuel = self.stops.run(min(limit, self._until), fuel)
            engine_stop = self.chip.machine["stop"]
            if reason == NO_STOP:
                if engine_stop != st.STOP_LIMIT or limit <= self._until:
                    return
                cycle, self._until = self._until, LAST
                self._tell(Stop("until", cycle, self.selected))
                continue
            stop = self._judged(reason, thread)
            if reason != AT_WATCH:
                engine_stop = st.STOP_FUEL
            if stop is not None:
                self._end_step()
                self._tell(stop)
            if reason != AT_WATCH:
                self.stops.pass_over(thread)
            if engine_stop != st.STOP_FUEL or fuel <= 0:
                self.chip.machine["stop"] = engine_stop
                return

    def _tell(self, stop):
        if stop.thread is not None and stop.thread >= 0:
            self.selected = stop.thread
        self._until, self.cycle = LAST, stop.cycle
        self.driver(stop)

    def _failed(self, chip, error):
        """The run ends with an error."""
        self.failure = error
        if chip is self.chip:
            thread = self._failed_thread(error)
            self._tell(Stop("failed", chip.cycle, thread, error.message.split("\n")[0]))

    def _failed_thread(self, error):
        """The thread that an error is about."""
        machine = self.chip.machine
        if machine["stop"] == st.STOP_ERROR:
            return int(machine["error_thread"])
        states = self.chip.arrays["threads"]["state"]
        cause = next((node for node in error.where.get("waiting", ()) if node["is_cause"]), None)
        for thread in np.flatnonzero((states == st.PARKED) | (states == st.RUNNING)).tolist():
            place = thread_place(self.chip, thread)
            if cause is None or (place["core"], place["thread"]) == (cause["core"], cause["thread"]):
                return thread
        return None

    def _scheduled(self):
        """The thread whose event comes next."""
        event = self.stops.next_event()
        return -1 - event if -len(self.chip.arrays["threads"]) <= event < 0 else None

    def _meet_programs(self):
        """Programs that have been loaded since: breakpoints may be in them, and the traced thread may begin."""
        if len(self.programs) != self._programs:
            self._programs = len(self.programs)
            for one in filter(lambda one: one.asked is not None, self.breakpoints.known.values()):
                one.location = find(one.asked, self.programs)
            self._set_rows()
        if self.trace is not None:
            thread = self.trace.thread
            if (
                self.chip.arrays["threads"]["operation"][thread] == OPERATION_START
                and self.stops.program(thread) is not None
            ):
                self.trace.meet(self.stops)
                self.stops.step(thread)

    def _place(self, thread):
        place = thread_place(self.chip, thread)
        return place.get("file"), place.get("line")

    def _judged(self, reason, thread):
        """The `Stop` that this is, or None: the program goes on."""
        cycle = self.stops.next_cycle() if reason != AT_WATCH else self.chip.cycle
        if reason == AT_WATCH:
            return self._watch_stop(thread)
        program, row = self.stops.program(thread), self.stops.row(thread)
        if self.trace is not None and thread == self.trace.thread and reason == AT_BREAK:
            self.trace.note(self.stops, cycle)
        at_row = reason == AT_BREAK or not isinstance(program, ThreadProgram)
        try:
            hit = None if reason == AT_END else self.breakpoints.hit(self.chip, thread, program, row, at_row)
        except UsageError as error:
            return Stop("breakpoint", cycle, thread, str(error))
        if hit is not None:
            return Stop("breakpoint", cycle, thread, f"breakpoint {hit.number}, {hit.location.text}")
        if self._step is not None and self._step.thread == thread:
            return self._step_stop(reason, thread, cycle)
        return None

    def _step_stop(self, reason, thread, cycle):
        step = self._step
        if reason == AT_END:
            return Stop("end", cycle, thread, "the kernel returns")
        place = self._place(thread)
        if step.by_line and (place == step.start or not place[1]):
            return None
        step.count, step.start = step.count - 1, place
        return Stop("step", cycle, thread) if step.count <= 0 else None

    def _watch_stop(self, thread):
        core, address, size, before = self.watched
        value = self.watched_value(core, address, size)
        self.watched = core, address, size, value
        text = f"{address:#x} of core {core_name(self.chip, core)} has changed from {before:#x} to {value:#x}"
        if thread >= 0:
            place = thread_place(self.chip, thread)
            text += f", by {place['thread']} of core {place['core']}"
        return Stop("watch", self.chip.cycle, thread if thread >= 0 else None, text)

    def _end_step(self):
        if self._step is not None:
            if self.trace is None or self.trace.thread != self._step.thread:
                self.stops.end_step(self._step.thread)
            self._step = None
