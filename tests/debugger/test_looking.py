"""What a debugger shows of a program that has stopped."""

import pytest

from tensim.debugger.commands import COMMANDS
from tensim.debugger.texts import answer_text, stop_text
from tests.debugger.conftest import answers

LOOKING = (
    "threads; threads 1,2; where; cbs; semaphores; dst; l1 1,2 0x19400 8; dram 0 0 8; registers; disassemble; transactions; args; "
    "why; why 1,2:BRISC; help; breakpoints; print cycle"
)


def test_every_view_has_a_text(program, debugged):
    *_, error, driver = debugged(program, f"break taker.cpp:8; continue; {LOOKING}")
    assert error is None
    for one in driver.record["answers"]:
        assert one["answer"] is None or answer_text(one["command"].split()[0], one["answer"]), one["command"]
    assert all(stop_text(stop) for stop in driver.record["stops"])


def test_why_a_kernel_hangs(program, debugged):
    ended, _, error, driver = debugged(program, "continue; why; why 1,2:BRISC", parameters={"taken": 4})
    assert ended == "failed" and error.kind == "deadlock"
    first, second = answers(driver, "why")
    assert "taker.cpp:6 for cb_wait_front(0, 1): 0 of 2 pages are there" in first["cause"]
    assert second["thread"]["line"] == 6 and second["circular_buffers"][0]["received"] == 3
    assert "cb_wait_front(0, 1);" in [one["text"].strip() for one in second["source"]]


def test_what_is_left_at_the_end(program, debugged):
    *_, driver = debugged(program, "continue; semaphores 1,2; cbs 1,2; threads")
    assert answers(driver, "semaphores")[0]["semaphores"][0]["value"] == 17 * 3
    assert answers(driver, "cbs")[0]["circular_buffers"][0]["received"] == 3
    assert answers(driver, "threads")[0]["threads"] == []


def test_transactions_on_their_way(debugged):
    commands = "break noc_async_read_barrier on 0,0; continue; transactions 0,0"
    *_, driver = debugged("eltwise_add", commands, shape="64x64")
    found = answers(driver, "transactions")[0]["transactions"]
    assert found and {one["kind"] for one in found} == {"read"} and all("DRAM" in one["target"] for one in found)
    assert sum(one["bytes"] for one in found) == 2 * 2048


def test_dst_has_the_sum_before_it_is_packed(debugged):
    commands = "break pack_tile; continue; dst 0; l1 0,0 0x19400 4; l1 0,0 0x1a400 4"
    *_, driver = debugged("eltwise_add", commands, shape="64x64")
    a, b = (bfloat16(one["words"][0] & 0xFFFF) for one in answers(driver, "l1"))
    assert answers(driver, "dst")[0]["values"][0][0] == pytest.approx(a + b, rel=0.01)


def bfloat16(bits):
    import numpy as np

    return float(np.array([bits << 16], np.uint32).view(np.float32)[0])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("brek", "no command"), ("break", "where to stop"), ("break taker.cpp:99", "no code at line 99"),
        ("break cb_wat", "no place to stop at"), ("break taker.cpp@0x3", "no instruction at 0x3"),
        ("break taker.cpp:8 if (", "no expression"), ("until", "not a cycle"), ("until 5", "is over"), ("step 0", "positive"),
        ("l1 1,2 0x1000000", "not in L1"), ("l1 99,99 0", "no core 99,99"), ("l1 1,2 q", "not an address"),
        ("dram 99 0", "not in bank 99"), ("watch 1,2 0x1000 9", "1 to 8 bytes"), ("delete 7", "no breakpoint 7"),
        ("thread 0,0:BRISC", "runs no kernel"), ("registers 1,2:TRISC0", "runs no kernel"), ("thread 1,2:X", "no thread 'X'"),
        ("dst 1,2 99", "no tile 99"), ("print nothing", "no value here"), ("print 1 +", "no expression"), ("cbs 'x", "No closing"),
        ("threads if 1", "only breakpoints"), ("continue 5", "too much"), ("help nothing", "no command 'nothing'"),
    ],
)  # fmt: skip
def test_mistakes(program, debugged, line, said):
    ended, _, error, driver = debugged(program, f"{line}; threads")
    assert error.exit_code == 2 and said in str(error) and driver.left == [line, "threads"] and ended == "left"


def test_help_lists_all_commands(program, debugged):
    *_, driver = debugged(program, "help; help step")
    assert len(answers(driver, "help")[0]["commands"]) == len(COMMANDS)
    assert answers(driver, "help")[1]["commands"][0]["usage"].startswith("step")
