"""Single instructions of the Tensix coprocessor: the unit that executes each, for how long, and what it does to a bank.

Every unit takes one instruction at a time and is shared by the three threads of a core; instructions of NONE stay in their
thread (docs/hardware/tensix.md#backend-instructions).  SETDVALID fills a source bank and CLEARDVALID frees one, so that the
math or the unpack thread can run without the other.
"""

from enum import IntEnum

import numpy as np

from tensim.sim.cores.faults import Fault
from tensim.sim.cores.tensix.source_banks import (
    bank_filled,
    bank_free,
    bank_ready,
    bank_released,
    name_places,
    wait_for_free_bank,
    wait_for_ready_bank,
)
from tensim.sim.cores.threads import argument, charge, fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import N_INSTRUCTION_WORDS, UNIT_SLOTS, cores_of, instruction_cycles_of, threads_of, unit_free_of


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
KINDS = len(Instruction)
UNIT_OF = {Instruction[name]: unit for unit, names in _BY_UNIT.items() for name in names.split()}
# Instructions whose occupancy the architecture names; all others occupy their unit for one cycle
SLOW = {
    "tensix.instructions.thcon_alu": "ADDDMAREG MULDMAREG SHIFTDMAREG CMPDMAREG",
    "tensix.instructions.fpu": "MVMUL ELWADD ELWMUL",
}


def instruction_table(arch):
    """int64[N_INSTRUCTION_WORDS]: (unit, cycles) by instruction."""
    cycles = {name: arch[key] for key, names in SLOW.items() for name in names.split()}
    table = np.zeros(N_INSTRUCTION_WORDS, np.int64)
    for i in Instruction:
        table[2 * i : 2 * i + 2] = UNIT_OF[i], cycles.get(i.name, 1)
    return table


@compiled()
def instruction(m, thread, now):
    """One instruction of a posted series: (cycle of the next event, whether the series is complete)."""
    t = threads_of(m)[thread]
    if t.step >= argument(t, 1):
        return now, True
    code = argument(t, 0)
    if not 0 <= code < KINDS:
        fail(m, thread, Fault.UNKNOWN_INSTRUCTION, code, KINDS, 0)
        return -1, False
    core = cores_of(m)[t.core]
    if code == Instruction.SETDVALID:  # a bank becomes valid with what was unpacked last
        if not bank_free(core):
            return wait_for_free_bank(m, thread, now), False
        name_places(core)
        core.src_started += 1
        bank_filled(m, t.core, now)
    if code == Instruction.CLEARDVALID:  # the bank at hand goes back to the unpackers
        if not bank_ready(core):
            return wait_for_ready_bank(m, thread, now), False
        core.src_taken += 1
        bank_released(m, t.core, now)
    unit, cycles = instruction_cycles_of(m)[2 * code], instruction_cycles_of(m)[2 * code + 1]
    start = now
    if unit != 0:
        free = unit_free_of(m)
        start = max(now, free[t.core * UNIT_SLOTS + unit])
        free[t.core * UNIT_SLOTS + unit] = start + cycles
    t.step += 1
    charge(m, thread, start, cycles)
    return start + cycles, t.step == argument(t, 1)
