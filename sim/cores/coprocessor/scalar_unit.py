"""Scalar unit (ThCon): arithmetic on a thread's GPRs, and what they exchange with L1, registers and counters.

ISA: ScalarUnit.md and the pages of its instructions; the figures below are its table of cycles.
"""

from tensim.sim.cores.coprocessor.config_unit import put_config
from tensim.sim.cores.coprocessor.counter_unit import W, X, Y, Z, adc_of
from tensim.sim.cores.coprocessor.faults import L1_ADDRESS, UNKNOWN_INSTRUCTION, UNKNOWN_MODE, UNMAPPED_REGISTER, stop
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.state import BLACKHOLE, N_GPRS, N_THREADS, chip_of, config_bank, read_gpr, write_gpr
from tensim.sim.cores.coprocessor.tile_registers import load_register, store_register
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import copy_bytes, load_u16, load_u32, store_16, store_32

(
    SETDMAREG, FLUSHDMA, REG2FLOP, LOADIND, ADDDMAREG, SUBDMAREG, MULDMAREG, BITWOPDMAREG, SHIFTDMAREG, CMPDMAREG, ATINCGET,
    ATINCGETPTR, ATSWAP, ATCAS, STOREIND, STOREREG, LOADREG, RSTDMA,
) = opcodes(
    "SETDMAREG FLUSHDMA REG2FLOP LOADIND ADDDMAREG SUBDMAREG MULDMAREG BITWOPDMAREG SHIFTDMAREG CMPDMAREG ATINCGET "
    "ATINCGETPTR ATSWAP ATCAS STOREIND STOREREG LOADREG RSTDMA"
)  # fmt: skip
MEMORY_BASE, FIRST_REGISTER = 0xFFB00000, 0xFFB11000
AND, OR, XOR = range(3)
GREATER, LESS, EQUAL = range(3)
LEFT, RIGHT = range(2)
SCALAR_CONFIG = (52, 64)  # by chip: first word of REG2FLOP's part of the configuration (THCON_CFGREG_BASE_ADDR32)
RETRY = False  # what an atomic gives that has to try again
# cycles in the unit (ISA: ScalarUnit.md)
IMMEDIATE_CYCLES, ARITHMETIC_CYCLES, OTHER_GROUP_CYCLES, MOVE_CYCLES, MEMORY_CYCLES, ATOMIC_CYCLES = 1, 3, 1, 2, 3, 15


@compiled()
def scalar_cycles(word):
    """Cycles for which an instruction holds the scalar unit and its thread."""
    code = word >> 24
    if code == SETDMAREG or code == RSTDMA:
        return IMMEDIATE_CYCLES
    if code == REG2FLOP or code == FLUSHDMA:
        return MOVE_CYCLES
    if ADDDMAREG <= code <= CMPDMAREG:
        apart = word >> 23 & 1 == 0 and word >> 2 & 15 != word >> 8 & 15  # operands of two groups of four GPRs
        return ARITHMETIC_CYCLES + (OTHER_GROUP_CYCLES if apart else 0)
    return ATOMIC_CYCLES if code == ATCAS or code == ATINCGETPTR else MEMORY_CYCLES


@compiled()
def arithmetic(c, thread, word):
    """ADDDMAREG to CMPDMAREG."""
    code, mode = word >> 24, word >> 18 & 7
    left = read_gpr(c, thread, word & 0x3F)
    right = word >> 6 & 0x3F
    if word >> 23 & 1 == 0:
        right = read_gpr(c, thread, right)
    result = 0
    if code == ADDDMAREG:
        result = left + right
    elif code == SUBDMAREG:
        result = left - right
    elif code == MULDMAREG:
        result = (left & 0xFFFF) * (right & 0xFFFF)
    elif code == BITWOPDMAREG and mode <= XOR:
        result = left & right if mode == AND else (left | right if mode == OR else left ^ right)
    elif code == SHIFTDMAREG and mode <= RIGHT:
        result = left << (right & 31) if mode == LEFT else left >> (right & 31)
    elif code == CMPDMAREG and mode <= EQUAL:
        result = int(left > right if mode == GREATER else (left < right if mode == LESS else left == right))
    else:
        stop(c, UNKNOWN_MODE, thread, word, mode, 0)
    write_gpr(c, thread, word >> 12 & 0x3F, result & 0xFFFFFFFF)


@compiled()
def l1_place(c, thread, word, address, size):
    """Host address of `size` bytes of L1, 0 when they lie outside."""
    if address + size > c.l1_size:
        stop(c, L1_ADDRESS, thread, word, address, size)
        return 0
    return c.l1_at + address


@compiled()
def stepped_offset(c, thread, word):
    """(the offset that an indirect access adds, after stepping the half GPR that holds it)."""
    half = c.gprs_at + 4 * N_GPRS * thread + 2 * (word >> 14 & 0x7F)
    offset, step = load_u16(half), word >> 12 & 3
    if step != 0:
        store_16(half, offset + (16 if step == 3 else 2 * step))
    return offset


@compiled()
def indirect(c, thread, word):
    """LOADIND and STOREIND."""
    is_load = word >> 24 == LOADIND
    base, register = read_gpr(c, thread, word & 0x3F), word >> 6 & 0x3F
    offset = stepped_offset(c, thread, word)
    if not is_load and word >> 23 & 1 == 0:
        if word >> 22 & 1 == 0:  # into SrcA or SrcB
            stop(c, UNKNOWN_MODE, thread, word, 0, 0)
            return
        address = MEMORY_BASE + ((base + (offset >> 4)) & 0xFFFFC)
        if address < FIRST_REGISTER:
            stop(c, UNMAPPED_REGISTER, thread, word, address, 1)
            return
        store_register(c, thread, address, read_gpr(c, thread, register))
        return
    size = word >> 22 & 3 if is_load else word >> 21 & 3
    address = 16 * base + offset
    gpr = c.gprs_at + 4 * (N_GPRS * thread + (register if size != 0 else register & 0x3C))
    count = 16 if size == 0 else (4 if size == 1 else (2 if size == 2 else 1))
    place = l1_place(c, thread, word, address & ~(count - 1), count)
    if place == 0:
        return
    if is_load:
        copy_bytes(gpr, place, count)
    else:
        copy_bytes(place, gpr, count)


@compiled()
def atomic(c, thread, word):
    """ATINCGET, ATINCGETPTR, ATSWAP and ATCAS; False when the comparison failed and the instruction has to try again."""
    code = word >> 24
    offset = 0 if code == ATSWAP else 4 * (word >> 12 & 3)
    base = l1_place(c, thread, word, 16 * read_gpr(c, thread, word & 0x3F), 16)
    if base == 0:
        return True
    place, register = base + offset, word >> 6 & 0x3F
    if code == ATINCGET:
        mask = (2 << (word >> 14 & 31)) - 1
        old, step = load_u32(place), read_gpr(c, thread, register)
        store_32(place, ((old + step) & mask) | (old & ~mask))
        write_gpr(c, thread, register, old)
    elif code == ATSWAP:
        first = register & 0x3C
        for i in range(8):
            if word >> (14 + i) & 1 != 0:
                store_16(base + 2 * i, load_u16(c.gprs_at + 4 * (N_GPRS * thread + first) + 2 * i))
    elif code == ATCAS:
        if load_u32(place) != word >> 14 & 15:
            return RETRY
        store_32(place, word >> 18 & 15)
    else:
        width, step = word >> 14 & 15, 0 if word >> 22 & 1 != 0 else 1 << (word >> 18 & 15)
        waiting = (load_u32(base + 4) - load_u32(base)) & 0xFFFFFFFF
        if offset & 4 != 0:
            if waiting != 0 and waiting % (1 << (width - 1) if width != 0 else 0x8000) == 0:
                return RETRY
        elif waiting == 0:
            return RETRY
        mask, old = (1 << width) - 1, load_u32(place)
        store_32(place, ((old + step) & mask) | (old & ~mask))
        write_gpr(c, thread, register, old)
    return True


@compiled()
def to_counters(c, thread, word):
    """REG2FLOP into an addressing counter."""
    size, shift = word >> 22 & 3, word >> 18 & 3
    value = read_gpr(c, thread, word & 0x3F)
    if size == 0 or (size == 1 and shift != 0) or (size == 2 and shift & 1 != 0):
        value = 0
    elif size == 2:
        value = value >> 16 if shift == 2 else value & 0xFFFF
    elif size == 3:
        value = value >> (8 * shift) & 0xFF
    which = word >> 16 & 3 if word >> 20 & 1 != 0 else thread
    owner, axis, is_base = word >> 9 & 3, word >> 6 & 3, word >> 8 & 1
    if which >= N_THREADS or owner == 3:
        return
    adc = adc_of(c, which, owner, word >> 11 & 1)
    if axis == X:
        if is_base != 0:
            adc.x_cr = value & 0x3FFFF
        else:
            adc.x = value & 0x3FFFF
    elif axis == Y:
        if is_base != 0:
            adc.y_cr = value & 0x1FFF
        else:
            adc.y = value & 0x1FFF
    elif axis == Z:
        if is_base != 0:
            adc.z_cr = value & 0xFF
        else:
            adc.z = value & 0xFF
    elif axis == W:
        if is_base != 0:
            adc.w_cr = value & 0xFF
        else:
            adc.w = value & 0xFF


@compiled()
def to_config(c, thread, word):
    """REG2FLOP into the configuration of unpackers and packers."""
    index, register, bank = word >> 6 & 0x7F, word & 0x3F, config_bank(c, thread)
    base = SCALAR_CONFIG[1] if chip_of(c) == BLACKHOLE else SCALAR_CONFIG[0]
    if word >> 22 & 3 != 0:
        put_config(c, bank, base + index, read_gpr(c, thread, register))
        return
    for i in range(4):
        put_config(c, bank, base + (index & ~3) + i, read_gpr(c, thread, (register & 0x3C) + i))


@compiled()
def execute_scalar(c, thread, word, now):
    """Carry out an instruction of the scalar unit at a cycle; False when it has to try again."""
    code = word >> 24
    if code == SETDMAREG and word >> 7 & 1 == 0:
        store_16(c.gprs_at + 4 * N_GPRS * thread + 2 * (word & 0x7F), word >> 8 & 0xFFFF)
    elif ADDDMAREG <= code <= CMPDMAREG:
        arithmetic(c, thread, word)
    elif code == STOREREG or code == LOADREG:
        register, address = word >> 18 & 0x3F, MEMORY_BASE + ((word & 0x3FFFF) << 2)
        if address < FIRST_REGISTER:
            stop(c, UNMAPPED_REGISTER, thread, word, address, 1)
        elif code == STOREREG:
            store_register(c, thread, address, read_gpr(c, thread, register))
        else:
            write_gpr(c, thread, register, load_register(c, thread, address, now))
    elif code == LOADIND or code == STOREIND:
        indirect(c, thread, word)
    elif ATINCGET <= code <= ATCAS:
        return atomic(c, thread, word)
    elif code == REG2FLOP:
        target = word >> 20 & 3
        if target == 0:
            to_config(c, thread, word)
        elif target >= 2:
            to_counters(c, thread, word)
        else:
            stop(c, UNKNOWN_MODE, thread, word, target, 0)
    elif code != FLUSHDMA and code != RSTDMA:
        stop(c, UNKNOWN_INSTRUCTION, thread, word, 0, 0)
    return True
