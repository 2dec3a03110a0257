"""`evaluate`: repeated, validated measurements of a program, times and counters together (docs/hardware/runtime.md#evaluate
and docs/hardware/runtime.md#how-xtc-measures).

    setup: inputs made, converted and uploaded as far as `include` leaves it out of a call
    validation: one call against numpy; nothing is timed when it fails
    warm-up calls
    per repeat: attempts = number; [cold: reset]; read counters, call `attempts` times, read counters; too short: attempts
    doubled and once more

A call consists of the included phases; the others happen once, before.  Times are simulated, unless `clock` is "wall".
"""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from tensim.runtime.bound_programs import BoundBinary, is_resident
from tensim.runtime.conversion import to_layout, to_layout_into
from tensim.runtime.counters import Counters
from tensim.runtime.current_system import current
from tensim.runtime.sync import wait
from tensim.runtime.tensors import Tensor
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.errors import UsageError
from tensim.sim.loop.environment import FS_PER_NS

if TYPE_CHECKING:
    from tensim.runtime.devices import SimAccelerator
    from tensim.runtime.program_info import TensorInfo
    from tensim.runtime.timeline import Span

PHASES = ("prep", "upload", "run", "download")
CLOCKS, STATES = ("device", "host", "wall"), ("warm", "cold")
NS_PER_S = 1e9


@dataclass(frozen=True)
class ValidationReport:
    """Outputs against their references: `ok`; the largest absolute error; elements outside the tolerance, of how many."""

    ok: bool
    max_abs_error: float
    mismatches: int
    elements: int


@dataclass
class EvalResult:
    """What `evaluate` measured, one entry per repeat in every list.

    `seconds`: per call, on the chosen clock; `cycles`: per call, from program starts to ends, summed over chips; `counters`:
    name -> values per call; `attempts`: calls; `breakdown`: phase -> seconds per call that its commands took, overlapped or
    not.  `code`: 0, or 1 with an `error` when validation failed, and then there are no measurements.
    """

    seconds: list = field(default_factory=list)
    cycles: list = field(default_factory=list)
    counters: dict = field(default_factory=dict)
    attempts: list = field(default_factory=list)
    breakdown: dict = field(default_factory=dict)
    code: int = 0
    error: str = ""
    validation: ValidationReport | None = None

    def as_xtc(self) -> tuple[list[float], int, str]:
        """(values, code, message): seconds, or only counters, repeat after repeat, when there are any."""
        values = list(itertools.chain(*zip(*self.counters.values(), strict=True))) if self.counters else self.seconds
        return list(values), self.code, self.error


def evaluate(
    target: Any,
    inputs: Sequence[Any] = (),
    *,
    repeat: int = 1,
    number: int = 1,
    min_repeat_ms: float = 0.0,
    warmup: int | None = None,
    concurrency: int = 1,
    counters: Sequence[str] = (),
    validate: Any = None,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    clock: str = "device",
    include: Sequence[str] = ("run",),
    state: str = "warm",
    scope: str | None = None,
) -> EvalResult:
    """Measure a program of a BoundBinary, `(bound, program)`, on `inputs`, or a function without arguments.

    `repeat` measurements of `number` calls each (0: one call and no warm-up), doubled until one takes `min_repeat_ms` of
    simulated time; `warmup`: calls before, 1 by default; `concurrency`: calls under way at once.  `validate`: a numpy function
    of the inputs, or the expected outputs.  `clock`: "device" (time in which commands run), "host" (of the simulated host) or
    "wall"; `include`: phases of a call, of prep (host conversions), upload, run, download, which a function decides by itself;
    `state`: "cold" begins each measurement with closed DRAM rows and empty program caches.  `scope` names the spans.
    Returns an EvalResult.  UnknownCounter and UsageError before anything runs.
    """
    _check(repeat, number, min_repeat_ms, warmup, concurrency, clock, include, state)
    with contextlib.ExitStack() as stack:
        work: Any
        if callable(target):
            work = _Function(target, inputs)
        else:
            program = _BoundProgram(*target, inputs, include, concurrency)  # type: ignore[call-arg]  # a target is a pair
            work = stack.enter_context(contextlib.closing(program))
        counted = Counters(counters, work.system)
        if scope is not None:
            stack.enter_context(work.system.scope(scope))
        work.prepare()
        report = None if validate is None else _validate(work, validate, rtol, atol)
        if report is not None and not report.ok:
            empty = {name: [] for name in counters}
            message = f"{report.mismatches} of {report.elements} elements differ from the reference"
            return EvalResult(counters=empty, code=1, error=message, validation=report)
        loop = _Loop(work, counted, concurrency, clock, include, state)
        loop.calls((1 if number else 0) if warmup is None else warmup)
        result = EvalResult(counters={name: [] for name in counters}, validation=report)
        result.breakdown = {phase: [] for phase in PHASES}
        for _ in range(repeat):
            loop.measure(max(number, 1), min_repeat_ms, result)
        return result


def _check(
    repeat: int,
    number: int,
    min_repeat_ms: float,
    warmup: int | None,
    concurrency: int,
    clock: str,
    include: Sequence[str],
    state: str,
) -> None:
    least: dict[str, tuple[float, float]] = {
        "repeat": (repeat, 1),
        "number": (number, 0),
        "min_repeat_ms": (min_repeat_ms, 0),
    }
    least |= {"warmup": (0 if warmup is None else warmup, 0), "concurrency": (concurrency, 1)}
    for name, (value, limit) in least.items():
        if value < limit:
            raise UsageError(f"{name} is {value}; it is at least {limit}", hint=f"leave {name} out for its default")
    for name, word, known in (("clock", clock, CLOCKS), ("state", state, STATES)):
        if word not in known:
            raise UsageError(f"{name} is {word!r}", hint=f"one of {', '.join(known)}")
    for phase in include:
        if phase not in PHASES:
            raise UsageError(f"include names {phase!r}", hint=f"phases: {', '.join(PHASES)}")


class _Function:
    """A target that is a function: what it does is its own affair."""

    def __init__(self, function: Callable[[], Any], inputs: Sequence[Any]) -> None:
        if len(inputs):
            raise UsageError("a function takes no inputs", hint="close over them, or give (bound binary, program)")
        self.function, self.system = function, current()

    def prepare(self) -> None:
        """Nothing: a function prepares itself."""

    def call(self, _: int) -> list[Tensor]:
        """One call; returns the tensors to free behind it."""
        self.function()
        return []

    def outputs(self) -> list[np.ndarray]:
        """Arrays of a call's result: a submission, tensors or arrays."""
        result = self.function()
        result = getattr(result, "outputs", result)
        parts = result if isinstance(result, list | tuple) else [result]
        return [part.numpy() if isinstance(part, Tensor) else np.asarray(part) for part in parts]

    def references(self, validate: Any) -> Any:
        """What the outputs should be."""
        return validate() if callable(validate) else validate

    def clear_caches(self) -> None:
        """It keeps none here."""


class _BoundProgram:
    """A target that is a program: `concurrency` sets of inputs and outputs that stay on the device."""

    def __init__(
        self, bound: Any, program: int | str, inputs: Sequence[Any], include: Sequence[str], concurrency: int
    ) -> None:
        if not isinstance(bound, BoundBinary):
            raise UsageError(
                f"cannot evaluate {type(bound).__name__}", hint="bind the binary: (binary.bind(device), program)"
            )
        self.bound, self.program, self.include, self.system = bound, program, include, bound.system
        self.info = bound.binary.programs[bound.binary.index(program)]
        self.device = cast(Any, bound.place_of(bound.binary.index(program)).device)
        self.concurrency, self._made = concurrency, []
        if hasattr(self.device, "devices"):
            raise UsageError(
                f"{self.info.name} runs on {self.device.name}; evaluate measures programs on one device",
                hint="evaluate(function): one that submits and waits",
            )
        if len(inputs) != len(self.info.inputs):
            raise UsageError(
                f"{self.info.name} takes {len(self.info.inputs)} inputs, {len(inputs)} were given",
                hint="one tensor or array per input, in this order",
            )
        self.inputs = [self._tensor(x) for x in inputs]

    def _keep(self, tensor: Tensor, *others: Tensor) -> Tensor:
        """Remember a tensor that was made here, to free it at the end."""
        if all(tensor is not other for other in others):
            self._made.append(tensor)
        return tensor

    def _tensor(self, x: Any) -> Tensor:
        return x if isinstance(x, Tensor) else self._keep(Tensor.from_numpy(np.asarray(x), system=self.system))

    def prepare(self) -> None:
        """Convert and upload the inputs, allocate the outputs."""
        self.staged = [self._stage(wanted, x) for wanted, x in zip(self.info.inputs, self.inputs, strict=True)]
        self.sets = [self._set() for _ in range(self.concurrency)]
        wait([x for inputs, _ in self.sets for x in inputs])

    def _moves(self, wanted: TensorInfo, x: Any) -> bool:
        """Whether an input lies in host memory and goes to the device with every call that includes uploads."""
        return x.device is None and not wanted.const and self.bound.home(wanted, self.device).scheme != "host"

    def _stage(self, info: TensorInfo, x: Any) -> Tensor:
        """A host tensor in the form that the program wants, ready for the upload."""
        if not self._moves(info, x):
            return x
        return self._keep(to_layout(x, info.wanted.on_host()), x)

    def _set(self) -> tuple[list[Tensor], list[Tensor]]:
        inputs = []
        for wanted, x in zip(self.info.inputs, self.staged, strict=True):
            if self._moves(wanted, x):
                device = self.bound.home(wanted, self.device)
                x = self._keep(Tensor.empty(wanted.desc, wanted.layout, device, name=wanted.name))
                to_layout_into(x, self.staged[len(inputs)])
            elif is_resident(wanted, x, self.bound.home(wanted, self.device)):
                self.system.residency.get(x, self.bound.home(wanted, self.device), wanted.wanted)
            inputs.append(x)
        places = [self.bound.home(wanted, self.device) for wanted in self.info.outputs]
        outputs = [
            self._keep(Tensor.empty(wanted.desc, wanted.layout, place, name=wanted.name, system=self.system))
            for wanted, place in zip(self.info.outputs, places, strict=True)
        ]
        return inputs, outputs

    def call(self, number: int) -> list[Tensor]:
        """One call: its included phases; returns the tensors to free behind it."""
        inputs, outputs = self.sets[number % self.concurrency]
        for wanted, given, staged, x in zip(self.info.inputs, self.inputs, self.staged, inputs, strict=True):
            if self._moves(wanted, given):
                self._bring(given, staged, x)
        if "run" in self.include:
            self._run(inputs, outputs)
        return [x.to_host() for x in outputs if x.device is not None] if "download" in self.include else []

    def _bring(self, given: Tensor, staged: Tensor, x: Any) -> None:
        """Prepare and upload one input, as far as a call includes that."""
        if "prep" in self.include:
            converted = to_layout(given, staged.layout)
            if converted is not given:
                converted.release()
        if "upload" in self.include:
            to_layout_into(x, staged)

    def _run(self, inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
        self.bound.submit(self.program, inputs, outputs=outputs)

    def outputs(self) -> list[np.ndarray]:
        """Arrays of the outputs of one run."""
        inputs, outputs = self.sets[0]
        self._run(inputs, outputs)
        return [x.numpy() for x in outputs]

    def references(self, validate: Any) -> Any:
        """What the outputs should be."""
        return validate(*[x.numpy() for x in self.inputs]) if callable(validate) else validate

    def clear_caches(self) -> None:
        """Forget the built programs."""
        self.bound._built.clear()

    def close(self) -> None:
        """Free what was made for the evaluation."""
        for tensor in self._made:
            self.system.residency.forget(tensor)
            if tensor.is_allocated:
                tensor.release()


def _validate(work: _Work, validate: Any, rtol: float, atol: float) -> ValidationReport:
    expected = work.references(validate)
    expected = expected if isinstance(expected, list | tuple) else [expected]
    found = work.outputs()
    if len(found) != len(expected):
        raise UsageError(
            f"{len(found)} outputs, but {len(expected)} references were given",
            hint="validate gives one array per output",
        )
    worst, mismatches, elements = 0.0, 0, 0
    for actual, other in zip(found, map(np.asarray, expected), strict=True):
        elements += other.size
        if actual.shape != other.shape:
            worst, mismatches = math.inf, mismatches + other.size
            continue
        actual, other = actual.astype(np.float64), other.astype(np.float64)
        mismatches += int(np.count_nonzero(~np.isclose(actual, other, rtol=rtol, atol=atol)))
        worst = max(worst, float(np.abs(actual - other).max(initial=0.0)))
    return ValidationReport(mismatches == 0, worst, mismatches, elements)


_Work: TypeAlias = _Function | _BoundProgram


class _Loop:
    """Calls and their measurement."""

    def __init__(
        self, work: _Work, counted: Counters, concurrency: int, clock: str, include: Sequence[str], state: str
    ) -> None:
        self.work, self.counted, self.concurrency, self.system = work, counted, concurrency, work.system
        self.clock, self.state = clock, state
        self.host_counts = "prep" in include
        self.first_start = None  # femtosecond of the first cold start

    def calls(self, count: int) -> None:
        """Make calls, at most `concurrency` of them under way at once, and wait for all."""
        under_way = deque()
        for number in range(count):
            if len(under_way) == self.concurrency:
                self._finish(*under_way.popleft())
            first = len(self.system.spans)
            results = self.work.call(number)
            under_way.append((first, len(self.system.spans), results))
        for call in under_way:
            self._finish(*call)

    def _finish(self, first: int, end: int, results: Iterable[Tensor]) -> None:
        """Wait for the commands of a call, free what it brought to the host."""
        wait([span.event for span in self.system.spans[first:end] if span.event is not None])
        for tensor in results:
            tensor.release()

    def measure(self, attempts: int, min_repeat_ms: float, result: EvalResult) -> None:
        """One repeat: append its figures to `result`."""
        while True:
            if self.state == "cold":
                self._cool()
            first, cycles, began, wall = (
                len(self.system.spans),
                self._cycles(),
                self.system.host_ns,
                time.perf_counter(),
            )
            self.counted.start()
            self.calls(attempts)
            wall, host_ns = time.perf_counter() - wall, self.system.host_ns - began
            spans, counters = self.system.spans[first:], self.counted.read()
            device_ns = covered(spans if self.host_counts else [span for span in spans if not span.on_host])
            simulated_ns = device_ns if self.clock == "device" else host_ns
            if simulated_ns >= min_repeat_ms * 1e6:
                break
            if simulated_ns == 0:
                raise UsageError(
                    f"the calls take no time on clock={self.clock!r}: min_repeat_ms {min_repeat_ms} cannot be reached",
                    hint="leave min_repeat_ms out, or use clock='host'",
                )
            attempts *= 2
        seconds = wall if self.clock == "wall" else simulated_ns / NS_PER_S
        result.seconds.append(seconds / attempts)
        result.cycles.append(round((self._cycles() - cycles) / attempts))
        result.attempts.append(attempts)
        for name, value in counters.items():
            result.counters[name].append(value / attempts)
        for phase, ns in by_phase(spans).items():
            result.breakdown[phase].append(ns / NS_PER_S / attempts)

    def _chips(self) -> list[SimAccelerator]:
        return [cast("SimAccelerator", device) for device in self.system.open_devices() if device.scheme != "host"]

    def _cycles(self) -> int:
        return sum(program_cycles(device.chip) for device in self._chips())

    def _cool(self) -> None:
        """Close DRAM rows, forget programs.  Refresh goes on, so each cold start has the phase of refresh of the first one."""
        intervals = [round(device.arch["dram.t_refi_ns"] * FS_PER_NS) for device in self._chips()]
        now_fs = self.system.host.now_fs
        self.first_start = now_fs if self.first_start is None else self.first_start
        idle = (self.first_start - now_fs) % math.lcm(*intervals)
        self.system.timeline_host.charge("cold start", "idle", idle / FS_PER_NS, 0)
        self.system.executor.catch_up()
        self.work.clear_caches()
        for device in self._chips():
            device.chip.close_rows()
            device.state.cached_programs.clear()
            device.state.resident.clear()


def covered(spans: Iterable[Span]) -> float:
    """ns during which at least one of the spans is under way; idling of the host is none."""
    total, until = 0.0, -math.inf
    for start, end in sorted((cast(float, span.start), cast(float, span.end)) for span in spans if span.kind != "idle"):
        total += max(end - max(start, until), 0.0)
        until = max(until, end)
    return total


def by_phase(spans: Iterable[Span]) -> dict[str, float]:
    """{phase: ns of its spans}.  Conversions on the host are prep, wherever they come; all that devices do by themselves is run."""
    total = dict.fromkeys(PHASES, 0.0)
    for span in spans:
        if span.kind == "idle":
            continue
        phase = span.kind if span.kind in ("upload", "download") else "prep" if span.on_host else "run"
        total[phase] += cast(float, span.end) - cast(float, span.start)
    return total
