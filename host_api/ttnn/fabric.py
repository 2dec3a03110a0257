"""The fabric that meshes are opened with, and the names of its chips."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tensim.sim.host.fabric import LINES, MESH
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
