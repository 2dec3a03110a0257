"""Speedscope profiles: what the format demands of them, and that they tell the run's time."""

import json

import pytest

from tensim.running.programs import Settings, run_program
from tests.commands import exit_code


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    """(file's object, summary) of a small product of matrices."""
    path = tmp_path_factory.mktemp("speedscope") / "run.speedscope.json"
    settings = Settings(program="matmul_multicast", shape="128x128x128", grid="2x2", speedscope=str(path))
    summary = run_program(settings).summary
    return json.loads(path.read_text()), summary


def of_type(data, kind):
    return {item["name"]: item for item in data["profiles"] if item["type"] == kind}


def test_frames_and_values_keep_the_schema(profile):
    data, _ = profile
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    count = len(data["shared"]["frames"])
    assert all(frame["name"] and set(frame) <= {"name", "file", "line", "col"} for frame in data["shared"]["frames"])
    sampled = of_type(data, "sampled")
    assert sampled
    for item in sampled.values():
        assert len(item["samples"]) == len(item["weights"]) and sum(item["weights"]) == item["endValue"]
        assert all(0 <= frame < count for stack in item["samples"] for frame in stack)


def test_events_are_nested_and_in_order(profile):
    data, _ = profile
    profiles = of_type(data, "evented")
    assert profiles and all(item["events"] for item in profiles.values())
    for item in profiles.values():
        stack, now = [], item["startValue"]
        for event in item["events"]:
            assert event["at"] >= now
            now = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
        assert not stack and now == item["endValue"]


def test_waits_are_those_of_the_breakdown(profile):
    """Each reason's part of all waits of the unpack threads, as the report has it."""
    data, summary = profile
    names = [frame["name"] for frame in data["shared"]["frames"]]
    item, found = of_type(data, "sampled")["TRISC0, all cores"], {}
    for stack, weight in zip(item["samples"], item["weights"], strict=True):
        _, is_wait, reason = names[stack[-1]].partition("wait: ")
        if is_wait:
            found[reason] = found.get(reason, 0) + weight
    stalled = summary["breakdown"]["TRISC0"]["stalled"]
    assert found.keys() == stalled.keys() and len(found) > 1
    for reason, share in stalled.items():
        assert found[reason] / sum(found.values()) == pytest.approx(share / sum(stalled.values()), abs=0.001)


def test_stacks_name_kernel_and_source_line(profile):
    data, _ = profile
    frames = data["shared"]["frames"]
    item = of_type(data, "sampled")["TRISC1, all cores"]
    kernel, line, done = (frames[i] for i in item["samples"][0])
    assert kernel["file"].endswith("matmul_kernels.py") and line["line"] > 0
    assert f":{line['line']} " in line["name"] and done["name"]


def test_a_name_with_another_suffix_is_refused(tmp_path, capsys):
    assert exit_code("run", "add_integers", "--speedscope", str(tmp_path / "profile.txt")) == 2
    assert "must end in" in capsys.readouterr().err
