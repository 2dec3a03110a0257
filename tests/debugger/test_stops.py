"""Where a debugger stops a program, and that the program takes the same cycles with it."""

import io

import pytest

from tensim.debugger.instruction_trace import InstructionTrace
from tensim.running.programs import run
from tests.debugger.conftest import answers


def stops(driver):
    return [(one["reason"], one["at"] and one["at"].get("line")) for one in driver.record["stops"]]


def cycles(driver):
    return [one["cycle"] for one in driver.record["stops"]]


def test_a_line_of_a_cpp_kernel(program, debugged):
    ended, result, error, driver = debugged(program, "break taker.cpp:8; continue; continue; continue; continue")
    assert (ended, error) == ("ended", None)
    assert stops(driver) == [("start", 3), *[("breakpoint", 8)] * 3, ("ended", None)]
    assert cycles(driver) == sorted(set(cycles(driver)))
    assert result.cycles == run(program).cycles


def test_a_line_without_code_means_the_next_one(program, debugged):
    *_, driver = debugged(program, "break taker.cpp:1; continue; delete; breakpoints")
    assert answers(driver, "break")[0]["breakpoint"]["location"] == "taker.cpp:3"  # where the kernel begins
    assert stops(driver)[1] == ("breakpoint", 3) and answers(driver, "breakpoints")[0]["breakpoints"] == []


def test_a_line_of_a_python_kernel(debugged):
    settings = {"shape": "64x64"}
    ended, result, _, driver = debugged(
        "eltwise_add", "break eltwise_add.py:42; continue; step; stepi; delete; continue", **settings
    )
    assert ended == "ended" and result.cycles == run("eltwise_add", **settings).cycles
    assert stops(driver)[1:3] == [("breakpoint", 42), ("step", 43)]


def test_an_operation_under_a_condition(program, debugged):
    *_, driver = debugged(program, "break cb_pop_front if cb[0] == 1 and thread == 'BRISC'; continue; print cb[0]; cbs")
    assert stops(driver)[1] == ("breakpoint", 9)
    assert answers(driver, "print")[0]["value"] == 1 and answers(driver, "cbs")[0]["circular_buffers"][0]["used"] == 1


def test_a_barrier_by_the_name_of_its_call(debugged):
    *_, driver = debugged("eltwise_add", "break noc_async_read_barrier; continue; where", shape="64x64")
    assert driver.record["stops"][1]["at"]["source"] == "noc_async_read_barrier()"


def test_one_core_or_thread(debugged):
    settings = {"shape": "128x128", "grid": "2x2", "parameters": {"kernels": "cpp"}}
    *_, driver = debugged("eltwise_add", "break read_pairs.cpp:25 on 1,1; continue; continue", **settings)
    assert {one["at"]["core"] for one in driver.record["stops"][1:3]} == {"(1,1)"}


def test_cycles_are_those_of_a_run_without_stops(debugged):
    settings = {"shape": "64x128", "parameters": {"kernels": "cpp"}}
    commands = (
        "break read_pairs.cpp:24; break add_pairs.cpp:24; break write_tiles.cpp:18; " + "continue; stepi 5; step; " * 12
    )
    ended, result, _, driver = debugged("eltwise_add", commands + "delete; continue", **settings)
    assert ended == "ended" and len(driver.record["stops"]) > 30
    assert result.cycles == run("eltwise_add", **settings).cycles and result.verified


def test_a_cycle(program, debugged):
    *_, driver = debugged(program, "until 19060; until 19000; threads")
    assert cycles(driver)[1] == 19060 and "is over" in str(driver.error)


def test_a_word_is_watched_until_it_is_not(program, debugged):
    *_, driver = debugged(program, "watch 1,2 0x19400; unwatch; continue")
    first, second = answers(driver, "watch")[0]["watched"], answers(driver, "unwatch")[0]["watched"]
    assert (first["address"], first["bytes"], second) == (0x19400, 4, None) and stops(driver)[-1][0] == "ended"


def test_a_write_into_a_page(program, debugged):
    *_, driver = debugged(
        program, "break maker.cpp:8 if args; continue; watch 1,2 0x19c00; delete; continue; l1 1,2 0x19c00 4"
    )
    stop = driver.record["stops"][-1]
    assert stop["reason"] == "watch" and stop["at"]["file"].endswith("maker.cpp") and "from 0x0 to 0x11" in stop["text"]
    assert answers(driver, "l1")[0]["words"] == [17]


def test_steps_of_a_thread(program, debugged):
    *_, driver = debugged(program, "break taker.cpp:8; continue; registers; stepi; registers; step; step")
    before, after = (one["registers"] for one in answers(driver, "registers"))
    assert after["pc"] == before["pc"] + 4
    lines = [line for _, line in stops(driver)[2:]]
    assert all(before != after for before, after in zip(lines[:-1], lines[1:], strict=True))


def test_a_step_past_the_end_of_a_kernel(program, debugged):
    *_, driver = debugged(program, "break taker.cpp:11; continue; step 50 1,2:BRISC; continue")
    assert [reason for reason, _ in stops(driver)] == ["start", "breakpoint", "end", "ended"]


@pytest.mark.parametrize("thread", ["1,2:BRISC", "1,2:NCRISC"])
def test_a_trace_has_every_instruction(program, debugged, thread):
    stream = io.StringIO()
    trace = InstructionTrace(thread, stream)
    ended, result, error, _ = debugged(program, "", trace)
    lines = stream.getvalue().splitlines()[1:]
    assert (ended, error) == ("ended", None) and len(lines) == trace.count > 20 and result.cycles == run(program).cycles
    assert [int(line.split()[0]) for line in lines] == sorted(int(line.split()[0]) for line in lines)
    pushes = sum("cb_push_back" in line for line in lines)
    assert pushes == (3 if thread.endswith(":NCRISC") else 0)
    assert any("maker.cpp:9" in line or "taker.cpp:9" in line for line in lines)


def test_a_trace_of_a_python_kernel_is_refused(debugged):
    *_, error, _ = debugged("eltwise_add", "", InstructionTrace("0,0:BRISC", io.StringIO()), shape="64x64")
    assert error.exit_code == 2 and "no instructions that can be traced" in str(error)


def test_programs_are_left_as_they_were(program, debugged):
    debugged(program, "break taker.cpp:8; continue")
    assert run(program).verified
