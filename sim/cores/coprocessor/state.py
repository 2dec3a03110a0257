"""The state of one Tensix coprocessor as data: registers, counters and configuration that its units share.

`COPROCESSOR` is one record of scalars and the host addresses of its arrays; every unit is a module of compiled functions over
it.  What only one unit knows (lanes of the vector unit, FIFOs of the frontend) has a record of its own there.  Names are those
of the instruction set's public documentation (tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor; below: ISA).

Values lie in Dst, SrcA and SrcB as the ISA lays them out: sign, mantissa, exponent (Dst.md, SrcASrcB.md, UNPACR_Regular.md);
in LRegs and GPRs as plain words.  Shapes: Dst 1024 rows of 16 values of 16 bits, of which 32-bit values take two rows
(`dst32_row`); SrcA and SrcB two banks of 64 rows of 16 values of 19 bits, each in a word; 64 words of GPRs a thread.
"""

from typing import NamedTuple

import numpy as np

from tensim.sim.cores.coprocessor.registers import N_CONFIG, N_THREAD_CONFIG, field_positions, register
from tensim.sim.engine.compiled import Intrinsic, compiled, ir, types
from tensim.sim.engine.memory import load_u16, load_u32, store_16, store_32
from tensim.sim.engine.tables import table

WORMHOLE, BLACKHOLE = 0, 1
N_THREADS = 3
BRISC, NCRISC = 3, 4  # cores behind those of the three threads, T0 to T2
NO_FIFO = -1
DST_ROWS, SRC_ROWS, COLUMNS = 1024, 64, 16
N_GPRS = 64
N_SEMAPHORES, N_MUTEXES = 8, 8
TDMA_BYTES = 0x1000
BY_UNPACKERS, BY_MATRIX_UNIT = 0, 1  # who may access a bank of SrcA or SrcB
NO_THREAD = -1
# What a core asks who runs its tile to do before anything goes on: decode the text at its program counter; act on what it has
# written to the register of soft resets; forget what was decoded of the text;
# act on the NIU's register `asked_at`; carry out a command of TDMA-RISC
NOTHING_ASKED, ASKED_TEXT, ASKED_RESET, ASKED_INVALIDATION, ASKED_TRANSFER, ASKED_MOVER = range(6)
STATE_ID = register("CFG_STATE_ID_StateID")
WORMHOLE_POSITIONS, BLACKHOLE_POSITIONS = field_positions("wormhole_b0"), field_positions("blackhole")
# semaphores that BRISC's firmware gives a maximum of 1 at boot (c_tensix_core.h of ttnn 0.81.1, initialize_tensix_semaphores):
# from math to packer, unpacking to Dst, packer done, math done
BOUNDED_SEMAPHORES = (1, 2, 4, 7)

# Addressing counters of a thread's matrix and vector instructions (ISA: RWCs.md)
RWC = np.dtype(
    [(name, np.int64) for name in "dst dst_cr src_a src_a_cr src_b src_b_cr fidelity extra_addr_mod".split()]
)
# Addressing counters of a channel of an unpacker or of the packers, for one thread (ISA: ADCs.md)
ADC = np.dtype([(name, np.int64) for name in "x x_cr y y_cr z z_cr w w_cr".split()])
UNPACKER_0, UNPACKER_1, PACKERS = 0, 1, 2  # owners of ADCs
SEMAPHORE = np.dtype([("value", np.int64), ("max", np.int64)])

# `src_a_owner`, `src_b_owner`: int64[2], a bank's BY_*; `matrix_bank_a`, `_b`, `unpack_bank_a`, `_b`: the bank a unit works on;
# `dst_undefined_at`: u8[1024], rows that ZEROACC has marked; `mutexes`: int64[8], the thread that holds it or NO_THREAD;
# `buffers_at`: the core's rows of circular buffers (`tensim.sim.cores.context`), whose counters the registers of overlay streams
# from `first_stream` on are (`tile_registers`); `counter_written`: what a thread has written into one of them and who runs the tile
# has not yet taken over, with `counter_thread`, `_buffer`, `_received` (or popped), `_value` and `_at`, the cycle;
# `counter_delay`: cycles until others see a change; `l1_stored`: bytes that a RISC-V core has stored at `l1_stored_at`, likewise;
# `port0_*`, `port1_*`: of the cores' ports into L1 (`tensim.sim.cores.store_queue`);
# `stepped`: the last cycle that was simulated; `tdma_at`: uint32[1024];
# `n_cores`: RISC-V cores that run here, the threads' own or all five of the tile; `debug_at`: uint32[3072], registers for control,
# debugging and status, 0 where no core reaches them; `niu_at`, `streams_at`, `ethernet_at`: likewise uint32[0x8000],
# [0x10000] and [0x8000], registers of both NIUs, of the overlay streams and of an Ethernet tile's queues;
# `asked`: what core `asked_by` asks for; `written_at`: cycle at which others have written to L1, -1 when they have not;
# `unknown_at`: int64[64], addresses of registers that are not modelled and were accessed nevertheless, 0 where such an access stops
# who makes it; `printed`: kind of what core `printed_by` prints (`tensim.sim.cores.riscv.traps.Print`), 0 for nothing;
# `cores_look`: something has changed that a core may wait for, beside the passing of time;
# `fault`, `fault_*`: what stopped the coprocessor (`tensim.sim.cores.coprocessor.faults`)
COPROCESSOR = np.dtype(
    [(name, np.int64) for name in (
        "chip data_on fast l1_at l1_size l1_known_at "
        "dst_at dst_undefined_at src_a_at src_b_at src_a_owner_at src_b_owner_at "
        "matrix_bank_a matrix_bank_b unpack_bank_a unpack_bank_b "
        "rwcs_at adcs_at gprs_at config_at thread_config_at semaphores_at mutexes_at "
        "buffers_at first_stream counter_written counter_thread counter_buffer counter_received counter_value counter_at "
        "counter_delay "
        "l1_stored l1_stored_at l1_stored_by port0_stores port1_stores port0_begun port1_begun tdma_at stepped "
        "vector_at matrix_at packers_at unpackers_at frontends_at units_at costs_at mailboxes_at pc_buffers_at "
        "dst_access_16_as_32 n_cores debug_at niu_at streams_at ethernet_at asked asked_by asked_at "
        "written_at unknown_at printed printed_by cores_look "
        "fault fault_thread fault_word fault_a fault_b cycle"
    ).split()]
)  # fmt: skip

coprocessor_table = table(COPROCESSOR)
# The same record where machine code is made for one chip: what its first word would say is known
CHIPS = ("wormhole_b0", "blackhole")
_OF_A_CHIP = [np.dtype([(name, np.int64) for name in (chip, *COPROCESSOR.names[1:])]) for chip in CHIPS]
wormhole_table, blackhole_table = (table(dtype) for dtype in _OF_A_CHIP)
rwc_table, adc_table, semaphore_table = table(RWC), table(ADC), table(SEMAPHORE)
words, halves, octets, counters = table(np.uint32), table(np.uint16), table(np.uint8), table(np.int64)


class CoprocessorArrays(NamedTuple):
    """The arrays behind a COPROCESSOR record, which keep its memory alive."""

    record: np.ndarray
    dst: np.ndarray  # uint16[1024, 16]
    dst_undefined: np.ndarray  # uint8[1024]
    src_a: np.ndarray  # uint32[2, 64, 16]
    src_b: np.ndarray  # uint32[2, 64, 16]
    src_a_owner: np.ndarray  # int64[2]
    src_b_owner: np.ndarray  # int64[2]
    rwcs: np.ndarray  # RWC[3]
    adcs: np.ndarray  # ADC[3, 3, 2]: thread, owner, channel
    gprs: np.ndarray  # uint32[3, 64]
    config: np.ndarray  # uint32[2, N_CONFIG]
    thread_config: np.ndarray  # uint32[3, N_THREAD_CONFIG]
    semaphores: np.ndarray  # SEMAPHORE[8]
    mutexes: np.ndarray  # int64[8]
    tdma: np.ndarray  # uint32[1024], registers of TDMA-RISC


def make_coprocessor(arch, l1):
    """A coprocessor after reset and the firmware's boot, before the units have added their records.

    `arch`: "wormhole_b0" or "blackhole"; `l1`: uint8 array, the tile's memory.  Returns `CoprocessorArrays`.
    """
    record = np.zeros(1, COPROCESSOR)
    arrays = CoprocessorArrays(
        record=record,
        dst=np.zeros((DST_ROWS, COLUMNS), np.uint16),
        dst_undefined=np.zeros(DST_ROWS, np.uint8),
        src_a=np.zeros((2, SRC_ROWS, COLUMNS), np.uint32),
        src_b=np.zeros((2, SRC_ROWS, COLUMNS), np.uint32),
        src_a_owner=np.zeros(2, np.int64),
        src_b_owner=np.zeros(2, np.int64),
        rwcs=np.zeros(N_THREADS, RWC),
        adcs=np.zeros((N_THREADS, 3, 2), ADC),
        gprs=np.zeros((N_THREADS, N_GPRS), np.uint32),
        config=np.zeros((2, N_CONFIG), np.uint32),
        thread_config=np.zeros((N_THREADS, N_THREAD_CONFIG), np.uint32),
        semaphores=np.zeros(N_SEMAPHORES, SEMAPHORE),
        mutexes=np.full(N_MUTEXES, NO_THREAD, np.int64),
        tdma=np.zeros(TDMA_BYTES // 4, np.uint32),
    )
    for name in arrays._fields[1:]:
        record[f"{name}_at"] = getattr(arrays, name).ctypes.data
    arrays.semaphores["max"][list(BOUNDED_SEMAPHORES)] = 1
    record["chip"] = CHIPS.index(arch)
    record["l1_at"], record["l1_size"] = l1.ctypes.data, len(l1)
    record["data_on"], record["n_cores"], record["written_at"] = 1, N_THREADS, -1
    return arrays


@Intrinsic
def chip_of(typingctx, c):
    """WORMHOLE or BLACKHOLE: a constant of machine code for one chip (`blackhole_table`), else what the record says."""
    first = next(iter(c.fields))

    def codegen(context, builder, signature, args):
        if first in CHIPS:
            return context.get_constant(types.int64, CHIPS.index(first))
        return builder.load(builder.bitcast(args[0], ir.IntType(64).as_pointer()))

    return types.int64(c), codegen


@compiled()
def position_of(c, register):
    """Where a field lies (`field_positions`): constants of the machine code where the field is named."""
    return BLACKHOLE_POSITIONS[register] if chip_of(c) == BLACKHOLE else WORMHOLE_POSITIONS[register]


@compiled()
def config_bank(c, thread):
    """Which of the two banks of the configuration a thread's instructions use."""
    return thread_field(c, thread, STATE_ID, 0)


@compiled()
def config_word(c, bank, index):
    """Word `index` of a bank of the configuration."""
    return load_u32(c.config_at + 4 * (bank * N_CONFIG + index))


@compiled()
def field(c, bank, register, further):
    """Value of a field of the configuration, or of the one `further` words on."""
    position = position_of(c, register)
    word = config_word(c, bank, (position & 0xFFFF) + further)
    return (word >> (position >> 16 & 0xFF)) & ((1 << (position >> 24)) - 1)


@compiled()
def field_word(c, register):
    """Index of the word of the configuration that holds a field."""
    return position_of(c, register) & 0xFFFF


@compiled()
def thread_field(c, thread, register, further):
    """Value of a field of a thread's configuration, or of the one `further` words on."""
    position = position_of(c, register)
    word = load_u32(c.thread_config_at + 4 * (thread * N_THREAD_CONFIG + (position & 0xFFFF) + further))
    return (word >> (position >> 16 & 0xFF)) & ((1 << (position >> 24)) - 1)


@compiled(inline="always")
def dst32_row(row):
    """Row of Dst that holds the upper halves of row `row` of 32-bit values; the lower halves lie 8 rows on (ISA: Dst.md)."""
    return ((row & 0x1F8) << 1) | (row & 0x207)


@compiled()
def read_dst16(c, row, column):
    """A 16-bit value of Dst as it lies there."""
    return load_u16(c.dst_at + 2 * (COLUMNS * row + column))


@compiled()
def write_dst16(c, row, column, value):
    """Put a 16-bit value into Dst."""
    store_16(c.dst_at + 2 * (COLUMNS * row + column), value)


@compiled()
def read_dst32(c, row, column):
    """A 32-bit value of Dst as it lies there."""
    at = c.dst_at + 2 * (COLUMNS * dst32_row(row) + column)
    return load_u16(at) << 16 | load_u16(at + 16 * COLUMNS)


@compiled()
def write_dst32(c, row, column, value):
    """Put a 32-bit value into Dst."""
    at = c.dst_at + 2 * (COLUMNS * dst32_row(row) + column)
    store_16(at, value >> 16)
    store_16(at + 16 * COLUMNS, value)


@compiled(inline="always")
def src_at(base, bank, row):
    """Host address of a row of SrcA or SrcB; `base`: `src_a_at` or `src_b_at`."""
    return base + 4 * COLUMNS * (SRC_ROWS * bank + row)


@compiled()
def read_gpr(c, thread, index):
    """A thread's GPR."""
    return load_u32(c.gprs_at + 4 * (N_GPRS * thread + index))


@compiled()
def write_gpr(c, thread, index, value):
    """Set a thread's GPR."""
    store_32(c.gprs_at + 4 * (N_GPRS * thread + index), value)
