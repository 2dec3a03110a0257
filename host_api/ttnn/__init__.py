"""ttnn's names for programs of one's own kernels, over tensim's host API: `import tensim.ttnn as ttnn`.

`tensim ttnn program.py` runs a program that says `import ttnn`; `pytest -p tensim.ttnn` its tests.  docs/ttnn.md says what
is there, what differs, and what is refused.  Each name is imported with its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tensim.ttnn._names import LIBRARY, MODULE_OF, PIPES

if TYPE_CHECKING:
    import pytest

    # What `__getattr__` gives, for tools, which do not call it
    # isort: off
    # fmt: off
    from tensim.ttnn import _ttnn as _ttnn, device as device, devices as devices, types as types
    from tensim.ttnn.accessors import TensorAccessorArgs as TensorAccessorArgs
    from tensim.ttnn.cb_descriptors import (
        CBDescriptor as CBDescriptor, CBFormatDescriptor as CBFormatDescriptor, FaceGeometry as FaceGeometry,
        TileDescriptor as TileDescriptor, cb_descriptor_from_sharded_tensor as cb_descriptor_from_sharded_tensor,
        get_cb_address as get_cb_address,
    )
    from tensim.ttnn.conversion import (
        aggregate_as_tensor as aggregate_as_tensor, aggregate_tensor as aggregate_tensor,
        allocate_tensor_on_device as allocate_tensor_on_device, allocate_tensor_on_host as allocate_tensor_on_host,
        combine_device_tensors as combine_device_tensors, copy_device_to_host_tensor as copy_device_to_host_tensor,
        copy_host_to_device_tensor as copy_host_to_device_tensor, deallocate as deallocate,
        distribute_tensor as distribute_tensor, distribute as distribute, dump_tensor as dump_tensor,
        from_device as from_device, from_host_shards as from_host_shards, from_torch as from_torch,
        get_device_tensors as get_device_tensors,
        get_optimal_worker_cores_for_sharded_tensor as get_optimal_worker_cores_for_sharded_tensor,
        load_tensor as load_tensor, move as move, reallocate as reallocate, to_device as to_device,
        to_torch as to_torch,
    )
    from tensim.ttnn.cores import (
        CoreCoord as CoreCoord, CoreGrid as CoreGrid, CoreRangeSet as CoreRangeSet, CoreRange as CoreRange,
        corerange_to_cores as corerange_to_cores, grid_to_cores as grid_to_cores,
        num_cores_to_corerangeset_in_subcoregrids as num_cores_to_corerangeset_in_subcoregrids,
        num_cores_to_corerangeset as num_cores_to_corerangeset, split_work_to_cores as split_work_to_cores,
    )
    from tensim.ttnn.descriptors import (
        ComputeConfigDescriptor as ComputeConfigDescriptor,
        DataMovementConfigDescriptor as DataMovementConfigDescriptor, KernelDescriptor as KernelDescriptor,
        MeshProgramDescriptor as MeshProgramDescriptor, ProgramDescriptor as ProgramDescriptor,
        ReaderConfigDescriptor as ReaderConfigDescriptor, SemaphoreDescriptor as SemaphoreDescriptor,
        WriterConfigDescriptor as WriterConfigDescriptor, merge_program_descriptors as merge_program_descriptors,
    )
    from tensim.ttnn.devices import (
        CloseDevice as CloseDevice, CreateDevice as CreateDevice, Device as Device,
        DispatchCoreConfig as DispatchCoreConfig, GetDefaultDevice as GetDefaultDevice, MeshDevice as MeshDevice,
        SetDefaultDevice as SetDefaultDevice, close_device as close_device, close_mesh_device as close_mesh_device,
        create_mesh_device as create_mesh_device, manage_device as manage_device, open_device as open_device,
        open_mesh_device as open_mesh_device, synchronize_device as synchronize_device,
    )
    from tensim.ttnn.enums import (
        Arch as Arch, BufferType as BufferType, CoreType as CoreType, DataMovementProcessor as DataMovementProcessor,
        DataType as DataType, DispatchCoreAxis as DispatchCoreAxis, DispatchCoreType as DispatchCoreType,
        FabricConfig as FabricConfig, FabricManagerMode as FabricManagerMode,
        FabricReliabilityMode as FabricReliabilityMode, FabricTensixConfig as FabricTensixConfig,
        FabricUDMMode as FabricUDMMode, Layout as Layout, MathFidelity as MathFidelity, NOC_MODE as NOC_MODE,
        NOC as NOC, ROW_MAJOR_LAYOUT as ROW_MAJOR_LAYOUT, ShardDistributionStrategy as ShardDistributionStrategy,
        ShardOrientation as ShardOrientation, ShardShapeAlignment as ShardShapeAlignment,
        ShardStrategy as ShardStrategy, StorageType as StorageType, TILE_LAYOUT as TILE_LAYOUT,
        TensorMemoryLayout as TensorMemoryLayout, UnpackToDestMode as UnpackToDestMode, bfloat16 as bfloat16,
        bfloat4_b as bfloat4_b, bfloat8_b as bfloat8_b, float32 as float32, fp8_e4m3 as fp8_e4m3, int32 as int32,
        int8 as int8, uint16 as uint16, uint32 as uint32, uint8 as uint8,
    )
    from tensim.ttnn.fabric import (
        FabricNodeId as FabricNodeId, FabricRouterConfig as FabricRouterConfig, MeshId as MeshId,
    )
    from tensim.ttnn.fabric_config import get_fabric_config as get_fabric_config, set_fabric_config as set_fabric_config
    from tensim.ttnn.fabric_connections import (
        get_fabric_kernel_defines as get_fabric_kernel_defines,
        get_tt_fabric_max_payload_size_bytes as get_tt_fabric_max_payload_size_bytes,
        get_tt_fabric_packet_header_size_bytes as get_tt_fabric_packet_header_size_bytes,
        setup_fabric_connection as setup_fabric_connection,
        setup_routing_plane_connection as setup_routing_plane_connection,
    )
    from tensim.ttnn.light_metal import (
        LightMetalBinary as LightMetalBinary, LightMetalReplay as LightMetalReplay,
        light_metal_begin_capture as light_metal_begin_capture, light_metal_end_capture as light_metal_end_capture,
    )
    from tensim.ttnn.mappers import (
        ConcatMesh2dToTensor as ConcatMesh2dToTensor, ConcatMeshToTensor as ConcatMeshToTensor,
        CppMeshToTensor as CppMeshToTensor, CppTensorToMesh as CppTensorToMesh,
        MeshComposerConfig as MeshComposerConfig, MeshMapperConfig as MeshMapperConfig, MeshToTensor as MeshToTensor,
        PlacementReplicate as PlacementReplicate, PlacementShard as PlacementShard,
        ReplicateTensorToMesh as ReplicateTensorToMesh, ShardTensor2dMesh as ShardTensor2dMesh,
        ShardTensorToMesh as ShardTensorToMesh, TensorToMesh as TensorToMesh,
        create_mesh_composer as create_mesh_composer, create_mesh_mapper as create_mesh_mapper,
    )
    from tensim.ttnn.memory import (
        DRAM_MEMORY_CONFIG as DRAM_MEMORY_CONFIG, L1_BLOCK_SHARDED_MEMORY_CONFIG as L1_BLOCK_SHARDED_MEMORY_CONFIG,
        L1_HEIGHT_SHARDED_MEMORY_CONFIG as L1_HEIGHT_SHARDED_MEMORY_CONFIG, L1_MEMORY_CONFIG as L1_MEMORY_CONFIG,
        L1_WIDTH_SHARDED_MEMORY_CONFIG as L1_WIDTH_SHARDED_MEMORY_CONFIG, MemoryConfig as MemoryConfig,
        NdShardSpec as NdShardSpec, ShardSpec as ShardSpec, TensorSpec as TensorSpec,
        create_sharded_memory_config as create_sharded_memory_config,
    )
    from tensim.ttnn.memory_views import (
        MemoryView as MemoryView, get_dram_alignment as get_dram_alignment, get_l1_alignment as get_l1_alignment,
        get_max_worker_l1_unreserved_size as get_max_worker_l1_unreserved_size, get_memory_view as get_memory_view,
    )
    from tensim.ttnn.meshes import (
        MeshCoordinateRangeSet as MeshCoordinateRangeSet, MeshCoordinateRange as MeshCoordinateRange,
        MeshCoordinate as MeshCoordinate, MeshShape as MeshShape,
    )
    from tensim.ttnn.operations import (
        abs as abs, add as add, arange as arange, clone as clone, concat as concat, copy as copy, divide as divide,
        div as div, empty_like as empty_like, empty as empty, exp as exp, full_like as full_like, full as full,
        identity as identity, interleaved_to_sharded as interleaved_to_sharded, maximum as maximum, minimum as minimum,
        multiply as multiply, mul as mul, neg as neg, ones_like as ones_like, ones as ones, pad as pad,
        permute as permute, rand as rand, reciprocal as reciprocal, relu as relu, repeat as repeat, reshape as reshape,
        reshard as reshard, rsqrt as rsqrt, sharded_to_interleaved as sharded_to_interleaved, sigmoid as sigmoid,
        silu as silu, slice as slice, sqrt as sqrt, square as square, squeeze as squeeze, subtract as subtract,
        sub as sub, tanh as tanh, tilize_with_val_padding as tilize_with_val_padding,
        tilize_with_zero_padding as tilize_with_zero_padding, tilize as tilize, to_dtype as to_dtype,
        to_layout as to_layout, to_memory_config as to_memory_config, transpose as transpose, typecast as typecast,
        unsqueeze_to_4D as unsqueeze_to_4D, unsqueeze as unsqueeze, untilize_with_unpadding as untilize_with_unpadding,
        untilize as untilize, view as view, zeros_like as zeros_like, zeros as zeros,
    )
    from tensim.ttnn.programs import (
        compute_program_descriptor_hash as compute_program_descriptor_hash, generic_op as generic_op,
    )
    from tensim.ttnn.queues import (
        MeshEvent as MeshEvent, MeshTraceId as MeshTraceId, ReadDeviceProfiler as ReadDeviceProfiler,
        begin_trace_capture as begin_trace_capture, create_global_semaphore as create_global_semaphore,
        end_trace_capture as end_trace_capture, event_synchronize as event_synchronize, execute_trace as execute_trace,
        get_all_kernel_duration_summary as get_all_kernel_duration_summary,
        get_all_programs_perf_data as get_all_programs_perf_data,
        get_global_semaphore_address as get_global_semaphore_address,
        get_latest_kernel_duration_summary as get_latest_kernel_duration_summary,
        get_latest_programs_perf_data as get_latest_programs_perf_data,
        is_trace_capture_active as is_trace_capture_active, record_event as record_event,
        release_trace as release_trace, reset_global_semaphore_value as reset_global_semaphore_value,
        start_tracy_zone as start_tracy_zone, stop_tracy_zone as stop_tracy_zone, tracy_frame as tracy_frame,
        tracy_message as tracy_message, wait_for_event as wait_for_event,
    )
    from tensim.ttnn.runtime_args import RuntimeArgs as RuntimeArgs
    from tensim.ttnn.shapes import Shape as Shape, TILE_SIZE as TILE_SIZE, Tile as Tile, tile_size as tile_size
    from tensim.ttnn.sub_devices import SubDeviceId as SubDeviceId, SubDevice as SubDevice
    from tensim.ttnn.systems import (
        GetNumAvailableDevices as GetNumAvailableDevices, GetNumPCIeDevices as GetNumPCIeDevices,
        GetPCIeDeviceID as GetPCIeDeviceID, get_arch_name as get_arch_name, get_device_ids as get_device_ids,
        get_num_devices as get_num_devices, get_pcie_device_ids as get_pcie_device_ids,
    )
    from tensim.ttnn.tensors import Tensor as Tensor
    # fmt: on
    # isort: on

__version__ = "0.81.1"  # the release of ttnn whose names and encodings these are
__all__ = sorted(MODULE_OF)
SUBMODULES = ("_ttnn", "device", "devices", "types")


def __getattr__(name: str) -> Any:
    if name in MODULE_OF:
        value = globals()[name] = getattr(import_module(f"tensim.ttnn.{MODULE_OF[name]}"), name)
        return value
    if name in SUBMODULES:
        return import_module(f"tensim.ttnn.{name}")
    if name in LIBRARY or name in PIPES:
        from tensim.ttnn.operations import Refused

        return Refused(name)
    raise AttributeError(_unknown(name))


def _unknown(name: str) -> str:
    """What to say of a name that is not here."""
    from difflib import get_close_matches

    close = get_close_matches(name, [*MODULE_OF, *SUBMODULES, *LIBRARY], 3)
    meant = f"; near it are {', '.join(close)}" if close else ""
    return (
        f"tensim.ttnn has no {name!r}{meant}. It has what programs of one's own kernels use (docs/ttnn.md lists it); what "
        "the library computes with kernels of its own is written as ttnn.generic_op, or with torch or numpy on "
        "ttnn.to_torch(tensor)"
    )


def __dir__() -> list[str]:
    return [*globals(), *__all__]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of `pytest -p tensim.ttnn`; from here on `import ttnn` is this module."""
    from tensim.ttnn import plugin, substitution

    substitution.install()
    plugin.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """The fixtures and the report of `pytest -p tensim.ttnn`."""
    from tensim.ttnn import plugin

    plugin.configure(config)
