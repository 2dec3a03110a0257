"""Loads and stores in L1: queues of the core, ports that cores share.

Source: docs/hardware/riscv.md#pipeline and docs/hardware/riscv.md#stores and docs/hardware/l1.md#l1.
"""

import pytest

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.sim.chip import statistics

FEW, MANY, UNROLL = 4, 20, 16
LOOP = 2  # cycles of a round without statements
TEMPLATE = """from tensim.kernel_api import *


@device_function
def load(words, index):
    return words[index]


@device_function
def store(words, index):
    words[index] = 7


@kernel
def loop(rounds, at):
    words = l1_ptr(at, uint32)
    others = l1_ptr(at + 4096, uint32)
    x = at
    for _ in range(rounds):
        {body}
"""


def per_statement(arch, *statements, compute=False, thread="BRISC"):
    """Cycles per group of statements in an unrolled loop on one thread of a core; `{i}` is the place in the loop."""
    lines = [line.format(i=i) for i in range(UNROLL) for line in statements]
    source, cycles = TEMPLATE.format(body="\n        ".join(lines)), []
    for rounds in (FEW, MANY):
        device = tt.create_device(0, arch=arch, numerics="fast")
        program, core = tt.create_program(), tt.CoreCoord(0, 0)
        config = tt.ComputeConfig() if compute else tt.DataMovementConfig()
        kernel = tt.create_kernel_from_string(program, source, core, config)
        tt.set_runtime_args(program, kernel, core, [rounds, load_arch(arch).l1_user_base])
        tt.enqueue_program(device.command_queue(0), program, blocking=False)
        tt.finish(device.command_queue(0))
        cycles.append(statistics.breakdown(device.chip)[thread]["longest_cycles"])
        tt.close_device(device)
    return ((cycles[1] - cycles[0]) / (MANY - FEW) - LOOP) / UNROLL


SIGNED = """from tensim.kernel_api import *


@kernel
def loads(at):
    words = l1_ptr(at, uint32)
    words[0] = 0x8070F0FF
    bytes, halves, numbers = l1_ptr(at, int8), l1_ptr(at, int16), l1_ptr(at, int32)
    ASSERT(bytes[0] == -1 and bytes[1] == -16 and bytes[2] == 0x70)
    ASSERT(halves[0] == -0xF01 and halves[1] < 0 and numbers[0] < 0 and words[0] > 0)
    ASSERT(l1_ptr(at, uint8)[0] == 0xFF and l1_ptr(at, uint16)[0] == 0xF0FF)
"""


def test_pointers_to_signed_numbers_load_their_sign():
    with tt.create_device(0) as device:
        program, core = tt.create_program(), tt.CoreCoord(0, 0)
        kernel = tt.create_kernel_from_string(program, SIGNED, core, tt.ReaderDataMovementConfig())
        tt.set_runtime_args(program, kernel, core, [device.arch.l1_user_base])
        tt.enqueue_program(device.command_queue(), program)
        tt.finish(device.command_queue())


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
def test_independent_loads_come_four_in_seven_cycles(arch):
    assert per_statement(arch, "x = words[{i}]") == pytest.approx(7 / 4, abs=2 / UNROLL)


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
def test_a_chain_of_loads_takes_their_latency(arch):
    assert per_statement(arch, "x = l1_ptr(x, uint32)[0]") == pytest.approx(8, abs=2 / UNROLL)


def test_instructions_hide_the_latency_of_a_load():
    """Seven additions behind a load leave nothing to wait for; two leave five cycles."""
    assert per_statement("blackhole", "x = words[{i}]", "y = at" + " + 1" * 7, "y = x + at") == 9
    assert per_statement("blackhole", "x = words[{i}]", "y = at" + " + 1" * 2, "y = x + at") == 9
    assert per_statement("blackhole", "x = words[{i}]", "y = at" + " + 1" * 12, "y = x + at") == 14


@pytest.mark.parametrize(("arch", "service"), [("wormhole_b0", 5), ("blackhole", 5.25)])
def test_stores_to_many_places_wait_for_the_port(arch, service):
    assert per_statement(arch, "words[4 * {i}] = 7") == pytest.approx(service, abs=2 / UNROLL)


def test_stores_to_one_place_merge_on_blackhole_only():
    assert per_statement("blackhole", "words[0] = 7") == 1
    assert per_statement("wormhole_b0", "words[0] = 7") == pytest.approx(5, abs=2 / UNROLL)


def test_the_store_queue_lets_the_core_run_ahead():
    """A store among work that takes as long as the port needs costs its own instruction only."""
    assert per_statement("wormhole_b0", "words[4 * {i}] = 7", "y = at" + " + 1" * 4) == 5


def test_the_math_and_pack_threads_share_a_port():
    statements = [f"{role}(store(words, 4 * {{i}}))" for role in ("UNPACK", "MATH", "PACK")]
    alone = per_statement("blackhole", statements[1], compute=True, thread="TRISC1")
    apart = per_statement("blackhole", *statements[:2], compute=True, thread="TRISC1")
    shared = per_statement("blackhole", *statements[1:], compute=True, thread="TRISC1")
    assert apart == alone and shared == pytest.approx(2 * alone, rel=0.02)
