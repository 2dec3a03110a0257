"""The text of a tile's cores, decoded when a core comes to it: in L1, or in the instruction RAM of Wormhole's NCRISC and ERISC."""

import numpy as np

from tensim.sim.cores.coprocessor.baby_core import (
    END,
    FAULTED,
    MISALIGNED,
    OUTSIDE_TEXT,
    TENSIX_WORD,
    UNDECODED,
    decode,
)
from tensim.sim.cores.coprocessor.mover import TO_CONFIG, mover_cycles
from tensim.sim.cores.coprocessor.tile_registers import MOVER_COMMAND
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES
from tensim.sim.register_level.core_sets import TENSIX

NO_INSTRUCTION = int(decode(bytes([0xFF] * 4), 0, False)[0])
BLOCK_BYTES = 1024  # of text, decoded at a time
# Instruction RAM of Wormhole's NCRISC: where the core and the mover see it (ISA: InstructionRAM.md, Mover.md); TDMA-RISC's command
# that moves, its word of status with nothing to do, and the direction
RAM, RAM_VIEW, RAM_BYTES = 0xFFC00000, 0x40000, 16 * 1024
MOVE, TO_L0, MOVER_STATUS, MOVER_IDLE = 0x40, 1, 5, 1 << 3 | 1 << 5


class Text:
    """Decoded text of `tile`, a `RegisterTile`; `has_ram`: whether its last core has an instruction RAM."""

    def __init__(self, tile, has_ram):
        self._tile = tile
        self._ram = np.zeros(RAM_BYTES, np.uint8) if has_ram else None
        self._ram_text = self._decoded(bytes(RAM_BYTES), RAM).copy()
        self._records = np.full(len(tile.l1) // INSTRUCTION_BYTES, UNDECODED, np.int64)
        self._blocks = set()  # addresses of the blocks that are decoded
        for core in tile.cores.records:
            core["text_at"], core["text_base"], core["text_bytes"] = self._records.ctypes.data, 0, len(tile.l1)

    def provide(self, core):
        """Let a core find its next instruction: in L1, or in the instruction RAM."""
        pc = int(core["pc"])
        in_ram = self._ram is not None and RAM <= pc < RAM + len(self._ram)
        if in_ram:
            core["text_at"], core["text_base"], core["text_bytes"] = self._ram_text.ctypes.data, RAM, len(self._ram)
        elif pc + INSTRUCTION_BYTES <= len(self._tile.l1):
            core["text_at"], core["text_base"], core["text_bytes"] = self._records.ctypes.data, 0, len(self._tile.l1)
            self._decode(pc)
        else:
            core["state"], core["cause"] = FAULTED, OUTSIDE_TEXT

    def move(self, core):
        """Carry out the command that TDMA-RISC has been given (ISA: TDMA-RISC.md, Mover.md); the core waits as long as it takes."""
        source, target, count, mode = (int(value) for value in self._tile.arrays.tdma[:4])
        command = self._tile.word(MOVER_COMMAND) & 0xFF
        source, target, count = source << 4, target << 4, count << 4
        fits = (
            self._ram is not None
            and 0 <= target - RAM_VIEW <= len(self._ram) - count
            and source + count <= len(self._tile.l1)
        )
        if command != MOVE or mode != TO_L0 or not fits:
            core["state"], core["cause"], core["address"] = FAULTED, MISALIGNED, MOVER_COMMAND
            return
        self._fill(target - RAM_VIEW, source, count)
        core["clock"] += mover_cycles.py_func(count, TO_CONFIG)

    def load(self, word, core):
        """Fill an Ethernet tile's instruction RAM from L1, `word` times 16 bytes on (tt_eth_ss_regs.h of ttnn 0.81.1).

        No document says how long that takes: as long as the mover's copy.
        """
        self._fill(0, word << 4, RAM_BYTES)
        core["clock"] += mover_cycles.py_func(RAM_BYTES, TO_CONFIG)

    def _fill(self, place, source, count):
        """Copy from L1 to the instruction RAM, and decode it."""
        self._ram[place : place + count] = self._tile.l1[source : source + count]
        first, last = place // INSTRUCTION_BYTES, (place + count) // INSTRUCTION_BYTES
        content = self._ram[4 * first : 4 * last].tobytes()
        self._ram_text[first:last] = self._decoded(content, RAM + 4 * first)

    def _decoded(self, content, begin):
        """Records of text.  Words for a coprocessor are no instructions on a tile that has none."""
        records = decoded(content, begin, self._tile.arch == "blackhole")
        return records if self._tile.set is TENSIX else np.where(records & 0xFF == TENSIX_WORD, NO_INSTRUCTION, records)

    def _decode(self, address):
        """Decode the block of text in which an address lies."""
        begin = address - address % BLOCK_BYTES
        content = self._tile.l1[begin : begin + BLOCK_BYTES].tobytes()
        records = self._decoded(content, begin)
        self._records[begin // INSTRUCTION_BYTES : (begin + BLOCK_BYTES) // INSTRUCTION_BYTES] = records
        for stop in self._tile.debugger.breakpoints:
            if begin <= stop < begin + BLOCK_BYTES:
                self._records[stop // INSTRUCTION_BYTES] = END
        self._blocks.add(begin)

    def forget(self):
        """Decode text anew when a core comes to it."""
        for begin in self._blocks:
            self._records[begin // INSTRUCTION_BYTES : (begin + BLOCK_BYTES) // INSTRUCTION_BYTES] = UNDECODED
        self._blocks.clear()


_DECODED = {}


def decoded(content, begin, has_bit_instructions):
    """Records of a block of text, kept by content: the same firmware lies on all tiles of a chip."""
    key = content, begin, has_bit_instructions
    if key not in _DECODED:
        _DECODED[key] = decode(content, begin, has_bit_instructions)
    return _DECODED[key]
