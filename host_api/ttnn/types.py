"""ttnn.types: what programs import from it."""

from tensim.ttnn.cores import CoreCoord, CoreGrid, CoreRange, CoreRangeSet
from tensim.ttnn.devices import Device
from tensim.ttnn.enums import (
    ROW_MAJOR_LAYOUT,
    TILE_LAYOUT,
    BufferType,
    DataType,
    Layout,
    ShardOrientation,
    ShardStrategy,
    TensorMemoryLayout,
    bfloat4_b,
    bfloat8_b,
    bfloat16,
    float32,
    int32,
    uint8,
    uint16,
    uint32,
)
from tensim.ttnn.memory import DRAM_MEMORY_CONFIG, L1_MEMORY_CONFIG, MemoryConfig, ShardSpec
from tensim.ttnn.shapes import TILE_SIZE, Shape, Tile
from tensim.ttnn.tensors import Tensor

__all__ = [
    "BufferType", "CoreCoord", "CoreGrid", "CoreRange", "CoreRangeSet", "DRAM_MEMORY_CONFIG", "DataType", "Device",
    "L1_MEMORY_CONFIG", "Layout", "MemoryConfig", "ROW_MAJOR_LAYOUT", "Shape", "ShardOrientation", "ShardSpec",
    "ShardStrategy", "TILE_LAYOUT", "TILE_SIZE", "Tensor", "TensorMemoryLayout", "Tile", "bfloat16", "bfloat4_b",
    "bfloat8_b", "float32", "int32", "uint16", "uint32", "uint8",
]  # fmt: skip
