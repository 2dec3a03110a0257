"""--tt-report of the commands besides `run`: replays of captured programs, and ttnn programs."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tensim.running.programs import Settings, run_program
from tests.commands import exit_code

TTNN_PROGRAM = Path(__file__).parents[2] / "tests" / "tool_files" / "ttnn_copy.py"


def rows(folder):
    (path,) = folder.glob("ops_perf_results_*.csv")
    with open(path) as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    file = tmp_path_factory.mktemp("captured") / "matmul.bin"
    run_program(Settings(program="matmul_single_core", shape="64x96x32", capture=str(file)))
    return file


def test_a_replay_writes_the_report(captured, tmp_path):
    assert exit_code("replay", str(captured), "--tt-report", str(tmp_path / "report")) == 0
    (row,) = rows(tmp_path / "report")
    assert row["OP CODE"] == "MatmulDeviceOperation" and row["INPUT_0_X_PAD[LOGICAL]"] == "96[96]"


def test_several_files_cannot_share_a_report(captured, tmp_path, capsys):
    assert exit_code("replay", str(captured), str(captured), "--tt-report", str(tmp_path)) == 2
    assert "--tt-report is for one file" in capsys.readouterr().err


def test_a_ttnn_program_is_reported_with_its_operations(tmp_path):
    command = [sys.executable, "-m", "tensim.ttnn", "--tt-report", tmp_path / "report", TTNN_PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = rows(tmp_path / "report")
    assert [row["OP CODE"] for row in found] == ["KernelDeviceOperation"] * 2
    assert [row["PROGRAM CACHE HIT"] for row in found] == ["False", "True"]
    assert {row["INPUT_0_DATATYPE"] for row in found} == {"BFLOAT16"} and (tmp_path / "report/db.sqlite").exists()


def test_a_ttnn_program_without_operations_says_so(tmp_path):
    program = tmp_path / "nothing.py"
    program.write_text("import ttnn\n\nttnn.close_device(ttnn.open_device(device_id=0))\n")
    command = [sys.executable, "-m", "tensim.ttnn", "--tt-report", tmp_path / "report", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "nothing to report" in done.stderr


def test_replays_and_ttnn_programs_have_speedscope_profiles(captured, tmp_path):
    path = tmp_path / "replay.json"
    assert exit_code("replay", str(captured), "--speedscope", str(path)) == 0
    assert json.loads(path.read_text())["name"] == "matmul.bin"
    other = tmp_path / "ttnn.json"
    command = [sys.executable, "-m", "tensim.ttnn", "--speedscope", other, TTNN_PROGRAM]
    assert subprocess.run(command, capture_output=True, timeout=300).returncode == 0
    assert {item["name"] for item in json.loads(other.read_text())["profiles"]} >= {"NCRISC, all cores"}
