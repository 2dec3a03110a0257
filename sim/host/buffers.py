"""Where the pages of a buffer live: (bank, offset) per page, and functional transfers over them.

Sources: tt-metal's allocator and tensor-sharding reports.  Banks of L1 are worker indices; banks of DRAM are
DRAM banks.
"""

import itertools
import math
from dataclasses import field

import numpy as np

from tensim.sim.errors import CommandFault, UsageError
from tensim.sim.host.allocator import round_up
from tensim.sim.host.commands import ShardParameters
from tensim.sim.host.large_bytes import bytes_to_fill
from tensim.sim.lazy_dataclass import dataclass

DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE = range(5)
BUFFER_TYPE_NAMES = ("DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE")
INTERLEAVED, SINGLE_BANK, HEIGHT_SHARDED, WIDTH_SHARDED, BLOCK_SHARDED = range(5)
PIECE_BYTES = 1 << 26  # that a transfer moves at a time, so that its copies take little of the host's memory
# of a buffer, which the host lists: as many as the DRAM of a Wormhole has tiles of 2 KB, and some more
MAX_SHARDS = 1 << 23
LAYOUT_NAMES = ("INTERLEAVED", "SINGLE_BANK", "HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED")


def expand(ranges, row_major=True):
    """Logical cores of ranges, range after range, each row-major or column-major."""
    cores = []
    for x0, y0, x1, y1 in ranges:
        xs, ys = range(x0, x1 + 1), range(y0, y1 + 1)
        cores += [(x, y) for y in ys for x in xs] if row_major else [(x, y) for x in xs for y in ys]
    return cores


@dataclass
class Buffer:
    """A buffer of one device.  `cores`: logical core of each shard, in shard order (sharded layouts only).

    `tensor`: (shape, padded shape) of the tensor that its owner says it holds, for reports only.
    `unordered`: nobody looks at what kernels write there, so that checks ask for no order between writes.
    """

    id: int
    device: int
    size: int
    page_size: int
    buffer_type: int
    layout: int
    aligned_page_size: int
    banks: int
    shard: ShardParameters | None = None
    cores: list = field(default_factory=list)
    shard_banks: list = field(default_factory=list)
    shard_pages: tuple = (0, 0)  # shape of a shard in pages
    address: int | None = None
    allocated: bool = False
    owned: bool = True
    sub_device: int | None = None
    tensor: tuple | None = None
    unordered: bool = False
    manager: int | None = None  # sub-device manager under which it was allocated

    @property
    def in_dram(self):
        return self.buffer_type in (DRAM, TRACE)

    @property
    def num_pages(self):
        return self.size // self.page_size if self.page_size else 0

    @property
    def num_dev_pages(self):
        """Pages on the device, with those that pad partial shards."""
        return len(self.cores) * math.prod(self.shard_pages) if self.shard else self.num_pages

    @property
    def size_per_bank(self):
        """Bytes that every bank holds (lock-step: the same in all)."""
        if self.shard is None:
            return -(-self.num_pages // self.banks) * self.aligned_page_size
        shards = -(-len(self.cores) // max(len(set(self.cores)), 1))
        return shards * math.prod(self.shard_pages) * self.aligned_page_size

    def pages(self, first, count):
        """(banks, offsets): int64 arrays over `count` pages from `first` on, offsets relative to the buffer's address."""
        page = np.arange(first, first + count)
        if self.shard is None:
            return page % self.banks, page // self.banks * self.aligned_page_size
        return self._sharded(page)

    def _sharded(self, page):
        place = np.stack(np.unravel_index(page, self.shard.tensor_pages))
        size = np.array(self.shard_pages)[:, None]
        shard = np.ravel_multi_index(tuple(place // size), shard_counts(self.shard.tensor_pages, self.shard_pages))
        inside = np.ravel_multi_index(tuple(place % size), self.shard_pages)
        banks = len(set(self.cores))
        earlier = shard % -(-len(self.cores) // banks) if self.shard.contiguous else shard // banks
        before = earlier * math.prod(self.shard_pages)  # pages of earlier shards on the core
        return np.array(self.shard_banks, np.int64)[shard], (before + inside) * self.aligned_page_size

    def bank_banks(self):
        """Banks that hold a part of the buffer."""
        return sorted(set(self.shard_banks)) if self.shard else list(range(self.banks))

    def bytes_in_banks(self, n_banks):
        """Bytes of the buffer's pages in each of `n_banks` banks, with those that pad partial shards; int64."""
        banks, size = np.zeros(n_banks, np.int64), self.aligned_page_size
        if self.shard is None:
            rows, more = divmod(self.num_pages, self.banks)
            banks[: self.banks] = rows * size
            banks[:more] += size
        else:
            np.add.at(banks, self.shard_banks, math.prod(self.shard_pages) * size)
        return banks


def shard_counts(tensor_pages, shard_pages):
    """Number of shards along each dimension."""
    return tuple(-(-tensor // shard) for tensor, shard in zip(tensor_pages, shard_pages, strict=True))


def shard_geometry(command, n_pages):
    """(shape of a shard in pages, number of shards along each dimension).  UsageError for a bad specification."""
    spec = command.shard
    shape, page, tensor = spec.shape, spec.page_shape, spec.tensor_pages
    if not len(shape) == len(page) == len(tensor) >= 1:
        raise UsageError(f"a tensor of {len(tensor)} dimensions cannot have shards of {len(shape)}")
    if min(*shape, *page) <= 0 or any(a % b for a, b in zip(shape, page, strict=True)):
        raise UsageError(f"shard shape {_by(shape)} is not a multiple of the page shape {_by(page)}")
    if math.prod(tensor) != n_pages:
        raise UsageError(f"the tensor has {_by(tensor)} pages, but the buffer's size holds {n_pages} pages")
    pages = tuple(a // b for a, b in zip(shape, page, strict=True))
    shards = shard_counts(tensor, pages)
    if spec.round_robin:
        return pages, shards
    if command.layout == HEIGHT_SHARDED and shards[1] > 1:
        raise UsageError(f"HEIGHT_SHARDED: a shard is {pages[1]} pages wide, the tensor {tensor[1]}")
    if command.layout == WIDTH_SHARDED and shards[0] > 1:
        raise UsageError(f"WIDTH_SHARDED: a shard is {pages[0]} pages high, the tensor {tensor[0]}")
    return pages, shards


def _by(shape):
    return "x".join(map(str, shape))


def shard_cores(command, shards):
    """Logical core of each shard.  Block sharding on one rectangle follows the grid; everything else its core
    order.
    """
    spec = command.shard
    if spec.round_robin:
        cores = expand(spec.grid)
        if not cores or len(set(cores)) < len(cores):
            raise UsageError("a distribution needs cores, each of them once")
        count = math.prod(shards)
        if count > MAX_SHARDS:
            raise UsageError(f"the buffer has {count:,} shards; at most {MAX_SHARDS:,}")
        if spec.contiguous:
            return [cores[shard // -(-count // len(cores))] for shard in range(count)]
        return list(itertools.islice(itertools.cycle(cores), count))
    if command.layout == BLOCK_SHARDED and len(spec.grid) == 1:
        x0, y0, x1, y1 = spec.grid[0]
        columns, rows = x1 - x0 + 1, y1 - y0 + 1
        across, down = (columns, rows) if spec.row_major else (rows, columns)
        if shards[1] > across or shards[0] > down:
            raise UsageError(f"{shards[0]}x{shards[1]} shards do not fit the {columns}x{rows} core grid")
        places = [(r, c) for r in range(shards[0]) for c in range(shards[1])]
        return [(x0 + c, y0 + r) if spec.row_major else (x0 + r, y0 + c) for r, c in places]
    cores, count = expand(spec.grid, spec.row_major), shards[0] * shards[1]
    if count > len(cores):
        raise UsageError(f"{count} shards need as many cores; the shard grid has {len(cores)}")
    return cores[:count]


def aligned_page(page_size, buffer_type, arch):
    """Page stride: the page size rounded up to the alignment of its memory."""
    alignment = arch.dram_alignment if buffer_type in (DRAM, TRACE) else arch.l1_alignment
    return round_up(page_size, alignment)


def _runs(buffer, first, count):
    """(bank, offset, which pages relative to `first`) of runs that are contiguous in a bank."""
    if buffer.shard is None:
        for bank in range(buffer.banks):
            start = (bank - first) % buffer.banks
            if start < count:
                yield (
                    bank,
                    (first + start) // buffer.banks * buffer.aligned_page_size,
                    slice(start, count, buffer.banks),
                )
        return
    banks, offsets = buffer.pages(first, count)
    order = np.lexsort((offsets, banks))
    b, o = banks[order], offsets[order]
    breaks = np.flatnonzero((np.diff(b) != 0) | (np.diff(o) != buffer.aligned_page_size)) + 1
    for run in np.split(order, breaks):
        yield int(banks[run[0]]), int(offsets[run[0]]), run


def _pieces(buffer, count):
    """(first page, number of pages) of the pieces in which `count` pages are moved."""
    piece = max(PIECE_BYTES // buffer.page_size, 1)
    return ((first, min(piece, count - first)) for first in range(0, count, piece))


def _check_open(device, buffer):
    """CommandFault for memory that went with its device, as a transfer from another device may find it."""
    if device.closed:
        raise CommandFault(f"buffer {buffer.id} is gone: device {device.id} was closed")


def check_transfer(device, queue, buffer, offset, size, writes):
    """Let the device's checks, where it has several queues, see pages that a queue writes or reads for the host.

    ProgramError when nothing orders that behind what a program, or another queue, did there.
    """
    _check_open(device, buffer)
    if size and device.follows_queues:
        checks, page = device.chip.checks, buffer.page_size
        for first, count in _pieces(buffer, size // page):
            for bank, start, run in _runs(buffer, offset // page + first, count):
                length = buffer.aligned_page_size * len(np.arange(count)[run])
                checks.host_access(queue, buffer, bank, buffer.address + start, length, writes)


def write_pages(device, buffer, offset, data):
    """Put `data` into the buffer from byte `offset` (a page boundary) on, at once: takes no simulated time."""
    _check_open(device, buffer)
    if not len(data):
        return
    page, stride = buffer.page_size, buffer.aligned_page_size
    pages = np.frombuffer(data, np.uint8).reshape(-1, page)
    for first, count in _pieces(buffer, len(pages)):
        rows = pages[first : first + count]
        for bank, start, run in _runs(buffer, offset // page + first, count):
            if buffer.in_dram:
                device.chip.memory.write_dram_rows(bank, buffer.address + start, rows[run], stride)
                continue
            padded = np.zeros((len(rows[run]), stride), np.uint8)
            padded[:, :page] = rows[run]
            device.write_l1(bank, buffer.address + start, padded.data.cast("B"))


def read_pages(device, buffer, offset, size):
    """`size` bytes from byte `offset` (page boundaries) of the buffer, at once."""
    page, stride = buffer.page_size, buffer.aligned_page_size
    _check_open(device, buffer)
    if not size:
        return b""
    out, pages = bytes_to_fill(size)
    pages = pages.reshape(-1, page)
    for first, count in _pieces(buffer, len(pages)):
        rows = pages[first : first + count]
        for bank, start, run in _runs(buffer, offset // page + first, count):
            n = len(rows[run])
            if buffer.in_dram and isinstance(run, slice):
                device.chip.memory.read_dram_rows(bank, buffer.address + start, stride, rows[run])
            else:
                read = device.chip.memory.read_dram if buffer.in_dram else device.chip.memory.read_l1
                block = np.frombuffer(read(bank, buffer.address + start, n * stride), np.uint8)
                rows[run] = block.reshape(-1, stride)[:, :page]
            if device.chip.checks is not None:
                device.chip.checks.check_read(buffer.in_dram, bank, buffer.address + start, page, stride, n)
    return out
