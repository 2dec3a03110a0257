"""What parts of a tile's coprocessor lose as they enter soft reset, and begin with when they leave it (ISA: SoftReset.md).

What a part does while it is held is not modelled: software resets parts while its threads wait.  Bits of units whose reset only
ends what they are doing (unpackers, packers, mover, the glue before L1) change nothing, as nothing is under way then.
"""

from tensim.sim.cores.coprocessor.config_unit import BANKED_WORDS
from tensim.sim.cores.coprocessor.scalar_unit import SCALAR_CONFIG
from tensim.sim.cores.coprocessor.state import BY_UNPACKERS

# Bits; UNITS: matrix and vector unit, SrcA
SCALAR_CONFIGURATION, UNITS, SRC_A_OWNERS, SRC_B, DST_MARKS = 9, 10, 15, 16, 17
COLUMNS = {UNITS: slice(None), 19: slice(0, 4), 20: slice(4, 8), 21: slice(8, 12), 22: slice(12, 16)}  # of SrcA, by bit
PARTS = sum(1 << bit for bit in (SCALAR_CONFIGURATION, SRC_A_OWNERS, SRC_B, DST_MARKS, *COLUMNS))


def enter(tile, bits):
    """Parts of a `RegisterTile` enter reset, by their bits of the register."""
    arrays, record = tile.arrays, tile.record
    for bit, columns in COLUMNS.items():
        if bits >> bit & 1:
            arrays.src_a[:, :, columns] = 0
    if bits >> SRC_A_OWNERS & 1:
        arrays.src_a_owner[:] = BY_UNPACKERS
        record["matrix_bank_a"] = record["unpack_bank_a"] = 0
    if bits >> SRC_B & 1:
        arrays.src_b[:] = 0
        arrays.src_b_owner[:] = BY_UNPACKERS
        record["matrix_bank_b"] = record["unpack_bank_b"] = 0
    if bits >> DST_MARKS & 1:
        arrays.dst_undefined[:] = 0
    if bits >> SCALAR_CONFIGURATION & 1:
        chip = int(record["chip"])
        arrays.config[:, SCALAR_CONFIG[chip] : BANKED_WORDS[chip]] = 0


def leave(tile, bits):
    """Parts of a `RegisterTile` leave it."""
    if bits >> UNITS & 1:
        tile.reset_vector_unit()
