"""A tile's two NIUs by their registers: command buffers, counters, identities.

Registers: noc_parameters.h of both chips in ttnn 0.81.1; ISA, NoC/MemoryMap.md and NoC/Counters.md.

A command goes off when a core writes NOC_CMD_CTRL.  Here it becomes a `Request`, which the chip carries out
(`tensim.sim.register_level.network`).
"""

from dataclasses import dataclass

import numpy as np

from tensim.sim.cores.coprocessor.tile_registers import NIUS

NIU_BYTES = 0x10000
N_NOCS = 2
# by chip: bytes of a command buffer; AT_DATA, CMD_CTRL, NODE_ID, CLEAR_OUTSTANDING in it
LAYOUTS = {"wormhole_b0": (0x400, 0x24, 0x28, 0x2C, 0x50), "blackhole": (0x800, 0x28, 0x40, 0x44, 0x60)}
TARGET, RETURN, TAG, CONTROL, LENGTH = 0x0, 0xC, 0x18, 0x1C, 0x20  # in a command buffer; addresses are three words
STATUS, CONFIG = 0x200, 0x100
TRANSLATES = 14  # bit of NIU_CFG_0, the first word behind CONFIG
LOGICAL_IDS = {"wormhole_b0": 0xE, "blackhole": 0x12}  # word behind CONFIG, by chip
# counters: words behind STATUS
ATOMIC_RESPONSES, WRITE_ACKS, READ_RESPONSES, ACCEPTED = 0x0, 0x1, 0x2, 0x4
READS_SENT, ATOMICS_SENT, POSTED_ATOMICS_SENT = 0x5, 0x6, 0x7
WRITES_SENT, POSTED_WRITES_SENT, WRITES_STARTED, POSTED_WRITES_STARTED = 0xA, 0xB, 0xC, 0xD
READS_STARTED, ATOMICS_STARTED = 0xE, 0xF
OUTSTANDING, OUTGOING = 0x10, 0x20  # one for each of 16 transaction identifiers
# of CONTROL
ATOMIC, WRITE, INLINE, MARKED, BROADCAST, LINKED, STATIC, INCLUDES_SOURCE = (
    1 << bit for bit in (0, 1, 3, 4, 5, 6, 7, 17)
)
VC_SHIFT, VC_MASK = 13, 7
MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class Request:
    """A command.  `kind`: "read", "write", "inline" or "atomic"; `x`, `y`: of the other tile, or the corners (x0, y0, x1, y1).

    `remote`, `local`: addresses; `value`: what an inline write or an atomic brings; `operation`: the atomic's instruction, or the
    bytes of a flit that an inline write writes, by bit.
    """

    noc: int
    kind: str
    place: tuple
    remote: int
    local: int
    size: int
    identifier: int
    is_marked: bool
    is_broadcast: bool
    is_linked: bool
    includes_source: bool
    value: int
    operation: int
    answer: tuple  # place and address of an atomic's old value
    static_vc: int | None  # None: routers choose
    buffer: int  # first word of its command buffer


class Niu:
    """Registers of both NIUs of a tile.  `coordinates`: (x, y) of the tile by NoC, `translated`: as the driver names it."""

    def __init__(self, arch, coordinates, translated):
        self.registers = np.zeros(N_NOCS * NIU_BYTES // 4, np.uint32)
        self.chip = arch.name
        self.buffer_bytes, self.data, self.go, self.node, self.clear = LAYOUTS[self.chip]
        width, height = arch["chip.noc_grid"]
        for noc, (x, y) in enumerate(coordinates):
            self._set(noc, self.node, x | y << 6 | width << 12 | height << 19)
            self._set(noc, CONFIG, 1 << TRANSLATES)
            self._set(noc, CONFIG + 4 * LOGICAL_IDS[self.chip], translated[0] | translated[1] << 6)

    def _set(self, noc, place, value):
        self.registers[(noc * NIU_BYTES + place) // 4] = value

    def count(self, noc, counter, change=1):
        """Change a counter."""
        at = (noc * NIU_BYTES + STATUS) // 4 + counter
        self.registers[at] = (int(self.registers[at]) + change) & MASK

    def written(self, address):
        """What a core's write to a register sets off: a `Request`, or None."""
        noc, place = divmod(address - NIUS, NIU_BYTES)
        buffer, inside = divmod(place, self.buffer_bytes)
        if inside == self.clear and buffer == 0:
            mask = int(self.registers[(noc * NIU_BYTES + inside) // 4])
            for identifier in range(16):
                if mask >> identifier & 1:
                    self.registers[(noc * NIU_BYTES + STATUS) // 4 + OUTSTANDING + identifier] = 0
            return None
        if inside != self.go or not int(self.registers[(address - NIUS) // 4]) & 1:
            return None
        return self._request(noc, (noc * NIU_BYTES + buffer * self.buffer_bytes) // 4)

    def taken(self, request):
        """A request has left its command buffer, which takes the next one."""
        self.registers[request.buffer + self.go // 4] = 0

    def _request(self, noc, first):
        words = self.registers
        control, length = int(words[first + CONTROL // 4]), int(words[first + LENGTH // 4])
        target, target_place = self._address(first + TARGET // 4)
        answer, answer_place = self._address(first + RETURN // 4)
        identifier = int(words[first + TAG // 4]) >> 10 & 15
        is_marked, is_broadcast = bool(control & MARKED), bool(control & BROADCAST)
        shared = {
            "noc": noc, "buffer": first, "identifier": identifier, "is_marked": is_marked, "is_broadcast": is_broadcast,
            "is_linked": bool(control & LINKED), "includes_source": bool(control & INCLUDES_SOURCE),
            "static_vc": control >> VC_SHIFT & VC_MASK if control & STATIC else None,
            "value": int(words[first + self.data // 4]), "operation": length, "answer": (answer_place, answer),
        }  # fmt: skip
        if control & ATOMIC:
            return Request(kind="atomic", place=target_place, remote=target, local=0, size=4, **shared)
        if control & WRITE and control & INLINE:
            return Request(kind="inline", place=target_place, remote=target, local=0, size=4, **shared)
        if control & WRITE:
            return Request(kind="write", place=answer_place, remote=answer, local=target, size=length, **shared)
        return Request(kind="read", place=target_place, remote=target, local=answer, size=length, **shared)

    def _address(self, first):
        """(Address in a tile, coordinates) of the three words of an address; Wormhole has 36 bits of the former first."""
        low, middle, high = (int(word) for word in self.registers[first : first + 3])
        if self.chip == "blackhole":
            return low | middle << 32, high & 0xFFFFFF
        return low | (middle & 15) << 32, (middle >> 4 | high << 28) & 0xFFFFFF


def corners(place):
    """(x, y) of coordinates, or (end x, end y, start x, start y) of those of a rectangle."""
    return place & 63, place >> 6 & 63, place >> 12 & 63, place >> 18 & 63
