"""What a tile's debug daisychain shows the host: of its many signals the program counters, by which debuggers tell where cores are.

Registers: ISA, DebugDaisychain.md; numbers of the signals: those that tt-exalens 0.4.1 reads (`brisc_pc` and others of both chips).
"""

from tensim.sim.cores.coprocessor.debug_registers import DEBUG
from tensim.sim.cores.coprocessor.state import BRISC, NCRISC

CONTROL, DATA = DEBUG + 0x54, DEBUG + 0x5C
ENABLE, CORES_BLOCK = 1 << 29, 7  # of CONTROL; the block of signals in which the cores are
CORES = {5: BRISC, 6: 0, 7: 1, 8: 2, 9: BRISC, 12: NCRISC}  # by half the number of a signal; 9 is an Ethernet tile's
# (word, odd or even signal) -> bits of the program counter
COUNTERS = {(0, 0): (1 << 31) - 1, (1, 1): (1 << 30) - 1}


def shown(control, counters):
    """The word that the daisychain shows; `counters`: program counter of each core."""
    word, block, signal = control >> 25 & 15, control >> 16 & 0xFF, control & 0xFFFF
    core, bits = CORES.get(signal // 2), COUNTERS.get((word, signal % 2))
    if not control & ENABLE or block != CORES_BLOCK or core is None or bits is None:
        return 0
    return int(counters[core]) & bits
