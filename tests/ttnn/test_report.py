"""The report of a program's operations: where the time went, by name."""

from tensim.ttnn import report


def row(name, cycles, bounded_by, library=None):
    told = {} if library is None else {"library": {"name": library}}
    return {"operation": 0, "name": name, "cycles": cycles, "ns": float(cycles), "cores": 1, "bounded_by": bounded_by,
            "threads": {}, **told}  # fmt: skip


TABLE = [
    row("ttnn.linear 32x32: reader, bmm", 100, "dram", "ttnn.linear"),
    row("ttnn.add 32x32: reader", 50, "noc", "ttnn.add"),
    row("ttnn.linear 64x64: reader, bmm", 300, "fpu", "ttnn.linear"),
    row("kernel, other", 50, None),
]


def test_time_by_operation_is_sorted_and_complete():
    groups = report.by_operation(TABLE)
    assert [one["operation"] for one in groups] == ["ttnn.linear", "ttnn.add", "kernel, other"]
    assert groups[0] == {
        "operation": "ttnn.linear", "launches": 2, "cycles": 400, "ns": 400.0, "share": 0.8,
        "bounds": {"fpu": 0.75, "dram": 0.25},
    }  # fmt: skip
    assert groups[2]["bounds"] == {}  # nobody counted
    assert sum(one["cycles"] for one in groups) == report.operations(TABLE)["cycles"] == 500


def test_the_report_of_a_program_shows_time_by_operation_when_names_repeat():
    assert "80.0%        2  ttnn.linear" in report.text(TABLE, {})
    assert "time by operation" not in report.text(TABLE[:2], {})
    assert report.by_operation([]) == []
