"""`tensim.sweep`: a row per point, in a table that grows, survives and goes on."""

import concurrent.futures
import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import tensim as tt
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.errors import TensimError, UsageError
from tensim.sweeps import run as runs
from tensim.sweeps.run import run_sweep
from tests.sweeps.programs import COPY, ran, write

pandas = pytest.importorskip("pandas")


def table(folder):
    """The rows of a folder's one CSV, which has one physical line for each."""
    (file,) = folder.glob("*.csv")
    lines = file.read_text().splitlines()
    rows = list(csv.DictReader(lines))
    assert len(rows) == len(lines) - 1 and file.read_text().endswith("\n")
    return rows


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program").mkdir()
    return write(tmp_path / "program")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "table"


# --- points and rows


def test_all_combinations_are_points_in_their_order(program):
    frame = tt.sweep(program, {"seed": [0, 1], "steps": [2, 5]}, processes=2)
    assert frame[["seed", "steps"]].values.tolist() == [[0, 2], [0, 5], [1, 2], [1, 5]]
    assert list(frame["point"]) == [0, 1, 2, 3] and not any(frame["error"])
    assert frame["cycles"][0] == frame["cycles"][2] < frame["cycles"][1] == frame["cycles"][3]


def test_a_row_has_the_figures_of_the_run():
    (row,), _ = run_sweep("eltwise_add", {"shape": ["64x64"]}, {"seed": 5})
    alone = tt.run("eltwise_add", shape="64x64", seed=5)
    assert (row["cycles"], row["verified"], row["bounded_by"]) == (alone.cycles, True, alone.bounded_by)
    assert row["dram_read_bytes"] == alone["dram"]["read_bytes"] and row["kernel_operations"] == alone.kernel_operations


def test_a_list_of_points_need_not_be_all_combinations(program):
    frame = tt.sweep(program, [{"steps": 2, "seed": 7}, {"steps": 4, "seed": 8}], processes=1)
    assert frame[["steps", "seed"]].values.tolist() == [[2, 7], [4, 8]]


def test_shapes_formats_parameters_of_chip_and_program_and_whole_chips_can_vary(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("name: own\nextends: wormhole_b0\nnoc:\n  hop_cycles: 30\n")
    over = {
        "shape": [(64, 64), "32x64"],
        "dtype": ["bf16", "bfp8"],
        "arch": ["wormhole_b0", own],
        "noc.hop_cycles": [9, 20],
    }
    frame = tt.sweep("eltwise_add", over, numerics="off", processes=2)
    assert len(frame) == 16 and not any(frame["error"])
    same = frame[frame["noc.hop_cycles"] == 20]  # what varies comes last
    assert len(set(same[same["arch"] == "wormhole_b0"]["cycles"])) == 4
    assert list(same[same["arch"] == own]["cycles"]) == list(same[same["arch"] == "wormhole_b0"]["cycles"])
    by_hand = tt.run(
        "eltwise_add", numerics="off", shape="32x64", dtype="bfp8", arch=own, overrides={"noc.hop_cycles": 9}
    )
    assert frame["cycles"][14] == by_hand.cycles


def test_programs_can_vary(program):
    frame = tt.sweep(None, {"program": [program, "add_integers"], "shape": ["16"], "grid": ["1x1"]}, processes=2)
    assert not any(frame["error"]) and frame["cycles"][1] == tt.run("add_integers").cycles


def test_what_kernels_are_compiled_with_can_vary(program):
    frame = tt.sweep(program, {"kernel.spends.compile_args[0]": [1, 2], "steps": [4, 8]}, processes=1)
    cycles = dict(
        zip(zip(frame["kernel.spends.compile_args[0]"], frame["steps"], strict=True), frame["cycles"], strict=True)
    )
    assert cycles[1, 8] == cycles[2, 4] > cycles[1, 4]


def of_mine(device, *, shape, dtype, fidelity, grid, rng, count: int = 16):
    """A program that is a function of a script."""
    return find_program("add_integers").run_on(device, Options(shape=str(count)))


def test_a_function_can_be_swept(folder):
    frame = tt.sweep(of_mine, {"count": [16, 64]}, folder=folder, processes=2)
    assert list(frame["cycles"]) == [tt.run("add_integers", shape=text).cycles for text in ("16", "64")]
    assert f'"program": "{__name__}.of_mine"' in (folder / "sweep.json").read_text()


def test_what_fails_is_a_row_with_its_error_on_one_line(folder):
    frame = tt.sweep("matmul_multicast", {"in0_block_w": [1, 3], "noc.hop_cycles": [9, -1]}, folder=folder,
                     shape="64x64x64", numerics="off", processes=2)  # fmt: skip
    assert [bool(error) for error in frame["error"]] == [False, True, True, True]
    assert "in0_block_w 3 does not divide" in frame["error"][2] and "noc.hop_cycles" in frame["error"][1]
    assert len(table(folder)) == 4


def test_mistakes_of_programs_are_rows(program, folder):
    write(
        program.parent,
        COPY.replace(
            "    program = tt.create_program()",
            "    assert steps < 3, 'two\\nlines'\n    program = tt.create_program()",
        ),
    )
    frame = tt.sweep(program, {"steps": [1, 5]}, folder=folder, processes=1)
    assert frame["error"][0] == "" and "AssertionError: two lines" in frame["error"][1]
    assert len(table(folder)) == 2


# --- the folder


def test_a_folder_holds_one_csv_and_what_was_swept(program, folder):
    frame = tt.sweep(program, {"steps": [1, 2]}, folder=folder, processes=1)
    rows = table(folder)
    assert {int(row["steps"]): int(row["cycles"]) for row in rows} == dict(
        zip(frame["steps"], frame["cycles"], strict=True)
    )
    pytest.importorskip("pyarrow")
    assert list(pandas.read_parquet(folder / "results.parquet")["cycles"]) == list(frame["cycles"])


def test_what_is_in_the_table_is_not_run_again(program, folder):
    first = tt.sweep(program, {"steps": [1, 2]}, folder=folder, processes=1)
    told = []
    again = tt.sweep(program, {"steps": [1, 2]}, folder=folder, processes=1, on_progress=told.append)
    assert ran(program.parent) == [1, 2] and told == ["2 of 2 points: all are in the table"]
    assert again.to_dict() == first.to_dict()
    more = tt.sweep(program, {"steps": [3, 2, 1]}, folder=folder, processes=1)
    assert ran(program.parent) == [1, 2, 3] and list(more["steps"]) == [3, 2, 1] and list(more["point"]) == [0, 1, 2]
    assert len(table(folder)) == 3


def test_other_sources_are_simulated_anew(program, folder):
    tt.sweep(program, {"steps": [1, 2]}, folder=folder, processes=1)
    write(program.parent, COPY.replace("range(n *", "range(2 * n *"))
    told = []
    frame = tt.sweep(program, {"steps": [1, 2]}, folder=folder, processes=1, on_progress=told.append)
    assert ran(program.parent) == [1, 2, 1, 2] and "2 rows are of other code" in told[0]
    assert len(table(folder)) == 2 and not any(frame["error"])


def test_another_tensim_simulates_anew(program, folder, monkeypatch):
    tt.sweep(program, {"steps": [1]}, folder=folder, processes=1)
    for module in ("tensim.sweeps.run", "tensim.sweeps.worker"):
        monkeypatch.setattr(f"{module}.code_digest", lambda: "f" * 64)
    tt.sweep(program, {"steps": [1]}, folder=folder, processes=1)
    assert ran(program.parent) == [1, 1] and table(folder)[0]["code"] == "f" * 16


def test_a_changed_module_beside_the_program_counts_too(program, folder):
    helper = program.parent / "steps_helper.py"
    helper.write_text("FACTOR = 1\n")
    write(program.parent, COPY.replace("import os\n", "import os\nimport steps_helper\n"))
    tt.sweep(program, {"steps": [1]}, folder=folder, processes=1)
    helper.write_text("FACTOR = 2\n")
    tt.sweep(program, {"steps": [1]}, folder=folder, processes=1)
    assert ran(program.parent) == [1, 1]


CPP = """
#include "dataflow_api.h"
#include "mine.h"
void kernel_main() { for (uint32_t i = 0; i < TIMES; i++) noc_async_read_barrier(); }
"""


def test_a_changed_header_of_a_kernel_counts_too(program, folder):
    pytest.importorskip("ziglang")
    (program.parent / "counts.cpp").write_text(CPP)
    (program.parent / "mine.h").write_text("#define TIMES 3\n")
    write(program.parent, COPY.replace("(program, spends,", "(program, HERE / 'counts.cpp',"))
    first = tt.sweep(program, {"steps": [1]}, folder=folder, processes=1)
    tt.sweep(program, {"steps": [1]}, folder=folder, processes=1)
    assert ran(program.parent) == [1]
    (program.parent / "mine.h").write_text("#define TIMES 30\n")
    second = tt.sweep(program, {"steps": [1]}, folder=folder, processes=1)
    assert ran(program.parent) == [1, 1] and second["cycles"][0] > first["cycles"][0]


def test_packages_installed_below_the_program_s_folder_do_not_count(program, folder, monkeypatch):
    package = program.parent / ".venv" / "lib" / "site-packages" / "steps_package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(package.parent))
    write(program.parent, COPY.replace("import os\n", "import os\nimport steps_package\n"))
    tt.sweep(program, {"steps": [1]}, folder=folder, processes=1)
    (files,) = json.loads((folder / "sweep.json").read_text())["sources"].values()
    assert list(files) == [str(program)]


def test_failed_points_run_again_only_when_asked(program, folder):
    bad = {"steps": [1, 2], "max_cycles": [1]}
    tt.sweep(program, bad, folder=folder, processes=1)
    tt.sweep(program, bad, folder=folder, processes=1)
    assert ran(program.parent) == [1, 2]
    frame = tt.sweep(program, bad, folder=folder, processes=1, retry_failed=True)
    assert ran(program.parent) == [1, 2, 1, 2] and all("cycle_limit" in error for error in frame["error"])
    assert len(table(folder)) == 2


def test_half_a_line_of_a_killed_process_is_simulated_again(program, folder):
    tt.sweep(program, {"steps": [1, 2]}, folder=folder, processes=1)
    file = folder / "results.csv"
    file.write_text(file.read_text()[:-25])
    tt.sweep(program, {"steps": [1, 2]}, folder=folder, processes=1)
    assert ran(program.parent) == [1, 2, 2] and len(table(folder)) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"over": {"steps": [1], "seed": [0]}}, "varies was"),
        ({"settings": {"numerics": "off"}}, "settings was"),
        ({"program": "add_integers", "over": {"shape": ["16"]}}, "program was"),
    ],
)
def test_the_folder_of_another_sweep_is_refused(program, folder, change, message):
    run_sweep(program, {"steps": [1]}, {}, folder=folder, processes=1)
    before = (folder / "results.csv").read_text()
    given = {"program": program, "over": {"steps": [1]}, "settings": {}} | change
    with pytest.raises(UsageError, match=f"holds another sweep.*{message}"):
        run_sweep(**given, folder=folder)
    assert (folder / "results.csv").read_text() == before


@pytest.mark.parametrize("name", ["data.csv", "result.json"])
def test_a_folder_with_other_results_is_refused(folder, name):
    folder.mkdir()
    (folder / name).write_text("mine")
    with pytest.raises(UsageError, match=f"holds {name} and is no folder of a sweep"):
        run_sweep("add_integers", {"seed": [0]}, {}, folder=folder)
    assert [path.name for path in folder.iterdir()] == [name]


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"definition": 1}', '{"schema_version": 9, "definition": {}, "sources": {}}']
)
def test_a_damaged_folder_is_refused(folder, text):
    folder.mkdir()
    (folder / "sweep.json").write_text(text)
    with pytest.raises(UsageError, match="sweep.json"):
        run_sweep("add_integers", {"seed": [0]}, {}, folder=folder)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write the folder"):
        run_sweep("add_integers", {"seed": [0]}, {}, folder=tmp_path / "file" / "table")


def test_two_processes_cannot_write_one_folder(program, folder):
    from tensim.sweeps.table import SweepTable

    definition = {"program": "x", "settings": {}}
    with SweepTable(folder, definition, [], "0" * 16), pytest.raises(UsageError, match="another process is writing"):
        SweepTable(folder, definition, [], "0" * 16)


# --- wrong input


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"noc.hop_cyles": [1]}, "nothing called 'noc.hop_cyles' can vary.*\n.*noc.hop_cycles"),
        ({"shap": ["16"]}, "can vary.*\n.*shape"),
        ({"folder": ["x"]}, "nothing called 'folder'"),
        ({"kernel.reader.args": [1]}, "names nothing of a kernel"),
        ({}, "nothing varies"),
        ([], "a point at least"),
        ({"seed": []}, "seed has no values"),
        ({"seed": [1, 1]}, "value 1 twice"),
        ({"shape": "16"}, "a list of values"),
        ({"seed": 3}, "a list of values"),
        ({"program": ["no_such"]}, "unknown example 'no_such'"),
        ({"arch": ["nowhere.yaml"]}, "nowhere.yaml"),
    ],
)
def test_what_cannot_vary_is_refused_before_anything_runs(over, message, folder):
    with pytest.raises(UsageError, match=f"(?s){message}"):
        run_sweep("add_integers", over, {}, folder=folder)
    assert not folder.exists()


@pytest.mark.parametrize("settings", [{"timeline": "x.json"}, {"folder_": 1}, {"capture": "a.bin"}])
def test_settings_that_a_sweep_has_not_are_refused(settings):
    with pytest.raises(UsageError, match="a sweep has no setting"):
        run_sweep("add_integers", {"seed": [0]}, settings)


@pytest.mark.parametrize(
    ("name", "value", "settings"),
    [
        ("shape", "16", {"shape": "32"}),
        ("noc.hop_cycles", 9, {"overrides": {"noc.hop_cycles": 3}}),
        ("steps", 1, {"parameters": {"steps": 2}}),
    ],
)
def test_what_varies_cannot_be_given_for_all_points_too(program, name, value, settings):
    with pytest.raises(UsageError, match=f"{name} varies and is given for all points, too"):
        run_sweep(program, {name: [value]}, settings)


def test_a_parameter_of_one_of_two_programs_cannot_vary(program):
    with pytest.raises(UsageError, match="add_integers has no parameter 'steps'"):
        run_sweep(None, {"program": [program, "add_integers"], "steps": [1]}, {})


def test_a_kernel_that_the_program_has_not_is_an_error_of_the_point(program):
    rows, _ = run_sweep(program, {"kernel.none.compile_args[0]": [1], "seed": [0]}, {}, processes=1)
    assert "creates no kernel for kernel.none.compile_args[0]" in rows[0]["error"]


# --- processes that die


def test_a_killed_process_costs_no_point_and_repeats_none(program, folder):
    over = {"steps": list(range(1, 13)), "unlucky": [6]}
    frame = tt.sweep(program, over, folder=folder, processes=2)
    assert not any(frame["error"]) and list(frame["steps"]) == over["steps"] and (program.parent / "died").exists()
    assert sorted(int(row["steps"]) for row in table(folder)) == over["steps"]


def test_a_point_that_kills_its_process_is_a_failed_row(program, folder):
    frame = tt.sweep(program, {"steps": list(range(1, 9)), "deadly": [4]}, folder=folder, processes=2)
    assert [bool(error) for error in frame["error"]] == [steps == 4 for steps in range(1, 9)]
    assert "the process that simulated it died" in frame["error"][3] and len(table(folder)) == 8


def test_a_sweep_that_is_killed_goes_on(program, folder):
    slow = COPY.replace("    program = tt.create_program()", "    time.sleep(0.1)\n    program = tt.create_program()")
    write(program.parent, slow.replace("import os\n", "import os\nimport time\n"))
    steps = list(range(1, 31))
    words = [sys.executable, "-m", "tensim", "sweep", str(program), "--over", f"steps={','.join(map(str, steps))}",
             "-o", str(folder), "--processes", "2"]  # fmt: skip
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    file = folder / "results.csv"
    while not file.exists() or file.read_text().count("\n") < 6:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    there = [int(line.split(",")[1]) for line in file.read_text().splitlines()[1:]]
    before = len(ran(program.parent))
    time.sleep(0.5)
    assert len(ran(program.parent)) <= before + 2, "processes outlive the one that started them"
    assert subprocess.run(words, capture_output=True).returncode == 0
    assert sorted(int(row["steps"]) for row in table(folder)) == steps
    assert all(ran(program.parent).count(one) == 1 for one in there)


# --- executors


def test_any_executor_will_do(program):
    with concurrent.futures.ThreadPoolExecutor(2) as executor:  # two threads of one process: one point at a time
        frame = tt.sweep(program, {"steps": [1, 2, 3]}, executor=executor)
    assert list(frame["cycles"]) == list(tt.sweep(program, {"steps": [1, 2, 3]}, processes=1)["cycles"])


class Failing(concurrent.futures.Executor):
    """Gives up every second task."""

    def __init__(self, error):
        self.error, self.count = error, 0

    def submit(self, function, *args):
        future, self.count = concurrent.futures.Future(), self.count + 1
        if self.count % 2:
            future.set_result(function(*args))
        else:
            future.set_exception(self.error)
        return future


def test_what_an_executor_gives_up_is_a_failed_row(program):
    frame = tt.sweep(program, {"steps": [1, 2, 3]}, executor=Failing(RuntimeError("no\nworker")))
    assert list(frame["error"]) == ["", "RuntimeError: no worker", ""]


def test_a_broken_executor_ends_the_sweep_and_leaves_the_table(program, folder):
    with pytest.raises(TensimError, match="the executor cannot run anything any more"):
        tt.sweep(
            program, {"steps": [1, 2, 3]}, folder=folder, executor=Failing(concurrent.futures.BrokenExecutor("gone"))
        )
    assert len(table(folder)) == 2  # what had ended is kept
    assert not any(tt.sweep(program, {"steps": [1, 2, 3]}, folder=folder, processes=1)["error"])
    assert ran(program.parent) == [1, 3, 2]


def test_workers_with_another_tensim_are_refused(program, monkeypatch):
    monkeypatch.setattr("tensim.sweeps.worker.code_digest", lambda: "0" * 64)
    with concurrent.futures.ThreadPoolExecutor(1) as executor, pytest.raises(UsageError, match="another tensim"):
        tt.sweep(program, {"steps": [1]}, executor=executor)


class Jobs:
    """An executor whose futures are jobs that are asked, as submitit's."""

    class Job:
        def __init__(self, function, args):
            self.call, self.looks = (function, args), 0

        def done(self):
            self.looks += 1
            return self.looks > 2

        def result(self):
            function, args = self.call
            return function(*args)

        def cancel(self):
            raise AssertionError("all jobs have ended")

    def submit(self, function, *args):
        return self.Job(function, args)


def test_jobs_that_tell_nobody_of_their_end_are_asked(program, monkeypatch):
    monkeypatch.setattr(runs, "POLL_SECONDS", 0.001)
    frame = tt.sweep(program, {"steps": [1, 2, 3]}, executor=Jobs())
    assert not any(frame["error"]) and len(frame) == 3


def test_slurm_jobs_of_submitit(program, tmp_path):
    submitit = pytest.importorskip("submitit")
    frame = tt.sweep(program, {"steps": [1, 2]}, executor=submitit.LocalExecutor(tmp_path / "jobs"))
    assert not any(frame["error"]) and list(frame["steps"]) == [1, 2]


def test_as_many_processes_as_this_process_may_use():
    from tensim.sweeps.local_processes import usable_processors

    assert usable_processors() == len(os.sched_getaffinity(0))


def test_no_processes_are_too_few():
    with pytest.raises(UsageError, match="0 processes"):
        run_sweep("add_integers", {"seed": [0]}, {}, processes=0)


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="sweep needs pandas"):
        tt.sweep("add_integers", {"seed": [0]})
