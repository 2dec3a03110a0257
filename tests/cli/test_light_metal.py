"""capture, replay, inspect, verify and diff as their users see them."""

import json

import numpy as np
import pytest

from tensim.traces.light_metal.write import sealed
from tests.commands import tensim


def capture(capsys, path, *options, name="eltwise_add", shape="64x64"):
    code, out, err = tensim(capsys, "capture", name, "-o", path, "--shape", shape, "--json", *options)
    assert code == 0, err
    return json.loads(out)


@pytest.fixture
def binary(capsys, tmp_path):
    path = tmp_path / "add.bin"
    return path, capture(capsys, path)


def test_capture_says_what_a_run_says(binary):
    path, summary = binary
    assert summary["verified"] is True and summary["bytes"] == path.stat().st_size and summary["file"] == str(path)


def test_a_replay_has_the_cycles_and_the_memory_of_the_run(capsys, binary):
    path, summary = binary
    code, out, _ = tensim(capsys, "replay", path, "--json")
    replay = json.loads(out)
    assert code == 0 and replay["cycles"] == summary["cycles"] == replay["captured_cycles"]
    assert replay["image_sha256"] == summary["image_sha256"] and replay["commands"] > 10
    assert replay["compares"] == [] and replay["verified"] is None and replay["differs"] == []


def test_several_files_give_results_and_a_count_of_failures(capsys, binary, tmp_path):
    path, _ = binary
    broken = tmp_path / "broken.bin"
    broken.write_bytes(path.read_bytes()[:1000])
    for command in ("replay", "inspect", "verify"):
        code, out, _ = tensim(capsys, command, path, broken, "--json")
        result = json.loads(out)
        assert result["failed"] == 1 and len(result["results"]) == 2 and code == 2


def test_other_input_and_kept_output(capsys, binary, tmp_path):
    path, _ = binary
    ones, out = tmp_path / "ones.npy", tmp_path / "out.npy"
    np.save(ones, np.full((64, 64), 0x3F80, np.uint16))
    code, _, err = tensim(capsys, "replay", path, "--bind", f"0={ones}", "--bind", f"1={ones}", "--save", f"2={out}")
    assert code == 0, err
    assert set(np.load(out).view(np.uint16)) == {0x4000}  # 1 + 1 in bfloat16


def test_another_chip_is_reported(capsys, binary):
    path, summary = binary
    code, out, _ = tensim(capsys, "replay", path, "--arch", "blackhole", "--json")
    replay = json.loads(out)
    assert code == 0 and replay["arch"] == "blackhole" and replay["captured_cycles"] == summary["cycles"]
    assert {"parameter": "name", "captured": "wormhole_b0", "replayed": "blackhole"} in replay["differs"]


def test_timeline_of_a_replay(capsys, binary, tmp_path):
    path, _ = binary
    code, _, _ = tensim(capsys, "replay", path, "--timeline", tmp_path / "t.json")
    assert code == 0 and json.loads((tmp_path / "t.json").read_text())["traceEvents"]


def test_inspect_lists_commands_programs_and_buffers(capsys, binary):
    path, _ = binary
    code, out, _ = tensim(capsys, "inspect", path, "--json")
    found = json.loads(out)
    assert code == 0 and set(found) >= {"file", "format", "numbering", "commands", "programs", "buffers"}
    (program,) = found["programs"]
    assert {kernel["kind"] for kernel in program["kernels"]} == {"data movement", "compute"} and program[
        "launches"
    ] == 1
    assert [buffer["size"] for buffer in found["buffers"]] == [8192] * 3
    for what in ("--commands", "--kernels", "--buffers", "--hexdump"):
        code, out, _ = tensim(capsys, "inspect", path, what)
        assert code == 0 and len(out.splitlines()) > 3


def test_verify_finds_what_does_not_fit_a_chip(capsys, tmp_path):
    path = tmp_path / "m.bin"
    capture(capsys, path, name="matmul_multicast", shape="256x256x256")
    assert tensim(capsys, "verify", path)[0] == 0
    code, out, _ = tensim(capsys, "verify", path, "--grid", "4x4", "--json")
    found = json.loads(out)
    assert code == 2 and found["ok"] is False
    assert any("outside the 4x4 worker grid" in problem["why"] for problem in found["problems"])


def test_a_changed_byte_is_noticed(capsys, binary, tmp_path):
    path, _ = binary
    data = bytearray(path.read_bytes())
    place = len(data) // 2
    data[place] ^= 1
    changed = tmp_path / "changed.bin"
    changed.write_bytes(data)
    code, _, err = tensim(capsys, "replay", changed)
    assert code == 2 and "hash" in err
    changed.write_bytes(sealed(data))
    assert tensim(capsys, "verify", changed)[0] in (0, 2)


def test_diff(capsys, binary, tmp_path):
    path, _ = binary
    other = tmp_path / "other.bin"
    capture(capsys, other, "--seed", "5")
    assert tensim(capsys, "diff", path, path)[0] == 0
    code, out, _ = tensim(capsys, "diff", path, other, "--json")
    result = json.loads(out)
    assert code == 1 and {row["field"] for row in result["differences"]} == {"src"}
    assert result["cycles"][0] == result["cycles"][1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["replay"], "Missing argument"),
        (["replay", "missing.bin"], "cannot read missing.bin"),
        (["replay", "FILE", "--bind", "0"], "BUFFER=FILE.npy"),
        (["replay", "FILE", "--bind", "0=missing.npy"], "cannot read missing.npy"),
        (["replay", "FILE", "--save", "77=out.npy"], "no buffer '77'"),
        (["replay", "FILE", "--launch", "99"], "no program 99"),
        (["replay", "FILE", "--arch", "quasar"], "unknown architecture"),
        (["replay", "FILE", "--loops", "0"], "loops"),
        (["capture", "eltwise_add"], "output"),
        (["capture", "nope", "-o", "x.bin"], "unknown example"),
        (["capture", "eltwise_add", "-o", "/nowhere/x.bin"], "folder does not exist"),
        (["verify", "FILE", "--grid", "4"], "not of the form"),
    ],
)
def test_bad_input_is_refused_clearly(capsys, binary, arguments, words):
    code, _, err = tensim(capsys, *(binary[0] if argument == "FILE" else argument for argument in arguments))
    assert code == 2 and words in err and "Traceback" not in err
