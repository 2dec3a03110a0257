"""`tensim survey`: what it selects of a folder of tests, what became of each, and that none harms another."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tensim.cli.survey import survey as command
from tensim.library import survey
from tensim.library.outcomes import BUILD, compared, judged, tables
from tensim.sim.errors import UsageError
from tests.library.test_wheel import LIBRARY

PARTS = """
import os
import time

import pytest


@pytest.mark.parametrize("wide", range(6))
@pytest.mark.parametrize("high", range(5))
def test_grid(high, wide):
    with open("ran", "a") as file:
        file.write(f"{high}{wide} ")


def test_fails():
    assert 1 + 1 == 3, "the sum is 2"


def test_is_refused():
    raise RuntimeError("kernel.cpp:7: topk_local_sort is not modelled [core 1-1, thread BRISC, cycle 7]\\n  hint: none")


@pytest.mark.skip(reason="of several chips")
def test_skips():
    pass


def test_wants_what_nobody_has(cluster):
    pass


@pytest.fixture
def stuck():
    yield
    raise RuntimeError("the device does not close")


def test_leaves_its_device_open(stuck):
    pass


def test_last():
    pass
"""
ENDS = """
import os
import time


def test_first():
    pass


def test_sleeps():
    time.sleep(1000)


def test_between():
    pass


def test_crashes():
    os.abort()


def test_last():
    pass
"""
IMPORTS = "import models.elsewhere\n\n\ndef test_it():\n    pass\n"


def record(message, *, outcome="failed", phase="call", error="RuntimeError"):
    return {"test": "t", "outcome": outcome, "phase": phase, "error": error, "message": message, "seconds": 1.0}


@pytest.fixture
def surveyed(installed, tmp_path, monkeypatch):
    """Run `tensim survey` of files {name: text} with the stand-in for the library; gives {test: (outcome, why)} and the rest."""
    monkeypatch.setenv(
        "TENSIM_CACHE_DIR", str(installed.cache)
    )  # of the processes that are started: the library's tree
    monkeypatch.chdir(tmp_path)

    def run(files, *, keep=None, seconds=20):
        folder = tmp_path / "unit"
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        plan = survey.survey_of(folder, str(installed.of("0.81.1")), ["--arch", "wormhole_b0"], 10, seconds)
        results, said = survey.Results(plan, keep), []
        survey.run(plan, results, said.append)
        tests = {test["test"]: (test["outcome"], test["why"]) for test in results.tests.values()}
        return SimpleNamespace(tests=tests, results=results, said=said, **tables(list(results.tests.values())))

    return run


def test_ten_parametrisations_are_spread_over_the_grid(surveyed, tmp_path):
    """Of 5 x 6: the first and the last, and every value of either parameter.  The next survey chooses the same."""
    done = surveyed({"test_grid.py": PARTS})
    ran = (tmp_path / "ran").read_text().split()
    assert len(ran) == 10 and ran[0] == "00" and ran[-1] == "45"
    assert {word[0] for word in ran} == set("01234") and {word[1] for word in ran} == set("012345")
    (tmp_path / "ran").unlink()
    surveyed({})
    assert (tmp_path / "ran").read_text().split() == ran
    assert done.families == {"grid": {"passed": 11, "failed": 3, "refused": 1, "too slow": 0, "skipped": 1}}


def test_what_became_of_a_test_is_said_in_words(surveyed):
    """A fixture that cannot be taken down ends the process, and another runs the last test."""
    tests = {name.partition("::")[2]: found for name, found in surveyed({"test_parts.py": PARTS}).tests.items()}
    assert tests["test_fails"] == ("failed", "wrong: the sum is 2")
    assert tests["test_is_refused"] == ("refused", "topk_local_sort is not modelled")
    assert tests["test_skips"] == ("skipped", "of several chips")
    assert tests["test_wants_what_nobody_has"] == ("failed", "setup: there is no fixture cluster")
    assert tests["test_leaves_its_device_open"] == ("failed", "teardown: the device does not close")
    assert tests["test_last"] == ("passed", "")


def test_only_the_test_is_lost_that_hangs_or_ends_the_process(surveyed):
    """And a file that cannot be imported is one test; families are folders, and files of the folder itself."""
    done = surveyed(
        {"deep/er/test_ends.py": ENDS, "deep/er/test_imports.py": IMPORTS, "test_top.py": IMPORTS}, seconds=5
    )
    assert done.tests == {
        "deep/er/test_ends.py::test_first": ("passed", ""),
        "deep/er/test_ends.py::test_sleeps": ("too slow", "over 5 s"),
        "deep/er/test_ends.py::test_between": ("passed", ""),
        "deep/er/test_ends.py::test_crashes": ("failed", "the library's process was ended by SIGABRT"),
        "deep/er/test_ends.py::test_last": ("passed", ""),
        "deep/er/test_imports.py": ("failed", "cannot be imported: ModuleNotFoundError: No module named 'models.elsewhere'"),
        "test_top.py": ("failed", "cannot be imported: ModuleNotFoundError: No module named 'models.elsewhere'"),
    }  # fmt: skip
    assert done.families["deep/er"] == {"passed": 3, "failed": 2, "refused": 0, "too slow": 1, "skipped": 0}
    assert done.families["top"]["failed"] == 1 and done.total["passed"] == 3
    assert "deep/er: 2 of 5: deep/er/test_ends.py::test_sleeps" in done.said


OPTION = 'def pytest_addoption(parser):\n    parser.addoption("--run-simulator", action="store_true")\n'
PROCESS = """
import os


def test_it():
    with open("processes", "a") as file:
        file.write(f"{os.getpid()} ")
"""


@pytest.mark.parametrize("ends, processes", [("import models.elsewhere", 1), ("import os\nos._exit(3)", 2)])
def test_families_of_tests_that_drive_the_device_share_a_process(ends, processes, tmp_path, monkeypatch):
    """A file that cannot be imported costs no other one a test, and one that ends the process is run apart."""
    folder = tmp_path / "unit"
    (folder / "deep").mkdir(parents=True)
    for name, text in (("conftest", OPTION), ("test_a", PROCESS), ("deep/test_b", PROCESS), ("test_ends", ends)):
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(survey._Attempt, "_command", lambda self, path: [sys.executable, str(survey.CHILD), str(path)])
    plan = survey.Survey(folder, sys.executable, None, (), 10, 20)
    results = survey.Results(plan)
    survey.run(plan, results)
    tests = {name: (test["family"], test["outcome"]) for name, test in results.tests.items()}
    assert tests.pop("test_a.py::test_it") == ("a", "passed")
    assert tests.pop("deep/test_b.py::test_it") == ("deep", "passed")
    assert list(tests.values()) == [("ends", "failed")]
    assert len(set((folder / "processes").read_text().split())) == processes


def test_a_kept_survey_goes_on_where_it_was_stopped(surveyed, tmp_path):
    """The line that was being written is done again; another survey's file is not taken."""
    keep = tmp_path / "kept.jsonl"
    whole = surveyed({"test_grid.py": PARTS}, keep=keep).tests
    lines = keep.read_text().splitlines(keepends=True)
    keep.write_text("".join(lines[:5]) + lines[5][:20])
    (tmp_path / "ran").unlink()
    assert surveyed({}, keep=keep).tests == whole
    assert len((tmp_path / "ran").read_text().split()) == 6
    with pytest.raises(UsageError, match="is of another survey"):
        surveyed({}, keep=keep, seconds=7)


def test_the_command_writes_a_table_and_compares_with_an_earlier_one(installed, tmp_path, monkeypatch):
    monkeypatch.setenv("TENSIM_CACHE_DIR", str(installed.cache))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "unit/test_two.py"
    file.parent.mkdir()

    def run(text, *more):
        file.write_text(text)
        return CliRunner().invoke(command, ["unit", "--python", str(installed.of("0.81.1")), *more])

    text = "def test_one():\n    assert {}\n\n\ndef test_two():\n    assert {}\n"
    done = run(text.format(True, False), "--json=first.json")
    assert done.exit_code == 0 and done.output.splitlines() == [
        "family    tests    passed    failed   refused  too slow   skipped",
        "two           2         1         1         0         0         0",
        "total         2         1         1         0         0         0",
        "failed and too slow:",
        "  test_two.py::test_two: wrong: assert False",
    ]
    done = run(text.format(False, True), "--baseline", "first.json", "--json=second.json")
    assert done.exit_code == 1 and "worse than in the baseline:\n  test_two.py::test_one" in done.output
    second = json.loads((tmp_path / "second.json").read_text())
    assert second["worse"] == ["test_two.py::test_one"] and second["better"] == ["test_two.py::test_two"]
    assert "is not the JSON of a survey" in str(run(text, "--baseline", str(file)).exception)


@pytest.mark.parametrize(
    "found, outcome, why",
    [
        (record(f"TT_THROW @ build.cpp:1\ninfo:\n{BUILD} reader\nk.cpp:3: sort_tile is not modelled (operations)\n"),
         "refused", "sort_tile is not modelled (operations)"),
        (record("a kernel is to run on core 1-6, which is no worker of wormhole_b0 n150\n  hint: none"),
         "refused", "a kernel is to run on core 1-6, which is no worker of wormhole_b0 n150"),
        (record(f"{BUILD} reader\nk.cpp:3:7: error: expected ';'\n"), "failed", "a kernel does not compile: expected ';'"),
        (
            record("Command:\ng++ -c k.cpp\n\nCommand's stderr:\nk.cpp:3:7: error: expected ';'\n"),
            "failed",
            "a kernel does not compile: expected ';'",
        ),
        (record("TT_FATAL @ op.cpp:9: a == b\ninfo:\nwidths differ\nbacktrace:\n --- x"),
         "failed", "the library refuses: widths differ"),
        (record("k.cpp:3: deadlock: two threads wait [core 1-1, thread BRISC, cycle 9]"),
         "failed", "k.cpp:3: deadlock: two threads wait"),
        (record("5", error="KeyError", phase="setup"), "failed", "setup: KeyError: 5"),
        (record("the backend raised:\nValueError: no such type\n", error="Failed"), "failed",
         "Failed: the backend raised: ValueError: no such type"),
        (record("", outcome="skipped"), "skipped", ""),
    ],
)  # fmt: skip
def test_words_of_outcomes(found, outcome, why):
    assert judged(found) == (outcome, why)


def test_a_baseline_judges_tests_that_both_have():
    tests = [
        {"test": name, "outcome": outcome}
        for name, outcome in zip("abcd", ["passed", "failed", "refused", "passed"], strict=True)
    ]
    before = [
        {"test": name, "outcome": outcome}
        for name, outcome in zip("bcd", ["passed", "failed", "too slow"], strict=True)
    ]
    assert compared(tests, before) == {"worse": ["b"], "better": ["d"]}


def test_a_folder_without_tests_and_a_python_without_pytest(installed, tmp_path):
    with pytest.raises(UsageError, match="there are no tests"):
        survey.families(tmp_path)
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\n[ "$2" = "import pytest" ] && exit 1\nexec {installed.of("0.81.1")} "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(UsageError, match="has no pytest"):
        survey.survey_of(tmp_path, str(bare), [], 10, 60)


WHEEL = """
import numpy as np
import pytest
import ttnn
from loguru import logger
from models.common.utility_functions import is_blackhole, is_wormhole_b0
from tests.ttnn.utils_for_testing import assert_equal, assert_with_pcc

VALUES = np.random.default_rng(0).random((32, 64), np.float32)


def put(device):
    return ttnn.Tensor(VALUES.reshape(-1).tolist(), [32, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT).to(device)


def get(tensor):
    return np.array(tensor.cpu().to(ttnn.ROW_MAJOR_LAYOUT).to_list())


def test_is_refused(device):
    tensor, core = put(device), ttnn.CoreCoord(0, 0)
    kernel = ttnn.KernelDescriptor(
        kernel_source='#include "api/dataflow/dataflow_api.h"\\nvoid kernel_main() { experimental::remote_cb_pop_front(0, 1); }',
        source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE, compile_time_args=[],
        core_ranges=ttnn.CoreRangeSet([ttnn.CoreRange(core, core)]), config=ttnn.ReaderConfigDescriptor(),
    )
    ttnn.generic_op([tensor, tensor], ttnn.ProgramDescriptor(kernels=[kernel], semaphores=[], cbs=[]))


@pytest.mark.parametrize("device_params", [{"l1_small_size": 16384}], indirect=True)
def test_passes(device):
    assert is_wormhole_b0(device) and not is_blackhole()
    assert_with_pcc(-VALUES, get(ttnn.neg(put(device))), 0.999)


def test_is_wrong(mesh_device):
    assert_with_pcc(VALUES, get(ttnn.neg(put(mesh_device))), 0.999)


@pytest.mark.parametrize("mesh_device", [(1, 8)], indirect=True)
def test_wants_eight_chips(mesh_device):
    pass
"""


@pytest.mark.skipif(LIBRARY is None, reason="no interpreter that has ttnn")
def test_tests_of_the_library_with_its_wheel(tmp_path):
    """Fixtures and modules of the vendor's tests are there; a refused operation leaves the next test a device."""
    (tmp_path / "test_wheel.py").write_text(WHEEL)
    plan = survey.survey_of(tmp_path, LIBRARY.python, ["--arch", "wormhole_b0"], 10, 300)
    results = survey.Results(plan)
    survey.run(plan, results)
    assert [(Path(name).name, test["outcome"]) for name, test in results.tests.items()] == [
        ("test_wheel.py::test_is_refused", "refused"),
        ("test_wheel.py::test_passes[device_params0]", "passed"),
        ("test_wheel.py::test_is_wrong", "failed"),
        ("test_wheel.py::test_wants_eight_chips[mesh_device0]", "skipped"),
    ]
    assert "PCC -" in results.tests["test_wheel.py::test_is_wrong"]["why"]


MESHES = """
import pytest
import ttnn


def gathered(mesh):
    values = list(map(float, range(32 * 64)))
    tensor = ttnn.Tensor(values, [1, 1, 32, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT).to(mesh)  # on every chip
    found = ttnn.get_device_tensors(ttnn.all_gather(tensor, dim=3))
    return [list(one.cpu().to(ttnn.ROW_MAJOR_LAYOUT).shape) for one in found]


def test_one_chip_first(device):
    tensor = ttnn.Tensor([1.0] * 1024, [1, 1, 32, 32], ttnn.bfloat16, ttnn.TILE_LAYOUT).to(device)
    ttnn.relu(tensor)


@pytest.mark.parametrize("mesh_device", [2, (1, 4)], indirect=True)
@pytest.mark.parametrize("device_params", [{"fabric_config": ttnn.FabricConfig.FABRIC_1D}], indirect=True)
def test_lines(mesh_device):
    chips = mesh_device.get_num_devices()
    assert gathered(mesh_device) == chips * [[1, 1, 32, 64 * chips]]


@pytest.mark.parametrize("device_params", [{"fabric_config": ttnn.FabricConfig.FABRIC_2D}], indirect=True)
def test_another_fabric(bh_2d_mesh_device):
    assert list(bh_2d_mesh_device.shape) == [2, 2]


def test_eight(t3k_mesh_device):
    pass
"""


@pytest.mark.skipif(LIBRARY is None, reason="no interpreter that has ttnn")
def test_tests_of_several_chips_with_the_wheel(tmp_path):
    """They open all or some, with fabrics of their own, also when another test has run on one of them."""
    (tmp_path / "test_meshes.py").write_text(MESHES)
    plan = survey.survey_of(tmp_path, LIBRARY.python, ["--arch", "blackhole", "--mesh", "p150_x4"], 10, 300, (2, 2))
    results = survey.Results(plan)
    survey.run(plan, results)
    assert [(one["outcome"], one["why"]) for one in results.tests.values()] == 4 * [("passed", "")] + [
        ("skipped", "4 chips are simulated, the test wants a mesh of (2, 4)")
    ]


def test_tests_that_cannot_be_started_say_why(tmp_path, monkeypatch):
    monkeypatch.setenv("TENSIM_LIBRARY_PYTHON", "/nowhere/python3.10")
    (tmp_path / "test_one.py").write_text("def test_one():\n    pass\n")
    plan = survey.Survey(tmp_path, "python-that-is-nowhere", None, ("--arch", "blackhole"), 10, 60, ("test_*.py",))
    with pytest.raises(UsageError, match="cannot be started: .*/nowhere/python3.10") as caught:
        survey.run(plan, survey.Results(plan))
    assert "--python PATH" in caught.value.hint
