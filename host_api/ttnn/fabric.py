"""The fabric that meshes are opened with, and the names of its chips."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tensim.sim.host.fabric import LINES, MESH, Fabric
from tensim.ttnn.enums import FabricConfig

# What `tensim.open_mesh_device` is told: (fabric, ring around the mesh)
LAID = {
    FabricConfig.DISABLED: (None, False), FabricConfig.FABRIC_1D: (LINES, False),
    FabricConfig.FABRIC_1D_RING: (LINES, True), FabricConfig.FABRIC_2D: (MESH, False),
}  # fmt: skip


class FabricRouterConfig:
    """What routers are built with: `max_packet_payload_size_bytes`, None for the chip's own."""

    def __init__(self) -> None:
        self.max_packet_payload_size_bytes: int | None = None


@dataclass(frozen=True)
class FabricSettings:
    """What `set_fabric_config` has chosen; `num_planes`: links to each neighbour, None for all of the board."""

    config: FabricConfig = FabricConfig.DISABLED
    num_planes: int | None = None
    router: FabricRouterConfig = field(default_factory=FabricRouterConfig)

    def opening(self) -> dict[str, Any]:
        """The keywords of `tensim.open_mesh_device`."""
        fabric, ring = LAID[self.config]
        payload = self.router.max_packet_payload_size_bytes
        return {"fabric": fabric, "ring": ring, "links": self.num_planes, "packet_bytes": payload}


_settings = FabricSettings()


def fabric_settings() -> FabricSettings:
    """What meshes are opened with from here on."""
    return _settings


def use_fabric(settings: FabricSettings) -> None:
    """Choose what meshes are opened with from here on."""
    global _settings
    _settings = settings


# Bits of ROUTING_MODE, which the library defines for every kernel (fabric_routing_mode.h; 137 in its commands for FABRIC_1D)
_1D, _2D, _LINE, _RING, _MESH, _LOW_LATENCY = 0x1, 0x2, 0x8, 0x10, 0x20, 0x80


def kernel_defines(fabric: Fabric) -> dict[str, str]:
    """What every kernel on the chips of a fabric has defined."""
    lines = _1D | (_RING if fabric.wiring.ring else _LINE)
    return {"ROUTING_MODE": str(_LOW_LATENCY | (_2D | _MESH if fabric.mesh else lines))}


class MeshId(int):
    """Number of a mesh: 0, as a process has one."""

    def __repr__(self) -> str:
        return f"MeshId({int(self)})"


@dataclass(frozen=True)
class FabricNodeId:
    """A chip on the fabric: its mesh, and its number there, row after row."""

    mesh_id: MeshId
    chip_id: int

    def __repr__(self) -> str:
        return f"FabricNodeId(M{int(self.mesh_id)}, D{self.chip_id})"
