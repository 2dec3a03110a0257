"""`set_fabric_config`: which fabric meshes are opened with."""

from __future__ import annotations

from tensim.ttnn.devices import open_devices
from tensim.ttnn.enums import FabricConfig, FabricManagerMode, FabricReliabilityMode, FabricTensixConfig, FabricUDMMode
from tensim.ttnn.errors import ArgumentError, check_type, unsigned
from tensim.ttnn.fabric import LAID, FabricRouterConfig, FabricSettings, fabric_settings, use_fabric


def set_fabric_config(
    config: FabricConfig,
    reliability_mode: FabricReliabilityMode = FabricReliabilityMode.STRICT_INIT,
    num_planes: int | None = None,
    fabric_tensix_config: FabricTensixConfig = FabricTensixConfig.DISABLED,
    fabric_udm_mode: FabricUDMMode = FabricUDMMode.DISABLED,
    fabric_manager_mode: FabricManagerMode = FabricManagerMode.DEFAULT,
    router_config: FabricRouterConfig | None = None,
) -> None:
    """Choose the fabric of meshes that are opened from here on.

    `num_planes`: links to each neighbour, None for all.  Every link of a simulated board works, so the reliability mode changes
    nothing.  ArgumentError while devices are open, and for fabrics, muxes, relays and managers that tensim does not have.
    """
    what = "set_fabric_config"
    check_type(what, "config", config, FabricConfig)
    check_type(what, "reliability_mode", reliability_mode, FabricReliabilityMode)
    for name, value, allowed in (
        ("config", config, tuple(LAID)),
        ("fabric_tensix_config", fabric_tensix_config, (FabricTensixConfig.DISABLED,)),
        ("fabric_udm_mode", fabric_udm_mode, (FabricUDMMode.DISABLED,)),
        ("fabric_manager_mode", fabric_manager_mode, (FabricManagerMode.DEFAULT,)),
    ):
        if value not in allowed:
            names = ", ".join(map(repr, allowed))
            raise ArgumentError(f"{what}: {name}: {value!r} is not modelled", hint=f"there is {names}")
    if num_planes is not None and not unsigned(what, "num_planes", num_planes):
        raise ArgumentError(f"{what}: num_planes: at least one link joins two neighbours")
    if config != FabricConfig.DISABLED and open_devices():
        raise ArgumentError(f"{what}: config: devices are open", hint="close them before the fabric changes")
    use_fabric(FabricSettings(config, num_planes, router_config or FabricRouterConfig()))


def get_fabric_config() -> FabricConfig:
    """The fabric of meshes that are opened from here on."""
    return fabric_settings().config
