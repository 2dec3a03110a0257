"""The RISC-V cores of a kind of tile: their names, their bits in the register of soft resets, where their programs begin.

Cores are numbered as everywhere on this level: T0 to T2, BRISC, NCRISC.  An Ethernet tile has its cores in the last two places.
Sources: ISA, SoftReset.md; tensix.h and dev_mem_map.h of both chips in ttnn 0.81.1.
"""

from typing import NamedTuple

ETHERNET_ENTRIES = 0xFFB14000  # registers of an Ethernet tile: addresses of its cores' programs, 8 bytes apart


class CoreSet(NamedTuple):
    """`names`, `reset_bits`: by core, None for one that is not there."""

    names: tuple
    reset_bits: tuple

    @property
    def in_reset(self):
        """All bits of soft resets."""
        return sum(1 << bit for bit in self.reset_bits if bit is not None)


TENSIX = CoreSet(("TRISC0", "TRISC1", "TRISC2", "BRISC", "NCRISC"), (12, 13, 14, 11, 18))
ETHERNET = {
    "wormhole_b0": CoreSet((None, None, None, "ERISC", None), (None, None, None, 11, None)),
    "blackhole": CoreSet((None, None, None, "ERISC0", "ERISC1"), (None, None, None, 11, 12)),
}
ETHERNET_L1 = {"wormhole_b0": 256 * 1024, "blackhole": 512 * 1024}  # bytes
