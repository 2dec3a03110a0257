"""What a system is, as plain data, and whether a binary fits it
(docs/hardware/runtime.md#what-binaries-and-systems-say-of-themselves and docs/hardware/runtime.md#device-specs and
docs/hardware/runtime.md#binaries-and-submit).

describe(system)  {"chips": [...], "links": [...], "capabilities": {...}}, ready for JSON
check(binary, target, mode)  CompatReport
"""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from tensim.runtime.dtypes import DType
from tensim.runtime.errors import BinaryIncompatible
from tensim.runtime.layouts import Interleaved, MemSpace
from tensim.runtime.placement import ANY
from tensim.runtime.specs import SCHEMES
from tensim.runtime.trial_builds import TrialBuild
from tensim.sim.arch.loader import MODEL, architectures, load_arch
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.errors import TensimError, UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.buffers import expand
from tensim.sim.host.topology import HOST
from tensim.types import TILE_HEIGHTS, TILE_WIDTHS

if TYPE_CHECKING:
    from tensim.runtime.binaries import Binary
    from tensim.runtime.placement import Affinity, Promise
    from tensim.runtime.program_info import ProgramInfo, TensorInfo, Variant
    from tensim.runtime.selection import DeviceInfo
    from tensim.runtime.system import System
    from tensim.sim.arch.loader import Arch
    from tensim.sim.host.topology import Link

MODES = ("compatible", "exact")
DATA_MOVEMENT_THREADS, COMPUTE_THREADS = 2, 3  # BRISC, NCRISC; unpack, math, pack


# --- description


def describe(target: Any) -> dict[str, Any]:
    """A system, or the part of one that an open device (or mesh) is, as plain data; nothing is opened.

    `chips`: one entry per chip, in the order declared (see `_chip`); `links`: those among these chips and the host, with
    bytes_per_ns of one lane and latency_ns; `capabilities`: what the whole can do.
    """
    if hasattr(target, "topology"):
        chips = [_chip(target, number, arch) for number, arch in enumerate(target.archs)]
        return _whole(target, chips, ["sim", "host", "embedded"])
    members = getattr(target, "devices", [target])
    chips = [_open_chip(device) for device in members if device.scheme != "host"]
    return _whole(target.system, chips, sorted({_runs(device) for device in members}))


def describe_declared(system: System, info: DeviceInfo) -> dict[str, Any]:
    """The part of a system that a declared device is, as `describe` gives it once it is open with its defaults."""
    number = None if info.scheme == "host" else system.inventory.chip_of(info)
    chips = [] if number is None else [_chip(system, number, system.archs[number])]
    return _whole(system, chips, [info.scheme])


def _open_chip(device: Any) -> dict[str, Any]:
    number = device.system.inventory.chip_of(device.info)
    return _chip(device.system, number, device.arch) | {"queues": len(device.queues)}


def _runs(device: Any) -> str:
    """The scheme of the variants that a device runs: those in numpy when its timing is functional."""
    return "host" if getattr(device, "timing", "cycle") == "functional" else device.scheme


def _whole(system: System, chips: list[dict[str, Any]], schemes: list[str]) -> dict[str, Any]:
    places = {HOST, *(chip["place"] for chip in chips)}
    links = [link for link in system.topology.links if {link.src, link.dst} <= places]
    return {
        "chips": chips,
        "links": [_link(link) for link in links],
        "capabilities": {
            "host_mmio": any(link.kind == "pcie" for link in links),
            "ethernet": any(link.kind == "eth" for link in links),
            "schemes": schemes,
        },
    }


def _chip(system: System, number: int, arch: Arch) -> dict[str, Any]:
    """Sizes in bytes, alignments in bytes, grid as [columns, rows], tiles as [height, width]; `remote_of`: the chip through
    which the host reaches it, None when it has PCIe itself.
    """
    config = system.config.chips[number]
    return {
        "place": f"chip{number}", "arch": arch.name, "board": arch.board, "remote_of": config.remote_of,
        "mesh_shape": list(config.group_shape), "grid": list(arch.grid), "clock_mhz": arch.clock_mhz,
        "l1_bytes": arch.l1_size, "l1_user_base": arch.l1_user_base,
        "dram_channels": arch.dram_banks, "dram_channel_bytes": arch.dram_bank_bytes,
        "alignments": arch.section("alignment"),
        "dtypes": [dtype.value for dtype in DType],
        "tile_shapes": [[height, width] for height in TILE_HEIGHTS for width in TILE_WIDTHS],
        "circular_buffers": N_CIRCULAR_BUFFERS, "queues": arch["dispatch.max_queues"],
        "dst_tiles": [arch["tensix.dst.tiles16"], arch["tensix.dst.tiles32"]],
        "threads": {"data_movement": DATA_MOVEMENT_THREADS, "compute": COMPUTE_THREADS},
    }  # fmt: skip


def _link(link: Link) -> dict[str, Any]:
    names = ("src", "dst", "kind", "bytes_per_ns", "latency_ns", "lanes")
    return {name: getattr(link, name) for name in names}


# --- compatibility

Problem: TypeAlias = dict[str, Any]  # {"program", "field", "expected", "found"}
Row: TypeAlias = tuple[str, object, object]  # field, expected, found


@dataclass(frozen=True)
class _Memory:
    """A memory of a chip's description: `banks` (columns, rows), `room` in bytes per bank, and the `fields` they come from."""

    fields: tuple
    alignment: str
    banks: Callable
    room: Callable


MEMORIES = {
    MemSpace.L1: _Memory(
        ("grid", "l1_bytes", "l1_user_base", "alignments"),
        "l1_page",
        lambda chip: chip["grid"],
        lambda chip: chip["l1_bytes"] - chip["l1_user_base"],
    ),
    MemSpace.DRAM: _Memory(
        ("dram_channels", "dram_channel_bytes", "alignments"),
        "dram_page",
        lambda chip: (chip["dram_channels"], 1),
        lambda chip: chip["dram_channel_bytes"],
    ),
}


@dataclass(frozen=True)
class CompatReport:
    """Whether a binary fits a target.  `problems`: dicts of program (None: the whole binary), field, expected (by the
    binary) and found; `diff`: unified diff of the two descriptions, of an exact check only.  True when it fits.
    """

    mode: str
    problems: tuple = ()
    diff: str = ""

    @property
    def ok(self) -> bool:
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [_line(problem) for problem in self.problems] or [f"{self.mode}: it fits"]
        return "\n".join(lines + ([self.diff] if self.diff else []))

    def require(self) -> None:
        """BinaryIncompatible, with every problem, when it does not fit."""
        if not self.ok:
            raise BinaryIncompatible(
                str(self), where={"problems": list(self.problems), "diff": self.diff}, hint=HINTS[self.mode]
            )


HINTS = {
    "compatible": "choose a device that has what the programs use, or save the binary for this one",
    "exact": "mode='compatible' compares only what the programs use",
}


def _line(problem: Problem) -> str:
    owner = "the binary" if problem["program"] is None else f"program {problem['program']}"
    return f"{owner}: {problem['field']}: expected {problem['expected']}, found {problem['found']}"


def check(binary: Binary, target: Any, mode: str = "compatible") -> CompatReport:
    """Compare a binary with a device, a mesh, a system or a description.

    `compatible`: what its programs use is there; `exact`: moreover the description it was made for (`system_desc`) equals
    the target's.  UsageError for another mode or target.
    """
    if mode not in MODES:
        raise UsageError(f"mode is {mode!r}", hint=" or ".join(map(repr, MODES)))
    found = target if isinstance(target, dict) else _described(target)
    problems, known = [*_architecture(binary, found)], {} if isinstance(target, dict) else _archs(target)
    for program in binary.programs:
        problems += _program(program, found, known)
    if mode == "compatible":
        return CompatReport(mode, tuple(problems))
    diff = unified_diff(binary.system_desc, found)
    if diff:
        problems.append(
            _problem(None, "system_desc", "an equal description", "another one" if binary.system_desc else None)
        )
    return CompatReport(mode, tuple(problems), diff)


def _described(target: Any) -> dict[str, Any]:
    if not hasattr(target, "topology") and not hasattr(target, "system"):
        raise UsageError(
            f"a binary cannot be checked against {type(target).__name__}", hint="a device, a system or its description"
        )
    return describe(target)


def _archs(target: Any) -> dict[str, Arch]:
    """{place: architecture} of the chips of a system, a mesh or a device."""
    if hasattr(target, "topology"):
        return {f"chip{number}": arch for number, arch in enumerate(target.archs)}
    members = (device for device in getattr(target, "devices", [target]) if device.scheme != "host")
    return {device.state.place: device.arch for device in members}


def _problem(program: str | None, field: str, expected: object, found: Any) -> Problem:
    return {"program": program, "field": field, "expected": expected, "found": found}


def _architecture(binary: Binary, found: Any) -> Iterator[Problem]:
    """The architecture that the binary was made for, if it says so, is there: programs are built for one."""
    wanted = {chip["arch"] for chip in (binary.system_desc or {}).get("chips", ()) if "arch" in chip}
    have = sorted({chip["arch"] for chip in found["chips"]})
    if wanted and not wanted & set(have):
        yield _problem(None, "arch", sorted(wanted), have)


def _program(program: ProgramInfo, found: Any, known: Mapping[str, Arch]) -> list[Problem]:
    """What a program uses and none of the chips has; of several chips, what the one that lacks least lacks."""
    schemes = found.get("capabilities", {}).get("schemes", SCHEMES)
    variants = [
        variant
        for variant in program.variants
        if _scheme(variant) in schemes or _scheme(variant, "embedded") in schemes
    ]
    if not variants:
        return [_problem(program.name, "variants", [variant.target for variant in program.variants], schemes)]
    if any(_scheme(variant) == "host" for variant in variants):
        return []
    archs = [variant.target.partition("://")[2] for variant in variants]
    chips = [chip for chip in found["chips"] if "" in archs or chip["arch"] in archs]
    if not chips:
        return [_problem(program.name, "arch", archs, sorted({chip["arch"] for chip in found["chips"]}))]
    lacking = []
    for chip in chips:
        rows = [*_needs(program, chip)]
        if not rows:
            rows = [*_kernels(program, variants, chip, known)]
        lacking.append([_problem(program.name, *row) for row in rows])
    return min(lacking, key=len)


def _scheme(variant: Variant, sim: str = "sim") -> str:
    """The scheme of a variant; `sim`: what to call that of simulated chips, whose programs run on embedded ones too."""
    scheme = variant.target.partition("://")[0]
    return sim if scheme == "sim" else scheme


def _needs(program: ProgramInfo, chip: dict[str, Any]) -> Iterator[Row]:
    """(field, expected, found) of what a program uses and a chip lacks.  What the description leaves out is not compared."""
    mesh, queues = list(program.mesh_shape), max(map(_queues, _places(program)), default=0)
    if any(wanted > have for wanted, have in zip(mesh, chip.get("mesh_shape", mesh), strict=True)):
        yield "mesh_shape", mesh, chip["mesh_shape"]
    if queues > chip.get("queues", queues):
        yield "queues", queues, chip["queues"]
    for info in (*program.inputs, *program.outputs):
        for rule in (_form, _place):
            for field, expected, found in rule(info, chip):
                yield f"{info.name}.{field}", expected, found


def _kernels(
    program: ProgramInfo, variants: Sequence[Variant], chip: dict[str, Any], known: Mapping[str, Arch]
) -> Iterator[Row]:
    """As `_needs`, of the kernels and circular buffers, which building the program shows."""
    variant = next(v for v in variants if v.target.partition("://")[2] in ("", chip["arch"]))
    if variant.build is None or not all(key in chip for key in ("grid", "l1_bytes", "l1_user_base")):
        return
    arch = known.get(chip.get("place", "")) or load_arch(chip["arch"] if chip["arch"] in architectures() else MODEL)
    try:
        records = [record for record, _ in TrialBuild(arch, program, variant).build[2]]
    except TensimError as error:
        yield "kernels", "a program that can be built", error.message
        return
    on_cores = (c.CreateKernel, c.CreateCircularBuffer, c.CreateSemaphore)
    corners = [corner for record in records if isinstance(record, on_cores) for corner in record.cores]
    corner = [max((r[2] for r in corners), default=-1) + 1, max((r[3] for r in corners), default=-1) + 1]
    if corner[0] > chip["grid"][0] or corner[1] > chip["grid"][1]:
        yield "cores", corner, chip["grid"]
    taken = Counter()
    for record in records:
        if isinstance(record, c.CreateCircularBuffer) and record.buffer is None:
            taken.update(dict.fromkeys(expand(record.cores), record.total_size))
    most, room = max(taken.values(), default=0), chip["l1_bytes"] - chip["l1_user_base"]
    if most > room:
        yield "circular_buffers", most, room


def _form(info: TensorInfo, chip: dict[str, Any]) -> Iterator[Row]:
    """Element type and tile of a tensor."""
    dtype, tile = cast(DType, info.wanted.dtype).value, list(info.wanted.tile)
    if dtype not in chip.get("dtypes", [dtype]):
        yield "dtype", dtype, chip["dtypes"]
    if info.wanted.tiling == "tile" and tile not in chip.get("tile_shapes", [tile]):
        yield "tile", tile, chip["tile_shapes"]


def _place(info: TensorInfo, chip: dict[str, Any]) -> Iterator[Row]:
    """Cores or channels of a tensor's shards, and the room in them."""
    memory = MEMORIES.get(info.wanted.space)
    if memory is None or not all(key in chip for key in memory.fields):
        return
    columns, rows = memory.banks(chip)
    banks, shards = columns * rows, info.wanted.distribution
    if not isinstance(shards, Interleaved):
        corner = [max(r[2] for r in shards.ranges) + 1, max(r[3] for r in shards.ranges) + 1]
        if corner[0] > columns or corner[1] > rows:
            yield "grid", corner, [columns, rows]
        banks = len(expand(shards.ranges, True))
    need = _bank_bytes(info, banks, chip["alignments"][memory.alignment])
    if need > memory.room(chip):
        yield "bytes_per_bank", need, memory.room(chip)


def _bank_bytes(info: TensorInfo, banks: int, alignment: int) -> int:
    """Bytes in the fullest bank: pages dealt evenly, each rounded up to the alignment."""
    pages = info.wanted.pages(info.desc)
    return -(-pages.count // banks) * (-(-pages.size // alignment) * alignment)


def _places(program: ProgramInfo) -> list[Affinity | Promise]:
    places: list[Any] = [program.placement, *(info.placement for info in (*program.inputs, *program.outputs))]
    return [member for place in places if place is not None for member in getattr(place, "choices", (place,))]


def _queues(place: Affinity | Promise) -> int:
    """How many queues a device must have for a placement."""
    return 0 if place.queues == ANY else place.queues.bit_length()


def unified_diff(wanted: object, found: Any) -> str:
    """Readable difference of two descriptions; empty when they are equal."""
    sides = [json.dumps(description, indent=2, sort_keys=True).splitlines() for description in (wanted, found)]
    return "\n".join(difflib.unified_diff(sides[0], sides[1], "the binary's", "the target's", n=2, lineterm=""))
