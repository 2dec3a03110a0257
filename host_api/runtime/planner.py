"""Which steps bring a tensor from one layout and place to another, in the least modelled time.

The planner searches the graph whose nodes are (place, `Layout`) and whose edges are single steps: a cast, a (un)tilize, new
padding, or a move.  docs/hardware/runtime.md#where-tolayout-runs-its-steps says which steps a device can do
(`Capabilities`); the host can do all, so a pair that devices alone cannot convert goes through it, and every
representable pair has a plan.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeAlias, cast

from tensim.runtime.dtypes import DType
from tensim.runtime.encoding import convert
from tensim.runtime.errors import LayoutUnsupported
from tensim.runtime.layouts import DEFAULT_TILE, Interleaved, Layout, MemSpace, Sharded, TensorDesc

if TYPE_CHECKING:
    import numpy as np

HOST = "host"  # the host's place; any other is a device
_CONVERTIBLE = frozenset({DType.BF16, DType.F32, DType.U32, DType.U16, DType.I32})


Op: TypeAlias = Literal["cast", "tilize", "untilize", "pad", "unpad", "upload", "download", "reshard", "copy"]


@dataclass(frozen=True)
class Capabilities:
    """What a device converts by itself (docs/hardware/runtime.md#where-tolayout-runs-its-steps).

    `dtypes`: stored types it can tilize, untilize and pad; `cast_dtypes`: types it can cast between (block floats by the
    packer, though no tilize takes them); `tiles`: tile shapes its conversions know.
    """

    dtypes: frozenset = _CONVERTIBLE
    cast_dtypes: frozenset = _CONVERTIBLE | {DType.BFP8, DType.BFP4}
    tiles: frozenset = frozenset({DEFAULT_TILE})

    def can(self, op: str, before: Layout, after: Layout) -> bool:
        """Whether the device can do a step `op` from one resolved layout to another."""
        if not {before.tile, after.tile} <= self.tiles:
            return op in ("reshard", "copy")
        if op == "cast":
            return {before.dtype, after.dtype} <= self.cast_dtypes
        if op == "tilize":
            return before.dtype in self.dtypes and _sharding(before) in (None, "height")
        if op == "untilize":
            kind = _sharding(before)
            return before.dtype in self.dtypes and (kind is None or (before.space == MemSpace.L1 and kind != "nd"))
        return op in ("reshard", "copy") or before.dtype in self.dtypes


@dataclass(frozen=True)
class Costs:
    """Time model: rates in bytes per ns (`math.inf`: free), fixed parts in ns.

    `host_*`: on the host; `device_convert`: casts and (un)tilizes, `device_copy`: everything that only moves bytes on a
    device; `peer`: from device to device, None where no link joins them; `launch_ns`: per step on a device;
    `transfer_ns`: per upload, download or copy between devices.
    """

    host_copy: float
    host_tilize: float
    host_cast: float
    upload: float
    download: float
    device_convert: float
    device_copy: float
    peer: float | None = None
    launch_ns: float = 0.0
    transfer_ns: float = 0.0

    def step_ns(self, op: str, where: Hashable, nbytes: int, between: bool = False) -> float:
        """Modelled time of a step; `between`: from one device to another."""
        if op in ("upload", "download") or between:
            return nbytes / cast(float, self.peer if between else getattr(self, op)) + self.transfer_ns
        converts = op in ("cast", "tilize", "untilize")
        if where != HOST:
            return nbytes / (self.device_convert if converts else self.device_copy) + self.launch_ns
        return nbytes / (self.host_cast if op == "cast" else self.host_tilize if converts else self.host_copy)


@dataclass(frozen=True)
class Step:
    """One conversion.  `where`: the place that does it (transfers: the device, of two the receiver); `nbytes`: the larger of
    the tensor before and after; `layout`: the resolved layout after it.

    cast: another stored type; tilize, untilize: rows to tiles (with padding) and back (without); pad: padding gets its
    value, rows grow to the width of a shard; unpad: they shrink; upload, download: between host and device; reshard:
    another distribution; copy: another memory or device.
    """

    op: Op
    where: Hashable
    nbytes: int
    est_ns: float
    layout: Layout


@dataclass(frozen=True)
class LayoutPlan:
    """`steps` in order; `route`: the places that the tensor visits; `bounces`: from a device through the host to a device."""

    steps: tuple[Step, ...]
    route: tuple[Hashable, ...]
    bounces: bool

    @property
    def est_ns(self) -> float:
        """Modelled time of all steps, one after the other."""
        return sum(step.est_ns for step in self.steps)


def plan_conversion(
    desc: TensorDesc,
    src: Layout,
    dst: Layout,
    *,
    src_place: Hashable,
    dst_place: Hashable,
    capabilities: Mapping[Hashable, Capabilities],
    costs: Costs,
    allow_host_bounce: bool = True,
) -> LayoutPlan:
    """The cheapest plan from `src` at `src_place` to `dst` at `dst_place`; equal layouts and places need no step.

    Places are `HOST` or names of devices, keys of `capabilities`.  LayoutUnsupported for a layout that its place cannot
    hold, and, without `allow_host_bounce`, for a pair of devices that needs the host.
    """
    src, dst = src.resolved(desc), dst.resolved(desc)
    for layout, place in ((src, src_place), (dst, dst_place)):
        if layout.space.on_host != (place == HOST):
            raise LayoutUnsupported(
                f"a layout in {layout.space.name} cannot be at {place}",
                hint=f"HOST and HOST_MMIO are at {HOST!r}, DRAM and L1 at a device",
            )
    ends = (src, src_place), (dst, dst_place)
    through_host = allow_host_bounce or HOST in (src_place, dst_place)
    plan = _Search(desc, *ends, capabilities, costs, through_host).run()
    if plan is None:
        _refuse(desc, ends, capabilities, costs)
    return plan


def _refuse(
    desc: TensorDesc, ends: tuple[_End, _End], capabilities: Mapping[Hashable, Capabilities], costs: Costs
) -> NoReturn:
    plan = cast(LayoutPlan, _Search(desc, *ends, capabilities, costs, through_host=True).run())
    bounced = next((step for step in plan.steps if step.where == HOST), None)
    if bounced is None:  # nothing to do there, but no link joins the devices
        bounced = next(step for step in plan.steps if step.op == "download")
    raise LayoutUnsupported(
        f"devices alone cannot convert this: step {bounced.op} to {bounced.layout.dtype} {bounced.layout.tiling}s needs the host",
        where={"step": bounced.op, "plan": [step.op for step in plan.steps], "diff": ends[0][0].diff(ends[1][0])},
        hint="allow_host_bounce=True permits it",
    )


def apply_host_step(data: np.ndarray, step: Step, desc: TensorDesc, before: Layout) -> np.ndarray:
    """Bytes after a step that the host does: `data` (uint8) lies in layout `before`.  Elsewhere a step's effect is the same."""
    return convert(data, desc, before, step.layout)


_End: TypeAlias = tuple[Layout, Hashable]  # a layout and its place


class _Spot(NamedTuple):
    """Somewhere a tensor can lie."""

    place: Hashable
    space: MemSpace
    distribution: Interleaved | Sharded


class _Node(NamedTuple):
    """`oob` is what the padding holds now, zero where there is none."""

    spot: _Spot
    form: tuple[Any, tuple[int, int]]  # (tiling, tile)
    dtype: DType
    oob: Literal["undef", "zero", "one", "inf", "-inf"]


class _Search:
    """Dijkstra's algorithm over the nodes that can matter: the two ends' memories, forms, types and paddings, plus host
    memory, interleaved DRAM, rows, and float32 between block floats.
    """

    def __init__(
        self,
        desc: TensorDesc,
        source: _End,
        target: _End,
        capabilities: Mapping[Hashable, Capabilities],
        costs: Costs,
        through_host: bool,
    ) -> None:
        self.desc, self.capabilities, self.costs = desc, capabilities, costs
        (src, src_place), (dst, dst_place) = source, target
        self.dst = dst
        self.spots = self._all_spots(source, target, through_host)
        self.forms = list(dict.fromkeys([_form(src), _form(dst), ("row", DEFAULT_TILE)]))
        self.paddings = list(dict.fromkeys(["zero" if dst.oob == "undef" else dst.oob, "zero"]))
        stored = cast(DType, src.dtype), cast(DType, dst.dtype)
        self.casts = [stored]  # a list: among equal plans the choice must not depend on hashes
        if stored[0].block_bits or stored[1].block_bits:  # defined as a cast through float32: the same values
            self.casts += [(stored[0], DType.F32), (DType.F32, stored[1])]
        self.layouts: dict[_Node, Layout | None] = {}
        start = _Node(_Spot(src_place, src.space, src.distribution), _form(src), stored[0], src.oob)
        self.layouts[start] = src
        self.start = start if src.pads(desc) else start._replace(oob="zero")
        self.goal = _Spot(dst_place, dst.space, dst.distribution), _form(dst), dst.dtype

    @staticmethod
    def _all_spots(source: _End, target: _End, through_host: bool) -> list[_Spot]:
        spots = [_Spot(place, layout.space, layout.distribution) for layout, place in (source, target)]
        for _, place in (source, target):
            if place != HOST:
                spots.append(_Spot(place, MemSpace.DRAM, Interleaved()))
        if through_host and all(spot.place != HOST for spot in spots):
            spots.append(_Spot(HOST, MemSpace.HOST, Interleaved()))
        return list(dict.fromkeys(spots))

    def run(self) -> LayoutPlan | None:
        """The cheapest plan, of equals the shortest; None if there is none."""
        order = itertools.count()  # the last tie-break: nodes are never compared
        heap: list[tuple[Any, ...]] = [(0.0, 0, next(order), self.start, None, None)]
        settled: dict[_Node, tuple[Any, Any]] = {}
        while heap:
            ns, length, _, node, previous, step = heapq.heappop(heap)
            if node in settled:
                continue
            settled[node] = previous, step
            if self._is_goal(node):
                return self._plan(node, settled)
            for op, after in self._edges(node):
                if after not in settled and (priced := self._step(op, node, after)):
                    heapq.heappush(heap, (ns + priced.est_ns, length + 1, next(order), after, node, priced))
        return None

    def _is_goal(self, node: _Node) -> bool:
        if node[:3] != self.goal:
            return False
        return self.dst.oob in ("undef", node.oob) or not self.dst.pads(self.desc)

    def _plan(self, node: _Node, settled: dict[_Node, tuple[Any, Any]]) -> LayoutPlan:
        steps, spots = [], [node.spot.place]
        while settled[node][1] is not None:
            node, step = settled[node]
            steps.append(step)
            spots.append(node.spot.place)
        steps.reverse()
        if steps:
            steps[-1] = replace(steps[-1], layout=self.dst)
        route = tuple(place for place, _ in itertools.groupby(reversed(spots)))
        return LayoutPlan(tuple(steps), route, HOST in route[1:-1])

    def _layout(self, node: _Node) -> Layout | None:
        """The node's layout, None if no memory can hold it."""
        if node not in self.layouts:
            (_, space, distribution), (tiling, tile), dtype, oob = node
            try:
                self.layouts[node] = Layout(space, tiling, tile, dtype, distribution, oob).resolved(self.desc)
            except LayoutUnsupported:
                self.layouts[node] = None
        return self.layouts[node]

    def _edges(self, node: _Node) -> Iterator[tuple[Op, _Node]]:
        """(op, node after) of every single step, possible or not."""
        for before, after in self.casts:
            if before == node.dtype:
                yield "cast", node._replace(dtype=after)
        for form in self.forms:
            if (form[0] == "row") != (node.form[0] == "row"):
                op: Op = "untilize" if form[0] == "row" else "tilize"
                yield from self._padded_anew(op, node._replace(form=form))
        for oob in self.paddings:
            yield "pad", node._replace(oob=oob)
        for spot in self.spots:
            if spot != node.spot:
                yield from self._moves(node, node._replace(spot=spot))

    def _padded_anew(self, op: Op, after: _Node) -> Iterator[tuple[Op, _Node]]:
        for oob in self.paddings:
            yield op, after._replace(oob=oob)

    def _moves(self, node: _Node, after: _Node) -> Iterator[tuple[Op, _Node]]:
        before_layout, after_layout = cast(Layout, self._layout(node)), self._layout(after)
        if after_layout is None:
            return
        op = _move_op(node.spot, after.spot)
        before_shape, after_shape = (x.padded_shape(self.desc.shape) for x in (before_layout, after_layout))
        if before_shape == after_shape:
            yield op, after
            return
        if op in ("reshard", "copy"):  # rows of another padded width
            if node.spot.place != after.spot.place:
                return  # from device to device bytes move as they are
            op = "pad" if after_shape > before_shape else "unpad"
        yield from self._padded_anew(op, after)

    def _step(self, op: Op, node: _Node, after: _Node) -> Step | None:
        """The priced step between two nodes, None if it cannot be done or changes nothing."""
        before_layout, layout = cast(Layout, self._layout(node)), self._layout(after)
        if layout is None or node == after:
            return None
        pads = layout.pads(self.desc)
        if not pads and after.oob != "zero":
            return None
        if op == "cast" and after.dtype.block_bits and pads and node.oob != "zero":
            return None  # unknown padding would leak into the data through the shared exponents
        where = after.spot.place if op != "download" else node.spot.place
        between = HOST not in (node.spot.place, where) and node.spot.place != where
        if between and self.costs.peer is None:
            return None
        works = op in ("upload", "download") or between or where == HOST
        if not works and not self.capabilities[where].can(op, before_layout, layout):
            return None
        nbytes = max(before_layout.nbytes(self.desc), layout.nbytes(self.desc))
        return Step(op, where, nbytes, self.costs.step_ns(op, where, nbytes, between), layout)


def _form(layout: Layout) -> tuple[str, tuple[int, int]]:
    return layout.tiling, layout.tile


def _sharding(layout: Layout) -> str | None:
    """Kind of a layout's sharding, None if interleaved."""
    return getattr(layout.distribution, "kind", None)


def _move_op(before: _Spot, after: _Spot) -> Op:
    if before.place != after.place:
        return "upload" if before.place == HOST else "download" if after.place == HOST else "copy"
    return "copy" if before.distribution == after.distribution else "reshard"
