"""Single instructions of the Tensix coprocessor: the unit that executes each, for how long, and what it does to a bank.

Every unit takes one instruction at a time and is shared by the three threads of a core; instructions of NONE stay in their
thread (docs/hardware/tensix.md#backend-instructions).  SETDVALID fills a source bank and CLEARDVALID frees one, so that the
math or the unpack thread can run without the other.
"""

from enum import IntEnum

import numpy as np

from tensim.sim.cores.threads import argument, charge, park, wake_to_retry
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.state import (
    N_INSTRUCTION_WORDS,
    PARKED,
    UNIT_SLOTS,
    WAIT_SOURCE_FREE,
    WAIT_SOURCE_READY,
    cores_of,
    instruction_cycles_of,
    threads_of,
    unit_free_of,
)


class Unit(IntEnum):
    """Execution units of the backend."""

    NONE = 0
    SFPU = 1
    MATH = 2
    THCON = 3
    CFG = 4
    TDMA = 5


_BY_UNIT = {
    Unit.NONE: "NOP SETDVALID CLEARDVALID",
    Unit.TDMA: "DMANOP",
    Unit.SFPU: "SFPNOP SFPMOV SFPADD SFPMUL SFPMAD SFPABS",
    Unit.THCON: "SETDMAREG ADDDMAREG MULDMAREG SHIFTDMAREG CMPDMAREG",
    Unit.CFG: "RDCFG",
    Unit.MATH: "SETRWC INCRWC MVMUL ELWADD ELWMUL",
}
Instruction = IntEnum("Instruction", " ".join(_BY_UNIT.values()), start=0)
UNIT_OF = {Instruction[name]: unit for unit, names in _BY_UNIT.items() for name in names.split()}
# Instructions whose occupancy the architecture names; all others occupy their unit for one cycle
SLOW = {
    "tensix.instructions.thcon_alu": "ADDDMAREG MULDMAREG SHIFTDMAREG CMPDMAREG",
    "tensix.instructions.fpu": "MVMUL ELWADD ELWMUL",
}
SETDVALID, CLEARDVALID = int(Instruction.SETDVALID), int(Instruction.CLEARDVALID)
THREADS, UNPACK_SLOT, MATH_SLOT, SOURCE_BANKS = 5, 2, 3, 2


def instruction_table(arch):
    """int64[N_INSTRUCTION_WORDS]: (unit, cycles) by instruction."""
    cycles = {name: arch[key] for key, names in SLOW.items() for name in names.split()}
    table = np.zeros(N_INSTRUCTION_WORDS, np.int64)
    for i in Instruction:
        table[2 * i : 2 * i + 2] = UNIT_OF[i], cycles.get(i.name, 1)
    return table


@compiled()
def fill_bank(m, core, now):
    """SETDVALID: a source bank becomes valid without data; False when both are."""
    c = cores_of(m)[core]
    if c.src_started - c.src_released >= SOURCE_BANKS:
        return False
    c.src_started += 1
    c.src_filled += 1
    math = core * THREADS + MATH_SLOT
    if threads_of(m)[math].state == PARKED and threads_of(m)[math].wait == WAIT_SOURCE_READY:
        wake_to_retry(m, math, now)
    return True


@compiled()
def free_bank(m, core, now):
    """CLEARDVALID: the source bank at hand goes back to the unpackers; False when none is valid."""
    c = cores_of(m)[core]
    if c.src_filled <= c.src_taken:
        return False
    c.src_taken += 1
    c.src_released += 1
    unpack = core * THREADS + UNPACK_SLOT
    if threads_of(m)[unpack].state == PARKED and threads_of(m)[unpack].wait == WAIT_SOURCE_FREE:
        wake_to_retry(m, unpack, now)
    return True


@compiled()
def instruction(m, thread, now):
    """One instruction of a posted series: (cycle of the next event, whether the series is complete)."""
    t = threads_of(m)[thread]
    if t.step >= argument(t, 1):
        return now, True
    code = argument(t, 0)
    if code == SETDVALID and not fill_bank(m, t.core, now):
        return park(m, thread, now, WAIT_SOURCE_FREE, 0, 0, 0), False
    if code == CLEARDVALID and not free_bank(m, t.core, now):
        return park(m, thread, now, WAIT_SOURCE_READY, 0, 0, 0), False
    unit, cycles = instruction_cycles_of(m)[2 * code], instruction_cycles_of(m)[2 * code + 1]
    start = now
    if unit != 0:
        free = unit_free_of(m)
        start = max(now, free[t.core * UNIT_SLOTS + unit])
        free[t.core * UNIT_SLOTS + unit] = start + cycles
    t.step += 1
    charge(m, thread, start, cycles)
    return start + cycles, t.step == argument(t, 1)
