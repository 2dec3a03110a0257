"""How fast a system's devices and host convert and move tensors, for the planner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensim.runtime.planner import Costs

if TYPE_CHECKING:
    from tensim.runtime.devices import SimAccelerator
    from tensim.runtime.system import System


class Rates:
    """Costs of conversions between two devices, each pair worked out once."""

    def __init__(self, system: System) -> None:
        self.system, self._known = system, {}

    def between(self, source: SimAccelerator | None, target: SimAccelerator | None) -> Costs:
        """`Costs` of what moves from one device to another (None: host memory)."""
        key = tuple(None if device is None else device.number for device in (source, target))
        if key not in self._known:
            self._known[key] = self._costs(source, target)
        return self._known[key]

    def _costs(self, source: SimAccelerator | None, target: SimAccelerator | None) -> Costs:
        chip = next((device for device in (target, source) if device is not None), None)
        arch = self.system.archs[0] if chip is None else chip.arch
        # read and written once: B/ns
        memory = arch.dram_banks * arch["dram.bank_bytes_per_cycle"] * arch.clock_mhz / 2000
        peer = None
        if source is not None and target is not None and source is not target:
            peer = self.peer(source, target)
        host = arch["host.copy_bytes_per_ns"]
        return Costs(
            host_copy=host, host_tilize=host, host_cast=host, upload=arch["pcie.write_bytes_per_ns"],
            download=arch["pcie.read_bytes_per_ns"], device_convert=memory, device_copy=memory, peer=peer,
            launch_ns=arch["dispatch.program_ns"], transfer_ns=arch["host.enqueue_transfer_ns"],
        )  # fmt: skip

    def peer(self, source: SimAccelerator, target: SimAccelerator) -> float | None:
        """Bytes per ns from chip to chip; None without a link."""
        ends, topology = (source.state.place, target.state.place), self.system.topology
        if topology.mode(*ends) == "none":
            return None
        return 1 / sum(1 / hop.bytes_per_ns for hop in topology.route(*ends).hops)  # one hop after the other
