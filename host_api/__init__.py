"""tensim's host API: `import tensim as tt`.

The names and meanings are tt-metal's, in snake_case.  Kernels are written with `tensim.kernel_api`.  Each name is imported
with its module when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_NAMES = {
    "buffer": """
        Buffer BufferView GlobalSemaphore TensorAccessorArgs create_buffer create_global_semaphore deallocate_buffer
        read_from_buffer write_to_buffer
    """,
    "device": """
        CommandQueue Device close_device create_device create_device_minimal current_system
        get_current_command_queue_id_for_thread get_num_available_devices get_num_pcie_devices get_pcie_device_id
        is_galaxy_cluster pop_current_command_queue_id_for_thread push_current_command_queue_id_for_thread
        set_numerics_threads zone_scoped
    """,
    "layout": """
        TensorLayoutType convert_layout convert_to_flat_layout convert_to_tile_layout tilize untilize
    """,
    "light_metal.binary": """
        LightMetalBinary
    """,
    "light_metal.capture": """
        light_metal_begin_capture light_metal_capture light_metal_compare_to_capture light_metal_compare_to_golden
        light_metal_end_capture light_metal_name_buffer
    """,
    "light_metal.replay": """
        ReplayOptions
    """,
    "mesh_device": """
        MeshDevice close_mesh_device open_mesh_device
    """,
    "metal_trace": """
        begin_trace_capture collect_trace end_trace_capture enqueue_trace load_trace release_trace replay_trace
        trace_descriptor
    """,
    "program": """
        Program assign_global_buffer_to_program compile_program create_circular_buffer create_kernel
        create_kernel_from_binary create_kernel_from_string create_program create_semaphore get_circular_buffer_config
        get_common_runtime_args
        get_runtime_args set_common_runtime_args set_runtime_args update_circular_buffer_page_size
        update_circular_buffer_total_size update_dynamic_circular_buffer_address
        update_dynamic_circular_buffer_address_and_total_size
    """,
    "queue": """
        Event PendingRead enqueue_program enqueue_read_buffer enqueue_read_sub_buffer enqueue_record_event
        enqueue_wait_for_event enqueue_write_buffer enqueue_write_sub_buffer event_query event_synchronize finish
        synchronize
    """,
    "results.comparison": """
        compare
    """,
    "results.measuring": """
        measure
    """,
    "results.result": """
        Result
    """,
    "running.advising": """
        advise
    """,
    "running.programs": """
        run
    """,
    "running.replay": """
        LightMetalReplay
    """,
    "sim.cores.numerics.data_format": """
        DataFormat
    """,
    "sweeps.run": """
        sweep
    """,
    "types": """
        BufferDistributionSpec BufferRegion BufferType CircularBufferConfig ComputeConfig CoreCoord CoreRange
        CoreRangeSet DataMovementConfig DataMovementProcessor Eth EthernetConfig InterleavedBufferConfig
        KernelBuildOptLevel MathFidelity NOC NOC_MODE ReaderDataMovementConfig ShardMode ShardOrientation ShardSpec
        ShardSpecBuffer ShardedBufferConfig SubDevice SubDeviceId SubDeviceManagerId TensorMemoryLayout Tile
        UnpackToDestMode WriterDataMovementConfig
    """,
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_MODULES)

if TYPE_CHECKING:  # the same names again, as type checkers read them
    # isort: off
    from tensim.buffer import (
        Buffer as Buffer,
        BufferView as BufferView,
        GlobalSemaphore as GlobalSemaphore,
        TensorAccessorArgs as TensorAccessorArgs,
        create_buffer as create_buffer,
        create_global_semaphore as create_global_semaphore,
        deallocate_buffer as deallocate_buffer,
        read_from_buffer as read_from_buffer,
        write_to_buffer as write_to_buffer,
    )
    from tensim.device import (
        CommandQueue as CommandQueue,
        Device as Device,
        close_device as close_device,
        create_device as create_device,
        create_device_minimal as create_device_minimal,
        current_system as current_system,
        get_current_command_queue_id_for_thread as get_current_command_queue_id_for_thread,
        get_num_available_devices as get_num_available_devices,
        get_num_pcie_devices as get_num_pcie_devices,
        get_pcie_device_id as get_pcie_device_id,
        is_galaxy_cluster as is_galaxy_cluster,
        pop_current_command_queue_id_for_thread as pop_current_command_queue_id_for_thread,
        push_current_command_queue_id_for_thread as push_current_command_queue_id_for_thread,
        set_numerics_threads as set_numerics_threads,
        zone_scoped as zone_scoped,
    )
    from tensim.layout import (
        TensorLayoutType as TensorLayoutType,
        convert_layout as convert_layout,
        convert_to_flat_layout as convert_to_flat_layout,
        convert_to_tile_layout as convert_to_tile_layout,
        tilize as tilize,
        untilize as untilize,
    )
    from tensim.light_metal.binary import LightMetalBinary as LightMetalBinary
    from tensim.light_metal.capture import (
        light_metal_begin_capture as light_metal_begin_capture,
        light_metal_capture as light_metal_capture,
        light_metal_compare_to_capture as light_metal_compare_to_capture,
        light_metal_compare_to_golden as light_metal_compare_to_golden,
        light_metal_end_capture as light_metal_end_capture,
        light_metal_name_buffer as light_metal_name_buffer,
    )
    from tensim.light_metal.replay import ReplayOptions as ReplayOptions
    from tensim.mesh_device import (
        MeshDevice as MeshDevice,
        close_mesh_device as close_mesh_device,
        open_mesh_device as open_mesh_device,
    )
    from tensim.metal_trace import (
        begin_trace_capture as begin_trace_capture,
        collect_trace as collect_trace,
        end_trace_capture as end_trace_capture,
        enqueue_trace as enqueue_trace,
        load_trace as load_trace,
        release_trace as release_trace,
        replay_trace as replay_trace,
        trace_descriptor as trace_descriptor,
    )
    from tensim.program import (
        Program as Program,
        assign_global_buffer_to_program as assign_global_buffer_to_program,
        compile_program as compile_program,
        create_circular_buffer as create_circular_buffer,
        create_kernel as create_kernel,
        create_kernel_from_binary as create_kernel_from_binary,
        create_kernel_from_string as create_kernel_from_string,
        create_program as create_program,
        create_semaphore as create_semaphore,
        get_circular_buffer_config as get_circular_buffer_config,
        get_common_runtime_args as get_common_runtime_args,
        get_runtime_args as get_runtime_args,
        set_common_runtime_args as set_common_runtime_args,
        set_runtime_args as set_runtime_args,
        update_circular_buffer_page_size as update_circular_buffer_page_size,
        update_circular_buffer_total_size as update_circular_buffer_total_size,
        update_dynamic_circular_buffer_address as update_dynamic_circular_buffer_address,
        update_dynamic_circular_buffer_address_and_total_size as update_dynamic_circular_buffer_address_and_total_size,
    )
    from tensim.queue import (
        Event as Event,
        PendingRead as PendingRead,
        enqueue_program as enqueue_program,
        enqueue_read_buffer as enqueue_read_buffer,
        enqueue_read_sub_buffer as enqueue_read_sub_buffer,
        enqueue_record_event as enqueue_record_event,
        enqueue_wait_for_event as enqueue_wait_for_event,
        enqueue_write_buffer as enqueue_write_buffer,
        enqueue_write_sub_buffer as enqueue_write_sub_buffer,
        event_query as event_query,
        event_synchronize as event_synchronize,
        finish as finish,
        synchronize as synchronize,
    )
    from tensim.results.comparison import compare as compare
    from tensim.results.measuring import measure as measure
    from tensim.results.result import Result as Result
    from tensim.running.advising import advise as advise
    from tensim.running.programs import run as run
    from tensim.running.replay import LightMetalReplay as LightMetalReplay
    from tensim.sim.cores.numerics.data_format import DataFormat as DataFormat
    from tensim.sweeps.run import sweep as sweep
    from tensim.types import (
        NOC as NOC,
        NOC_MODE as NOC_MODE,
        BufferDistributionSpec as BufferDistributionSpec,
        BufferRegion as BufferRegion,
        BufferType as BufferType,
        CircularBufferConfig as CircularBufferConfig,
        ComputeConfig as ComputeConfig,
        CoreCoord as CoreCoord,
        CoreRange as CoreRange,
        CoreRangeSet as CoreRangeSet,
        DataMovementConfig as DataMovementConfig,
        DataMovementProcessor as DataMovementProcessor,
        Eth as Eth,
        EthernetConfig as EthernetConfig,
        InterleavedBufferConfig as InterleavedBufferConfig,
        KernelBuildOptLevel as KernelBuildOptLevel,
        MathFidelity as MathFidelity,
        ReaderDataMovementConfig as ReaderDataMovementConfig,
        ShardedBufferConfig as ShardedBufferConfig,
        ShardMode as ShardMode,
        ShardOrientation as ShardOrientation,
        ShardSpec as ShardSpec,
        ShardSpecBuffer as ShardSpecBuffer,
        SubDevice as SubDevice,
        SubDeviceId as SubDeviceId,
        SubDeviceManagerId as SubDeviceManagerId,
        TensorMemoryLayout as TensorMemoryLayout,
        Tile as Tile,
        UnpackToDestMode as UnpackToDestMode,
        WriterDataMovementConfig as WriterDataMovementConfig,
    )

    # isort: on


def __getattr__(name: str) -> Any:
    """The public name, from its module."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
