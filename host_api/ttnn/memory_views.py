"""What a device's memories hold, and how they align."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensim.ttnn.devices import chip_description
from tensim.ttnn.enums import BufferType
from tensim.ttnn.errors import ArgumentTypeError

if TYPE_CHECKING:
    from tensim.ttnn.devices import MeshDevice


def _arch_value(name: str) -> int:
    return chip_description()[name]


def get_dram_alignment() -> int:
    """Bytes to which pages in DRAM are aligned."""
    return _arch_value("alignment.dram_page")


def get_l1_alignment() -> int:
    """Bytes to which pages in L1 are aligned."""
    return _arch_value("alignment.l1_page")


def get_max_worker_l1_unreserved_size() -> int:
    """Bytes of L1 that programs may use."""
    return _arch_value("ttnn.l1_unreserved")


def get_memory_view(device: MeshDevice, buffer_type: BufferType) -> MemoryView:
    """MemoryView of a memory of a device."""
    if not isinstance(buffer_type, BufferType):
        raise ArgumentTypeError(f"get_memory_view: buffer_type takes BufferType, not {type(buffer_type).__name__}")
    return MemoryView(device.host._state.allocators[buffer_type.value].view())


class MemoryView:
    """What a memory's allocator holds: bytes per bank, but the totals with `total` in their names over all banks."""

    def __init__(self, view: dict[str, Any]) -> None:
        self.num_banks = view["banks"]
        self.total_bytes_per_bank = view["total"]
        self.total_bytes_allocated_per_bank = view["allocated"]
        self.total_bytes_free_per_bank = view["free"]
        self.largest_contiguous_bytes_free_per_bank = view["largest_free"]
        self.block_table = [{"address": address, "size": size, "allocated": "yes"} for address, size in view["blocks"]]
