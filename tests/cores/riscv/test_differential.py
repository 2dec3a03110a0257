"""Random programs on the simulated core and on the slow interpreter: registers and memory must agree.

TENSIM_RISCV_INSTRUCTIONS sets how many instructions are compared; a million in the large run.
"""

import os
import random

from tensim.sim.cores.riscv.layout import LOCAL_BASE
from tests.cores.riscv.assembler import (
    BRANCHES,
    IMMEDIATE,
    LOADS,
    REGISTER,
    SHIFT,
    SP,
    STORES,
    addi,
    arithmetic,
    assemble,
    auipc,
    branch,
    elf,
    end,
    jal,
    li,
    load,
    lui,
    store,
)  # fmt: skip
from tests.cores.riscv.machine import OUT, run, words
from tests.cores.riscv.reference import Reference, Stopped

INSTRUCTIONS = int(os.environ.get("TENSIM_RISCV_INSTRUCTIONS", 30_000))
L1_BASE, LOCAL, COUNT = 30, 31, 29  # registers that keep their meaning: two memories, rounds left
PLAIN = [r for r in range(1, 29) if r != SP]
BLOCK, ROUNDS, SPAN = 60, 40, 1024  # instructions of the loop, its rounds, bytes of each memory


def instruction(choose, index):
    """A random instruction of the loop; jumps go forwards by a little."""
    rd, rs1, rs2 = (choose.choice(PLAIN) for _ in range(3))
    kind = choose.random()
    if kind < 0.40:
        return arithmetic(choose.choice(list(REGISTER)), rd, rs1, rs2)
    if kind < 0.58:
        return arithmetic(choose.choice(list(IMMEDIATE)), rd, rs1, choose.randrange(-2048, 2048))
    if kind < 0.66:
        return arithmetic(choose.choice(list(SHIFT)), rd, rs1, choose.randrange(32))
    if kind < 0.72:
        return choose.choice((lui, auipc))(rd, choose.randrange(1 << 20))
    if kind < 0.92:
        names = LOADS if kind < 0.82 else STORES
        name = choose.choice(list(names))
        size = 1 << (names[name] & 3)
        offset = choose.randrange(SPAN // size) * size - SPAN // 2
        return (load if kind < 0.82 else store)(name, rd, choose.choice((L1_BASE, LOCAL)), offset)
    target = f"i{min(index + choose.randrange(1, 5), BLOCK)}"
    return jal(rd, target) if kind > 0.97 else branch(choose.choice(list(BRANCHES)), rs1, rs2, target)


def random_program(seed):
    """(words before the loop, the loop and what leaves the registers in L1)."""
    choose = random.Random(seed)
    program = [li(r, choose.choice((choose.getrandbits(32), choose.randrange(-9, 9)))) for r in PLAIN]
    program += [li(L1_BASE, OUT + SPAN // 2), li(LOCAL, LOCAL_BASE + 0x800 + SPAN // 2), addi(COUNT, 0, ROUNDS), "loop"]
    for index in range(BLOCK):
        program += [f"i{index}", instruction(choose, index)]
    program += [f"i{BLOCK}", addi(COUNT, COUNT, -1), branch("bne", COUNT, 0, "loop")]
    program += [li(COUNT, OUT + 2 * SPAN)]
    program += [store("sw", r, COUNT, 4 * r) for r in range(1, 29) if r != SP]
    return assemble([program, end()])


def test_random_programs():
    compared, seed = 0, 0
    while compared < INSTRUCTIONS:
        text = random_program(seed)
        reference = Reference(text)
        try:
            while True:
                reference.step()
        except Stopped as stop:
            assert str(stop) == "operation"
        chip = run(elf(text), arch="blackhole" if seed % 2 else "wormhole_b0")
        assert int(chip.machine["instructions"]) == reference.executed
        for start in (OUT, OUT + 2 * SPAN):
            found = words(chip, SPAN // 4, address=start)
            assert found == [reference.read(start + 4 * i, 4) for i in range(SPAN // 4)], f"seed {seed}"
        compared += reference.executed
        seed += 1
