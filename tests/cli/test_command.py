"""The process of the command: it leaves without taking its interpreter apart, and nothing is lost by that."""

import os
import subprocess
import sys

import pytest

COMMAND = """
import atexit, os, sys, threading, time
import tensim.cli.main as cli
from tensim.cli.command import command
{before}
class Frees:
    def __del__(self, write=os.write):
        write(2, b"freed")
kept = Frees()
def main():
    atexit.register(lambda: print("exit function"))
    threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
    sys.stdout.write("no end of line ")
    sys.exit({code})
cli.main = main
command()
"""


def run(code=3, before="", **options):
    text = COMMAND.format(code=code, before=before)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        [sys.executable, "-c", text], env=environment, stderr=subprocess.PIPE, text=True, timeout=100, **options
    )


def test_output_threads_and_exit_functions_end_first():
    done = run(stdout=subprocess.PIPE)
    assert done.returncode == 3 and done.stdout == "no end of line thread\nexit function\n" and not done.stderr


@pytest.mark.parametrize("watch", ["sys.setprofile(lambda *_: None)", "sys.settrace(lambda *_: None)"])
def test_who_watches_the_interpreter_sees_its_end(watch):
    done = run(before=watch, stdout=subprocess.PIPE)
    assert done.returncode == 3 and done.stderr == "freed"


def test_a_text_as_code_is_printed():
    done = run(code="'why'", stdout=subprocess.PIPE)
    assert done.returncode == 1 and done.stderr.startswith("why\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a file that is always full")
def test_output_that_cannot_be_written_is_an_error():
    with open("/dev/full", "w") as full:
        done = run(code=0, stdout=full)
    assert done.returncode == 120 and "No space left" in done.stderr
