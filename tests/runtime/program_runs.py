"""Random programs carried out: what became of each op, the order and times of commands, and faults on the way."""

import random
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from tensim.runtime import (
    Affinity,
    Binary,
    MemSpace,
    ProgramInfo,
    System,
    SystemConfig,
    Tensor,
    TensorInfo,
    Variant,
    submit,
    to_layout,
    to_layout_into,
    transfer,
    wait,
)
from tensim.runtime.errors import CommandFailed, LayoutMismatch, WaitTimeout
from tests.runtime.random_programs import FUNCTIONS, HOST, WRITING, values_of

TIME_ERROR_NS = 1e-6


class Run:
    """A program carried out.  `entries`: per op what became of it; `tensors`: by number, those that were made.

    `look(run)`: called behind every op; `fault`: (chip, ns) at which a command there fails; `remap`: another mask for a mask.
    """

    def __init__(self, program, *, look=None, fault=None, remap=lambda mask: mask):
        self.program, self.remap, self.tensors, self.entries = program, remap, {}, []
        chips = "n300" if program.chips == 2 else "n150"
        self.system = system = System(SystemConfig.named(chips, ideal=program.ideal))
        queues = f"cqs={program.queues}&timing=functional"
        self.places = {n: system.open(f"sim://wormhole_b0[{n}]?{queues}") for n in range(program.chips)}
        self.places[HOST] = system.open(f"local?cqs={program.queues}")
        if fault is not None:
            self.places[fault[0]].inject_fault("fault", fault[1])
        for op in program.ops:
            self.entries.append(self._carry_out(op))
            if look is not None:
                look(self)
        self.spans = system.spans[:]  # without those of checks

    def close(self):
        self.system.close()

    def _carry_out(self, op):
        entry = Entry(first_span=len(self.system.spans))
        needed = [*op.sources, *([op.target] if op.kind in WRITING or op.more.get("given") else [])]
        events = [self.entries[number].event for number in op.waits]
        if any(number not in self.tensors for number in needed) or None in events:
            entry.skipped = True
            return entry
        try:
            entry.event = getattr(self, f"_{op.kind}")(op, {"wait": events, "queue": self.remap(op.queue)})
        except CommandFailed as error:
            entry.raised = error
        for number in op.more.get("gone", ()):
            self.tensors.pop(number)
        entry.spans = self.system.spans[entry.first_span :]
        return entry

    def _made(self, op, tensor, wanted):
        """A tensor was made; it is what the API promises."""
        device = None if wanted.place == HOST else self.places[wanted.place]
        assert tensor.device is device and tensor.layout == wanted.layout and tensor.desc == wanted.desc, op
        self.tensors[op.target] = tensor
        return tensor.event

    def _new(self, op, _):
        desc = op.more["desc"]
        values = values_of(op).astype(desc.dtype.numpy)
        self.tensors[op.target] = Tensor.from_numpy(values, system=self.system, name=op.label)

    def _convert(self, op, settings):
        (source,), wanted = op.sources, op.more["wanted"]
        before = self.tensors[source]
        device = None if wanted.place == HOST else self.places[wanted.place]
        after = to_layout(before, wanted.layout, device, retain=op.more["retain"], label=op.label, **settings)
        assert (after is before) == (op.target == source), op
        if after is before:
            return after.event
        return self._made(op, after, wanted)

    def _convert_into(self, op, settings):
        (source,) = op.sources
        return to_layout_into(self.tensors[op.target], self.tensors[source], label=op.label, **settings)

    def _transfer(self, op, settings):
        (source,), more = op.sources, op.more
        before, to = self.tensors[source], self.places[more["wanted"].place]
        after = transfer(
            before, to, layout=more["layout"], route=more["route"], execute_on=more["side"], label=op.label, **settings
        )
        assert (after is before) == (op.target == source), op
        if after is before:
            return after.event
        return self._made(op, after, more["wanted"])

    def _to_host(self, op, settings):
        there = self.tensors[op.sources[0]]
        return self._made(
            op, there.to_host(untilize=op.more["untilize"], label=op.label, **settings), op.more["wanted"]
        )

    def _info(self, op, name, wanted, **more):
        layout = wanted.layout
        if wanted.place == HOST and self.program.ideal:  # of host memory in a device's words
            layout = replace(layout, space=MemSpace.DRAM)
        return TensorInfo(f"{op.label}.{name}", wanted.desc, layout, Affinity(self.places[wanted.place]), **more)

    def _submit(self, op, settings):
        more, inputs = op.more, [self.tensors[number] for number in op.sources]
        faces = [
            self._info(
                op, f"in{n}", face["wanted"], const=face["const"], aliases_output=more["alias"] if n == 0 else None
            )
            for n, face in enumerate(more["faces"])
        ]

        def function(*arrays):
            if more["fails"]:
                raise RuntimeError(f"planned by {op.label}")
            return FUNCTIONS[more["function"]](*[x.astype(np.int64) for x in arrays])

        variant = Variant("host", function=function, cost_ns=more["ns"])
        program = ProgramInfo(op.label, tuple(faces), (self._info(op, "out", more["out"]),), (variant,))
        done = submit(
            self.places[more["place"]], Binary([program]), 0, inputs, donate=more["donate"], label=op.label,
            layouts="strict" if more["strict"] else "convert",
            outputs=[self.tensors[op.target]] if more["given"] else None, **settings,
        )  # fmt: skip
        for position in more["donate"]:
            assert not inputs[position].is_allocated or op.more["alias"] is not None
        if not more["given"]:
            self._made(op, done.outputs[0], more["out"])
        return done.event

    def _mismatch(self, op, settings):
        (source,), more = op.sources, op.more
        face = self._info(op, "in", more["wanted"])
        program = ProgramInfo(op.label, (face,), (), (Variant("host", function=lambda x: ()),))
        count = len(self.system.spans)
        try:
            submit(self.places[more["place"]], Binary([program]), 0, [self.tensors[source]], **settings)
        except LayoutMismatch:
            assert len(self.system.spans) == count, "a refused submit leaves nothing behind"
            return
        raise AssertionError(f"{op} was accepted")

    def _copy(self, op, settings):
        target = self.tensors[op.target]
        queue = target.device.queue_for(settings["queue"])
        return queue.copy(target, self.tensors[op.sources[0]], wait=settings["wait"], label=op.label)

    def _fill(self, op, settings):
        target = self.tensors[op.target]
        return target.device.queue_for(settings["queue"]).fill(target, 0, wait=settings["wait"], label=op.label)

    def _free(self, op, _):
        tensor = self.tensors.pop(op.target)
        if not op.more["drop"]:
            tensor.deallocate()

    def _wait(self, op, settings):
        wait(settings["wait"])

    def _work(self, op, _):
        self.system.timeline_host.compute(op.more["ns"])

    def _host_call(self, op, settings):
        target = self.tensors[op.target]

        def call(_):
            if op.more["fails"]:
                raise RuntimeError(f"planned by {op.label}")

        queue = target.device.queue_for(settings["queue"])
        return queue.host_call(call, wait=settings["wait"], label=op.label, reads=[target], writes=[target])


@dataclass
class Entry:
    """What became of an op: the event of its end, if it has one; the failure that the call itself raised; or nothing, because
    a tensor or event that it needs was never made.
    """

    first_span: int = 0
    event: object = None
    raised: object = None
    skipped: bool = False
    spans: list = field(default_factory=list)

    @property
    def error(self):
        return self.raised or (self.event.error if self.event is not None else None)


def errors_of(run):
    """The failures of all ops."""
    return [entry.error for entry in run.entries if entry.error is not None]


def starts(error):
    """The label of the command that a failure began with."""
    return error.where["chain"][0]


def drained(run):
    """Wait for everything; failures are looked at one by one."""
    for device in run.places.values():
        wait([queue.record() for queue in device.queues])


def check_spans(system):
    """I3: commands end after they begin, not before they were issued; those of a queue follow each other."""
    last = Counter()
    for span in system.spans:
        if span.event is not None:
            assert span.event.t_submit <= span.start + TIME_ERROR_NS and span.start <= span.end, span
            queue = span.device, span.queue
            assert last[queue] <= span.start + TIME_ERROR_NS, span
            last[queue] = span.end
    lanes = {}  # I5
    for busy in system.topology.spans:
        assert lanes.get((busy.link, busy.lane), 0) <= busy.start_fs, busy
        lanes[busy.link, busy.lane] = busy.end_fs


def times(run):
    """Label, begin and end of every command."""
    skipped = ("record_event", "idle")
    return [(span.kind, span.label, span.start, span.end) for span in run.spans if span.kind not in skipped]


def looking(seed, ideal):
    """A `look` that asks at random, and takes no time: on an ideal system in every way, else by running to the present."""
    rng = random.Random(seed)

    def look(run):
        for _ in range(rng.randrange(3)):
            events = [entry.event for entry in run.entries if entry.event is not None]
            way = rng.choice(["run", "query", "timeout"]) if ideal and events else "run"
            if way == "run":
                run.system.run_until(run.system.host_ns)
            elif way == "query":
                rng.choice(events).query()
            else:
                try:
                    wait(rng.choice(events), timeout_ns=0)
                except (WaitTimeout, CommandFailed):
                    pass

    return look


def fault_of(run, seed):
    """(chip, ns) in the middle of a command of a run; None when it has none on a chip."""
    rng = random.Random(seed)
    chips = {device.name: number for number, device in run.places.items() if number != HOST}
    commands = [
        span
        for span in run.spans
        if span.event is not None and span.device in chips and span.end > span.start and "op" in span.label
    ]
    commands = [
        span for span in commands if not span.label.startswith("upload op")
    ]  # of constants, used by several ops
    if not commands:
        return None
    span = rng.choice(commands)
    return chips[span.device], (span.start + span.end) / 2
