"""DPRINT of Python kernels: lines with core and thread, in the order of simulated time, also of a program that does not end."""

import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.errors import DeadlockError, KernelCompileError

# ruff: noqa: F405
ONE, TWO = tt.CoreCoord(0, 0), tt.CoreRange((0, 0), (1, 0))


@kernel
def prints_numbers(first):
    for i in range(2):
        DPRINT("page {} of {:#x}\n", i, first)
        riscv_wait(100)
    DPRINT("half {:f32} and {:bf16}, {:>4}|", 0x3F000000, 0x3F00, -1)


@kernel
def prints_and_hangs():
    DPRINT("before")
    cb_wait_front(0, 1)
    DPRINT("never")


@kernel
def prints_on_each_thread():
    DPRINT("here")


@kernel
def prints_often(count):
    for i in range(count):
        DPRINT("{}", i)


def printed(function, config, args=(), cores=ONE, **options):
    """(lines, cycles) of a program of one kernel; its error, if it has one, behind the lines."""
    lines = []
    with tt.create_device(0, **options) as device:
        device.chip.printer.on_print = lines.append
        program = tt.create_program()
        buffer = tt.CircularBufferConfig(2048, {0: tt.DataFormat.Float16_b}).set_page_size(0, 2048)
        tt.create_circular_buffer(program, cores, buffer)
        kernel = tt.create_kernel(program, function, cores, config)
        if args:
            tt.set_runtime_args(program, kernel, cores, list(args))
        try:
            tt.enqueue_program(device.command_queue(), program, blocking=True)
        except DeadlockError as error:
            lines.append(error)
        return lines, device.chip.cycle


def test_a_line_has_its_core_its_thread_and_its_values():
    lines, _ = printed(prints_numbers, tt.ReaderDataMovementConfig(), [255])
    assert lines == [
        "(0,0) NCRISC: page 0 of 0xff",
        "(0,0) NCRISC: page 1 of 0xff",
        "(0,0) NCRISC: half 0.5 and 0.5,   -1|",
    ]


def test_cores_take_turns_as_they_do_in_time():
    lines, _ = printed(prints_numbers, tt.ReaderDataMovementConfig(), [7], TWO)
    assert [line[:5] for line in lines] == ["(0,0)", "(1,0)"] * 3


@pytest.mark.parametrize("check", [False, True])
def test_what_was_printed_before_a_deadlock_is_shown(check):
    *lines, error = printed(prints_and_hangs, tt.ReaderDataMovementConfig(), check=check)[0]
    assert lines == ["(0,0) NCRISC: before"] and "cb_wait_front" in str(error)


@pytest.mark.parametrize("numerics", ["fast", "off"])
def test_each_compute_thread_prints(numerics):
    lines, _ = printed(prints_on_each_thread, tt.ComputeConfig(), numerics=numerics)
    assert sorted(lines) == [f"(0,0) TRISC{i}: here" for i in range(3)]


def test_nothing_is_lost_of_more_than_the_log_holds_and_it_takes_a_loop_s_time():
    lines, cycles = printed(prints_often, tt.ReaderDataMovementConfig(), [40_000])
    assert lines == [f"(0,0) NCRISC: {i}" for i in range(40_000)]
    assert cycles < 40_000 * 10


def test_a_text_that_does_not_fit_its_values_is_refused():
    with pytest.raises(KernelCompileError, match="does not fit 1 values"):
        kernel_from_source('@kernel\ndef f():\n    DPRINT("{} {}", 1)\n')


@kernel
def prints_on_one_thread():
    MATH(DPRINT("math {}", 1))


def test_a_thread_of_three_may_print_alone():
    assert printed(prints_on_one_thread, tt.ComputeConfig())[0] == ["(0,0) TRISC1: math 1"]
