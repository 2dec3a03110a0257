"""A program under a debugger: it runs from stop to stop, and at each somebody looks at it and says how it goes on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

from tensim.debugger.locations import find
from tensim.debugger.stops import Breakpoints, Stop, failed_thread, scheduled_thread
from tensim.debugger.watched import Watched
from tensim.running.execution import Watch
from tensim.sim import state as st
from tensim.sim.chip.places import thread_place
from tensim.sim.chip.stepping import AT_BREAK, AT_END, AT_WATCH, NO_STOP, EngineStops
from tensim.sim.cores.riscv.program import ThreadProgram
from tensim.sim.cores.threads import OPERATION_START
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.debugger.instruction_trace import InstructionTrace
    from tensim.debugger.locations import Location
    from tensim.debugger.stops import Breakpoint
    from tensim.device import Device
    from tensim.sim.chip.chip import Chip
    from tensim.sim.errors import TensimError

LAST = 1 << 62  # a cycle that no run reaches


class Left(BaseException):
    """The user leaves the program where it is; no `Exception`, so that no program takes it for a failure of its own."""


@dataclass
class Step:
    """What a thread does until it stops: so many lines, or instructions (of a Python kernel, operations)."""

    thread: int
    by_line: bool
    count: int
    start: tuple[str | None, int | None]


class Session(Watch):
    """Runs a program; `driver(stop)` is called at each stop and returns when it is to go on.

    Between two stops, `step`, `until` and the breakpoints say where the next one is.  `trace`: an `InstructionTrace` or None;
    `stops_at_start`: whether the first stop is where the first program begins; `number`: which chip of a mesh it is about.
    """

    def __init__(
        self,
        driver: Callable[[Stop], object],
        trace: InstructionTrace | None = None,
        stops_at_start: bool = True,
        number: int = 0,
    ) -> None:
        self.driver, self.trace, self._stops_at_start, self._number = driver, trace, stops_at_start, number
        self.breakpoints, self.has_ended = Breakpoints(), False
        self.watched: Watched | None = None
        self.selected: int | None = None  # thread
        self._chip: Chip | None = None
        self._stops: EngineStops | None = None
        self.failure: TensimError | None = None
        self._step: Step | None = None
        self._until, self._begun, self._programs, self._interrupted = LAST, False, 0, False
        self._handler: Any = None  # of Ctrl-C, before the session
        self.cycle = 0  # of the last stop
        self.asks_to_stop: Callable[[], bool] = lambda: False  # looked at from time to time while the program runs

    @property
    def chip(self) -> Chip:
        """The chip, since its device is open."""
        assert self._chip is not None
        return self._chip

    @property
    def stops(self) -> EngineStops:
        """The stops of its engine."""
        assert self._stops is not None
        return self._stops

    # --- as a watch of the run

    def begin(self, devices: Sequence[Device]) -> None:
        """The device is open: its engine stops where the session says from now on; of a mesh that of one chip."""
        if self._number >= len(devices):
            raise UsageError(
                f"there is no chip {self._number}: the program has {len(devices)}", hint="chips count from 0"
            )
        device = devices[self._number]
        self._chip, self._stops = device.chip, EngineStops(device.chip)
        self.chip.run_engine = self._run
        device.system.env.on_failure(self._failed)
        if self.trace is not None:
            self.trace.begin(self.chip)
        if threading.current_thread() is threading.main_thread():
            self._handler = signal.signal(signal.SIGINT, self._interrupt)

    def end(self, chip: Chip) -> dict[str, Any]:
        """The program has run: what is left can be looked at."""
        self.has_ended = True
        self._tell(Stop("ended", chip.cycle, text="the program has ended"))
        return {}

    def close(self) -> None:
        """The run is over: leave nothing in programs that may run again."""
        if self._stops is not None:
            self._stops.restore()
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """The first Ctrl-C stops the program, a second one before that ends it."""
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True

    # --- how it goes on

    @property
    def can_run(self) -> bool:
        """Not when the program has failed or ended."""
        return self.failure is None and not self.has_ended

    def require_running(self) -> None:
        """UsageError when it cannot go on."""
        if not self.can_run:
            raise UsageError(
                "the program has ended" if self.has_ended else "the program has failed and cannot go on",
                hint="what is left can be looked at; quit leaves",
            )

    def step(self, thread: int, by_line: bool, count: int = 1) -> None:
        """Stop when a thread has come to another line, or has executed an instruction, `count` times."""
        self._step = Step(thread, by_line, count, self._place(thread))
        self.stops.step(thread)

    def until(self, cycle: int) -> None:
        """Stop when everything up to a cycle has happened."""
        self._until = cycle

    def break_at(self, asked: str, **options: Any) -> Breakpoint:
        """Set a `Breakpoint` at a location, as it was typed."""
        return self.add(find(asked, self.programs), asked, **options)

    def add(self, location: Location, asked: str | None = None, **options: Any) -> Breakpoint:
        """Set a `Breakpoint` at a `Location`; `asked`: what it is looked up by when further programs are loaded."""
        one = self.breakpoints.add(location, asked, **options)
        self._set_rows()
        return one

    def delete(self, number: int | None) -> None:
        """Take a breakpoint away, or all (None).  UsageError for one that is not there."""
        if number is not None and number not in self.breakpoints.known:
            raise UsageError(f"there is no breakpoint {number}")
        for one in list(self.breakpoints.known) if number is None else [number]:
            del self.breakpoints.known[one]
        self._set_rows()

    def watch(self, core: int | None, address: int, size: int) -> None:
        """Stop when bytes of the L1 of a core change; None: no longer."""
        self.watched = None if core is None else Watched(self.chip, core, address, size)
        if core is None:
            self.stops.unwatch()
        else:
            self.stops.watch(core, address, size)

    @property
    def programs(self) -> dict[int, Any]:
        """{base in the line table: program} of all that have been loaded."""
        return {} if self._chip is None else self._chip.line_programs

    def _set_rows(self) -> None:
        self.stops.set_rows(self.breakpoints.rows())
        self.stops.set_operations(self.breakpoints.operations())

    # --- running

    def _run(self, address: int, limit: int, fuel: int) -> None:
        """In place of the engine's loop, with its arguments."""
        self._meet_programs()
        if not self._begun and self.chip.is_running:
            self._begun = True
            if self._stops_at_start:
                self._tell(Stop("start", self.stops.next_cycle(), scheduled_thread(self.stops), "the program begins"))
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

    def _tell(self, stop: Stop) -> None:
        if stop.thread is not None and stop.thread >= 0:
            self.selected = stop.thread
        self._until, self.cycle = LAST, stop.cycle
        self.driver(stop)

    def _failed(self, chip: Chip, error: TensimError) -> None:
        """The run ends with an error."""
        self.failure = error
        if chip is self.chip:
            thread = failed_thread(self.chip, error)
            self._tell(Stop("failed", chip.cycle, thread, error.message.split("\n")[0]))

    def _meet_programs(self) -> None:
        """Programs that have been loaded since: breakpoints may be in them, and the traced thread may begin."""
        if len(self.programs) != self._programs:
            self._programs = len(self.programs)
            for one in self.breakpoints.known.values():
                if one.asked is not None:
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

    def _place(self, thread: int) -> tuple[str | None, int | None]:
        place = thread_place(self.chip, thread)
        return place.get("file"), place.get("line")

    def _judged(self, reason: int, thread: int) -> Stop | None:
        """The `Stop` that this is, or None: the program goes on."""
        cycle = self.stops.next_cycle() if reason != AT_WATCH else self.chip.cycle
        if reason == AT_WATCH:
            assert self.watched is not None
            return self.watched.stop(thread)
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

    def _step_stop(self, reason: int, thread: int, cycle: int) -> Stop | None:
        step = self._step
        assert step is not None
        if reason == AT_END:
            return Stop("end", cycle, thread, "the kernel returns")
        place = self._place(thread)
        if step.by_line and (place == step.start or not place[1]):
            return None
        step.count, step.start = step.count - 1, place
        return Stop("step", cycle, thread) if step.count <= 0 else None

    def _end_step(self) -> None:
        if self._step is not None:
            if self.trace is None or self.trace.thread != self._step.thread:
                self.stops.end_step(self._step.thread)
            self._step = None
