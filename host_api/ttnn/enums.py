"""Enumerations, with ttnn's names and numbers.  Members are no integers: compare them with each other or by `value`."""

from __future__ import annotations

import enum


class _Enum(enum.Enum):
    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    __str__ = __repr__


class DataType(_Enum):
    BFLOAT16 = 0
    FLOAT32 = 1
    UINT32 = 2
    BFLOAT8_B = 3
    BFLOAT4_B = 4
    UINT8 = 5
    UINT16 = 6
    INT32 = 7
    FP8_E4M3 = 8
    INT8 = 9
    INVALID = 10


bfloat16, float32, uint32 = DataType.BFLOAT16, DataType.FLOAT32, DataType.UINT32
bfloat8_b, bfloat4_b = DataType.BFLOAT8_B, DataType.BFLOAT4_B
uint8, uint16, int32 = DataType.UINT8, DataType.UINT16, DataType.INT32
fp8_e4m3, int8 = DataType.FP8_E4M3, DataType.INT8


class Layout(_Enum):
    ROW_MAJOR = 0
    TILE = 1


ROW_MAJOR_LAYOUT, TILE_LAYOUT = Layout.ROW_MAJOR, Layout.TILE


class BufferType(_Enum):
    DRAM = 0
    L1 = 1
    SYSTEM_MEMORY = 2
    L1_SMALL = 3
    TRACE = 4


class TensorMemoryLayout(_Enum):
    INTERLEAVED = 0
    HEIGHT_SHARDED = 2
    WIDTH_SHARDED = 3
    BLOCK_SHARDED = 4
    ND_SHARDED = 5


class ShardOrientation(_Enum):
    ROW_MAJOR = 0
    COL_MAJOR = 1


class ShardStrategy(_Enum):
    HEIGHT = 1
    WIDTH = 2
    BLOCK = 3


class ShardDistributionStrategy(_Enum):
    ROUND_ROBIN_1D = 0
    GRID_2D = 1
    CONTIGUOUS_1D = 2


class ShardShapeAlignment(_Enum):
    NONE = 0
    REQUIRED = 1
    RECOMMENDED = 2


class StorageType(_Enum):
    HOST = 0
    DEVICE = 1


class Arch(_Enum):
    GRAYSKULL = 1
    WORMHOLE_B0 = 2
    BLACKHOLE = 3
    QUASAR = 4


class CoreType(_Enum):
    WORKER = 0
    ETH = 1


class DispatchCoreType(_Enum):
    WORKER = 0
    ETH = 1


class DispatchCoreAxis(_Enum):
    ROW = 0
    COL = 1


class DataMovementProcessor(_Enum):
    RISCV_0 = 0
    RISCV_1 = 1
    RISCV_2 = 2
    RISCV_3 = 3
    RISCV_4 = 4
    RISCV_5 = 5
    RISCV_6 = 6
    RISCV_7 = 7


class NOC(_Enum):
    """Four members with two numbers: a default and a NoC of one number are different members."""

    RISCV_0_default = ("RISCV_0_default", 0)
    RISCV_1_default = ("RISCV_1_default", 1)
    NOC_0 = ("NOC_0", 0)
    NOC_1 = ("NOC_1", 1)

    @enum.property
    def value(self) -> int:  # type: ignore[override]  # the number of the pair that a member is
        return self._value_[1]


class NOC_MODE(_Enum):
    DM_DEDICATED_NOC = 0
    DM_DYNAMIC_NOC = 1


class MathFidelity(_Enum):
    LoFi = 0
    HiFi2 = 2
    HiFi3 = 3
    HiFi4 = 4
    Invalid = 255


class UnpackToDestMode(_Enum):
    UnpackToDestFp32 = 0
    Default = 1


class KernelBuildOptLevel(_Enum):
    O1 = 0
    O2 = 1
    O3 = 2
    O0 = 3
    Os = 4
    Ofast = 5
    Oz = 6


CBIndex = enum.IntEnum("CBIndex", {f"c_{i}": i for i in range(64)}, module=__name__)  # type: ignore[misc]  # no literal


class SourceType(_Enum):
    FILE_PATH = 0
    SOURCE_CODE = 1


class FabricConfig(_Enum):
    DISABLED = 0
    FABRIC_1D_NEIGHBOR_EXCHANGE = 1
    FABRIC_1D = 2
    FABRIC_1D_RING = 3
    FABRIC_2D = 4
    FABRIC_2D_TORUS_X = 5
    FABRIC_2D_TORUS_Y = 6
    FABRIC_2D_TORUS_XY = 7
    CUSTOM = 8


class FabricReliabilityMode(_Enum):
    STRICT_INIT = 0
    RELAXED_INIT = 1
    DYNAMIC_RECONFIG = 2


class FabricTensixConfig(_Enum):
    DISABLED = 0
    MUX = 1


class FabricUDMMode(_Enum):
    DISABLED = 0
    ENABLED = 1


class FabricManagerMode(_Enum):
    ENABLED = 0
    INIT_FABRIC = 1
    TERMINATE_FABRIC = 2
    DEFAULT = 3
