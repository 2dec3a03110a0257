"""What instructions cost: docs/hardware/riscv.md#pipeline, #load-latency, #stores, #instruction-fetch.

`slope` gives the cycles of a group of instructions in an unrolled loop; a round of the loop takes LOOP more.
"""

import pytest

from tensim.sim.arch import load_arch
from tensim.sim.chip.launch import ComputeSettings
from tensim.sim.cores.operations import Op
from tensim.sim.cores.riscv.layout import LOCAL_BASE, WALL_CLOCK_HIGH, WALL_CLOCK_HIGH_AT, WALL_CLOCK_LOW
from tensim.sim.cores.slots import BRISC, TRISC0
from tests.cores.riscv.assembler import (
    A0,
    A1,
    A2,
    A3,
    S0,
    T0,
    T1,
    ZERO,
    addi,
    arithmetic,
    branch,
    jal,
    kernel_elf,
    li,
    load,
    operation,
    store,
)
from tests.cores.riscv.machine import OUT, cycles, run, words

FEW, MANY, UNROLL = 4, 20, 16
LOOP = 2  # the counter and the branch
LOCAL = LOCAL_BASE + 0x800 - 64


def looped(group, rounds, before=()):
    """A kernel that repeats UNROLL times `group` (a list, or a function of the place) `rounds` times."""
    body = [group(i) if callable(group) else group for i in range(UNROLL)]
    start = [li(S0, OUT), li(A0, OUT), li(A3, LOCAL), list(before), li(T1, rounds)]
    return kernel_elf(start, "loop", body, addi(T1, T1, -1), branch("bne", T1, ZERO, "loop"))


def slope(group, arch="blackhole", before=(), **options):
    few, many = (cycles(run(looped(group, rounds, before), arch, **options)) for rounds in (FEW, MANY))
    return ((many - few) / (MANY - FEW) - LOOP) / UNROLL


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
def test_arithmetic_and_forward_branches_take_a_cycle(arch):
    assert slope([addi(A1, A1, 1)], arch) == 1
    assert slope(lambda i: [branch("beq", ZERO, ZERO, f"n{i}"), f"n{i}"], arch) == 1
    assert slope(lambda i: [branch("bne", ZERO, ZERO, f"n{i}"), f"n{i}"], arch) == 1


def test_products_block_wormhole_and_come_late_on_blackhole():
    independent, chain = [arithmetic("mul", A1, A0, A0)], [arithmetic("mul", A1, A1, A1)]
    assert slope(independent, "wormhole_b0") == slope(chain, "wormhole_b0") == 2
    assert slope(independent) == 1
    assert slope(chain) == pytest.approx(2, abs=1 / UNROLL)


DIVISIONS = [(7, 0, 2), (7, 1, 2), (0x80000000, 0xFFFFFFFF, 2), (5, 3, 6), (0xFFF, 3, 14), (1 << 28, 3, 33), (-5, 3, 6)]


@pytest.mark.parametrize(("dividend", "divisor", "expected"), DIVISIONS)
def test_divisions_take_the_magnitude_of_the_dividend(dividend, divisor, expected):
    before = [li(A0, dividend), li(A2, divisor)]
    assert slope([arithmetic("div", A1, A0, A2)], before=before) == expected
    assert slope([arithmetic("rem", A1, A0, A2)], before=before) == expected


def test_unsigned_division_takes_the_whole_word():
    assert slope([arithmetic("divu", A1, A0, A2)], before=[li(A0, -5), li(A2, 3)]) == 33


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
def test_local_memory_answers_in_two_cycles_and_takes_one_a_cycle(arch):
    chain = [load("lw", A3, A3)]
    assert slope(chain, arch, before=[store("sw", A3, A3)]) == pytest.approx(2, abs=1 / UNROLL)
    assert slope([load("lw", A1, A3)], arch) == 1
    assert slope([store("sw", A1, A3)], arch) == 1


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
def test_l1_answers_in_eight_cycles_and_takes_four_loads_in_seven(arch):
    assert slope([load("lw", A0, A0)], arch, before=[store("sw", A0, A0)]) == pytest.approx(8, abs=2 / UNROLL)
    assert slope(lambda i: [load("lw", A1, A0, 4 * i)], arch) == pytest.approx(7 / 4, abs=2 / UNROLL)


@pytest.mark.parametrize("slot", [BRISC, TRISC0])
def test_the_wall_clock_tells_the_cycles_between_two_loads(slot):
    read = [li(S0, OUT), li(A0, WALL_CLOCK_LOW), load("lw", A1, A0), [addi(T0, T0, 1)] * 50, load("lw", A2, A0)]
    high = [
        load("lw", A3, A0, WALL_CLOCK_HIGH - WALL_CLOCK_LOW),
        load("lw", T1, A0, WALL_CLOCK_HIGH_AT - WALL_CLOCK_LOW),
    ]
    told = [arithmetic("sub", A1, A2, A1), arithmetic("or", A3, A3, T1), store("sw", A1, S0), store("sw", A3, S0, 4)]
    raw = kernel_elf(read, high, told)
    kernels = {(slot, 0): raw} if slot == BRISC else {(None, 0): [raw, kernel_elf(), kernel_elf()]}
    assert words(run(kernels, compute=ComputeSettings() if slot == TRISC0 else None), 2) == [51, 0]


def test_the_wall_clock_answers_in_seven_cycles():
    dependent = [load("lw", A1, A0), arithmetic("add", T0, A1, A1)]
    assert slope(dependent, before=[li(A0, WALL_CLOCK_LOW)]) == 8


def test_instructions_hide_the_latency_of_a_load():
    def hidden(count):
        return [load("lw", A1, A0), [addi(A2, A2, 1)] * count, arithmetic("add", T0, A1, A1)]

    assert slope(hidden(2)) == slope(hidden(7)) == 9
    assert slope(hidden(12)) == 14


@pytest.mark.parametrize(("arch", "service"), [("wormhole_b0", 5), ("blackhole", 5.25)])
def test_stores_to_many_places_wait_for_the_port(arch, service):
    assert slope(lambda i: [store("sw", A1, A0, 16 * i)], arch) == pytest.approx(service, abs=2 / UNROLL)


def test_stores_to_one_place_merge_on_blackhole_only():
    assert slope([store("sw", A1, A0)]) == pytest.approx(1, abs=2 / UNROLL)
    assert slope([store("sw", A1, A0)], "wormhole_b0") == pytest.approx(5, abs=2 / UNROLL)


def test_a_load_passes_a_store_that_is_on_its_way_to_the_port_and_waits_for_one_that_has_it():
    """perf_lab_microkernels.csv: of the C library's memmove, which copies four words a round, one load in four waits
    (transfer_alignment, 44 cycles a round), of index_staging, whose loads come four cycles behind a store, each.
    """
    arch = "wormhole_b0"
    delay, service, latency = (load_arch(arch)[f"riscv.{key}"] for key in ("l1_store_delay", "l1_store", "l1_load"))

    def round_of(between):  # a load, the store of what it brings, other instructions
        return slope(lambda i: [load("lw", A1, A0), store("sw", A1, A0, 64), [addi(A2, A2, 1)] * between], arch)

    wanted = {between: latency + 1 + between for between in range(delay - 1)}
    wanted |= dict.fromkeys((delay - 1, delay, delay + service - 1), latency + delay + service)
    wanted[delay + service] = latency + delay + service + 1
    for between, expected in wanted.items():  # the two instructions of the loop come once, behind the last one
        assert round_of(between) == pytest.approx(expected, abs=6 / UNROLL)


def test_the_math_and_pack_threads_share_a_port():
    stores, nothing = looped(lambda i: [store("sw", A1, A0, 16 * i)], MANY), kernel_elf()

    def taken(*elves):
        chip = run({(None, 0): elves}, "blackhole", compute=ComputeSettings())
        return cycles(chip, TRISC0 + 1)

    alone = taken(nothing, stores, nothing)
    assert taken(stores, stores, nothing) == alone
    assert taken(nothing, stores, stores) == pytest.approx(2 * alone, rel=0.05)


def test_code_beyond_the_instruction_cache_is_fetched_again():
    """A line of 16 bytes that is not cached takes `riscv.fetch_miss` cycles, here 10 of them."""
    overrides = {"riscv.fetch_miss": 10}

    def taken(count, rounds):
        body = [addi(A1, A1, 1)] * count
        counter = [addi(T1, T1, -1), branch("beq", T1, ZERO, "out"), jal(ZERO, "loop"), "out"]
        return cycles(run(kernel_elf(li(T1, rounds), "loop", body, counter), "blackhole", overrides))

    def per_instruction(count):
        return (taken(count, MANY) - taken(count, FEW)) / (MANY - FEW) / count

    assert per_instruction(900) == pytest.approx(1, abs=0.01)
    assert per_instruction(2000) == pytest.approx(1 + 10 / 4, abs=0.05)


def test_an_operation_waits_for_its_arguments_and_costs_nothing_itself():
    chip = run(kernel_elf(li(A0, OUT), load("lw", A1, A0), operation(Op.RISCV_WAIT, ("x", A1))))
    plain = run(kernel_elf(li(A0, OUT), load("lw", A1, A0), arithmetic("add", A1, A1, A1), operation(Op.RISCV_WAIT, 0)))
    assert cycles(chip) == cycles(plain) - 1
