"""The host's memory as a chip sees it: the address space behind its PCIe tile.

Addresses: ISA, PCIExpressTile/README.md; NOC_XY_PCIE_ENCODING of noc_parameters.h of both chips in ttnn 0.81.1.
"""

# By chip: the PCIe tile that is connected, by the name that the driver has for it and on NoC 0; the bit of an address that means
# the host; the bits of the host's own addresses
PCIE_TILE = {"wormhole_b0": ((0, 3), (0, 3)), "blackhole": ((19, 24), (2, 0))}
HOST_BIT = {"wormhole_b0": 1 << 35, "blackhole": 1 << 60}
HOST_BITS = {"wormhole_b0": (1 << 32) - 1, "blackhole": (1 << 58) - 1}


class HostMemory:
    """What lies behind the PCIe tile of a chip.

    `link()`: what reads and writes the host's memory (`read(address, size)`, `write(address, content)`), None when nobody lets the
    chip reach it; `tell(text)` is told of an access that reaches nothing.
    """

    def __init__(self, chip, link, tell):
        self._chip, self._link, self._tell = chip, link, tell
        self.written = 0  # how often the chip has written to it

    def read(self, address, size):
        """`size` bytes."""
        link = self._reach(address, size)
        return link.read(address & HOST_BITS[self._chip], size) if link is not None else bytes(size)

    def write(self, address, content):
        """Write bytes."""
        link = self._reach(address, len(content))
        if link is not None:
            link.write(address & HOST_BITS[self._chip], content)
            self.written += 1

    def _reach(self, address, size):
        link = self._link() if address & HOST_BIT[self._chip] else None
        if link is None:
            self._tell(f"{size} bytes at {address:#x} of the PCIe tile: no memory of the host is there")
        return link
