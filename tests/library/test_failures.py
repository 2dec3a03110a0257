"""Launches that fail: the error is the operation's, with our message, and the next operation runs, in this session or another."""

import os
import signal
import textwrap
import time
from pathlib import Path

import pytest

from tests.library.test_device import COPY, ENDLESS, ended, launches, processes_of, wait_for

WAITS = "void kernel_main() { cb_wait_front(0, 1); }"
OUTSIDE = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() { noc_async_read(get_noc_addr_from_bank_id<true>(0, 0x200000), 0x7fffffc0, 64); }
"""
NO_BUFFER = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    for (uint32_t i = 0; i < 16; i++)
        noc_async_read(get_noc_addr_from_bank_id<true>(i % 8, 0x300000), get_write_ptr(0), 2048);
    cb_pop_front(7, 1);
}
"""
KINDS = {  # a kernel, what its error says
    "fault": (NO_BUFFER, ["wrong.cpp:6: circular buffer 7 is not configured", "thread BRISC"]),
    "deadlock": (WAITS, ["deadlock: ", "cb_wait_front(0, 1): 0 of 2 pages", "wrong.cpp:1"]),
    "endless": (ENDLESS, ["passed the limit of 100000 cycles", "BRISC: ", "wrong.cpp:1"]),
    "memory": (OUTSIDE, ["wrong.cpp:3: ", "0x7fffffc0"]),
}
# Operations that launch a kernel: `fails` one that fails, `copy` (of `launches`) one that does not
FAILS = """
wrong = ttnn.compiled({text!r}, name="wrong")

def launch(*tensors):
    device.run(cores, {{0: wrong}}, {{0: [0]}}, buffers=[(2048, 2)])

fails = ttnn.decorators.FastOperation("ttnn.fails", launch)

def message(call, *arguments):
    try:
        call(*arguments)
    except RuntimeError as error:
        return str(error)
    raise AssertionError("nothing was raised")
"""


def program(text, more):
    return launches(COPY, more=FAILS.format(text=text) + textwrap.dedent(more))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reopen", [False, True])
def test_the_next_operation_runs(library, kind, reopen):
    """Memory stays: what the program wrote before is there."""
    text, says = KINDS[kind]
    again = "device.close()\ndevice = ttnn.open_device()\n" if reopen else ""
    more = f"print(message(fails, tensor))\n{again}operation(tensor)\nprint(message(fails, tensor))\noperation(tensor)"
    done = library.run(program(text, more), options=("--max-cycles", "100000"))
    assert done.returncode == 0, done.stderr
    assert all(done.stdout.count(word) >= 2 for word in says), done.stdout
    assert "answered" not in done.stdout + done.stderr and "wait for each other" not in done.stdout + done.stderr
    assert "tensim: 2 operations" in done.stderr


def test_cycles_after_a_failure_are_those_without_it(library):
    """The failure leaves packets and waiting threads behind, which must not meet the next program."""
    rows = []
    for more in ("", "message(fails, tensor)\n"):
        done = library.run(program(WAITS, f"{more}operation(tensor)"), options=("--set", "dram.t_refi_ns=100000000"))
        assert done.returncode == 0, done.stderr
        rows.append([line for line in done.stderr.splitlines() if "ttnn.copy" in line])
    assert rows[0] == rows[1] and len(rows[0]) == 1


def test_what_an_operation_launches_behind_its_failure_does_not_run(library):
    """The error is that of the first launch; the library, which goes on until the operation ends, is not disturbed."""
    more = """
    def two(*tensors):
        launch()
        device.write(*target, 0x200000, bytes(256))
        copy()

    print(message(ttnn.decorators.FastOperation("ttnn.two", two), tensor))
    assert device.read(*target, 0x200000, 256) == bytes(256)
    operation(tensor)
    """
    done = library.run(program(NO_BUFFER, more))
    assert done.returncode == 0, done.stderr
    assert "circular buffer 7 is not configured" in done.stdout and "tensim: 1 operation," in done.stderr


def test_an_operation_that_does_not_wait_fails_itself(library):
    """The library looks for a launch's end when it has more to do: the failure is not put off until then."""
    more = """
    waits, device.wait = device.wait, lambda cores: None
    print(message(fails, tensor))
    operation(tensor)
    device.wait = waits
    """
    done = library.run(program(WAITS, more))
    assert done.returncode == 0 and "deadlock: " in done.stdout, done.stderr


def test_a_failure_outside_operations(library):
    """Nobody asks tensim there: the library raises what it knows, tensim has said why, and the next one runs."""
    done = library.run(program(WAITS, "print(message(launch))\noperation(tensor)"))
    assert done.returncode == 0 and "answered 0x55" in done.stdout, done.stderr
    assert "tensim: deadlock: " in done.stderr


def test_a_failure_of_the_library_itself_stays_what_it_is(library):
    more = """
    def broken(*tensors):
        raise ValueError("its own")

    try:
        ttnn.decorators.FastOperation("ttnn.broken", broken)(tensor)
    except ValueError as error:
        print(error)
    operation(tensor)
    """
    done = library.run(program(WAITS, more))
    assert done.returncode == 0 and done.stdout == "its own\n", done.stderr


@pytest.mark.parametrize("place", ["(1, 0), ttnn.IDLE_ETHERNET_GO[ttnn.RELEASE, ttnn.ARCH]", "(25, 27), device.go"])
def test_kernels_on_cores_that_are_no_workers(library, place):
    """Ethernet cores, and workers of a chip that the machine is not: the kernel would never run."""
    more = f"""
    core, go = {place}
    start = ttnn.decorators.FastOperation("ttnn.start", lambda *_: device.write(*core, go, struct.pack("<I", ttnn.GO)))
    print(message(start, tensor))
    operation(tensor)
    """
    done = library.run(program(WAITS, more))
    assert done.returncode == 0 and "which is no worker of wormhole_b0 n150" in done.stdout, done.stderr


@pytest.mark.parametrize("release", ["0.66.0", "0.81.1"])
def test_a_call_that_is_not_modelled_is_an_error_of_the_build(library, release):
    """Whether the branch is taken is not known then; a call that the compiler leaves out does not count."""
    text = "void kernel_main() { if (get_arg_val<uint32_t>(0) == 7) experimental::remote_cb_pop_front(0, 1); }"
    more = f"""
    print(message(lambda: ttnn.compiled({text!r}, name="absent")))
    ttnn.compiled({text.replace("== 7", "< 0")!r}, name="left_out")
    operation(tensor)
    """
    done = library.run(program(WAITS, more), release=release)
    assert done.returncode == 0, done.stderr
    assert "absent.cpp:1: remote_cb_pop_front is not modelled" in done.stdout


SUITE = """
import struct

import pytest
import ttnn

WRONG, RIGHT = {wrong!r}, {right!r}
BANK, TARGET = (0, 0), (0, 5)


@pytest.fixture(scope="{scope}")
def opened():
    device = ttnn.open_device()
    yield [device]
    device.close()


@pytest.fixture
def device(opened):
    yield opened[0]
    if {reopens} and getattr(opened[0], "failed", False):
        opened[0].close()
        opened[0] = ttnn.open_device()


def launch(device, text):
    cores = device.cores[:2]
    args = {{core: [0, 2, 64 * number] for number, core in enumerate(cores)}}
    text = ttnn.compiled(text, arguments=(7, 1000), name="right" if text == RIGHT else "wrong")
    device.run(cores, {{0: text}}, {{0: args}}, buffers=[(2048, 2)], semaphores=[5, 6])


operation = ttnn.decorators.FastOperation("ttnn.launch", launch)


def test_that_fails(device):
    device.failed = True
    operation(device, WRONG)


@pytest.mark.parametrize("number", range(3))
def test_that_passes(device, number):
    device.write(*BANK, 0x200000, struct.pack("<16I", *range(number, number + 16)))
    operation(device, RIGHT)
    assert struct.unpack("<2I", device.read(*TARGET, 0x200000, 8)) == (number + 1000, number + 1 + 6)
"""


@pytest.mark.parametrize(
    "kind, scope, reopens",
    [
        ("fault", "function", False),
        ("deadlock", "module", True),
        ("endless", "module", True),
        ("endless", "function", False),
        ("memory", "module", False),
    ],
)
def test_a_suite_in_which_one_test_fails(library, tmp_path, kind, scope, reopens):
    """Devices per test, one that is opened anew after a failure, and one that stays open."""
    text, says = KINDS[kind]
    (tmp_path / "test_it.py").write_text(SUITE.format(wrong=text, right=COPY, scope=scope, reopens=reopens))
    done = library.run_module(
        "pytest", "-q", "-p", "no:cacheprovider", "test_it.py", options=("--max-cycles", "100000")
    )
    assert done.returncode == 1 and "1 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert all(word in done.stdout for word in says)


# --- processes


SLEEPS = """
import os, pathlib, time, ttnn
device = ttnn.open_device()
pathlib.Path("there").write_text(str(os.getpid()))
time.sleep(600)
"""


def running(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(number):
    end = time.monotonic() + 30
    while running(number):
        assert time.monotonic() < end, "the library still runs"
        time.sleep(0.02)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_library_does_not_outlive_the_simulator(library, tmp_path, how):
    """Even when it does nothing that would tell it."""
    process = library.start(SLEEPS)
    wait_for(tmp_path / "there", process)
    process.send_signal(how)
    process.communicate(timeout=30)
    wait_until_gone(int((tmp_path / "there").read_text() or 0))
    assert processes_of(process.pid) == []


def test_the_simulator_does_not_outlive_the_library(library, tmp_path):
    """Not even for a kernel that never ends."""
    more = """
    import os
    open("part", "w").write(str(os.getpid()))
    os.rename("part", "there")
    fails(tensor)
    """
    process = library.start(program(ENDLESS, more))
    wait_for(tmp_path / "there", process)
    time.sleep(1)
    os.kill(int((tmp_path / "there").read_text()), signal.SIGKILL)
    status, errors = ended(process)
    assert status == 128 + signal.SIGKILL and "ended by SIGKILL" in errors
