"""ttnn.device: what programs import from it."""

from tensim.ttnn.devices import (
    CloseDevice,
    CreateDevice,
    Device,
    DispatchCoreConfig,
    GetDefaultDevice,
    MeshDevice,
    SetDefaultDevice,
    close_device,
    manage_device,
    open_device,
    synchronize_device,
)
from tensim.ttnn.enums import Arch, DispatchCoreAxis, DispatchCoreType
from tensim.ttnn.memory_views import get_memory_view
from tensim.ttnn.queues import ReadDeviceProfiler, get_all_programs_perf_data, get_latest_programs_perf_data
from tensim.ttnn.systems import GetNumAvailableDevices, GetNumPCIeDevices, GetPCIeDeviceID, is_blackhole, is_wormhole_b0

__all__ = [
    "Arch", "CloseDevice", "CreateDevice", "Device", "DispatchCoreAxis", "DispatchCoreConfig", "DispatchCoreType",
    "GetDefaultDevice", "GetNumAvailableDevices", "GetNumPCIeDevices", "GetPCIeDeviceID", "MeshDevice",
    "ReadDeviceProfiler", "SetDefaultDevice", "close_device", "get_all_programs_perf_data", "get_memory_view",
    "get_latest_programs_perf_data", "is_blackhole", "is_wormhole_b0", "manage_device", "open_device",
    "synchronize_device",
]  # fmt: skip
