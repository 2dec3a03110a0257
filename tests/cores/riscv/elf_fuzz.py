"""Damages ELF files of kernels: each is refused with offset and field, or it is loaded, decoded and asked for its lines.

`python -m tests.cores.riscv.elf_fuzz [COUNT]` takes 100,000 mutations without one; the test takes a few hundred.
"""

import random
import sys

from tensim.sim.arch import load_arch
from tensim.sim.cores.operations import Op
from tensim.sim.cores.riscv.program import RiscvKernel
from tensim.sim.errors import BinaryError
from tests.cores.riscv.assembler import A0, S0, T0, ZERO, addi, branch, kernel_elf, li, load, operation, store

MUTATIONS = 100_000
INTERESTING = (0, 1, 4, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFB00000)


def seeds():
    """Well-formed kernels, one with data and texts."""
    program = [li(S0, 0x20000), "loop", load("lw", T0, S0), addi(A0, A0, 1), branch("bne", T0, ZERO, "loop")]
    plain = kernel_elf(program, store("sw", A0, S0), operation(Op.RISCV_WAIT, ("x", A0)))
    rich = kernel_elf(program, operation(Op.NOC_ATOMIC_INC, ("q", A0, T0), 1, 0, 0, -1), data=b"12345678", data_bytes=32,
                      texts=(0x70000000, b"a text\0"))  # fmt: skip
    return [plain, rich]


def mutated(raw, choose):
    """A copy with one to eight damages: bits, bytes, words, a piece moved, or the end cut off."""
    data = bytearray(raw)
    for _ in range(choose.randrange(1, 9)):
        kind, at = choose.randrange(5), choose.randrange(len(data))
        if kind == 0:
            data[at] ^= 1 << choose.randrange(8)
        elif kind == 1:
            data[at] = choose.randrange(256)
        elif kind == 2:
            word = choose.choice(INTERESTING).to_bytes(4, "little")
            at -= at % 4
            data[at : at + 4] = word[: len(data) - at]
        elif kind == 3:
            piece = data[at : at + choose.randrange(1, 33)]
            to = choose.randrange(len(data))
            data[to : to + len(piece)] = piece[: len(data) - to]
        else:
            del data[max(at, 1) :]
    return bytes(data)


def fuzz(count, raws, seed=0):
    """(accepted, refused) of `count` mutations; anything but a BinaryError with offset and field is raised."""
    choose, arch, accepted = random.Random(seed), load_arch("wormhole_b0"), 0
    for _ in range(count):
        raw = mutated(choose.choice(raws), choose)
        try:
            program = RiscvKernel("fuzzed", "fuzzed.cpp", {0: raw}, arch).on(0)
        except BinaryError as error:
            assert {"offset", "field"} <= set(error.where)
            continue
        accepted += 1
        assert len(program.decoded.records) == program.n_rows
        for row in range(0, program.n_rows, 7):
            program.place(row)
        program.message(0x70000000)
    return accepted, count - accepted


if __name__ == "__main__":
    print("{} accepted, {} refused".format(*fuzz(int(sys.argv[1]) if len(sys.argv) > 1 else MUTATIONS, seeds())))
