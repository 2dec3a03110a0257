"""While C++ kernels are built, users see how far that is: when it lasts, and where someone looks."""

import io
import sys
import time
from concurrent.futures import Future

import pytest

pytest.importorskip("elftools")

import tensim as tt
from tensim.sim.cores.riscv import build_progress
from tensim.sim.cores.riscv.build_progress import progress_told_to, wait_for


class Terminal(io.StringIO):
    """A standard error that someone looks at, or not."""

    def __init__(self, is_terminal):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


def finished():
    future = Future()
    future.set_result(None)
    return future


def test_a_build_that_lasts_says_how_far_it_is_and_what_is_left(monkeypatch):
    texts, late = [], Future()
    monkeypatch.setattr(build_progress, "AFTER", 0)

    def listen(text):
        texts.append(text)
        if not late.done():
            late.set_result(None)

    with progress_told_to(listen):
        wait_for("C++ kernels", [("reader.cpp", finished()), ("compute.cpp", late), ("compute.cpp", late)])
    assert texts == ["C++ kernels: 1 of 3 built, left compute.cpp"]


def test_many_kernels_are_named_by_the_first_ones(monkeypatch):
    texts, late = [], Future()
    monkeypatch.setattr(build_progress, "AFTER", 0)
    with progress_told_to(lambda text: (texts.append(text), late.set_result(None))):
        wait_for("C++ kernels", [(f"{letter}.cpp", late) for letter in "abcde"])
    assert texts == ["C++ kernels: 0 of 5 built, left a.cpp, b.cpp, c.cpp, ..."]


def test_what_is_done_at_once_says_nothing():
    with progress_told_to(lambda text: pytest.fail(text)):
        wait_for("C++ kernels", [("reader.cpp", finished())])


@pytest.mark.parametrize("is_terminal", [True, False])
def test_without_a_command_around_it_the_line_is_on_standard_error_if_that_is_a_terminal(monkeypatch, is_terminal):
    stderr, late = Terminal(is_terminal), Future()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(build_progress, "AFTER", 0)
    monkeypatch.setattr(build_progress, "_text", lambda *_: late.done() or late.set_result(None) or "[/a] 0 of 1 built")
    wait_for("C++ kernels", [("reader.cpp", late)])
    assert ("[/a] 0 of 1 built" in stderr.getvalue()) == is_terminal
    assert is_terminal or stderr.getvalue() == ""


@pytest.fixture
def device():
    device = tt.create_device(0)
    yield device
    tt.close_device(device)


def test_the_kernels_of_a_program_are_built_together_and_once(device, monkeypatch):
    """A reader, a writer and the three threads of a compute kernel: five builds, none of them at the second enqueue."""
    monkeypatch.setattr(build_progress, "AFTER", 0)
    program, texts = tt.create_program(), []
    source = f"void kernel_main() {{ riscv_wait(1); }} // {time.time_ns()}"
    for config in (tt.ReaderDataMovementConfig(), tt.WriterDataMovementConfig(), tt.ComputeConfig()):
        tt.create_kernel_from_string(program, source, tt.CoreCoord(0, 0), config)
    with progress_told_to(texts.append):
        tt.enqueue_program(device.command_queue(0), program, blocking=True)
        builds = [text for text in texts if text.startswith("C++ kernels")]
        assert builds and all("of 5 built" in text for text in builds)
        texts.clear()
        tt.enqueue_program(device.command_queue(0), program, blocking=True)
    assert texts == []
