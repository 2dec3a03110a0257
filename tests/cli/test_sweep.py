"""`tensim sweep` at the command line."""

import csv
import json

import pytest

from tensim.cli.sweep import parse_over
from tensim.sim.errors import UsageError
from tests.commands import exit_code


def test_values_are_divided_at_commas_outside_brackets():
    assert parse_over(["shape=512x512x512,64x64x64", "noc.hop_cycles=3,5.5", "list=[1,2],[3]", "numerics=off,exact"]) == {
        "shape": ["512x512x512", "64x64x64"], "noc.hop_cycles": [3, 5.5], "list": [[1, 2], [3]],
        "numerics": ["off", "exact"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["noc.hop_cycles"], "not of the form"),
        (["=3"], "not of the form"),
        (["a="], "an empty value"),
        (["a=1,,2"], "an empty value"),
        (["a=1", "a=2"], "given twice"),
        (["a={"], "no YAML scalar|not a YAML scalar"),
    ],
)
def test_another_form_is_refused(texts, message):
    with pytest.raises(UsageError, match=message):
        parse_over(texts)


def test_a_sweep_writes_a_table_and_says_how_far_it_is(tmp_path, capsys):
    folder, file = tmp_path / "table", tmp_path / "rows.json"
    words = ("sweep", "eltwise_add", "--shape", "64x64", "--numerics", "off", "--over", "noc.hop_cycles=3,5,-1",
             "-o", folder, "--processes", "2")  # fmt: skip
    assert exit_code(*words, "--json", file) == 1
    shown = capsys.readouterr()
    assert "3 points, 1 failed" in shown.out and "3 of 3 points, 1 failed" in shown.err
    data = json.loads(file.read_text())
    assert (data["points"], data["failed"]) == (3, 1)
    assert data["rows"][0]["cycles"] < data["rows"][1]["cycles"] and data["rows"][2]["cycles"] is None
    rows = list(csv.DictReader((folder / "results.csv").read_text().splitlines()))
    assert {row["noc.hop_cycles"] for row in rows} == {"3", "5", "-1"}
    assert exit_code(*words) == 1
    told = capsys.readouterr().err
    assert "all are in the table" in told and "the first point that failed: usage: noc.hop_cycles" in told


def test_several_programs_need_no_name(tmp_path, capsys):
    over = ("--over", "program=eltwise_add,dram_loopback", "--over", "shape=64x64")
    assert exit_code("sweep", *over, "-o", tmp_path / "table", "--processes", 1) == 0
    assert "2 points, 0 failed" in capsys.readouterr().out


def test_when_every_point_fails_so_does_the_command(tmp_path, capsys):
    assert exit_code("sweep", "add_integers", "--over", "noc.hop_cycles=-1,-2", "-o", tmp_path / "t") == 1
    assert "every point failed, the first one: usage" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("add_integers",), "nothing varies"),
        ((), "nothing varies"),
        (("--over", "seed=1"), "no program is given"),
        (("no_such", "--over", "seed=1"), "unknown example"),
        (("add_integers", "--over", "hop=1"), "nothing called 'hop' can vary"),
        (("add_integers", "--over", "shape=16,32", "--shape", "16"), "shape varies and is given for all points"),
        (("add_integers", "--over", "seed=1", "--processes", "0"), "--processes"),
        (("add_integers", "--over", "seed=1", "--processes", "1", "--cluster", "dask://h:1"), "is another one"),
    ],
)
def test_wrong_input_ends_in_2(words, message, tmp_path, capsys):
    assert exit_code("sweep", *words, "-o", tmp_path / "table") == 2
    assert message in capsys.readouterr().err and not (tmp_path / "table").exists()


def test_a_sweep_needs_a_folder(capsys):
    assert exit_code("sweep", "add_integers", "--over", "seed=1") == 2
    assert "'-o'" in capsys.readouterr().err
