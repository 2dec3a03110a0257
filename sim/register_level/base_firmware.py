"""What an Ethernet tile's own firmware has left in L1 when the driver comes: the state of a trained link, and a program that
lends its core to who asks for it.

On silicon the boards' firmware trains the link, writes down how that went, and waits for messages, one of which has it call a
program of the host's.  Here stand those words, at the places of eth_fw_api.h and eth_l1_address_map.h of ttnn 0.81.1,
and a loop of our own that answers such messages; the functions that its table offers to others do nothing, because no link falls.
"""

import numpy as np

from tensim.sim.cores.coprocessor.debug_registers import SOFT_RESET
from tensim.sim.cores.coprocessor.state import BRISC
from tensim.sim.register_level.core_sets import ETHERNET_ENTRIES

# Of Blackhole: where our loop lies; the state of the link, what lies behind it there, and messages
PROGRAM, STATUS, MAILBOX = 0x70000, 0x7CC00, 0x7D000
POSTCODE, PORT, TRAINED, LIVE = 0x0, 0x4, 0x8, 0x200 + 0x4
BOOTED, UP, PASSED = 0xC0DEA000, 1, 2
FUNCTIONS, N_FUNCTIONS = STATUS + 0x300, 5  # addresses of functions
VERSION = STATUS + 0x3BC  # patch, minor, major in bytes
OWN, PEER = STATUS + 0x3C0, STATUS + 0x3E0  # who is at the ends of the link
TILE, CHANNEL, CHIP = 2, 3, 24  # behind these: the tile's number twice, the chip's
RELEASED = (1, 9, 0)  # a version from which on both cores of a tile run programs of the host's
# Waits for a message CALL, answers it with DONE and, when it is RELEASE_CORE, calls the function that its first argument names
MESSAGES = (
    0xFFB00137,  # lui   sp, the firmware's own part of the local memory
    0x6F010113,  # addi  sp, sp, 0x6f0
    0x0007D437,  # lui   s0, MAILBOX
    0x0000D4B7,  # lui   s1, CALL >> 16
    0xA1148493,  # addi  s1, s1, ...
    0x00042503,  # lw    a0, 0(s0)
    0x01055593,  # srli  a1, a0, 16
    0xFE959CE3,  # bne   a1, s1, -8
    0x01051513,  # slli  a0, a0, 16
    0x01055513,  # srli  a0, a0, 16
    0xD0E505B7,  # lui   a1, DONE
    0x00A5E5B3,  # or    a1, a1, a0
    0x00442603,  # lw    a2, 4(s0)
    0x00B42023,  # sw    a1, 0(s0)
    0x00200593,  # addi  a1, zero, RELEASE_CORE
    0xFCB51CE3,  # bne   a0, a1, -40
    0x000600E7,  # jalr  a2
    0xFD1FF06F,  # jal   zero, -48
    0x00008067,  # ret
)
# Of Wormhole: a loop; the link's state, and the address of the function that programs call now and then
WORMHOLE_PROGRAM, TRAIN_STATUS, HEARTBEAT, JUMP_TABLE = 0x4000, 0x1104, 0x1C, 0x9020
TRAIN_SUCCESS = 1
# Waits for the flag behind 0x9000, and calls the program that lies behind it
FLAG = (
    0xFFB01137,  # lui   sp, the end of the local memory
    0xFF010113,  # addi  sp, sp, -16
    0x00009437,  # lui   s0, 0x9
    0x00442503,  # lw    a0, 4(s0)
    0xFE050EE3,  # beq   a0, zero, -4
    0x04040513,  # addi  a0, s0, 0x40
    0x000500E7,  # jalr  a0
    0xFF1FF06F,  # jal   zero, -16
    0x00008067,  # ret
)


def _blackhole(ends):
    """Words by address."""
    words = {STATUS + POSTCODE: BOOTED, STATUS + PORT: UP, STATUS + TRAINED: PASSED, STATUS + LIVE: 1}
    words |= {FUNCTIONS + 4 * i: PROGRAM + 4 * (len(MESSAGES) - 1) for i in range(N_FUNCTIONS)}
    major, minor, patch = RELEASED
    words[VERSION] = major << 16 | minor << 8 | patch
    for place, (chip, number) in zip((OWN, PEER), ends, strict=True):
        words |= {place: number << 8 * TILE | number << 8 * CHANNEL, place + CHIP: 1 + chip}
    return words


def _wormhole(_):
    return {TRAIN_STATUS: TRAIN_SUCCESS, HEARTBEAT: 1, JUMP_TABLE: WORMHOLE_PROGRAM + 4 * (len(FLAG) - 1)}


# By chip: where the loop lies, the loop, and what else lies in L1
FIRMWARE = {"blackhole": (PROGRAM, MESSAGES, _blackhole), "wormhole_b0": (WORMHOLE_PROGRAM, FLAG, _wormhole)}


def boot(tile, ends):
    """Let an Ethernet tile be as after power-on, with a link.

    `ends`: ((number of its chip, of its tile), the same of the other end).
    """
    begin, loop, state = FIRMWARE[tile.arch]
    words = state(ends) | {begin + 4 * i: word for i, word in enumerate(loop)}
    l1 = tile.l1.view(np.uint32)
    for address, word in words.items():
        l1[address // 4] = word
    tile.set_word(ETHERNET_ENTRIES, begin)
    running = tile.set.in_reset & ~(1 << tile.set.reset_bits[BRISC])
    tile.write(SOFT_RESET, running.to_bytes(4, "little"))
