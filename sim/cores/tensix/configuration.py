"""What initialisation calls cost, and what they set up."""

from tensim.sim.cores.numerics.sfpu_costs import initialisation_cost
from tensim.sim.cores.numerics.vector_codes import VECTOR_CODE_BITS
from tensim.sim.cores.operations import Config
from tensim.sim.cores.slots import MATH_SLOT, UNPACK_SLOT
from tensim.sim.cores.tensix.math import FORM_MASK, approximation_of, vector_cycles
from tensim.sim.cores.threads import argument, charge
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import cores_of, threads_of

VECTOR_CODE_MASK = (1 << VECTOR_CODE_BITS) - 1


@compiled()
def short_init_cycles(m, slot):
    if slot == UNPACK_SLOT:
        return m.short_init_unpack
    return m.short_init_math if slot == MATH_SLOT else m.short_init_pack


@compiled()
def vector_init_cycles(m, core, word):
    """Cycles of a vector function's initialisation; `word`: its `vector_code` and, above, an `Approximation`."""
    form = approximation_of(core, word >> VECTOR_CODE_BITS & FORM_MASK)
    return vector_cycles(m, core, initialisation_cost(word & VECTOR_CODE_MASK, form))


@compiled()
def configure(m, thread, now):
    """Init and reconfigure calls: their cost on the calling thread, and the packer modes they set."""
    t = threads_of(m)[thread]
    register, value = argument(t, 0), argument(t, 1)
    core = cores_of(m)[t.core]
    cost = m.reconfig_cycles
    if register == Config.INIT or register == Config.HW_STARTUP:
        cost = m.init_unpack if t.slot == UNPACK_SLOT else m.init_math if t.slot == MATH_SLOT else m.init_pack
    elif register == Config.SHORT_INIT:
        cost = short_init_cycles(m, t.slot)
    elif register == Config.SFPU_INIT:
        cost = vector_init_cycles(m, core, value)
    elif register == Config.PACK_RELU:
        core.pack_relu, core.pack_threshold = value & 3, value >> 2
    elif register == Config.PACK_L1_ACC:
        core.l1_accumulate = value
        charge(m, thread, now, m.pack_mode_cycles)
        return now + m.pack_mode_cycles  # the write waits in the packer's queue until the packer has drained
    elif register == Config.RECONFIG:
        t.issued = max(t.issued, now)  # formats change when the unit has drained
    t.issued += cost  # configuration is a series of register writes: the RISC-V core makes them while units still work
    return now
