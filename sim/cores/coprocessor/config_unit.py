"""Configuration unit: what reads and writes the configuration of threads and of the backend (ISA: ConfigurationUnit.md).

Blackhole's CFGSHIFTMASK: tt-llk's instruction table (assembly.yaml of ttnn 0.81.1).
"""

from tensim.sim.cores.coprocessor.faults import CONFIG_INDEX, UNKNOWN_INSTRUCTION, UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.registers import N_CONFIG, N_THREAD_CONFIG, register
from tensim.sim.cores.coprocessor.state import (
    BLACKHOLE,
    chip_of,
    config_bank,
    config_word,
    field_word,
    read_gpr,
    thread_field,
    write_gpr,
)
from tensim.sim.cores.coprocessor.unpackers import context_counters
from tensim.sim.cores.coprocessor.vector_unit import seed_random_numbers
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import store_32

WRCFG, RDCFG, SETC16, RMWCIB0, RMWCIB3, CFGSHIFTMASK = opcodes("WRCFG RDCFG SETC16 RMWCIB0 RMWCIB3 CFGSHIFTMASK")
BANKED_WORDS = (152, 180)  # by chip: words behind these exist once (GLOBAL_CFGREG_BASE_ADDR32 of cfg_defines.h)
CONFIG_WORDS = (188, 224)  # by chip (4 CFG_STATE_SIZE)
THREAD_WORDS = (57, 68)  # by chip (THD_STATE_SIZE)
STATE_RESET = register("STATE_RESET_EN")
PRNG_SEED = register("PRNG_SEED_Seed_Val")
SCRATCH = register("SCRATCH_SEC0_val")
CONTEXT_RESETS = (register("UNPACK_MISC_CFG_CfgContextCntReset_0"), register("UNPACK_MISC_CFG_CfgContextCntReset_1"))
OR, AND, XOR, ADD, SUBTRACT = 0, 1, 2, 3, 7  # operations of CFGSHIFTMASK


@compiled()
def banked_words(c):
    """How many words of the configuration have two banks."""
    return BANKED_WORDS[1] if chip_of(c) == BLACKHOLE else BANKED_WORDS[0]


@compiled()
def config_words(c):
    """How many words a bank of the configuration has on this chip."""
    return CONFIG_WORDS[1] if chip_of(c) == BLACKHOLE else CONFIG_WORDS[0]


@compiled()
def put_config(c, bank, index, value):
    """Set a word of the configuration, below `config_words`; those that exist once are set in both banks."""
    store_32(c.config_at + 4 * (bank * N_CONFIG + index), value)
    if index >= banked_words(c):
        store_32(c.config_at + 4 * ((1 - bank) * N_CONFIG + index), value)


@compiled()
def write_config(c, bank, index, value):
    """`put_config` with what a write sets off: one of the reset's word clears the bank, a seed sets the lanes' random numbers."""
    if index == field_word(c, STATE_RESET):
        for i in range(banked_words(c)):
            put_config(c, bank, i, 0)
        return
    put_config(c, bank, index, value)
    if index == field_word(c, PRNG_SEED):
        seed_random_numbers(c, value)


@compiled()
def set_thread_config(c, thread, word):
    """SETC16."""
    index, value = word >> 16 & 0xFF, word & 0xFFFF
    if index >= (THREAD_WORDS[1] if chip_of(c) == BLACKHOLE else THREAD_WORDS[0]):
        stop(c, CONFIG_INDEX, thread, word, index, 0)
        return
    store_32(c.thread_config_at + 4 * (thread * N_THREAD_CONFIG + index), value)
    if index == field_word(c, CONTEXT_RESETS[0]):
        for unit in range(2):
            if thread_field(c, thread, CONTEXT_RESETS[0] if unit == 0 else CONTEXT_RESETS[1], 0) != 0:
                context_counters(c, unit)[thread] = 0


@compiled()
def shift_mask(c, thread, word, bank, index):
    """CFGSHIFTMASK: combine a word of the configuration with bits of a scratch word, rotated right and masked."""
    select, shift, width = word >> 8 & 3, word >> 10 & 31, (word >> 15 & 31) + 1
    operation, whole = word >> 20 & 7, word >> 23 & 1
    scratch = config_word(c, bank, field_word(c, SCRATCH) + (thread if select == 3 else select))
    mask = (1 << width) - 1
    rotated = ((scratch >> shift) | (scratch << (32 - shift))) & mask & 0xFFFFFFFF
    old = config_word(c, bank, index)
    if whole == 0:
        old &= ~mask
    if operation == OR:
        value = old | rotated
    elif operation == AND:
        value = old & rotated
    elif operation == XOR:
        value = old ^ rotated
    elif operation == ADD:
        value = old + rotated
    elif operation == SUBTRACT:
        value = old - rotated
    else:
        stop(c, UNKNOWN_MODE, thread, word, operation, 0)
        return
    write_config(c, bank, index, value & 0xFFFFFFFF)


@compiled()
def execute_config(c, thread, word):
    """Carry out an instruction of the configuration unit."""
    code, bank = word >> 24, config_bank(c, thread)
    if code == SETC16:
        set_thread_config(c, thread, word)
        return
    index = word & 0xFF if code >= RMWCIB0 else word & 0x7FF
    if index >= config_words(c):
        stop(c, CONFIG_INDEX, thread, word, index, 0)
    elif code == WRCFG:
        gpr = word >> 16 & 0x3F
        if word >> 15 & 1 == 0:
            write_config(c, bank, index, read_gpr(c, thread, gpr))
        else:
            for i in range(4):
                write_config(c, bank, (index & ~3) + i, read_gpr(c, thread, (gpr & ~3) + i))
    elif code == RDCFG:
        write_gpr(c, thread, word >> 16 & 0x3F, config_word(c, bank, index))
    elif RMWCIB0 <= code <= RMWCIB3:
        shift = 8 * (code - RMWCIB0)
        mask, data = (word >> 16 & 0xFF) << shift, (word >> 8 & 0xFF) << shift
        put_config(c, bank, index, (data & mask) | (config_word(c, bank, index) & ~mask))
    elif code == CFGSHIFTMASK and chip_of(c) == BLACKHOLE:
        shift_mask(c, thread, word, bank, index)
    else:
        stop(c, UNKNOWN_INSTRUCTION, thread, word, 0, 0)
