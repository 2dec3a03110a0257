"""A compute kernel in C++, built against the vendor's LLK, on the coprocessor of one core and nothing else.

L1: the configuration of circular buffers and the arguments, then the buffers one after the other, the programs' texts at its end.
Nobody else moves pages: what a kernel waits for is there from the start, `Buffer.filled`.
"""

import functools
from dataclasses import dataclass

import numpy as np

from tensim.sim.arch import load_arch
from tensim.sim.cores import context as ctx
from tensim.sim.cores.coprocessor.tile import Tile
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.cores.riscv.compiler import Processor
from tensim.sim.cores.riscv.elf import load_elf
from tensim.sim.cores.riscv.layout import local_bytes
from tensim.sim.cores.riscv.llk.build import LlkBuild, compile_kernel
from tensim.sim.cores.riscv.llk.tree import find_tree

PROCESSORS = (Processor.TRISC0, Processor.TRISC1, Processor.TRISC2)
CONFIGURATION, ARGUMENTS, RESULTS, MEETING, FIRST_BUFFER = 0x1000, 0x2000, 0x2800, 0x3000, 0x4000  # L1 addresses
TEXT, TEXT_BYTES = 0x100000, 0x10000  # of the first program; the next ones follow
N_ARGUMENTS, N_RESULTS = 16, 160


@dataclass(frozen=True)
class Buffer:
    """A circular buffer of 32x32 tiles.

    `filled`: tiles pushed before the start; `to_dest`: 32-bit numbers go to Dst as they are.
    """

    index: int
    data_format: DataFormat
    tiles: int
    filled: int = 0
    to_dest: bool = False

    @property
    def page_bytes(self):
        return tile_size(self.data_format)


@functools.cache
def _arch(name):
    return load_arch(name)


def programs(arch, text, buffers, **settings):
    """The three ELF files of a kernel; `settings`: fields of `LlkBuild` (fidelity 0, 2, 3, 4, fp32_dest, ...)."""
    return tuple(program(arch, number, text, buffers, **settings) for number in range(len(PROCESSORS)))


def program(arch, number, text, buffers, **settings):
    """The ELF file of a kernel for the processor `number` of three."""
    chip = _arch(arch)
    direct = [0] * 64
    for buffer in buffers:
        direct[buffer.index] = int(buffer.to_dest)
    processor = PROCESSORS[number]
    return compile_kernel(
        LlkBuild(
            processor, chip, text=text, tree=find_tree(), text_address=TEXT + number * TEXT_BYTES,
            circular_buffers=tuple((one.index, int(one.data_format), 32, 32) for one in buffers),
            local_memory=local_bytes(chip, processor.value), to_dest=tuple(direct), **settings,
        )
    ).elf  # fmt: skip


class LoneCore:
    """A tile with a kernel loaded.  `arguments`: its run-time arguments; `data`: whether data move."""

    def __init__(self, arch, elfs, buffers, arguments=(), data=False):
        self.tile, self.arch, self.places = Tile(arch, data=data), arch, {}
        at = FIRST_BUFFER
        for buffer in buffers:
            size = buffer.tiles * buffer.page_bytes
            words = (at, size, buffer.tiles, buffer.page_bytes)
            self._words(CONFIGURATION + 16 * buffer.index, words)
            self.tile.buffers[buffer.index, ctx.CB_RECEIVED] = buffer.filled
            self.places[buffer.index] = at
            at += size
        if at > TEXT:
            raise ValueError(f"the buffers end at {at:#x}, behind the programs' beginning")
        self._words(ARGUMENTS, arguments)
        launch = np.zeros(16, np.uint32)
        launch[:5] = ARGUMENTS, ARGUMENTS, 0, len(arguments), 0
        launch[10], launch[11] = CONFIGURATION, sum(1 << buffer.index for buffer in buffers)
        for thread, raw in enumerate(elfs):
            self._load(thread, raw, launch)

    def _words(self, address, words):
        """Write 32-bit words to L1."""
        self.tile.l1[address : address + 4 * len(words)].view("<u4")[:] = words

    def _load(self, thread, raw, launch):
        local, base = self.tile.cores.local[thread], TEXT + thread * TEXT_BYTES
        image = load_elf(raw, len(local), base)
        if len(image.text) > TEXT_BYTES:
            raise ValueError(f"the text of thread {thread} has {len(image.text)} bytes; there is room for {TEXT_BYTES}")
        self.tile.l1[base : base + len(image.text)] = np.frombuffer(image.text, np.uint8)
        local[:64] = launch.view(np.uint8)
        for start, content in image.data:
            local[start : start + len(content)] = np.frombuffer(content, np.uint8)
        self.tile.record["first_stream"] = image.constant("tensim_first_stream", base)
        self.tile.load(thread, image.text, base, base + image.entry)

    def write(self, index, content):
        """Put bytes into a circular buffer."""
        at = self.places[index]
        self.tile.l1[at : at + len(content)] = np.frombuffer(content, np.uint8)

    def read(self, index, size):
        """The first `size` bytes of a circular buffer."""
        at = self.places[index]
        return self.tile.l1[at : at + size].tobytes()

    def run(self):
        """Run to the end; the cycle of that.  SimulatorError."""
        return self.tile.run()

    @property
    def results(self):
        """uint32[3, N_RESULTS]: what each thread has written behind RESULTS."""
        size = 4 * N_RESULTS * len(PROCESSORS)
        return self.tile.l1[RESULTS : RESULTS + size].view("<u4").reshape(len(PROCESSORS), N_RESULTS)
