"""The queries of docs/perfetto.md: on the tables that Perfetto makes of a timeline, filled into SQLite, and by Perfetto itself.

The environment variable TENSIM_TRACE_PROCESSOR names Perfetto's native program (trace_processor_shell), which its package for
Python would fetch at first use; without it only the first of the two runs.
"""

import json
import os
import re
import sqlite3
from pathlib import Path

import pytest

from tensim.running.programs import Settings, run_program

PAGE = Path(__file__).parents[2] / "docs" / "perfetto.md"
QUERIES = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
PROGRAM = os.environ.get("TENSIM_TRACE_PROCESSOR")
TABLES = """
CREATE TABLE process (upid, name);
CREATE TABLE thread (utid, upid, name);
CREATE TABLE thread_track (id, utid);
CREATE TABLE process_counter_track (id, upid, name);
CREATE TABLE slice (id, ts, dur, track_id, category, name, arg_set_id);
CREATE TABLE counter (track_id, ts, value);
"""


@pytest.fixture(scope="module")
def timeline(tmp_path_factory):
    path = tmp_path_factory.mktemp("timeline") / "timeline.json"
    run_program(Settings(program="matmul_multicast", shape="128x128x128", grid="2x2", timeline=str(path)))
    return path


@pytest.fixture(scope="module")
def database(timeline):
    """The part of Perfetto's tables that the page uses, by its documentation, for a trace of Chrome's format."""
    events = json.loads(timeline.read_text())["traceEvents"]
    names = {
        (e["name"], e["pid"], e.get("tid")): e["args"]["name"] for e in events if e["ph"] == "M" and "name" in e["args"]
    }
    database, arguments, counters, opened = sqlite3.connect(":memory:"), {}, {}, {}
    database.executescript(TABLES)
    database.create_function("EXTRACT_ARG", 2, lambda number, key: arguments[number].get(key.removeprefix("args.")))
    for kind, pid, tid in names:
        if kind == "process_name":
            database.execute("INSERT INTO process VALUES (?, ?)", (pid, names[kind, pid, tid]))
        else:
            utid = pid * 16 + tid
            database.execute("INSERT INTO thread VALUES (?, ?, ?)", (utid, pid, names[kind, pid, tid]))
            database.execute("INSERT INTO thread_track VALUES (?, ?)", (utid, utid))

    def add_slice(event, dur, track):
        number = len(arguments)
        arguments[number] = event.get("args", {})
        row = number, event["ts"] * 1000, dur * 1000, track, event.get("cat"), event["name"], number
        database.execute("INSERT INTO slice VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    for event in events:
        if event["ph"] == "X":
            add_slice(event, event["dur"], event["pid"] * 16 + event["tid"])
        elif event["ph"] == "b":
            opened[event["cat"], event["id"]] = event
        elif event["ph"] == "e":
            begun = opened.pop((event["cat"], event["id"]))
            add_slice(begun, event["ts"] - begun["ts"], None)
        elif event["ph"] == "C":
            for value in event["args"].values():
                track = counters.setdefault((event["pid"], event["name"]), -1 - len(counters))
                database.execute("INSERT INTO counter VALUES (?, ?, ?)", (track, event["ts"], value))
    for (pid, name), track in counters.items():
        database.execute("INSERT INTO process_counter_track VALUES (?, ?, ?)", (track, pid, name))
    yield database
    database.close()


def test_every_query_answers(database):
    assert len(QUERIES) == 5
    for query in QUERIES:
        rows = database.execute(query).fetchall()
        assert rows and all(value is not None for row in rows for value in row), query


def test_what_they_answer_is_what_their_text_says(database):
    waits, idle, longest, transfers, bandwidth = (database.execute(query).fetchall() for query in QUERIES)
    assert {thread for thread, _, _ in waits} == {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"}
    assert all(reason.startswith("wait: ") for _, reason, _ in waits)
    assert len(idle) == 4 and idle == sorted(idle, key=lambda row: row[1])
    assert max(ns for _, _, ns in waits) >= longest[0][4] and longest[0][6].startswith("matmul_kernels.py:")
    reads = sum(count for what, _, count, _ in transfers if what.startswith("read DRAM"))
    assert reads == 2 * 2 * 128 * 128  # both operands once, in bytes
    assert {name.split()[0] for name, _, _ in bandwidth} == {"DRAM", "NoC"}


@pytest.mark.skipif(PROGRAM is None, reason="TENSIM_TRACE_PROCESSOR names no trace_processor_shell")
def test_perfetto_answers_every_query(timeline):
    processor = pytest.importorskip("perfetto.trace_processor")
    settings = processor.TraceProcessorConfig(bin_path=PROGRAM)
    with processor.TraceProcessor(trace=str(timeline), config=settings) as trace:
        for query in QUERIES:
            assert list(trace.query(query)), query
