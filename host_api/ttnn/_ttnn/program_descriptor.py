"""ttnn._ttnn.program_descriptor: descriptors, and the types of their fields."""

from tensim.ttnn.descriptors import (
    CBDescriptor,
    CBFormatDescriptor,
    ComputeConfigDescriptor,
    DataMovementConfigDescriptor,
    FaceGeometry,
    KernelDescriptor,
    MeshProgramDescriptor,
    ProgramDescriptor,
    ReaderConfigDescriptor,
    RuntimeArgs,
    RuntimeArgsView,
    SemaphoreDescriptor,
    TileDescriptor,
    VectorUInt32,
    VectorUnpackToDestMode,
    WriterConfigDescriptor,
    cb_descriptor_from_sharded_tensor,
    get_cb_address,
    merge_program_descriptors,
)
from tensim.ttnn.enums import CBIndex, UnpackToDestMode

__all__ = [
    "CBDescriptor", "CBFormatDescriptor", "CBIndex", "ComputeConfigDescriptor", "DataMovementConfigDescriptor",
    "FaceGeometry", "KernelDescriptor", "MeshProgramDescriptor", "ProgramDescriptor", "ReaderConfigDescriptor",
    "RuntimeArgs", "RuntimeArgsView", "SemaphoreDescriptor", "TileDescriptor", "UnpackToDestMode", "VectorUInt32",
    "VectorUnpackToDestMode", "WriterConfigDescriptor", "cb_descriptor_from_sharded_tensor", "get_cb_address",
    "merge_program_descriptors",
]  # fmt: skip
