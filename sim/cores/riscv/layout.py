"""Addresses that a RISC-V kernel sees, and what the loader writes into a core's local memory before it starts.

| address | what |
|---|---|
| 0 to the size of L1 | the core's own L1 |
| LOCAL_BASE | local data memory: firmware words, the kernel's data, and the stack from its end downwards |
| CB_WINDOW + CB_STRIDE * index + 8 * column | the columns of a circular buffer's row (`tensim.sim.cores.context`) |
| WALL_CLOCK_LOW, _HIGH, _HIGH_AT | cycles since the chip's reset: low word, high word, high word at the load of the low one |
| REGISTERS and above | other registers of the chip are not there |

Text is linked at 0 and runs there; in L1 it lies at a place of the kernel-configuration space, which the instruction cache
sees.  Sizes of local memory: docs/hardware/chips.md#l1-layout.
"""

import numpy as np

LOCAL_BASE = 0xFFB00000
STACK_POINTER = 2  # the register
CB_WINDOW = 0xFFC40000
CB_STRIDE = 512  # bytes
# Registers of the tile (ISA, BabyRISCV/README.md; RISCV_DEBUG_REG_WALL_CLOCK_L and _H of kernels)
WALL_CLOCK_LOW, WALL_CLOCK_HIGH, WALL_CLOCK_HIGH_AT = 0xFFB121F0, 0xFFB121F4, 0xFFB121F8
REGISTERS = 0xFFB10000  # the first of the chip's registers: RISCV_DEBUG_REG_*, the NIUs, the Tensix engine
# Where the texts of a compute kernel's three processors are linked at the instruction level, outside of what they access
TEXT_ADDRESSES = {2: 0x400000, 3: 0x500000, 4: 0x600000}
TEXT_ROOM = 0x1000  # bytes behind those addresses at which a text may begin
BANKS_AT = 0x40  # of the firmware words: tables of banks
LOCAL_BYTES = "riscv.local_bytes"  # key of the sizes, by kind of core


def local_bytes(arch, slot):
    """Size of the local memory of a core's thread `slot` (0 BRISC, 1 NCRISC, 2 to 4 TRISC0 to 2)."""
    return arch[f"{LOCAL_BYTES}.{'data_movement' if slot < 2 else 'compute'}"]


def _aligned(size, alignment):
    return -(-size // alignment) * alignment


def _bank_table(coordinates, offsets):
    """Bytes of a table of banks: x | y << 6 for each NoC (uint16), then byte offsets (int32), each 4-byte aligned.

    `coordinates`: those of all banks for NoC 0, then for NoC 1.
    """
    places = np.array([x | y << 6 for x, y in coordinates], np.uint16).tobytes()
    places = places.ljust(_aligned(len(places), 4), b"\0")
    return places + np.array(offsets, np.int64).astype(np.int32).tobytes()


def bank_tables(arch, l1_banks=None):
    """Bytes of the firmware words from BANKS_AT on: the DRAM banks, then the L1 banks, in NoC-0 coordinates for both.

    `l1_banks`: the worker of each L1 bank; None: bank i is worker i.
    """
    dram = [(x, y) for places in arch.dram_endpoints for x, y, _ in places]
    offsets = [offset for _, _, offset in arch.dram_endpoints[0]]
    workers = list(arch.kernel_coords) if l1_banks is None else [arch.kernel_coords[worker] for worker in l1_banks]
    return _bank_table(dram, offsets) + _bank_table(workers * 2, [0] * len(workers))


def firmware_bytes(arch):
    """Size of the firmware words, where a kernel's data begin."""
    return _aligned(BANKS_AT + len(bank_tables(arch)), 16)


def firmware_words(*, arguments, place, noc, core, slot):
    """The first BANKS_AT bytes.

    `arguments`: (L1 address of the unique ones, of the common ones, of semaphore 0, number of unique ones, of common ones);
    `place`: ((x, y) as NoC addresses name the core, logical (x, y), (x, y) relative to the sub-device).
    """
    (x, y), logical, relative = place
    words = np.zeros(BANKS_AT // 4, np.uint32)
    words[:5] = arguments
    words.view(np.uint8)[0x14:0x1C] = [x, x, y, y, *logical, *(value & 255 for value in relative)]
    words[7:10] = noc, core, slot
    return words.tobytes()
