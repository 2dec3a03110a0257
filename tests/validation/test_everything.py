"""`make validate`: files are told by their columns; a line per kind and chip; the baseline notices what became worse."""

import csv

import pytest

from sim.errors import UsageError
from validation.baseline import regressions, write_baseline
from validation.everything import Line, line, lines_of, run_folder, tables_of
from validation.figures import summary
from validation.sample_rows import PER_CHIP, draw, write_sample

EXP = ("chip", "dim0", "dim1", "dim2", "dim3", "tiles", "dtype", "input_memory", "median_ns")


def write_csv(path, header, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


@pytest.fixture
def folder(tmp_path):
    rows = [("wormhole_b0 n150", 1, 1, 32, 32 * n, n, "bfloat16", "DRAM", 5000 + n) for n in range(1, 21)]
    write_csv(tmp_path / "any_name.csv", EXP, rows)
    write_csv(tmp_path / "notes.csv", ("a", "b"), [(1, 2)])
    return tmp_path


def test_files_are_told_by_their_columns(folder):
    tables, unknown = tables_of(folder)
    assert set(tables) == {"streaming"} and len(tables["streaming"][0][0]) == 20
    assert [path.name for path in unknown] == ["notes.csv"]


def test_a_file_without_its_measured_column_is_of_no_kind(folder):
    write_csv(folder / "bare.csv", EXP[:-1], [("wormhole_b0 n150", 1, 1, 32, 32, 1, "bfloat16", "DRAM")])
    assert {path.name for path in tables_of(folder)[1]} == {"notes.csv", "bare.csv"}


def test_a_folder_without_measurements_is_a_clear_error(tmp_path):
    with pytest.raises(UsageError, match="no file that a validation reads"):
        run_folder(tmp_path, 1, lambda text: None)
    with pytest.raises(UsageError, match="is not a folder"):
        run_folder(tmp_path / "missing", 1, lambda text: None)


def test_a_line_per_chip():
    rows = [{"group": f"{chip}/x", "err_pct": err} for chip, err in [("a", 3.0), ("a", -5.0), ("b", 20.0)]]
    lines = lines_of("streaming", summary(rows, [{"id": "1", "why": "no"}], 0.0))
    assert [(one.chip, one.n, one.skipped, one.median, one.holds) for one in lines] == [
        ("a", 2, 1, 4.0, True),
        ("b", 1, 0, 20.0, False),
    ]


def test_a_kind_without_rows_holds_nothing():
    assert line("streaming", "-", [], 3) == Line("streaming", "-", 0, 3, goal=15.0)
    assert line("streaming", "-", [], 3).holds is None


def test_a_sample_is_drawn_by_the_text_of_the_rows(folder, tmp_path_factory):
    target = tmp_path_factory.mktemp("sample")
    assert write_sample(folder, target) == PER_CHIP
    first = (target / "any_name.csv").read_text()
    write_sample(folder, target)
    assert (target / "any_name.csv").read_text() == first
    assert draw([]) == []


def test_the_baseline_notices_a_median_that_grew_and_rows_that_are_gone(tmp_path):
    path = tmp_path / "baseline.json"
    write_baseline([line("noc", "wormhole_b0", [4.0, 4.0], 0)], path)
    assert regressions([line("noc", "wormhole_b0", [5.5, 5.5], 0)], path, margin=2) == []
    assert "6.5 %, 4.0 % before" in regressions([line("noc", "wormhole_b0", [6.5, 6.5], 0)], path, margin=2)[0]
    assert "1 rows compared, 2 before" in regressions([line("noc", "wormhole_b0", [4.0], 0)], path, margin=2)[0]
    with pytest.raises(UsageError, match="update-baseline"):
        regressions([], tmp_path / "none.json")
