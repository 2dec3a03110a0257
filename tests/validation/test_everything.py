"""`make validate`: files are told by their columns; a line per kind and chip; the baseline notices what became worse."""

import csv
import json

import pytest

from tensim.cli.noc_replay import read_all, replay_all
from tensim.sim.arch import load_arch
from tensim.sim.errors import UsageError
from tensim.validation import KINDS, runner
from tensim.validation.baseline import BASELINE, ENOUGH, figures_of, regressions, write_baseline
from tensim.validation.everything import Line, lines_of, modules, run_folders, selections_of, tables_of
from tensim.validation.instruction import rows as instruction_rows
from tensim.validation.rows import Case, Row, Skip
from tensim.validation.runner import Results, Selection, run_selection, sources
from tensim.validation.sample_rows import PER_CHIP, draw, write_sample

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
    tables, unknown = tables_of([folder])
    assert set(tables) == {"streaming"} and len(tables["streaming"][0][0]) == 20
    assert [path.name for path in unknown] == ["notes.csv"]


def test_a_file_without_its_measured_column_is_of_no_kind(folder):
    write_csv(folder / "bare.csv", EXP[:-1], [("wormhole_b0 n150", 1, 1, 32, 32, 1, "bfloat16", "DRAM")])
    assert {path.name for path in tables_of([folder])[1]} == {"notes.csv", "bare.csv"}


def test_a_folder_without_measurements_is_a_clear_error(tmp_path):
    with pytest.raises(UsageError, match="no file that a validation reads"):
        run_folders([tmp_path], 1, lambda text: None)
    with pytest.raises(UsageError, match="is not a folder"):
        run_folders([tmp_path / "missing"], 1, lambda text: None)


def rows_of(chip_errors, group="x"):
    return [{"group": f"{chip}/{group}", "err_pct": error} for chip, error in chip_errors]


def test_a_line_per_chip():
    rows = rows_of([("a", 3.0), ("a", -5.0), ("b", 20.0)])
    failures = [{"id": "2", "group": f"{chip}/x", "why": "deadlock"} for chip in "bbc"]
    lines = lines_of("streaming", rows, [{"id": "1", "why": "no"}], failures)
    assert [(line.chip, line.n, line.skipped, line.failed, line.median, line.bias) for line in lines] == [
        ("a", 2, 1, 0, 4.0, -1.0),
        ("b", 1, 0, 2, 20.0, 20.0),
        ("c", 0, 0, 1, None, None),
    ]


def test_a_kind_whose_rows_are_all_skipped_still_has_a_line():
    assert lines_of("streaming", [], [{}] * 3) == [Line("streaming", "-", 0, 3, 0)]


def test_golden_cases_and_recordings_are_found_below_any_of_the_folders(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "cases").mkdir()
    case = {"name": "one", "arch": "bh", "op": "mm", "in_format": "bf16"}
    case |= {"out_format": "bf16", "dst_fp32": False, "fidelity": "LoFi"}
    (other / "cases" / "index.json").write_text(json.dumps([case]))
    read = {"proc": "BRISC", "noc": "NOC_0", "src_device_id": 0, "sx": 1, "sy": 1, "dx": 2, "dy": 1}
    read |= {"type": "READ", "num_bytes": 64}
    (other / "trace.json").write_text(json.dumps([read | {"timestamp": 100}, read | {"timestamp": 900}]))
    (other / "broken.json").write_text("[{}]")
    selections, _ = selections_of([folder, other])
    found = {selection.name: (len(selection.cases), len(selection.bad)) for selection in selections}
    assert found == {
        "streaming": (20, 0), "numerics": (1, 0), "replay-noc closed": (1, 1), "replay-noc open": (1, 1),
        "replay-noc closed flit": (1, 1), "replay-noc open flit": (1, 1),
    }  # fmt: skip


def test_kinds_share_a_process(folder, tmp_path_factory):
    """A golden case, even one whose arrays are missing, leaves no device behind that a row of another kind would meet."""
    golden = tmp_path_factory.mktemp("golden")
    case = {"name": "one", "arch": "bh", "op": "mm", "in_format": "bf16", "out_format": "bf16", "dst_fp32": False}
    (golden / "index.json").write_text(json.dumps([case | {"fidelity": "LoFi"}]))
    result = run_folders([folder, golden], 1, lambda text: None, keep=False)
    assert result["skipped"]["numerics"] == [] and "cannot be read" in result["failures"]["numerics"][0]["why"]
    assert [line.failed for line in result["lines"] if line.name == "numerics"] == [1]
    failed = [verdict for verdict in result["verdicts"] if verdict.goal.figure == "failures"]
    assert [(verdict.name, verdict.value, verdict.holds) for verdict in failed] == [("numerics", 1, False)]
    assert result["skipped"]["streaming"] == [] and len(result["rows"]["streaming"]) == 20


def test_a_recording_is_replayed_in_both_modes_and_noc_models(tmp_path):
    read = {"proc": "BRISC", "noc": "NOC_0", "src_device_id": 0, "sx": 1, "sy": 1, "dx": 2, "dy": 1}
    read |= {"type": "READ", "num_bytes": 64}
    (tmp_path / "trace.json").write_text(json.dumps([read | {"timestamp": 100}, read | {"timestamp": 900}]))
    result = run_folders([tmp_path], 1, lambda text: None, keep=False)
    recordings, _ = read_all([tmp_path / "trace.json"], load_arch("wormhole_b0"))
    ways = ("closed", "packet"), ("open", "packet"), ("closed", "flit"), ("open", "flit")
    for line, (mode, noc) in zip(result["lines"], ways, strict=True):
        (row,), _, _ = replay_all(recordings, mode, noc, None, lambda text: None)
        name = f"replay-noc {mode} flit" if noc == "flit" else f"replay-noc {mode}"
        assert (line.name, line.chip, line.n) == (name, "wormhole_b0", 1)
        assert line.bias == pytest.approx(row["err_pct"]) and row["measured"] == 800 - 20
        assert result["rows"][name][0]["kept_gap_share"] == row["kept_gap_share"] == 1.0
        assert result["kept_gaps"][name] == {"mean": 1.0, "least": 1.0, "most": 1.0, "rest_abs_err_pct": None}


def test_a_sample_is_drawn_by_the_text_of_the_rows(folder, tmp_path_factory):
    target = tmp_path_factory.mktemp("sample")
    assert write_sample([folder], target) == 10  # the less costly half
    first = (target / "any_name.csv").read_text()
    write_sample([folder], target)
    assert (target / "any_name.csv").read_text() == first
    assert draw([]) == []


def test_groups_are_drawn_in_turn_from_their_less_costly_halves():
    rows = [Row(f"f:{n}", n, {"n": n}) for n in range(3 * PER_CHIP)]
    works = [float(n % 2) for n in range(len(rows))]
    cases = [Case((n,), f"chip/{'rare' if n < 4 else 'common'}", 1.0, "ns", works[n]) for n in range(len(rows))]
    drawn = draw(list(zip(rows, cases, strict=True)))
    assert len(drawn) == PER_CHIP and all(works[row.line] == 0 for row in drawn)
    assert sum(row.line < 4 for row in drawn) == 2  # all of the rare ones that are cheap


def results_of(errors, group="x"):
    """NoC rows of Wormhole with these errors, as `run_folders` returns them."""
    return {"noc": rows_of([("wormhole_b0", error) for error in errors], group)}


def test_the_baseline_notices_a_median_that_grew_and_rows_that_are_gone(tmp_path):
    path, before = tmp_path / "baseline.json", figures_of(results_of([4.0, 4.0]))
    write_baseline(before, path=path)
    assert list(before) == ["noc: wormhole_b0"]
    assert regressions(figures_of(results_of([5.5, 5.5])), path, margin=2) == []
    assert "6.5 %, 4.0 % before" in regressions(figures_of(results_of([6.5, 6.5])), path, margin=2)[0]
    assert "1 rows compared, 2 before" in regressions(figures_of(results_of([4.0])), path, margin=2)[0]
    assert "0 rows compared, 2 before" in regressions({}, path, margin=2)[0]
    with pytest.raises(UsageError, match="update-baseline"):
        regressions({}, tmp_path / "none.json")


def test_a_baseline_whose_medians_rise_keeps_the_reason(tmp_path):
    path = tmp_path / "baseline.json"
    for error in (4.0, 5.5):  # within the margin
        write_baseline(figures_of(results_of([error])), path=path)
    worse = figures_of(results_of([9.0]))
    with pytest.raises(UsageError, match="noc: wormhole_b0 rose by over 2 points"):
        write_baseline(worse, path=path)
    write_baseline(worse, "another placement", path)
    write_baseline(figures_of(results_of([1.0])), path=path)
    assert json.loads(path.read_text())["rises"] == [
        {"why": "another placement", "groups": {"noc: wormhole_b0": [5.5, 9.0]}}
    ]


def test_the_committed_baseline_is_the_same_with_the_vendors_sources_and_without(monkeypatch):
    named = set(modules(everywhere=True))
    assert named < set(KINDS) and not named & {"instruction", "operations"}
    monkeypatch.setattr(instruction_rows, "require", lambda: None)
    assert set(modules(everywhere=True)) == named and "instruction" in modules()
    groups = json.loads(BASELINE.read_text())["groups"]
    assert {group.split(":")[0].split()[0] for group in groups} <= named


def test_every_rise_of_the_committed_baseline_has_a_reason():
    rises = json.loads(BASELINE.read_text())["rises"]
    assert rises and all(rise["why"] and rise["groups"] for rise in rises)
    assert all(after > before + 2 for rise in rises for before, after in rise["groups"].values())


def test_groups_with_enough_rows_are_judged_by_themselves():
    rows = rows_of([("a", 1.0)] * (ENOUGH - 1), "ONE_TO_ALL/L1") + rows_of([("a", 3.0)], "ONE_TO_ALL/DRAM")
    figures = figures_of({"noc": rows + rows_of([("a", None)])})
    assert {group: one["n"] for group, one in figures.items()} == {"noc: a": ENOUGH, "noc: a/ONE_TO_ALL": ENOUGH}


def test_results_are_kept_under_all_that_can_change_them():
    names = {name for name, _ in sources()}
    assert {
        "tensim.sim/arch/wormhole_b0.yaml", "tensim.sim/arch/units.json", "tensim.sim/noc/packet.py",
        "tensim.sim/cores/riscv/include/tensim/kernel.h", "tensim/ttnn/programs.py", "tensim.traces/noc_events.py",
        "tensim.traces/light_metal/schema/light_metal.bfbs", "tensim.examples/cpp/matmul_kernels/handshake.hpp",
        "tensim.validation/issue/cpp/probe.cpp", "tensim.validation/noc/rows.py",
    } <= names  # fmt: skip
    assert "tensim.validation/baseline.json" not in names, "an update of the baseline changes no result"


def test_an_edit_of_any_of_them_forgets_the_results(tmp_path, monkeypatch):
    parts = [tmp_path / name for name in ("noc_events.py", "chip.yaml")]
    monkeypatch.setattr(runner, "sources", lambda: [(path.name, path) for path in parts])
    digests = set()
    for edited in (None, *parts):
        for path in parts:
            path.write_text("edited" if path == edited else "as it was")
        digests.add(runner.code_digest())
    assert len(digests) == 3


def simulate(spec):
    """Of the rows of the test below."""
    if spec[0] == "raises":
        raise UsageError("a deadlock")
    if spec[0] == "skips":
        raise Skip("a pattern of no interest")
    return 1.0


def test_a_failure_is_tried_again(tmp_path, monkeypatch):
    """What a machine lacks, a compiler for instance, may be there the next time."""
    monkeypatch.setattr(runner, "cache_root", lambda: tmp_path)
    for spec, result in ((1, {"value": 5}), (2, {"error": "no C++ compiler"}), (3, {"skipped": "no such call"})):
        Results("kind").add(spec, result)
    assert Results("kind").known == {"1": {"value": 5}, "3": {"skipped": "no such call"}}


def test_a_row_whose_simulation_raises_is_a_failure_not_left_out():
    names = "runs", "raises", "skips"
    cases = [(Row(name, n, {}), Case((name,), "a/x", 2.0, "cycles")) for n, name in enumerate(names)]
    rows, skipped, failures, _ = run_selection(Selection("x", __name__, cases), 1, lambda share, name: None, keep=False)
    assert [(row["id"], row["err_pct"]) for row in rows] == [("runs", -50.0)]
    assert skipped == [{"id": "skips", "why": "a pattern of no interest"}]
    assert failures == [{"id": "raises", "group": "a/x", "why": "a deadlock"}]
