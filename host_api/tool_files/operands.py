"""What an operation worked on, as tensors: found from the buffers that its packets reached and from its circular buffers.

tt-metal's buffers have no shape, unless their owner describes them (`Buffer.describe`).  A matrix product is recognised by its
arithmetic: two buffers of tiles read and one written whose numbers of tiles are M*K, K*N and M*N, with exactly 2*M*K*N
operations.  Other tiled buffers are shown as one row of tiles, others as one row a page; a sharded buffer's pages say its rows
and columns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tensim.sim import state as st
from tensim.sim.cores.noc_record import ADDRESS, TARGET
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.host.buffers import BUFFER_TYPE_NAMES, INTERLEAVED, LAYOUT_NAMES, SINGLE_BANK
from tensim.tool_files.recording import BufferPlace
from tensim.tool_files.told import Told, place_of, product_of

if TYPE_CHECKING:
    from tensim.sim.arch import Arch
    from tensim.sim.chip.launch import Launch
    from tensim.tool_files.npe_view import Traffic
    from tensim.tool_files.recording import Operation

Shape4: TypeAlias = tuple[int, int, int, int]  # W, Z, Y, X
Shapes: TypeAlias = tuple[Sequence[int], Sequence[int]]  # a tensor's, with and without padding in memory
Formats: TypeAlias = Mapping[int, DataFormat]  # by page size
TILE = 32
DTYPES = {
    DataFormat.Float32: ("FLOAT32", 4),
    DataFormat.Float16: ("FLOAT16", 2),
    DataFormat.Float16_b: ("BFLOAT16", 2),
    DataFormat.Bfp8_b: ("BFLOAT8_B", 1),
    DataFormat.Bfp8: ("BFLOAT8", 1),
    DataFormat.Bfp4_b: ("BFLOAT4_B", 1),
    DataFormat.Bfp4: ("BFLOAT4", 1),
    DataFormat.Int32: ("INT32", 4),
    DataFormat.UInt32: ("UINT32", 4),
    DataFormat.UInt16: ("UINT16", 2),
    DataFormat.UInt8: ("UINT8", 1),
}
BYTES = ("UINT8", 1)  # what nothing is known of
FIRST_OUTPUT = 16  # circular buffers from here on are outputs, by tt-metal's convention
FIDELITIES = {0: "LoFi", 2: "HiFi2", 3: "HiFi3", 4: "HiFi4"}


@dataclass(frozen=True)
class Tensor:
    """A buffer as a tensor.

    `shape`: (W, Z, Y, X) with what fills tiles, `logical`: without; `memory`: as the profilers of tt-metal write it.
    """

    buffer: BufferPlace
    shape: Shape4
    logical: Shape4
    layout: str
    dtype: str
    memory: str


@dataclass(frozen=True)
class Operands:
    """`matmul`: (M, K, N) when the operation is recognised as a product of matrices, else None."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    matmul: tuple[int, int, int] | None


@dataclass(frozen=True)
class Described:
    """An operation as the writers take it.  `title`: what its user calls it; `name`: what tools know it as; `traffic`: as of
    `npe_view.traffic_of`.
    """

    operation: Operation
    title: str
    name: str
    operands: Operands
    traffic: Traffic


def operands_of(operation: Operation) -> Operands:
    """The `Operands` of an operation of a recording: those that its library names, if one does."""
    if operation.about is not None:
        return told_operands(operation.about, operation.device.id, operation.device.arch)
    read, written = _reached(operation)
    formats = _formats(operation.launch)
    sizes = None
    shapes: dict[int, tuple[int, int]] = {}
    if len(read) == 2 and len(written) == 1:
        (a, b), (c,) = read, written
        sizes = described_product(a.tensor, b.tensor, c.tensor, operation.flops)
        if sizes is None:
            sizes = _product(_tiles(a, formats), _tiles(b, formats), _tiles(c, formats), operation.flops)
            if sizes is not None:
                m, k, n = sizes
                shapes = {a.id: (m, k), b.id: (k, n), c.id: (m, n)}
    inputs, outputs = (
        tuple(_tensor(place, formats, shapes.get(place.id), operation.device.id) for place in places)
        for places in (read, written)
    )
    return Operands(inputs, outputs, sizes)


def told_operands(about: Told, device: int, arch: Arch) -> Operands:
    """The `Operands` of an operation that its library describes, on the chip `device`."""
    sides = []
    for tensors in (about.operation["tensors"], about.operation.get("outputs", ())):
        placed = [(tensor, place_of(tensor, arch)) for tensor in tensors]
        sides.append(
            tuple(
                Tensor(
                    place, _four(tensor["padded"]), _four(tensor["shape"]), tensor["layout"], tensor["dtype"].upper(),
                    f"DEV_{device}_{tensor['buffer']}_{tensor['memory_layout']}",
                )
                for tensor, place in placed
                if place is not None
            )
        )  # fmt: skip
    inputs, outputs = sides
    return Operands(inputs, outputs, product_of(about))


def fidelity_of(launch: Launch) -> str | None:
    """Name of the math fidelity of a launch's compute kernels (the highest); None without one."""
    found = [kernel.compute.math_fidelity for kernel in launch.kernels if kernel.compute is not None]
    return FIDELITIES[max(found)] if found else None


def title_of(operation: Operation, name: str | None = None) -> str:
    """What a user calls an operation: its library's name, `name`, the name of its compute kernel or of its first kernel."""
    if operation.about is not None:
        return operation.about.operation["name"]
    kernels = operation.launch.kernels
    if name is None and kernels:
        name = next((kernel for kernel in kernels if kernel.compute is not None), kernels[0]).compiled.name
    return name or operation.launch.name


def name_of(operation: Operation, operands: Operands, title: str) -> str:
    """An operation's name in the form of tt-metal's: its library's, if that is known; else a product of matrices is
    MatmulDeviceOperation, and nothing else has Matmul in its name, for tools would take it for one.
    """
    if operation.about is not None:
        return operation.about.device_operation
    if operands.matmul is not None:
        return "MatmulDeviceOperation"
    words = re.findall(r"[A-Za-z0-9]+", title)
    text = "".join(word[0].upper() + word[1:] for word in words).replace("Matmul", "MatMul")
    return f"{text or 'Program'}DeviceOperation"


def _reached(operation: Operation) -> tuple[list[BufferPlace], list[BufferPlace]]:
    """(buffers read, buffers written) by an operation, each in the order of allocation."""
    arrivals, arch = operation.arrivals(), operation.device.arch
    target = operation.device.tiles[arrivals["arguments"][:, TARGET]]
    address = arrivals["arguments"][:, ADDRESS]
    in_dram = target["kind"] == st.TILE_DRAM
    bank = target["index"] + np.where(in_dram, address // arch.dram_bank_bytes, 0)
    offset = np.where(in_dram, address % arch.dram_bank_bytes, address)
    is_read = arrivals["operation"] == st.READ
    on_buffers = {
        cb.address: cb.index for cb in operation.launch.circular_buffers if cb.on_buffer
    }  # of circular buffers on buffers no packet need tell
    read, written = [], []
    for place in operation.buffers:
        here = (in_dram == place.in_dram) & (offset >= place.address) & (offset < place.address + place.size_per_bank)
        here &= np.isin(bank, place.banks)
        index = None if place.in_dram else on_buffers.get(place.address)
        if (here & is_read).any() or (index is not None and index < FIRST_OUTPUT):
            read.append(place)
        if (here & ~is_read).any() or (index is not None and index >= FIRST_OUTPUT):
            written.append(place)
    return read, written


def _formats(launch: Launch) -> Formats:
    """{page size: data format} of the circular buffers of a launch, those of low index first."""
    found = {}
    for cb in sorted(launch.circular_buffers, key=lambda cb: cb.index):
        found.setdefault(cb.page_size, DataFormat(cb.data_format))
    return found


def _format(place: BufferPlace, formats: Formats) -> DataFormat | None:
    """Data format of a buffer's elements, or None."""
    if place.page_size in formats:
        return formats[place.page_size]
    return next((one for one in formats.values() if tile_size(one) == place.page_size), None)


def _tiles(place: BufferPlace, formats: Formats) -> int:
    """Number of tiles in a buffer; 0 when its pages are no tiles."""
    one = _format(place, formats)
    size = tile_size(one) if one is not None else 0
    return place.size // size if size and place.page_size % size == 0 else 0


def _product(a: int, b: int, c: int, flops: int) -> tuple[int, int, int] | None:
    """(M, K, N) in elements of a product whose operands have `a` and `b` tiles and whose result has `c`, or None."""
    if not (a and b and c and flops):
        return None
    found = []
    for over, under in ((a * c, b), (a * b, c), (b * c, a)):
        root = math.isqrt(over // under)
        if root * root * under != over:
            return None
        found.append(root)
    m, k, n = (size * TILE for size in found)
    return (m, k, n) if 2 * m * k * n == flops else None


def described_product(a: Shapes | None, b: Shapes | None, c: Shapes | None, flops: int) -> tuple[int, int, int] | None:
    """(M, K, N) of described operands and result, also batches of them, or None."""
    if a is None or b is None or c is None or not flops:
        return None
    (*batch_a, m, k), (*batch_b, inner, n), (*batch_c, rows, columns) = (_four(padded) for _, padded in (a, b, c))
    batches = [max(sizes) for sizes in zip(batch_a, batch_b, strict=True)]
    fits = (inner, rows, columns, batch_c) == (k, m, n, batches)
    return (m, k, n) if fits and 2 * math.prod(batches) * m * k * n == flops else None


def _four(shape: Sequence[int]) -> Shape4:
    """(W, Z, Y, X) of a shape; more dimensions are part of W."""
    *outer, depth, height, width = (1, 1, 1, *shape) if len(shape) < 4 else shape
    return math.prod(outer), depth, height, width


def _tensor(place: BufferPlace, formats: Formats, shape: tuple[int, int] | None, device: int) -> Tensor:
    one = _format(place, formats)
    dtype, size = DTYPES.get(one, BYTES) if one is not None else BYTES
    tiled = _tiles(place, formats) > 0
    if shape is not None:
        height, width = shape
        logical = padded = 1, 1, height, width
    elif place.tensor is not None:
        logical, padded = (_four(sizes) for sizes in place.tensor)
    else:
        logical = padded = _shape_of_pages(place, one, size, formats)
    layout = LAYOUT_NAMES[INTERLEAVED if place.layout == SINGLE_BANK else place.layout]
    memory = f"DEV_{device}_{BUFFER_TYPE_NAMES[place.buffer_type]}_{layout}"
    return Tensor(place, padded, logical, "TILE" if tiled else "ROW_MAJOR", dtype, memory)


def _shape_of_pages(place: BufferPlace, one: DataFormat | None, size: int, formats: Formats) -> Shape4:
    """(W, Z, Y, X) of a buffer that nobody described; `one`: its format, `size`: bytes of an element."""
    told = place.tensor_pages[-2:] if place.tensor_pages and len(place.tensor_pages) >= 2 else None
    tiles = _tiles(place, formats)
    if tiles and one is not None:
        per_page = place.page_size // tile_size(one)
        rows, columns = (1, tiles) if told is None else (told[0], told[1] * per_page)
        return 1, 1, rows * TILE, columns * TILE
    count = place.size // max(place.page_size, 1)
    rows, columns = (count, 1) if told is None else told
    return 1, 1, rows, columns * place.page_size // size
