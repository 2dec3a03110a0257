"""How fast a system's devices and host convert and move tensors, for the planner."""

from tensim.runtime.planner import Costs


class Rates:
    """Costs of conversions between two devices, each pair worked out once."""

    def __init__(self, system):
        self.system, self._known = system, {}

    def between(self, source, target):
        """`Costs` of what moves from one device to another (None: host memory)."""
        key = tuple(None if device is None else device.number for device in (source, target))
        if key not in self._known:
            self._known[key] = self._costs(source, target)
        return self._known[key]

    def _costs(self, source, target):
        chip = next((device for device in (target, source) if device is not None), None)
        arch = self.system.archs[0] if chip is None else chip.arch
        memory = (
            arch.dram_banks * arch["dram.bank_bytes_per_cycle"] * arch.clock_mhz / 2000
        )  # read and written once: B/ns
        peer = None
        if None not in (source, target) and source is not target:
            peer = self.peer(source, target)
        host = arch["host.copy_bytes_per_ns"]
        return Costs(
            host_copy=host, host_tilize=host, host_cast=host, upload=arch["pcie.write_bytes_per_ns"],
            download=arch["pcie.read_bytes_per_ns"], device_convert=memory, device_copy=memory, peer=peer,
            launch_ns=arch["dispatch.program_ns"], transfer_ns=arch["host.enqueue_transfer_ns"],
        )  # fmt: skip

    def peer(self, source, target):
        """Bytes per ns from chip to chip; None without a link."""
        ends, topology = (source.state.place, target.state.place), self.system.topology
        if topology.mode(*ends) == "none":
            return None
        return 1 / sum(1 / hop.bytes_per_ns for hop in topology.route(*ends).hops)  # one hop after the other
