"""The pytest plugin: fixtures, figures pinned beside the test, and what a failing test shows."""

import os
import re
import subprocess
import sys

import pytest
import yaml

PLUGIN = "tensim.testing.plugin"
TESTS = '''
import pytest
import tensim as tt

KERNEL = """
from tensim.kernel_api import *

@kernel
def counts(n):
    for i in range(n):
        with DeviceZoneScopedN("STEP"):
            noc_async_read_barrier()
"""


def launch(device, n):
    program = tt.create_program()
    config = tt.DataMovementConfig(processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC.RISCV_0_default)
    cores = tt.CoreRange((0, 0), (1, 0))
    kernel = tt.create_kernel_from_string(program, KERNEL, cores, config)
    tt.set_runtime_args(program, kernel, cores, [n])
    tt.enqueue_program(device.command_queue(), program, blocking=True)


def test_run(tensim_run, tensim_pin):
    tensim_pin(tensim_run("eltwise_add", shape=(32, SIZE)), tolerance=TOLERANCE)


@pytest.mark.parametrize("tensim_device", [{"arch": "blackhole"}, {}], indirect=True)
def test_device(tensim_device, tensim_pin):
    with tt.measure(tensim_device, "steps", zones=True) as m:
        launch(tensim_device, STEPS)
    tensim_pin(m.result)
'''


def run(folder, *arguments, size=64, steps=5, tolerance=0.0, text=TESTS):
    values = {"SIZE": size, "STEPS": steps, "TOLERANCE": tolerance}
    (folder / "test_mine.py").write_text(re.sub(r"\b(SIZE|STEPS|TOLERANCE)\b", lambda m: str(values[m[0]]), text))
    words = [sys.executable, "-m", "pytest", "-q", "-p", PLUGIN, "-p", "no:cacheprovider", *arguments, "test_mine.py"]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environment)


@pytest.fixture(scope="module")
def pinned(tmp_path_factory):
    """A folder with tests and what they have pinned."""
    folder = tmp_path_factory.mktemp("pinned")
    done = run(folder, "--tensim-update")
    assert done.returncode == 0, done.stdout
    return folder


def test_without_a_baseline_a_test_fails_and_says_how_to_write_it(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 1 and "3 failed" in done.stdout
    assert "has no figures of eltwise_add in test_run; pytest --tensim-update writes them" in done.stdout


def test_what_is_pinned_is_readable(pinned):
    text = (pinned / "test_mine.tensim.yaml").read_text()
    assert text.startswith("# What tensim measured in the tests of test_mine.py; `pytest --tensim-update`")
    pins = yaml.safe_load(text)
    assert set(pins) == {"test_run", "test_device[tensim_device0]", "test_device[tensim_device1]"}
    checked = pins["test_device[tensim_device1]"]["steps"]["checked"]
    assert checked["totals"]["cycles"] > 50 and set(checked["cores"]) == {"core (0,0)", "core (1,0)"}
    assert checked["zones"]["STEP in counts on BRISC, count"] == 10
    assert len(pins["test_run"]["eltwise_add"]["checked"]["outcome"]["hash of dram"]) == 64
    assert pins["test_run"]["eltwise_add"]["checked"]["outcome"]["verified"] is True


def test_the_same_run_passes(pinned):
    assert run(pinned).returncode == 0


def test_a_failing_test_shows_what_moved(pinned):
    before = (pinned / "test_mine.tensim.yaml").read_text()
    done = run(pinned, steps=7)
    assert done.returncode == 1 and "2 failed, 1 passed" in done.stdout
    assert "not as test_mine.tensim.yaml says: cycles" in done.stdout
    assert "most moved BRISC busy" in done.stdout  # of the whole, not two numbers
    assert re.search(r"10 +14 +\+4 +\+40.00%  STEP in counts on BRISC, count", done.stdout)
    assert re.search(r"\+\d+.*counts \(.*\): noc_async_read_barrier\(\)", done.stdout)
    assert "Traceback" not in done.stdout
    assert (pinned / "test_mine.tensim.yaml").read_text() == before


def test_a_tolerance_is_for_times_and_not_for_the_memories(pinned):
    done = run(pinned, "-k", "test_run", size=96, tolerance=1000.0)
    assert done.returncode == 1 and "hash of dram" in done.stdout and "beyond 100000.000%" in done.stdout
    done = run(
        pinned,
        "-k",
        "test_device",
        steps=6,
        text=TESTS.replace("tensim_pin(m.result)", "tensim_pin(m.result, tolerance=0.5)"),
    )
    assert done.returncode == 0, done.stdout
    done = run(
        pinned,
        "-k",
        "test_device",
        steps=6,
        text=TESTS.replace("tensim_pin(m.result)", "tensim_pin(m.result, tolerance=0.01)"),
    )
    assert done.returncode == 1 and "beyond 1.000%" in done.stdout


def test_an_update_of_one_test_leaves_the_others(tmp_path):
    assert run(tmp_path, "--tensim-update").returncode == 0
    before = yaml.safe_load((tmp_path / "test_mine.tensim.yaml").read_text())
    assert run(tmp_path, "--tensim-update", "-k", "test_run", size=32).returncode == 0
    after = yaml.safe_load((tmp_path / "test_mine.tensim.yaml").read_text())
    changed = [test for test in before if before[test] != after[test]]
    assert changed == ["test_run"] and run(tmp_path, size=32).returncode == 0


@pytest.mark.parametrize("text", ["[", "3", "test_run: 5", "test_run: {eltwise_add: {checked: {}, explains: {}}}"])
def test_a_damaged_baseline_is_named(tmp_path, text):
    (tmp_path / "test_mine.tensim.yaml").write_text(text)
    done = run(tmp_path, "-k", "test_run")
    assert done.returncode == 1 and "UsageError" in done.stdout and "test_mine.tensim.yaml" in done.stdout


def test_two_results_of_a_test_need_names(tmp_path):
    text = """
def test_two(tensim_run, tensim_pin):
    result = tensim_run("add_integers", zones=False, image_hash=False)
    tensim_pin(result)
    tensim_pin(result, name="again")
    tensim_pin(result)
"""
    done = run(tmp_path, "--tensim-update", text=text)
    assert "add_integers is pinned twice in one test" in done.stdout
    pins = yaml.safe_load((tmp_path / "test_mine.tensim.yaml").read_text())["test_two"]
    assert set(pins) == {"add_integers", "again"} and "hash of l1" not in pins["again"]["checked"]["outcome"]


def test_a_wrong_output_fails_and_is_never_pinned(tmp_path):
    text = """
import dataclasses
from tensim.running.runnable import find_program

def broken(device, *, shape, dtype, fidelity, grid, rng):
    result = find_program("add_integers").run_on(device)
    return dataclasses.replace(result, expected=result.expected + 1)

def test_wrong(tensim_run, tensim_pin):
    tensim_pin(tensim_run(broken))
"""
    done = run(tmp_path, "--tensim-update", text=text)
    assert done.returncode == 1 and "the output of broken is wrong: relative error" in done.stdout
    assert not (tmp_path / "test_mine.tensim.yaml").exists()


# --- elapsed time, and what ran

LAUNCHES = """
import tensim as tt

KERNEL = "from tensim.kernel_api import *\\n@kernel\\ndef idle():\\n    noc_async_read_barrier()\\n"

def test_launches(tensim_device, tensim_pin):
    program = tt.create_program()
    config = tt.DataMovementConfig(processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC.RISCV_0_default)
    tt.create_kernel_from_string(program, KERNEL, tt.CoreCoord(0, 0), config)
    with tt.measure(tensim_device, "launches") as m:
        for _ in range(2):
            tt.enqueue_program(tensim_device.command_queue(), program)
            FINISH
    tensim_pin(m.result, tolerance=0.02)
"""


def test_a_wait_of_the_host_between_launches_breaks_a_pin(tmp_path):
    done = run(tmp_path, "--tensim-update", text=LAUNCHES.replace("FINISH", "pass"))
    assert done.returncode == 0, done.stdout
    done = run(tmp_path, text=LAUNCHES.replace("FINISH", "tt.finish(tensim_device.command_queue())"))
    assert done.returncode == 1 and "says: span_cycles" in done.stdout and "from start to end" in done.stdout


def test_another_tensim_and_another_chip_are_named(tmp_path):
    assert run(tmp_path, "--tensim-update", "-k", "test_run").returncode == 0
    file = tmp_path / "test_mine.tensim.yaml"
    text = file.read_text()
    changed = re.sub("tensim_version: [^,}]*", "tensim_version: 0.0.1", text)
    changed = re.sub("parameters of the chip: [^,}]*", "parameters of the chip: abc", changed)
    changed = re.sub(r"\bnoc [0-9a-f]{6}\b", "noc abc", changed)
    changed = re.sub(r"(\{cycles: )\d+", r"\g<1>7", changed)
    assert len({text, changed}) == 2
    file.write_text(changed)
    done = run(tmp_path, "-k", "test_run")
    assert "tensim_version: 0.0.1 -> " in done.stdout and "parameters of the chip: abc -> " in done.stdout
    assert "parameters of the chip, noc: abc -> " in done.stdout and "chip, dram" not in done.stdout


def test_a_pin_keeps_the_largest_stalls_and_lines(pinned):
    pins = yaml.safe_load((pinned / "test_mine.tensim.yaml").read_text())
    explains = pins["test_run"]["eltwise_add"]["explains"]
    assert len(explains["stalls"]) == 8 and min(explains["stalls"].values()) > 0
    assert "overrides" not in explains["ran"]


# --- entries that no test pins


def test_entries_that_no_test_pins_are_named_and_removed(tmp_path):
    text = """
def test_NAME(tensim_run, tensim_pin):
    result = tensim_run("add_integers", zones=False, image_hash=False)
    tensim_pin(result, name="PINNED")
    tensim_pin(result, name="kept")
"""
    file = tmp_path / "test_mine.tensim.yaml"
    old = text.replace("NAME", "one").replace("PINNED", "old")
    assert run(tmp_path, "--tensim-update", text=old + text.replace("NAME", "two")).returncode == 0
    new = text.replace("NAME", "one").replace("PINNED", "kept").replace('    tensim_pin(result, name="kept")\n', "", 1)
    done = run(tmp_path, text=new)
    assert done.returncode == 0 and "pinned figures that no test pins" in done.stdout
    assert "test_mine.tensim.yaml: old in test_one" in done.stdout and "kept in test_two" in done.stdout
    assert "no test pins" not in run(tmp_path, "test_mine.py::test_one", text=new.replace("kept", "old")).stdout
    assert "removed what no test pins" in run(tmp_path, "--tensim-update", text=new).stdout
    assert yaml.safe_load(file.read_text()).keys() == {"test_one"}
    done = run(tmp_path, text=new)
    assert done.returncode == 0 and "no test pins" not in done.stdout


# --- arrays

ARRAYS = """
import numpy as np

def test_numbers(tensim_run, tensim_pin_array):
    output = tensim_run("eltwise_add", shape=(32, 32), zones=False, image_hash=False).output
    tensim_pin_array(CHANGED, LIMITS)
"""


@pytest.mark.parametrize(
    ("changed", "limits", "words"),
    [
        ("output", "", None),
        ("output + 1", "", "relative error"),
        ("output * 1.001", "tolerance=0.01", None),
        ("output * 1.1", "tolerance=0.01", "allowed 0.01"),
        ("output * 2", "pcc=0.999", None),
        ("-output", "pcc=0.999", "at least 0.999 was wanted"),
        ("output[:3]", "pcc=0.9", "its shape is"),
    ],
)
def test_arrays_are_pinned_by_tolerance_and_correlation(numbers, changed, limits, words):
    done = run(numbers, text=ARRAYS.replace("CHANGED", changed).replace("LIMITS", limits))
    assert done.returncode == (words is not None) and (words or "passed") in done.stdout


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    done = run(folder, "--tensim-update", text=ARRAYS.replace("CHANGED", "output").replace("LIMITS", ""))
    assert done.returncode == 0, done.stdout
    assert [file.name for file in (folder / "test_mine.tensim").iterdir()] == ["test_numbers-output.npy"]
    return folder


# --- where files are looked for


def test_programs_and_kernels_are_found_beside_the_test(tmp_path):
    text = """
import tensim as tt

def test_file(tensim_run):
    assert tensim_run("mine.py", grid=(1, 1), zones=False).verified

def test_kernel():
    tt.create_kernel(tt.create_program(), "reads.py", tt.CoreCoord(0, 0), tt.DataMovementConfig(
        processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC.RISCV_0_default))
"""
    folder = tmp_path / "below"
    folder.mkdir()
    (folder / "mine.py").write_text("from tensim.examples.add_integers import run\nAXES, SHAPE = 'N', '16'\n")
    (folder / "reads.py").write_text(
        "from tensim.kernel_api import *\n@kernel\ndef reads():\n    noc_async_read_barrier()\n"
    )
    (folder / "test_below.py").write_text(text)
    done = run(tmp_path, "below/test_below.py", text="")
    assert "2 passed" in done.stdout, done.stdout


# --- failures of tests

FAILING = """
import tensim as tt

def test_leaves_its_device_open():
    tt.create_device(0)
    assert False

def test_fails_with_the_fixture(tensim_device):
    assert False

def test_hangs(tensim_device):
    program = tt.create_program()
    config = tt.DataMovementConfig(processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC.RISCV_0_default)
    text = "from tensim.kernel_api import *\\\\n@kernel\\\\ndef waits():\\\\n    cb_wait_front(0, 1)\\\\n"
    tt.create_kernel_from_string(program, text, tt.CoreCoord(0, 0), config)
    buffer = tt.CircularBufferConfig(2048, {0: tt.DataFormat.Float16_b}).set_page_size(0, 2048)
    tt.create_circular_buffer(program, tt.CoreCoord(0, 0), buffer)
    tt.enqueue_program(tensim_device.command_queue(), program)

def test_opens_one_itself():
    with tt.create_device(0) as device:
        assert device.is_open

def test_uses_the_fixture(tensim_device):
    assert tensim_device.is_open

def test_runs(tensim_run):
    assert tensim_run("add_integers").verified
""".replace("\\\\n", "\\n")


def test_a_failed_test_does_not_break_the_next_one(tmp_path):
    done = run(tmp_path, text=FAILING)
    assert "2 failed, 4 passed, 1 error" in done.stdout, done.stdout
    assert "ERROR at teardown of test_hangs" in done.stdout and "DeadlockError" in done.stdout


def test_a_device_of_a_module_outlives_a_failed_test(tmp_path):
    text = """
import pytest
import tensim as tt

@pytest.fixture(scope="module")
def device():
    with tt.create_device(0) as device:
        yield device

def test_first(device):
    assert False

def test_second(device):
    assert device.is_open
"""
    assert "1 failed, 1 passed" in run(tmp_path, text=text).stdout


# --- loading


def test_loading_the_plugin_imports_neither_compiler_nor_engine(tmp_path):
    text = """
import sys

def test_nothing():
    heavy = {"numba", "llvmlite", "numpy", "yaml", "tensim.sim", "tensim.device", "tensim.running", "tensim.results"}
    assert not heavy & set(sys.modules)
    assert "tensim.testing.plugin" in sys.modules
"""
    done = run(tmp_path, text=text)
    assert done.returncode == 0, done.stdout


def test_pytest_finds_the_plugin_by_its_entry_point():
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"tensim": PLUGIN}


def test_fixtures_and_options_bear_the_name_of_the_project():
    import tensim.testing.plugin as plugin

    fixtures = [name for name, value in vars(plugin).items() if "fixture" in type(value).__name__.lower()]
    assert fixtures and all(name.startswith("tensim_") for name in fixtures)
