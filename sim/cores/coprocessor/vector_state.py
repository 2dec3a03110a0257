"""State of the vector unit of a Tensix coprocessor as data: rows of 32 lanes, and what has no lanes (ISA: VectorUnit.md, LReg.md).

Every row is 32 words of 32 bits.  Rows of truth values hold 0 or all bits, so that a row of them is a mask.

Row numbers: the 17 LRegs come first, so that an LReg's number is its row's.
"""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.tables import table

LANES = 32
ROW_BYTES = 4 * LANES
N_LREGS = 17
# LRegs 8 to 15 are written by SFPCONFIG at most; LReg 16 by SFPLOADMACRO's instructions only
FIRST_CONSTANT, BONUS_LREG = 8, 16
FLAG_STACK = 8  # entries
N_TEMPLATES = N_SEQUENCES = 4
N_SUB_UNITS, SLOTS = 4, 8  # what SFPLOADMACRO schedules: by sub-unit and cycles to go

# rows behind the LRegs: what is not to be kept; all bits; LaneFlags, UseLaneFlagsForLaneEnable and what follows from them;
# LaneConfig; LoadMacroConfig; the random numbers; what SFPSHFT2 last saw; the flag stack; results of scheduled instructions
# with their masks, and that of the MAD sub-unit's last one, which takes a cycle longer; what a scheduled instruction makes of
# ENABLED; spare rows of single instructions
_ROWS = {
    "WASTE": 1, "ALL_ON": 1, "FLAGS": 1, "USE_FLAGS": 1, "ENABLED": 1, "LANE_CONFIG": 1, "TEMPLATES": N_TEMPLATES,
    "SEQUENCES": N_SEQUENCES, "MACRO_MISC": 1, "RANDOM": 1, "SHUFFLED": 1, "STACK_FLAGS": FLAG_STACK,
    "STACK_USE": FLAG_STACK, "STAGED": N_SUB_UNITS, "STAGED_MASKS": N_SUB_UNITS, "LATE": 2, "NEXT_ENABLED": 1, "SPARE": 6,
}  # fmt: skip
_FIRST = dict(zip(_ROWS, np.cumsum([N_LREGS, *_ROWS.values()]).tolist(), strict=False))
WASTE, ALL_ON, FLAGS, USE_FLAGS, ENABLED, LANE_CONFIG, TEMPLATES, SEQUENCES, MACRO_MISC, RANDOM, SHUFFLED = list(
    _FIRST.values()
)[:11]
STACK_FLAGS, STACK_USE, STAGED, STAGED_MASKS, LATE, NEXT_ENABLED, SPARE = list(_FIRST.values())[11:]
N_ROWS = N_LREGS + sum(_ROWS.values())

# bits of LaneConfig (ISA: SFPCONFIG.md)
(
    FP16_INFINITY,
    NO_BACKDOOR,
    DEST_INDEX,
    CAPTURE_INDEX,
    BLOCK_STORE,
    BLOCK_LOAD,
    LOAD_ODD,
    STORE_ODD,
    EXCHANGE,
    BLOCK_MOVES,
) = range(10)
LANE_CONFIG_BITS, MACRO_MISC_BITS = (1 << 18) - 1, (1 << 12) - 1

# LRegs after reset: 8 to 10 and 15 ISA (LReg.md), 11 to 14 the vendor's simulator (ttsim 1.10, tensix.cpp)
RESET_LREGS = {8: 0x3F56594B, 10: 0x3F800000, 11: 0xBF800000, 12: 0x3B000000, 13: 0xBF2CC4C7, 14: 0xBEB08FF9}

# `depth`: entries of the flag stack; `config_bits`: bits that LaneConfig has in any lane; `pending`: scheduled instructions
# that have not executed, `waiting`: those of them that count instructions rather than cycles; `slots_at`: SLOT[4, 8], of which
# `turn` is the one that executes next; `staged`: in 8 bits for each sub-unit, the LReg to be written at the end of the cycle + 1,
# or 0, above them that of the MAD sub-unit's last instruction and a bit for NEXT_ENABLED; `last_cycle`: of the coprocessor, at
# the last instruction; `free_at`: cycle from which the unit takes an instruction; `ready_at`: int64[17], cycle at which an LReg
# may be read
VECTOR = np.dtype(
    [(name, np.int64) for name in (
        "rows_at depth config_bits pending waiting turn staged slots_at last_cycle free_at ready_at"
    ).split()]
)  # fmt: skip
# A scheduled instruction.  `word`: 0 when the slot is free; `d`, `b`, `c`: its LRegs; `mode`, `address` in Dst: of a store;
# `thread`: who issued the SFPLOADMACRO; `by_instructions`: whether it counts those
SLOT = np.dtype([(name, np.int64) for name in "word d b c mode address thread by_instructions".split()])

vector_table, slot_table = table(VECTOR), table(SLOT)


class VectorArrays:
    """The arrays behind a VECTOR record.

    `record`: VECTOR[1]; `rows`: uint32[N_ROWS, 32]; `slots`: SLOT[4, 8]; `ready`: int64[17].
    """

    def __init__(self):
        self.record = np.zeros(1, VECTOR)
        self.rows = np.zeros((N_ROWS, LANES), np.uint32)
        self.slots = np.zeros((N_SUB_UNITS, SLOTS), SLOT)
        self.ready = np.zeros(N_LREGS, np.int64)
        for number, value in RESET_LREGS.items():
            self.rows[number] = value
        self.rows[15] = 2 * np.arange(LANES)
        self.rows[ALL_ON] = self.rows[ENABLED] = 0xFFFFFFFF
        self.record["rows_at"], self.record["slots_at"] = self.rows.ctypes.data, self.slots.ctypes.data
        self.record["ready_at"] = self.ready.ctypes.data


def add_vector_unit(arrays):
    """Give a coprocessor (`CoprocessorArrays`) its vector unit after reset; returns `VectorArrays`, to be kept alive."""
    vector = VectorArrays()
    arrays.record["vector_at"] = vector.record.ctypes.data
    return vector


@compiled(inline="always")
def vector_of(c):
    """A coprocessor's VECTOR record."""
    return vector_table(c.vector_at)[0]


@compiled(inline="always")
def row_at(v, row):
    """Host address of a row."""
    return v.rows_at + ROW_BYTES * row


@compiled(inline="always")
def slot_of(v, sub_unit, delay):
    """The SLOT of a sub-unit (0 to 3) with this many steps to go."""
    return slot_table(v.slots_at)[SLOTS * sub_unit + ((v.turn + delay) & (SLOTS - 1))]
