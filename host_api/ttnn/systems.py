"""What there is to open: the chips of the board, and their architecture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import tensim.ttnn.devices as devices
from tensim.device import get_pcie_device_id
from tensim.sim.arch.loader import load_arch
from tensim.ttnn.enums import Arch

if TYPE_CHECKING:
    from tensim.ttnn.devices import MeshDevice


def GetNumAvailableDevices() -> int:
    """Number of chips of the board, 1 without one."""
    return 1 if devices.settings.board is None else math.prod(devices.board_named(devices.settings.board).shape)


GetNumPCIeDevices = get_num_devices = GetNumAvailableDevices


def get_device_ids() -> list[int]:
    """Numbers of the chips."""
    return list(range(GetNumAvailableDevices()))


get_pcie_device_ids = get_device_ids


def GetPCIeDeviceID(device_id: int) -> int:
    """The chip on PCIe through which a chip is reached: itself."""
    return get_pcie_device_id(device_id)


def get_arch_name() -> str:
    """Name of the architecture of devices."""
    return load_arch(devices.settings.arch).name


def is_wormhole_b0(device: MeshDevice | None = None) -> bool:
    """Whether devices are Wormholes."""
    return get_arch_name() == "wormhole_b0" if device is None else device.arch() == Arch.WORMHOLE_B0


def is_blackhole(device: MeshDevice | None = None) -> bool:
    """Whether devices are Blackholes."""
    return get_arch_name() == "blackhole" if device is None else device.arch() == Arch.BLACKHOLE
