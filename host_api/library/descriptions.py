"""What the library is told about its chip, so that it sees the one that is simulated: descriptions of the chip and its cluster.

A setting that both sides know acts on both, or is refused: what a description can say is made of the simulated chip, what the
library knows from its own code must be as it is there.  Rows, columns and channels that a part lacks are those of
docs/hardware/chips.md; the numbering of Blackhole's translated DRAM tiles was found by opening 0.81.1 with one channel after the
other switched off.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.library.environment import Library
    from tensim.sim.arch import Arch
    from tensim.sim.host.wiring import Wiring

# Places of an architecture's Tensix tiles along the axis that parts lack some of, and along the other
TENSIX_TILES = {
    "wormhole_b0": ("rows", [*range(1, 6), *range(7, 12)], "columns", [1, 2, 3, 4, 6, 7, 8, 9]),
    "blackhole": ("columns", [*range(1, 8), *range(10, 17)], "rows", [*range(2, 12)]),
}
Place: TypeAlias = tuple[int, int]  # x, y
MOST_HARVESTED = 2
# Kinds of boards: identifier (its upper bits name the kind), name
N150, N300, P150, P100 = (
    (0x18 << 36 | 1, "n150"), (0x14 << 36 | 1, "n300"), (0x40 << 36 | 1, "p150"), (0x43 << 36 | 1, "p100"),
)  # fmt: skip
ETHERNET_OF_P150, ALL_ETHERNET = 0x120, 0x3FFF  # masks of the tiles that lie idle; a p100 has no Ethernet
SECOND_PCIE = 0x2
# A chip's PCIe bus is its place in a rack, and must be no other chip's: the library has slots of mainboards in a table, odd ones,
# which it takes for other numbers (0x01 for 2, 0x31 for 3: addresses that 0.81.1 gives to 32 chips)
FIRST_BUS = 0x50
# Settings of a chip as the library sees it, where the description of its cluster is not read and where it is: Blackhole's columns
# have their translated coordinates; without the description chips have all rows and columns, one of which dispatches
BLACKHOLE: dict[str, Any] = {"noc.translated_columns": [*range(1, 8), *range(10, 17)]}
AS_SEEN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "wormhole_b0": ({"board": "n150_physical"}, {}),
    "blackhole": (BLACKHOLE | {"board": "p150_13x10"}, BLACKHOLE),
}
# What a driver exports that reads the description of a simulated cluster (from release 0.75 on), and where drivers lie
READS_DESCRIPTION = b"get_cluster_descriptor_path_from_simulator_path"
DRIVER = "build/lib/libtt-umd.so"
# Parameters that the library has in its own code: groups end in a dot
BUILT_IN = (
    "chip.noc_grid", "noc.translated_", "dram.banks", "dram.endpoints", "dram.user_base", "l1.reserved_end", "l1.user_base",
    "alignment.", "ttnn.", "tensix.dst.",
)  # fmt: skip
MEMORIES = ("l1.size", "dram.bank_bytes")  # that a description may make smaller
# Blackhole's translated DRAM coordinates: four channels of three ports in each of two columns
BLACKHOLE_DRAM, CHANNELS_PER_COLUMN, PORTS = (17, 12), 4, 3


def as_seen(library: Library, arch: Arch) -> dict[str, Any]:
    """Settings of a chip as a release sees it, as long as the user does not set them (`AS_SEEN`)."""
    return AS_SEEN[arch.name][_reads_description(library)]


def _reads_description(library: Library) -> bool:
    """Whether a release's driver reads the description of its cluster."""
    driver = library.folder / DRIVER
    return driver.is_file() and READS_DESCRIPTION in driver.read_bytes()


def refuse_unseen(library: Library, arch: Arch, seen: Arch) -> None:
    """UsageError for a chip that a release cannot be told of.  `seen`: the `Arch` without the user's settings."""
    for key, value in arch.values().items():
        if key.startswith(BUILT_IN) and key in seen and value != seen[key]:
            raise UsageError(
                f"{key} is {value}; ttnn has {seen[key]} in its own code, and cannot be told another",
                hint="leave it out, or run kernels of your own without --library",
            )
    for key in MEMORIES:
        if arch[key] > seen[key]:
            raise UsageError(f"{key} is {arch[key]}; ttnn knows at most {seen[key]}", hint="choose a smaller one")
    harvested, lacking = _harvested(arch), _lacking_channels(arch)
    if lacking and (arch.name != "blackhole" or len(lacking) > 1):
        raise UsageError(
            f"board {arch.board} lacks the DRAM channels {lacking}; ttnn knows of one at most, of a Blackhole",
            hint="choose another board",
        )
    if not _reads_description(library) and (harvested or lacking):
        columns, rows = seen.grid
        raise UsageError(
            f"ttnn {library.release} sees {columns} x {rows} workers and {seen.dram_banks} DRAM banks on any board; "
            f"{arch.board} has {arch.grid[0]} x {arch.grid[1]} and {arch.dram_banks}",
            hint=f"--set board={seen.board}, or release 0.75 and later",
        )


def _harvested(arch: Arch) -> list[int]:
    """Positions, among an architecture's rows or columns of Tensix tiles, of those that a part lacks; UsageError if none can.

    Of those that do not compute one dispatches: the first behind the others, as the library has it, if there is one.
    """
    missing = _missing(arch)
    missing.remove(_dispatching(arch))
    return missing


def _held(arch: Arch) -> dict[str, list[int]]:
    """{axis: places of a chip's workers along it}."""
    width = arch.grid[0]
    return {"columns": [x for x, _ in arch.worker_coords[:width]], "rows": [y for _, y in arch.worker_coords[::width]]}


def _missing(arch: Arch) -> list[int]:
    """Positions of those that do not compute; UsageError where no part has such workers."""
    axis, places, other, all_others = TENSIX_TILES[arch.name]
    held = _held(arch)
    missing = [i for i, place in enumerate(places) if place not in held[axis]]
    fewest = len(places) - 1 - MOST_HARVESTED
    if (
        held[other] != all_others
        or held[axis] != [place for place in places if place in held[axis]]
        or not (1 <= len(missing) <= 1 + MOST_HARVESTED)
    ):
        raise UsageError(
            f"ttnn knows no {arch.name} with columns {held['columns']} and rows {held['rows']} of workers",
            hint=f"{other} {all_others}, and {fewest} to {len(places) - 1} of the {axis} {places}, in order: one more dispatches",
        )
    return missing


def _dispatching(arch: Arch) -> int:
    """Position of the row or column that dispatches, among those that do not compute."""
    axis, places, *_ = TENSIX_TILES[arch.name]
    held = _held(arch)[axis]
    missing = [i for i, place in enumerate(places) if place not in held]
    behind = [i for i in missing if places[i] > held[-1]]
    return behind[0] if behind else missing[-1]


def dispatching_tiles(arch: Arch) -> list[tuple[Place, Place]]:
    """[((x, y) as the library names it, (x, y) on NoC 0)] of the Tensix tiles that dispatch: not among a chip's workers.

    The library numbers rows of Wormhole and columns of Blackhole that a part has one after another, those that dispatch last.
    """
    axis, places, *_ = TENSIX_TILES[arch.name]
    width, physical = arch.grid[0], places[_dispatching(arch)]
    if axis == "columns":
        named = places[width]
        others = zip(arch.kernel_coords[::width], arch.worker_coords[::width], strict=True)
        return [((named, y), (physical, there)) for (_, y), (_, there) in others]
    named = arch.kernel_coords[-1][1] + 1
    others = zip(arch.kernel_coords[:width], arch.worker_coords[:width], strict=True)
    return [((x, named), (there, physical)) for (x, _), (there, _) in others]


def _lacking_channels(arch: Arch) -> list[int]:
    """The DRAM channels that the board lacks."""
    return sorted({*range(arch["dram.banks"] // arch["dram.banks_per_tile"])} - {*arch.dram_channels})


# Ethernet tiles as the library names them, and on NoC 0 (soc_descriptors of ttnn 0.81.1): Wormhole has them in two rows, whose
# columns its translated names follow (docs/hardware/chips.md; routers that 0.81.1 starts), Blackhole in one, from which a p150
# lacks two
WORMHOLE_ETHERNET = [
    ((18 + i, 16 + row), (x, 6 * row)) for row in range(2) for i, x in enumerate((1, 2, 3, 4, 6, 7, 8, 9))
]
BLACKHOLE_ETHERNET = [((20 + i, 25), (x, 1)) for i, x in enumerate((1, 16, 2, 15, 3, 14, 4, 13, 5, 12, 6, 11, 7, 10))]


def ethernet_tiles(arch: Arch) -> list[tuple[Place, Place]]:
    """[((x, y) as the library names it, (x, y) on NoC 0)] of a chip's Ethernet tiles."""
    if arch.name != "blackhole":
        return WORMHOLE_ETHERNET
    lacking = ALL_ETHERNET if _lacking_channels(arch) else ETHERNET_OF_P150
    kept = [physical for i, (_, physical) in enumerate(BLACKHOLE_ETHERNET) if not lacking >> i & 1]
    return [(name, physical) for (name, _), physical in zip(BLACKHOLE_ETHERNET, kept, strict=False)]


def ethernet_channels(arch: Arch) -> dict[Place, int]:
    """{(x, y) as the library names it: number of the Ethernet tile} of a chip."""
    if arch.name == "blackhole":
        return {name: number for number, (name, _) in enumerate(BLACKHOLE_ETHERNET)}
    numbers = {tuple(map(int, text.split("-"))): number for number, text in enumerate(arch["ethernet.tiles"])}
    return {name: numbers[physical] for name, physical in WORMHOLE_ETHERNET}


def _mask(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


def cluster_description(arch: Arch, wiring: Wiring | None = None) -> dict[str, Any]:
    """The description of a cluster of one chip, or of those that a `tensim.sim.host.wiring.Wiring` links.

    All chips stand behind PCIe of their own, also those of an n300 that have none: silicon's host reaches these through the other
    chip of the card, with firmware that is not there.  The library tells Wormhole's chips apart by their cards, so each has one.
    """
    # where the library dispatches on cards of two chips
    on_ethernet = wiring is not None and arch.name == "wormhole_b0"
    harvesting = {"noc_translation": True, "harvest_mask": _mask(_missing(arch) if on_ethernet else _harvested(arch))}
    number, kind = N150
    if arch.name == "blackhole":
        lacking = _lacking_channels(arch)
        number, kind = P100 if lacking else P150
        harvesting |= {
            "eth_harvesting_mask": ALL_ETHERNET if lacking else ETHERNET_OF_P150,
            "pcie_harvesting_mask": SECOND_PCIE, "dram_harvesting_mask": _mask(lacking),
        }  # fmt: skip
    rows, columns = (1, 1) if wiring is None else wiring.shape
    chips = range(rows * columns)
    if on_ethernet:
        number, kind = N300
    return {
        "arch": dict.fromkeys(chips, arch.name),
        "chips": {chip: [chip % columns, chip // columns, 0, 0] for chip in chips},
        "ethernet_connections": [
            [{"chip": chip, "chan": channel} for chip, channel in ends]
            for ends in ([] if wiring is None else wiring.connections())
        ],
        "chips_with_mmio": [{chip: chip} for chip in chips],
        "chip_to_bus_id": {chip: f"0x{FIRST_BUS + 2 * chip:x}" for chip in chips},
        "harvesting": {chip: dict(harvesting) for chip in chips},
        "boards": [
            [{"board_id": number + chip}, {"board_type": kind}, {"chips": [chip]}] for chip in chips
        ],
    }  # fmt: skip


def mesh_description(arch: Arch, wiring: Wiring) -> str:
    """The mesh graph descriptor, as text, of chips that the library knows no board of.

    It knows a Galaxy by its trays, which are not described: as 32 cards, it has them in a mesh of the caller's.
    """
    rows, columns = wiring.shape
    return (
        f"mesh_descriptors {{\n  name: 'chips'\n  arch: {arch.name.upper()}\n"
        f"  device_topology {{ dims: [{rows}, {columns}] dim_types: [RING, RING] }}\n  host_topology {{ dims: [1, 1] }}\n"
        f"  channels {{ count: {wiring.per_neighbour} policy: RELAXED }}\n}}\n"
        "top_level_instance { mesh { mesh_descriptor: 'chips' mesh_id: 0 } }\n"
    )


def chip_description(described: dict[str, Any], arch: Arch) -> dict[str, Any]:
    """A release's own description of an architecture with the sizes of memories that a chip has."""
    bank = arch.dram_bank_bytes
    return described | {
        "worker_l1_size": arch.l1_size, "dram_view_size": bank, "dram_bank_size": bank * arch["dram.banks_per_tile"],
    }  # fmt: skip


def dram_places(described: dict[str, Any], arch: Arch) -> tuple[tuple[Place, ...], ...]:
    """For each DRAM channel of the board the NoC coordinates by which the library may name it."""
    listed = [[tuple(map(int, text.split("-"))) for text in places] for places in described["dram"]]
    translated = _translated_channels(arch) if arch.name == "blackhole" else {}
    return tuple((*listed[channel], *translated.get(channel, ())) for channel in arch.dram_channels)


def _translated_channels(arch: Arch) -> dict[int, list[Place]]:
    """{channel: translated NoC coordinates} of a Blackhole.

    The column of a channel that is missing comes second; the place at the end of both columns is that channel's and the one's
    in the same place of the other.
    """
    columns = [list(range(CHANNELS_PER_COLUMN)), list(range(CHANNELS_PER_COLUMN, 2 * CHANNELS_PER_COLUMN))]
    for channel in _lacking_channels(arch):
        column, place = divmod(channel, CHANNELS_PER_COLUMN)
        columns = [columns[1 - column], columns[column]]
        for one in columns:
            one.append(one.pop(place))
    x, y = BLACKHOLE_DRAM
    return {
        channel: [(x + column, y + PORTS * row + port) for port in range(PORTS)]
        for column, channels in enumerate(columns)
        for row, channel in enumerate(channels)
    }
