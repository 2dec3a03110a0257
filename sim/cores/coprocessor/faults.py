"""What stops a coprocessor: a cause, the thread, its instruction word and two values, for the error that names them."""

from enum import IntEnum

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.tables import table

counters = table(np.int64)
UNKNOWN_PLACES = 63  # addresses of registers that are noted: int64[64], how many in front


class Cause(IntEnum):
    """`a`, `b` of each cause stand in its comment."""

    NONE = 0
    UNKNOWN_INSTRUCTION = 1  # -
    UNKNOWN_MODE = 2  # the field's value
    L1_ADDRESS = 3  # address, bytes
    CONFIG_INDEX = 4  # index of the word
    DATA_FORMAT = 5  # number of the format
    UNMAPPED_REGISTER = 6  # address
    STACK_DEPTH = 7  # depth of the vector unit's flag stack
    MISUSE = 8  # what the instruction set leaves undefined: a value that tells which, of the unit


UNKNOWN_INSTRUCTION, UNKNOWN_MODE, L1_ADDRESS, CONFIG_INDEX, DATA_FORMAT, UNMAPPED_REGISTER, STACK_DEPTH, MISUSE = (
    int(cause) for cause in list(Cause)[1:9]
)


@compiled()
def note_unknown(c, address):
    """Note the address of a register that is not modelled: the first of UNKNOWN_PLACES different ones."""
    unknown = counters(c.unknown_at)
    for place in range(1, unknown[0] + 1):
        if unknown[place] == address:
            return
    if unknown[0] < UNKNOWN_PLACES:
        unknown[0] += 1
        unknown[unknown[0]] = address


@compiled()
def stop(c, cause, thread, word, a, b):
    """Stop the coprocessor, unless it has stopped before.

    Where registers that are not modelled may be accessed (`unknown_at`), these read as zero and keep nothing.
    """
    if cause == UNMAPPED_REGISTER and c.unknown_at != 0:
        note_unknown(c, a)
    elif c.fault == 0:
        c.fault, c.fault_thread, c.fault_word, c.fault_a, c.fault_b = cause, thread, word, a, b
