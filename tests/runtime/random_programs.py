"""Random programs as data, a plain model of what must come out of them, and their execution.

A program is a list of `Op`s on tensors that are named by number; all hold whole numbers from 0 to 7, which every stored type
holds exactly, so the values do not depend on the route.  The model knows nothing of layouts, places, queues or times: it
computes with numpy in the order of issue, follows failures from op to op, and says which op must come before which.
"""

import random
import re
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from tensim.runtime import (
    ANY,
    Affinity,
    Binary,
    DType,
    Interleaved,
    Layout,
    MemSpace,
    ProgramInfo,
    System,
    SystemConfig,
    Tensor,
    TensorDesc,
    TensorInfo,
    Variant,
    submit,
    to_layout,
    to_layout_into,
    transfer,
    wait,
)
from tensim.runtime.errors import CommandFailed, LayoutMismatch, LayoutUnsupported, WaitTimeout
from tests.runtime.layout_cases import BANKS, DISTRIBUTIONS, GRID, distribution

SHAPES = [(1,), (31,), (64,), (1, 33), (40, 40), (33, 70), (2, 17, 33)]
DTYPES = [DType.F32, DType.BF16, DType.U32, DType.I32, DType.U16, DType.U8]
STORED = [*DTYPES, DType.BFP8]
TILES = [(32, 32)] * 4 + [(16, 32), (16, 16)]
HOST = "host"
FUNCTIONS = [lambda *x: (sum(x) + 1) % 8, lambda *x: (3 * x[0] + 5 * x[-1]) % 8, lambda *x: np.maximum.reduce(x)]
TIME_ERROR_NS = 1e-6
COMMANDS = ("convert", "convert_into", "transfer", "to_host", "submit", "copy", "fill", "host_call")  # they have events


@dataclass(frozen=True)
class Op:
    """`kind`; `sources`: tensors read, by number; `target`: the tensor written, or the number of the one made; `queue`: mask;
    `waits`: ops waited for; the rest depends on the kind.
    """

    number: int
    kind: str
    sources: tuple = ()
    target: int | None = None
    queue: int = ANY
    waits: tuple = ()
    more: dict = field(default_factory=dict)

    @property
    def label(self):
        return f"op{self.number}"

    @property
    def is_alias(self):
        """Whether it gives back the tensor that it got, as nothing changes."""
        return self.kind in ("convert", "transfer") and self.target in self.sources


@dataclass(frozen=True)
class Described:
    """What a tensor must be: description, resolved layout, place (HOST or the number of a chip)."""

    desc: TensorDesc
    layout: Layout
    place: object

    def is_met_by(self, other):
        return self.place == other.place and other.layout.serves(self.layout)


@dataclass(frozen=True)
class Program:
    """`ops`; how many chips and queues they use; `ideal`: without overheads of the host."""

    ops: tuple
    chips: int
    queues: int
    ideal: bool


# --- making programs


class _Maker:
    """Makes ops that are legal by what the API promises of tensors."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.shape, self.chips = self.rng.choice(SHAPES), self.rng.choice([1, 2, 2])
        self.queues = self.rng.choice([1, 2, 3])
        self.tensors, self.ops = {}, []  # number -> Described, of those alive
        self.count = 0

    def program(self):
        kinds = {
            self.new: 4, self.convert: 6, self.convert_into: 3, self.transfer: 3, self.to_host: 2, self.submit: 9,
            self.mismatch: 1, self.copy: 2, self.fill: 1, self.free: 2, self.wait: 1, self.work: 1, self.host_call: 1,
        }  # fmt: skip
        for _ in range(self.rng.randint(4, 22)):
            if not self.tensors:
                self.new()
            self.rng.choices(list(kinds), list(kinds.values()))[0]()
        return Program(tuple(self.ops), self.chips, self.queues, ideal=self.rng.random() < 0.5)

    # parts of ops

    def add(self, kind, sources=(), target=None, **more):
        queue = ANY if self.rng.random() < 0.4 else 1 << self.rng.randrange(self.queues)
        op = Op(len(self.ops), kind, tuple(sources), target, queue, (), more)
        if op.kind in COMMANDS and not op.is_alias and self.events() and self.rng.random() < 0.15:
            op = replace(op, waits=(self.rng.choice(self.events()),))
        self.ops.append(op)

    def events(self):
        """Ops whose event can be waited for."""
        return [op.number for op in self.ops if op.kind in COMMANDS]

    def make(self, described):
        self.count += 1
        self.tensors[self.count] = described
        return self.count

    def any_tensor(self, *, on_chip=False):
        numbers = [n for n, known in self.tensors.items() if not on_chip or known.place != HOST]
        return self.rng.choice(numbers) if numbers else None

    def place(self):
        return self.rng.choice([HOST, *range(self.chips)])

    def layout(self, desc, place):
        """A layout of a tensor at a place."""
        rng, dtype = self.rng, self.rng.choice(STORED)
        tiling = rng.choice(["row", "tile"]) if dtype.has_rows else "tile"
        tile, space = rng.choice(TILES), MemSpace.HOST if place == HOST else rng.choice([MemSpace.DRAM, MemSpace.L1])
        oob = rng.choice(["undef", "zero", "zero", *["one"] * (not dtype.block_bits)])
        spread = Interleaved()
        if space == MemSpace.L1 or (space == MemSpace.DRAM and rng.random() < 0.3):
            kind = rng.choice([kind for kind in DISTRIBUTIONS if space == MemSpace.L1 or kind != "block"])
            spread = distribution(kind, desc.shape, tiling, tile, BANKS if space == MemSpace.DRAM else GRID)
        try:
            return Layout(space, tiling, tile, dtype, spread, oob).resolved(desc)
        except LayoutUnsupported:
            return Layout(space, tiling, tile, dtype, oob=oob).resolved(desc)

    def described(self, desc):
        place = self.place()
        return Described(desc, self.layout(desc, place), place)

    def desc(self):
        return TensorDesc(self.shape, self.rng.choice(DTYPES))

    # kinds of ops

    def new(self):
        desc = self.desc()
        target = self.make(Described(desc, Layout(MemSpace.HOST).resolved(desc), HOST))
        self.add("new", target=target, desc=desc, seed=self.rng.randrange(1 << 30))

    def convert(self):
        source = self.any_tensor()
        wanted = self.described(self.tensors[source].desc)
        alias = wanted.is_met_by(self.tensors[source])
        keep = self.rng.choice([None, None, False])
        target = source if alias else self.make(wanted)
        gone = (source,) if keep is False and not alias else ()
        self.add("convert", [source], target, wanted=wanted, retain=keep, gone=gone)
        for number in gone:
            del self.tensors[number]

    def convert_into(self):
        source, target = self.any_tensor(), self.any_tensor()
        if source != target:
            self.add("convert_into", [source], target)

    def transfer(self):
        source, place = self.any_tensor(), self.place()
        known = self.tensors[source]
        layout = self.layout(known.desc, place) if self.rng.random() < 0.4 else None
        expected = layout or known.layout
        if place == HOST:
            expected = expected.on_host().resolved(known.desc)
        elif expected.space.on_host:
            expected = replace(expected, space=MemSpace.DRAM)
        wanted = Described(known.desc, expected, place)
        route = self.rng.choice(["auto", "auto", "host", "eth"]) if HOST not in (place, known.place) else "auto"
        target = source if wanted.is_met_by(known) else self.make(wanted)
        side = self.rng.choice(["consumer", "producer"])
        self.add("transfer", [source], target, wanted=wanted, layout=layout, route=route, side=side)

    def to_host(self):
        source = self.any_tensor(on_chip=True)
        if source is not None:
            untilize, known = self.rng.random() < 0.7, self.tensors[source]
            layout = known.layout.on_host().resolved(known.desc)
            if untilize:
                stored = known.layout.dtype if known.layout.dtype.has_rows else DType.F32
                layout = Layout(MemSpace.HOST, dtype=stored).resolved(known.desc)
            target = self.make(Described(known.desc, layout, HOST))
            self.add("to_host", [source], target, untilize=untilize, wanted=self.tensors[target])

    def submit(self):
        rng, place = self.rng, self.place()
        strict = rng.random() < 0.5
        sources = [self.any_tensor() for _ in range(rng.choice([1, 2, 2]))]
        faces = [self._face(source, strict) for source in sources]
        given = self.any_tensor() if rng.random() < 0.25 else None
        out = self.described(self.desc()) if given is None else self.tensors[given]
        donate, alias = (), None
        if rng.random() < 0.15 and given is None:
            donate = (0,)
            known = self.tensors[sources[0]]
            if strict and known.place == place and not faces[0]["const"] and rng.random() < 0.6:
                alias, out = 0, known
        more = {
            "place": place,
            "strict": strict,
            "faces": faces,
            "out": out,
            "given": given is not None,
            "donate": donate,
        }
        more["gone"] = tuple(sources[position] for position in donate)
        for number in more["gone"]:
            del self.tensors[number]
        target = self.make(out) if given is None else given
        self.add(
            "submit", sources, target, **more, alias=alias, function=rng.randrange(len(FUNCTIONS)),
            fails=rng.random() < 0.06, ns=rng.choice([0, 300, 5000]),
        )  # fmt: skip

    def _face(self, source, strict):
        """How a program describes an input that gets this tensor."""
        known = self.tensors[source]
        anything = self.described(known.desc if strict else self.desc())
        if known.place == HOST != anything.place and self.rng.random() < 0.4:  # a constant may be in any form
            return {"wanted": anything, "const": True}
        return {"wanted": known if strict or self.rng.random() < 0.3 else anything, "const": False}

    def mismatch(self):
        """A strict submit of a tensor that is not as described."""
        source = self.any_tensor()
        known, wanted = self.tensors[source], self.described(self.desc())
        if not wanted.is_met_by(known):
            self.add("mismatch", [source], place=self.place(), wanted=wanted)

    def copy(self):
        pairs = [
            (a, b)
            for a, x in self.tensors.items()
            for b, y in self.tensors.items()
            if a != b and x.place == y.place != HOST and x.layout == y.layout
        ]
        if pairs:
            source, target = self.rng.choice(pairs)
            self.add("copy", [source], target)

    def fill(self):
        target = self.any_tensor(on_chip=True)
        if target is not None:
            self.add("fill", target=target)

    def free(self):
        target = self.any_tensor()
        del self.tensors[target]
        self.add("free", target=target, drop=self.rng.random() < 0.5)

    def wait(self):
        if self.events():
            self.ops.append(Op(len(self.ops), "wait", waits=(self.rng.choice(self.events()),)))

    def work(self):
        self.add("work", ns=self.rng.randrange(20_000))

    def host_call(self):
        target = self.any_tensor(on_chip=True)
        if target is not None:
            self.add("host_call", [target], target, fails=self.rng.random() < 0.7)


def make_program(seed):
    """The program of a seed."""
    return _Maker(seed).program()


# --- execution


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


# --- the model

WRITING = ("convert_into", "copy", "fill", "host_call", "free")


def values_of(op):
    """The whole numbers of a new tensor."""
    return np.random.default_rng(op.more["seed"]).integers(0, 8, op.more["desc"].shape)


@dataclass
class Known:
    """A tensor in the model: its values; the ops whose failure it suffers from; who wrote it last, who read it since."""

    values: object
    roots: frozenset = frozenset()
    writer: int | None = None
    readers: tuple = ()


class Model:
    """What must have come out of a run, given the op that a fault struck."""

    def __init__(self, run):
        self.run, self.tensors = run, {}
        self.failed = {}  # op -> ops that it may have failed with
        self.resident = {}  # uploaded constants: (tensor, values, wanted) -> ops whose failure they suffer from
        self.struck = _struck(run)
        for op, entry in zip(run.program.ops, run.entries, strict=True):
            if not entry.skipped:
                self._step(op, entry)

    def _step(self, op, entry):
        sources = [self.tensors[number] for number in op.sources]
        roots = frozenset().union(*(known.roots for known in sources), *(self.failed[number] for number in op.waits))
        if op.number in self.struck or (op.more.get("fails") and not roots):  # its conversions may be struck, too
            roots |= {op.number}
        if op.kind == "mismatch":
            return
        self._check_failure(op, entry, roots)
        self.failed[op.number] = roots
        if op.kind == "free":
            del self.tensors[op.target]
            return
        if op.is_alias:
            return
        self._check_order(op, entry, sources)
        for known in sources:
            known.readers = (*known.readers, op.number)
        if entry.raised is None and op.target is not None:
            self.tensors[op.target] = Known(self._values(op, sources), roots, None if op.kind == "new" else op.number)

    def _values(self, op, sources):
        if op.kind == "new":
            return values_of(op)
        if op.kind == "submit":
            return FUNCTIONS[op.more["function"]](*[known.values for known in sources])
        return sources[0].values if sources else np.zeros_like(self.tensors[op.target].values)

    def _check_failure(self, op, entry, roots):
        assert (entry.error is not None) == bool(roots), (op, entry.error, roots)
        if roots:
            assert self.root_of(entry.error) in roots, (op, entry.error, roots)
        ran = entry.event is not None and entry.event.t_start != entry.event.t_end
        assert not roots or op.number in roots or op.is_alias or not ran, (op, "ran although what it needs failed")

    def root_of(self, error):
        """The op that an error began with."""
        planned = re.search(r"planned by op(\d+)", error.where["root"])
        return int(planned[1]) if planned else _op_of(_starts(error))

    def _check_order(self, op, entry, sources):
        """It began behind everything that it depends on."""
        if entry.event is None or entry.event.t_start is None or entry.event is self.run.system.origin:
            return
        before = [*op.waits, *(known.writer for known in sources)]
        if op.kind in WRITING or op.more.get("given"):
            known = self.tensors[op.target]
            before += [known.writer, *filter(self._read_while_it_ran, known.readers)]
        for number in before:
            earlier = None if number is None else self.run.entries[number].event
            if earlier is not None and earlier is not entry.event and number != op.number:
                assert earlier.t_end <= entry.event.t_start + TIME_ERROR_NS, (op, number)

    def _read_while_it_ran(self, number):
        """Whether the event of an op says when it read: not that of several commands, nor that of an upload, whose bytes are
        taken when it is issued.
        """
        spans = self.run.entries[number].spans
        return len(spans) == 1 and spans[0].kind != "upload"

    def check_values(self):
        """Every tensor that is alive has the values, or the failure, of the model."""
        for number, tensor in list(self.run.tensors.items()):
            known = self.tensors[number]
            try:
                found = tensor.numpy()
            except CommandFailed as error:
                assert self.root_of(error) in known.roots, (number, error, known.roots)
                continue
            assert not known.roots, (number, "its last writer failed")
            expected = np.broadcast_to(known.values, tensor.shape)
            np.testing.assert_array_equal(found.astype(np.int64), expected, err_msg=f"tensor {number}")


def _op_of(label):
    return int(re.search(r"op(\d+)", label)[1])


def errors_of(run):
    """The failures of all ops."""
    return [entry.error for entry in run.entries if entry.error is not None]


def _starts(error):
    """The label of the command that a failure began with."""
    return error.where["chain"][0]


def _struck(run):
    """Ops that an injected fault struck: those with which a chain of failures by it begins."""
    return {_op_of(_starts(error)) for error in errors_of(run) if error.where["root"].startswith("fault")}


# --- checks of runs


def check(run):
    """The run is what the model says; times and queues are in order."""
    assert run.system.env.now <= run.system.host.now_fs  # I1
    drained(run)
    check_spans(run.system)
    if any(_starts(error).startswith("upload op") for error in errors_of(run)):
        return  # a fault struck a constant on its way to a chip, which several ops share
    model = Model(run)
    model.check_values()


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
