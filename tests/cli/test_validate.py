"""`tensim validate`: what it prints and how it ends when a file or a row cannot be read."""

import csv
import json

import pytest

from tests.commands import tensim

ROW = {
    "arch": "wormhole_b0", "pattern": "ONE_TO_ONE", "direction": "write", "memory": "L1", "mechanism": "UNICAST",
    "noc_index": "0", "issuing_cores": "1 core", "targets": "logical (0,0)<->(1,1)", "same_axis": "0",
    "stateful_api": "0", "mcast_loopback": "0", "transactions_per_target_or_mcast": "4", "transaction_bytes": "512",
    "latency_cycles": "377",
}  # fmt: skip


@pytest.fixture
def table(tmp_path):
    """`table(row...)` writes a CSV of NoC rows and returns its path."""

    def write(*rows):
        path = tmp_path / "rows.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, ROW)
            writer.writeheader()
            writer.writerows(rows)
        return str(path)

    return write


def run(capsys, *arguments):
    """(exit code, standard output, standard error) of `tensim validate noc`."""
    return tensim(capsys, "validate", "noc", *arguments)


def test_a_foreign_file_is_named_and_nothing_else_is_printed(capsys, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    code, out, err = run(capsys, str(path))
    assert (code, out) == (2, "")
    assert "x.csv: its columns match no known file" in err


def test_missing_sources_are_said_once_and_no_row_is_tried(capsys, table, monkeypatch):
    monkeypatch.delenv("TENSIM_LLK", raising=False)
    code, out, err = tensim(capsys, "validate", "instruction", table(ROW))
    assert (code, out) == (2, "")
    assert err.count("the vendor's LLK sources are not here") == 1 and "TENSIM_LLK" in err


def test_a_malformed_row_loses_no_other(capsys, table):
    path = table(ROW, ROW | {"transaction_bytes": "many"})
    code, out, err = run(capsys, path, "--json")
    result = json.loads(out)
    assert (code, result["n"], [row["id"] for row in result["rows"]]) == (2, 1, ["rows.csv:1"])
    assert [item["id"] for item in result["skipped"]] == ["rows.csv:2"]
    assert "rows.csv:2: line 3: column transaction_bytes is 'many', not a number" in err


def test_rows_that_are_all_skipped_fail_with_the_reasons(capsys, table):
    code, out, err = run(capsys, table(ROW | {"arch": "grayskull"}))
    assert code == 1
    assert "skipped rows.csv:1" in out and "no row could be compared" in err
