"""L1 that others see: loads and stores happen in the order of all events, whether the core runs ahead or posts each of them."""

import pytest

from tensim.sim.chip.launch import ComputeSettings, SemaphoreLaunch
from tensim.sim.cores.operations import Op
from tensim.sim.cores.slots import BRISC, NCRISC
from tests.cores.riscv.assembler import (
    A0,
    A1,
    A2,
    A3,
    S0,
    T0,
    T1,
    T2,
    ZERO,
    addi,
    arithmetic,
    branch,
    kernel_elf,
    li,
    load,
    operation,
    store,
)
from tests.cores.riscv.machine import OUT, cycles, run, words

FLAG, RESULT = OUT, OUT + 64


def producer(delay):
    """Counts for a while, writes a value, then the flag."""
    return kernel_elf(
        li(S0, FLAG), li(T1, delay), "wait", addi(T1, T1, -1), branch("bne", T1, ZERO, "wait"),
        addi(A0, ZERO, 77), store("sw", A0, S0, 16), addi(A0, ZERO, 1), store("sw", A0, S0),
    )  # fmt: skip


def poller():
    """Polls the flag; leaves the number of looks and the value."""
    return kernel_elf(
        li(S0, FLAG), addi(A2, ZERO, 0), "poll", addi(A2, A2, 1), load("lw", A0, S0), branch("beq", A0, ZERO, "poll"),
        load("lw", A1, S0, 16), store("sw", A1, S0, 64), store("sw", A2, S0, 68),
    )  # fmt: skip


def busy(seed):
    """Loads, stores and arithmetic that depend on each other; the addresses walk over a few words."""
    return kernel_elf(
        li(S0, OUT + 0x100), li(T0, seed), li(T1, 300), "loop", arithmetic("andi", T2, T0, 0xFC),
        arithmetic("add", A3, S0, T2), load("lw", A0, A3), arithmetic("add", T0, T0, A0), arithmetic("mul", T0, T0, S0),
        arithmetic("srli", T0, T0, 3), store("sw", T0, A3), store("sb", T1, A3, 2), addi(T1, T1, -1),
        branch("bne", T1, ZERO, "loop"), operation(Op.RISCV_WAIT, 5), store("sw", T0, S0, 0x110),
    )  # fmt: skip


def counters(chip):
    """Everything that a run leaves behind."""
    names = "busy issue_busy started ended operations issued".split()
    threads = [chip.arrays["threads"][name].tolist() for name in names]
    return threads, chip.arrays["lines"].tolist(), int(chip.machine["instructions"]), chip.memory.image_sha256()


@pytest.mark.parametrize("delay", [1, 17, 200])
def test_a_poller_sees_the_flag_when_it_has_been_written(delay):
    chip = run({(BRISC, 0): producer(delay), (NCRISC, 0): poller()})
    value, looks = words(chip, 2, address=RESULT)
    assert value == 77
    assert looks == pytest.approx(2 * delay / 10, abs=3)  # a look takes the latency of a load and a branch


PROGRAMS = {
    "one core": {(BRISC, 0): busy(1)},
    "two threads of a core": {(BRISC, 0): busy(1), (NCRISC, 0): busy(2)},
    "polling": {(BRISC, 0): producer(60), (NCRISC, 0): poller(), (BRISC, 3): busy(3)},
    "compute threads": {(BRISC, 0): busy(1), (None, 0): (busy(4), busy(5), busy(6)), (NCRISC, 1): busy(7)},
}


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_running_ahead_and_posting_give_the_same(name, arch):
    runs = [run(PROGRAMS[name], arch, posted=posted, compute=ComputeSettings()) for posted in (0, 1)]
    ahead, posted = map(counters, runs)
    assert ahead == posted


def test_a_store_wakes_who_waits_for_a_semaphore():
    semaphore = run(kernel_elf()).arrays.semaphore_base
    waiting = kernel_elf(
        li(A0, semaphore), operation(Op.SEM_WAIT, ("x", A0), 3), addi(A1, ZERO, 5), li(S0, OUT), store("sw", A1, S0)
    )
    waking = kernel_elf(li(A0, semaphore), operation(Op.RISCV_WAIT, 500), addi(A1, ZERO, 3), store("sw", A1, A0))
    chip = run({(BRISC, 0): waiting, (NCRISC, 0): waking}, semaphores=[SemaphoreLaunch([0], 0, 0)])
    assert words(chip, 1) == [5]
    assert 500 < cycles(chip, BRISC) < 550


def test_a_core_sees_what_the_noc_has_brought():
    """An atomic increment of another core arrives while the owner polls with loads."""
    x, y = run(kernel_elf()).arch.worker_coords[0]
    target = [li(A2, OUT), li(A3, (x << 4) | (y << 10))]
    adding = kernel_elf(target, operation(Op.NOC_ATOMIC_INC, ("q", A2, A3), 1, 0, 0, -1))
    chip = run({(BRISC, 0): poller(), (BRISC, 1): adding})
    assert words(chip, 1) == [1]
    assert words(chip, 2, address=RESULT)[1] > 5
