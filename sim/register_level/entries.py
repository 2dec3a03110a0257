"""Where a core begins when it leaves reset."""

from tensim.sim.cores.coprocessor.registers import field_positions, register
from tensim.sim.cores.coprocessor.state import BRISC, NCRISC
from tensim.sim.register_level.core_sets import ETHERNET_ENTRIES, TENSIX

# Where a core's program begins, by core, unless a register says otherwise (ISA: SoftReset.md)
ENTRIES = (0x6000, 0xA000, 0xE000, 0, 0x12000)
WORMHOLE_ENTRIES = ("TRISC_RESET_PC_SEC0_PC", "TRISC_RESET_PC_OVERRIDE_Reset_PC_Override_en")
WORMHOLE_NCRISC_ENTRY = ("NCRISC_RESET_PC_PC", "NCRISC_RESET_PC_OVERRIDE_Reset_PC_Override_en")
# of Blackhole, behind DEBUG: T0's address and the enabling bits of T0 to T2; NCRISC's (tensix.h of ttnn 0.81.1)
BLACKHOLE_ENTRY, BLACKHOLE_ENABLED, BLACKHOLE_NCRISC_ENTRY, BLACKHOLE_NCRISC_ENABLED = 0x228, 0x234, 0x238, 0x23C


def entry_of(tile, core):
    """Address at which a core begins."""
    if tile.set is not TENSIX:
        return tile.word(ETHERNET_ENTRIES + 8 * (core - BRISC))
    if tile.arch == "blackhole":
        at, enabled, bit = (
            (BLACKHOLE_NCRISC_ENTRY, BLACKHOLE_NCRISC_ENABLED, 0)
            if core == NCRISC
            else (BLACKHOLE_ENTRY + 4 * core, BLACKHOLE_ENABLED, core)
        )
        value, is_enabled = int(tile.debug[at // 4]), int(tile.debug[enabled // 4]) >> bit & 1
    else:
        names = WORMHOLE_NCRISC_ENTRY if core == NCRISC else WORMHOLE_ENTRIES
        further = 0 if core == NCRISC else core
        value = _config(tile, names[0], further)
        is_enabled = _config(tile, names[1]) >> further & 1
    return value if is_enabled and core != BRISC else ENTRIES[core]


def _config(tile, name, further=0):
    return int(tile.arrays.config[0, (int(field_positions(tile.arch)[register(name)]) & 0xFFFF) + further])
