"""Random programs as data.

A program is a list of `Op`s on tensors that are named by number; all hold whole numbers from 0 to 7, which every stored type
holds exactly, so the values do not depend on the route.
"""

import random
from dataclasses import dataclass, field, replace

import numpy as np

from tensim.runtime import ANY, DType, Interleaved, Layout, MemSpace, TensorDesc
from tensim.runtime.errors import LayoutUnsupported
from tests.runtime.layout_cases import BANKS, DISTRIBUTIONS, GRID, distribution

SHAPES = [(1,), (31,), (64,), (1, 33), (40, 40), (33, 70), (2, 17, 33)]
DTYPES = [DType.F32, DType.BF16, DType.U32, DType.I32, DType.U16, DType.U8]
STORED = [*DTYPES, DType.BFP8]
TILES = [(32, 32)] * 4 + [(16, 32), (16, 16)]
HOST = "host"
FUNCTIONS = [lambda *x: (sum(x) + 1) % 8, lambda *x: (3 * x[0] + 5 * x[-1]) % 8, lambda *x: np.maximum.reduce(x)]
COMMANDS = ("convert", "convert_into", "transfer", "to_host", "submit", "copy", "fill", "host_call")  # they have events
WRITING = ("convert_into", "copy", "fill", "host_call", "free")


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


def values_of(op):
    """The whole numbers of a new tensor."""
    return np.random.default_rng(op.more["seed"]).integers(0, 8, op.more["desc"].shape)
