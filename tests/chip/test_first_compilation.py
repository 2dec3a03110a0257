"""The first compilation of the engine: by one process at a time, and said where there is no terminal, too."""

import threading
import time

import pytest

from tensim.sim.chip import first_compilation
from tensim.sim.chip.first_compilation import FIRST, WAITING, in_turn


class Work:
    """What is done once: slowly, and counted."""

    def __init__(self, seconds=0.0, fails=0):
        self.seconds, self.fails, self.begun, self.done = seconds, fails, 0, 0

    def __call__(self):
        self.begun += 1
        time.sleep(self.seconds)
        if self.begun <= self.fails:
            raise MemoryError
        self.done += 1


def starts(tmp_path, work, count):
    """Cold starts at the same time."""
    errors = []

    def start():
        try:
            in_turn(tmp_path / "folder" / "lock", lambda: work.done > 0, work)
        except MemoryError as error:
            errors.append(error)

    threads = [threading.Thread(target=start) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return errors


def test_one_of_two_cold_starts_compiles_and_the_other_waits_and_says_so(tmp_path, capsys):
    work = Work(0.5)
    assert starts(tmp_path, work, 2) == [] and work.begun == 1
    said = capsys.readouterr().err
    assert said.count(f"tensim: {FIRST}\n") == 1 and said.count(f"tensim: {WAITING}\n") == 1
    assert said.count(": done in ") == 2


def test_when_the_first_one_fails_the_other_does_it(tmp_path):
    work = Work(0.3, fails=1)
    assert len(starts(tmp_path, work, 2)) == 1
    assert (work.begun, work.done) == (2, 1)


def test_a_warm_start_says_nothing_and_locks_nothing(tmp_path, capsys):
    in_turn(tmp_path / "folder" / "lock", lambda: True, pytest.fail)
    assert capsys.readouterr().err == "" and not (tmp_path / "folder").exists()


def test_a_long_compilation_is_said_again(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(first_compilation, "EVERY", 0.1)
    in_turn(tmp_path / "lock", lambda: False, Work(0.35))
    assert len([line for line in capsys.readouterr().err.splitlines() if line.endswith(" s)")]) >= 2


def test_a_terminal_shows_it_in_the_line_of_the_command(tmp_path, capsys, monkeypatch):
    told = []
    monkeypatch.setattr(first_compilation, "told_line", lambda: told.append)
    in_turn(tmp_path / "lock", lambda: False, Work())
    assert told[0] == FIRST and capsys.readouterr().err == ""


def test_where_files_cannot_be_locked_it_is_compiled_all_the_same(tmp_path, monkeypatch):
    def no_locks(file, how):
        raise OSError("No locks available")

    monkeypatch.setattr(first_compilation.fcntl, "flock", no_locks)
    work = Work()
    in_turn(tmp_path / "lock", lambda: work.done > 0, work)
    assert work.done == 1
