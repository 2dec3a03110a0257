"""Operations that their library describes: what it was called with, in place of what packets and circular buffers tell.

A description is a dictionary, which `tensim.library.child` makes: `name`; `tensors` and `outputs`, each with `shape`, `padded`,
`dtype`, `layout`, `buffer`, `memory_layout`, `address`, `cores` (ranges x, y, x, y of the shards) where it lies on the device;
`settings`, texts of other arguments.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.host.buffers import BUFFER_TYPE_NAMES, LAYOUT_NAMES
from tensim.tool_files.recording import BufferPlace

if TYPE_CHECKING:
    from tensim.sim.arch import Arch

TILE = 32
FORMATS = {
    "BFLOAT16": DataFormat.Float16_b, "FLOAT32": DataFormat.Float32, "BFLOAT8_B": DataFormat.Bfp8_b,
    "BFLOAT4_B": DataFormat.Bfp4_b, "UINT32": DataFormat.UInt32, "INT32": DataFormat.Int32, "UINT16": DataFormat.UInt16,
    "UINT8": DataFormat.UInt8,
}  # fmt: skip
PRODUCT = "Matmul"  # in the names of the library's classes of products


class Told(NamedTuple):
    """`operation`: the description of a call; `device_operation`: the class of the library's that a program of it belongs to;
    `trace`: (metal trace, number of its replay) that the launch belongs to, or None."""

    operation: dict[str, Any]
    device_operation: str
    trace: tuple[int, int] | None = None


def place_of(tensor: dict[str, Any], arch: Arch) -> BufferPlace | None:
    """The `BufferPlace` of a described tensor, None where it does not lie on the device."""
    buffer_type, layout = (
        _code(BUFFER_TYPE_NAMES, tensor.get("buffer")),
        _code(LAYOUT_NAMES, tensor.get("memory_layout")),
    )
    form = FORMATS.get(tensor["dtype"].upper())
    if buffer_type is None or layout is None or form is None or not tensor.get("padded"):
        return None
    elements, columns = math.prod(tensor["padded"]), tensor["padded"][-1]
    in_dram, tiled = tensor["buffer"] == "DRAM", tensor["layout"] == "TILE"
    page = tile_size(form) if tiled else columns * tile_size(form) // TILE**2
    pages = elements // TILE**2 if tiled else elements // max(columns, 1)
    banks = _cores(tensor["cores"], arch.grid[0]) or range(arch.dram_banks if in_dram else len(arch.worker_coords))
    per_bank = -(-pages // max(len(banks), 1)) * page
    return BufferPlace(
        tensor["address"], tensor["address"], pages * page, per_bank, page, buffer_type, layout, tuple(banks), pages, page,
        in_dram, None, (tuple(tensor["shape"]), tuple(tensor["padded"])),
    )  # fmt: skip


def product_of(about: Told) -> tuple[int, int, int] | None:
    """(M, K, N) of a program (`Told`) that multiplies the first two tensors of its operation, or None."""
    tensors = about.operation["tensors"]
    if PRODUCT not in about.device_operation or len(tensors) < 2:
        return None
    (m, k), (inner, n) = (tensor.get("padded", tensor["shape"])[-2:] for tensor in tensors[:2])
    return (m, k, n) if inner == k else None


def _code(names: Sequence[str], name: str | None) -> int | None:
    return names.index(name) if name in names else None


def _cores(ranges: Iterable[Sequence[int]], width: int) -> list[int]:
    return [y * width + x for x0, y0, x1, y1 in ranges for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)]
