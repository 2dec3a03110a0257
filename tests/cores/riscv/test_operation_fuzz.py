"""Operations that no compiler posts, with arguments that none makes: errors, and no memory of others."""

import subprocess
import sys

import pytest

from tensim.sim.arch import load_arch
from tensim.sim.cores.operations import ARGUMENTS, Barrier, Op
from tensim.sim.errors import ProgramError
from tests.cores.riscv.assembler import T0, kernel_elf, li, operation
from tests.cores.riscv.machine import run

CI_PROGRAMS = 200


def test_any_operation_ends_or_is_refused():
    """In a process of its own: what it finds ends the process."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.cores.riscv.operation_fuzz", str(CI_PROGRAMS)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stdout[-100:] + ended.stderr


def posts(op, *values):
    """A kernel that posts an operation; a value of 64 bits is two words."""
    arguments, register = [], T0
    for kind in ARGUMENTS[op]:
        arguments.append(("q", register, register + 1) if kind == "q" else ("x", register))
        register += 2 if kind == "q" else 1
    return kernel_elf([li(T0 + i, value) for i, value in enumerate(values)], operation(op, *arguments))


REFUSED = {
    "a command buffer": (Op.NOC_SET_STATE, (0x10000000, 0, 0, 0, 0, 0, 0, 0), "no SavedBuffer 268435456"),
    "a barrier": (Op.NOC_BARRIER, (77, 0, 0), "no Barrier 77"),
    "an id that is none": (Op.NOC_BARRIER, (Barrier.READ_TRID, 0, 0xFFFFFFFF), "transaction id -1"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_with_its_reason(what):
    op, values, match = REFUSED[what]
    with pytest.raises(ProgramError, match=match):
        run(posts(op, *values))


@pytest.mark.parametrize(("name", "banks"), [("wormhole_b0", 2), ("blackhole", 1)])
def test_a_dram_tile_has_its_own_banks_alone(name, banks):
    arch = load_arch(name)
    x, y, *_ = arch.dram_endpoints[0][0]

    def read_from(offset):
        address = y << 42 | x << 36 | offset
        run(posts(Op.NOC_READ, address & 0xFFFFFFFF, address >> 32, 0x20000, 64, 0, 0xFFFFFFFF, 0, 0xFFFFFFFF), name)

    end = banks * arch.dram_bank_bytes
    read_from(end - 64)
    with pytest.raises(ProgramError, match="outside DRAM bank"):
        read_from(end)
