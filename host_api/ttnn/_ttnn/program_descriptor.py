"""ttnn._ttnn.program_descriptor: descriptors, and the types of their fields."""

from tensim.ttnn.cb_descriptors import (
    CBDescriptor,
    CBFormatDescriptor,
    FaceGeometry,
    TileDescriptor,
    cb_descriptor_from_sharded_tensor,
    get_cb_address,
)
from tensim.ttnn.descriptors import (
    ComputeConfigDescriptor,
    DataMovementConfigDescriptor,
    KernelDescriptor,
    MeshProgramDescriptor,
    ProgramDescriptor,
    ReaderConfigDescriptor,
    SemaphoreDescriptor,
    VectorUnpackToDestMode,
    WriterConfigDescriptor,
    merge_program_descriptors,
)
from tensim.ttnn.enums import CBIndex, UnpackToDestMode
from tensim.ttnn.runtime_args import RuntimeArgs, RuntimeArgsView, VectorUInt32

__all__ = [
    "CBDescriptor", "CBFormatDescriptor", "CBIndex", "ComputeConfigDescriptor", "DataMovementConfigDescriptor",
    "FaceGeometry", "KernelDescriptor", "MeshProgramDescriptor", "ProgramDescriptor", "ReaderConfigDescriptor",
    "RuntimeArgs", "RuntimeArgsView", "SemaphoreDescriptor", "TileDescriptor", "UnpackToDestMode", "VectorUInt32",
    "VectorUnpackToDestMode", "WriterConfigDescriptor", "cb_descriptor_from_sharded_tensor", "get_cb_address",
    "merge_program_descriptors",
]  # fmt: skip
