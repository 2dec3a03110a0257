"""Endless loops, what a program may not do, and what errors say."""

import pytest

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.sim.chip.arrays import ARGS_STRIDE
from tensim.sim.chip.chip import Chip
from tensim.sim.chip.statistics import breakdown, slowest_lines
from tensim.sim.cores.operations import Op
from tensim.sim.cores.riscv.layout import BANKS_AT, LOCAL_BASE, WALL_CLOCK_LOW, firmware_bytes, local_bytes
from tensim.sim.cores.riscv.traps import Print, Service
from tensim.sim.cores.slots import BRISC, THREADS_PER_CORE
from tensim.sim.errors import CycleLimitError, DeadlockError, ProgramError
from tests.cores.riscv.assembler import (
    A0,
    A1,
    A2,
    S0,
    SP,
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
from tests.cores.riscv.machine import OUT, finish, launch_of, run, words

ENDLESS = {
    "jump": ["loop", jal(ZERO, "loop")],
    "arithmetic": ["loop", addi(A0, A0, 1), branch("beq", ZERO, ZERO, "loop")],
    "loads": [li(S0, OUT), "loop", load("lw", A0, S0), jal(ZERO, "loop")],
    "stores": [li(S0, OUT), "loop", store("sw", A0, S0), jal(ZERO, "loop")],
}
STRINGS = 0x70000000


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_loop_ends_at_the_cycle_limit(name):
    with pytest.raises(CycleLimitError):
        run(kernel_elf(ENDLESS[name]), max_cycles=200_000)


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_loop_returns_to_the_host_when_its_fuel_is_used_up(name):
    """The host looks at Ctrl-C between two stretches of the lane; an instruction costs fuel as an event does."""
    arch = load_arch("wormhole_b0")
    chip = Chip(arch)
    chip.launch(launch_of(arch, {(BRISC, 0): kernel_elf(ENDLESS[name])}), 0)
    assert chip.advance(1 << 60, fuel=10_000) == []
    assert 0 < int(chip.machine["instructions"]) <= 2 * 64 * 10_000


def test_a_deadlock_names_the_instruction():
    with pytest.raises(DeadlockError) as caught:
        run(kernel_elf(addi(A0, ZERO, 0), li(A1, OUT), operation(Op.SEM_WAIT, ("x", A1), 1)))
    assert caught.value.where["waiting"][0]["pc"] == 12
    assert "L1 word" in str(caught.value)


def test_counters_of_instructions_are_those_of_the_run():
    chip = run(
        kernel_elf(li(T1, 10), "loop", addi(T1, T1, -1), branch("bne", T1, ZERO, "loop"), operation(Op.RISCV_WAIT, 100))
    )
    assert int(chip.machine["instructions"]) == 2 + 2 * 10
    assert breakdown(chip)["BRISC"]["busy"] == pytest.approx(1)
    assert sum(line["busy"] for line in slowest_lines(chip)) == 122
    rows = chip.arrays["lines"][1:]
    assert rows[:5, 0].tolist() == [1, 1, 10, 10, 100] and rows[4, 2] == 1


def test_an_assertion_says_its_text():
    texts = (STRINGS, b"first\0kernel.cpp:7: n > 0\0")
    with pytest.raises(ProgramError, match="kernel.cpp:7: n > 0"):
        run(kernel_elf(li(A0, STRINGS + 6), operation(Service.FAIL_ASSERT, ("x", A0)), texts=texts))


def test_prints_come_in_simulated_order(capsys):
    texts, arch = (STRINGS, b"x = \0"), load_arch("wormhole_b0")

    def printing(wait, value):
        return kernel_elf(
            operation(Op.RISCV_WAIT, wait), li(A0, STRINGS), li(A1, value),
            operation(Service.DPRINT, int(Print.TEXT), ("x", A0), 0),
            operation(Service.DPRINT, int(Print.SIGNED), ("x", A1), 0),
            operation(Service.DPRINT, int(Print.LINE_END), 0, 0), texts=texts,
        )  # fmt: skip

    run({(BRISC, 1): printing(200, -3), (BRISC, 0): printing(900, 5)})
    assert capsys.readouterr().err.splitlines() == ["(1,0) BRISC: x = -3", "(0,0) BRISC: x = 5"]
    assert arch.grid[0] > 1


def test_texts_in_local_memory_are_printed(capsys):
    text = b"a text that is longer than the piece of it which one entry of the log can hold, so there are two\0"
    data_at = 0x600
    run(kernel_elf(li(A0, LOCAL_BASE + data_at), operation(Service.DPRINT, int(Print.TEXT), ("x", A0), 0), data=text))
    assert capsys.readouterr().err == f"(0,0) BRISC: {text[:-1].decode()}\n"


def test_local_memory_holds_the_firmware_words_data_and_zeros():
    program = [li(S0, OUT), li(A0, LOCAL_BASE)]
    places = (0, 4, 8, 12, 0x14, 0x20, 0x600, 0x604, 0x608)
    for i, place in enumerate(places):
        program += [load("lw", T0, A0, place), store("sw", T0, S0, 4 * i)]
    program += [store("sw", SP, S0, 4 * len(places))]
    chip = run({(BRISC, 2): kernel_elf(program, data=b"\1\0\0\0\2\0\0\0", data_bytes=16)}, args=[9, 8])
    found, (x, y) = words(chip, len(places) + 1, core=2), chip.arch.kernel_coords[2]
    assert chip.l1[2, found[0] : found[0] + 8].view("uint32").tolist() == [9, 8]
    assert found[1] == found[0] + 8 and found[2] == chip.arrays.semaphore_base and found[3] == 2
    assert found[4] == x | x << 8 | y << 16 | y << 24 and found[5] == 2
    assert found[6:] == [1, 2, 0, LOCAL_BASE + local_bytes(chip.arch, BRISC)]
    assert firmware_bytes(chip.arch) > BANKS_AT


def test_the_stack_may_reach_the_data_but_not_go_into_them():
    arch = load_arch("wormhole_b0")
    room = local_bytes(arch, BRISC) - 0x608
    data = b"\0" * 8

    def grown(size):
        return kernel_elf(li(A0, size), arithmetic("sub", SP, SP, A0), store("sw", A0, SP), data=data)

    run(grown(room))
    with pytest.raises(ProgramError) as caught:
        run(grown(room + 4))
    assert caught.value.kind == "stack_overflow"


# --- numerics=off

REACHED = {
    "a branch": [load("lw", A1, S0), addi(A1, A1, 1), branch("beq", A1, ZERO, "n"), "n"],
    "the address": [load("lw", A1, S0), arithmetic("add", A1, A1, S0), load("lw", A2, A1)],
    "an operand": [load("lbu", A1, S0), operation(Op.RISCV_WAIT, ("x", A1))],
    "a division": [load("lw", A1, S0), arithmetic("div", A1, A2, A1)],
    "a branch ": [
        load("lw", A1, S0),
        store("sw", A1, SP, -4),
        load("lhu", A2, SP, -4),
        branch("bne", A2, ZERO, "n"),
        "n",
    ],
}


@pytest.mark.parametrize("what", REACHED)
@pytest.mark.parametrize("posted", [0, 1])
def test_data_that_are_not_known_stop_the_kernel_where_they_decide(what, posted):
    program = kernel_elf(li(S0, OUT), REACHED[what])
    with pytest.raises(ProgramError, match=what) as caught:
        run(program, numerics="off", posted=posted)
    assert caught.value.kind == "data_not_known"
    run(kernel_elf(li(S0, OUT), REACHED[what]), numerics="fast", posted=posted) if what != "the address" else None


def test_data_that_are_not_known_may_be_copied_and_forgotten():
    run(
        kernel_elf(
            li(S0, OUT), load("lw", A1, S0), store("sw", A1, S0, 4), arithmetic("xor", A2, A1, A1), addi(A1, ZERO, 0),
            branch("beq", A1, ZERO, "n"), "n", store("sw", A2, SP, -8), store("sw", ZERO, SP, -8), load("lw", A2, SP, -8),
            branch("bne", A2, ZERO, "m"), "m",
        ),
        numerics="off",
    )  # fmt: skip


def test_arguments_and_semaphores_may_decide_without_data():
    chip = run(kernel_elf(li(A0, LOCAL_BASE), load("lw", A0, A0), load("lw", A1, A0), operation(Op.RISCV_WAIT, ("x", A1))),
               numerics="off", args=[300])  # fmt: skip
    assert breakdown(chip)["BRISC"]["longest_cycles"] > 300


def test_a_thread_in_the_run_time_stands_where_its_kernel_begins(tmp_path):
    kernel = tmp_path / "slow.cpp"
    kernel.write_text('#include "dataflow_api.h"\n\nvoid kernel_main() { riscv_wait(1000); }\n')
    with tt.create_device(0, max_cycles=10) as device:
        program, core = tt.create_program(), tt.CoreCoord(0, 0)
        tt.create_kernel(program, kernel, core, tt.ReaderDataMovementConfig())
        tt.enqueue_program(device.command_queue(), program, False)
        with pytest.raises(CycleLimitError, match="slow.cpp:3"):
            tt.finish(device.command_queue())


def test_the_wall_clock_is_there_to_load():
    """Its upper half is that of the last look at the lower one, whatever operation comes between them."""
    arch, now = load_arch("blackhole"), (2 << 32) + 5
    chip = Chip(arch)
    kernel = kernel_elf(
        li(S0, WALL_CLOCK_LOW), li(T0, OUT), load("lw", A0, S0), operation(Op.NOC_READS_ENDED, 0, 1), load("lw", A1, S0, 8),
        store("sw", A0, T0), store("sw", A1, T0, 4),
    )  # fmt: skip
    chip.launch(launch_of(arch, {(BRISC, 0): kernel}), now)
    finish(chip)
    low, high = words(chip, 2)
    t = chip.arrays["threads"][BRISC]
    assert t["started"] < (high << 32) + low < t["ended"] and high == 2


@pytest.mark.parametrize("address", [0xFFB12000, 0xFFB20000, 0xFFE80000])
def test_other_registers_are_said_not_to_be_modelled(address):
    with pytest.raises(
        ProgramError, match=f"access to {address:#x}, 4 bytes: of the chip's registers tensim models only"
    ):
        run(kernel_elf(li(S0, address), load("lw", A0, S0)))


def test_code_that_leaves_no_room_for_the_usual_arguments_stands_behind_its_own():
    """The library's grouped top-k has 2 KB more code than lie behind room for 341 arguments of each thread; it has a few."""
    arch = load_arch("blackhole")
    room = arch.l1_user_base - Chip(arch).arrays.args_base - THREADS_PER_CORE * ARGS_STRIDE
    said = [li(A0, OUT), addi(A1, ZERO, 5), store("sw", A1, A0)]

    def long(text_bytes):
        return kernel_elf([*said, *[addi(T0, T0, 1)] * (text_bytes // 4)])

    assert words(run(long(room + 2048), "blackhole", args=[1, 2]), 1) == [5]
    with pytest.raises(ProgramError, match="kernel-configuration space"):
        run(long(room + THREADS_PER_CORE * ARGS_STRIDE), "blackhole")
