"""query, check, and --device, --loops, --program of run and replay as their users see them (T43 of
docs/hardware/runtime.md#functional-tests)."""

import dataclasses
import json

import numpy as np
import pytest

from tensim.runtime import Binary, System
from tensim.sim.arch.loader import architectures
from tests.commands import tensim
from tests.runtime.programs import pair_program, vector


def as_json(capsys, *arguments, code=0):
    found, out, err = tensim(capsys, *arguments, "--json")
    assert found == code, err
    return json.loads(out)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file with the programs add and sub for Wormhole."""
    path = tmp_path_factory.mktemp("saved") / "two.bin"
    programs = [pair_program("add"), pair_program("sub", subtract=True)]
    chip_only = [dataclasses.replace(program, variants=program.variants[:1]) for program in programs]
    Binary(chip_only).save(path)
    return path


# --- query


def test_the_specs_of_a_query_reopen(capsys):  # T43
    found = as_json(capsys, "query", "--system", "n300,blackhole")
    assert set(found) == {"system", "chips", "links", "capabilities", "devices", "selection"}
    specs = [device["spec"] for device in found["devices"]]
    assert specs[:4] == ["sim://wormhole_b0[0]", "sim://wormhole_b0[1]", "sim://blackhole[0]", "host://local[0]"]
    for row in found["devices"]:
        with System("n300,blackhole") as system:
            info = system.open(row["spec"]).info
            assert (info.id, info.arch, info.scheme) == (row["id"], row["arch"], row["scheme"])
    assert {link["kind"] for link in found["links"]} == {"pcie", "eth"} and len(found["chips"]) == 3


def test_query_knows_a_chip_of_every_architecture_and_matches_a_pattern(capsys):
    found = as_json(capsys, "query", "sim://*")
    assert [device["arch"] for device in found["devices"]] == architectures() and found["selection"] is None
    code, out, _ = tensim(capsys, "query", "host*", "--system", "n150")
    assert code == 0 and "host://local[0]" in out and "sim://" not in out and "chip0 -> host: pcie" in out


def test_query_explains_a_selection(capsys):
    spec = "gpu=sim://blackhole,sim://wormhole_b0[1];cpu=@gpu"
    selection = as_json(capsys, "query", "--system", "n300", "--explain", spec)["selection"]
    gpu, cpu = selection["devices"]
    assert gpu["device"] == cpu["device"] == "sim://wormhole_b0[1]" and selection["default"] == "gpu"
    assert [term["term"] for term in gpu["terms"]] == ["sim://blackhole", "sim://wormhole_b0[1]"]
    assert "no such arch" in gpu["terms"][0]["verdict"] and gpu["terms"][1]["verdict"] == "chosen"


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (["--system", "quasar"], "usage", "a system cannot contain 'quasar'"),
        (["--explain", "sim://wormhole_b0["], "spec_syntax", "column 19"),
        (["--system", "n300", "--explain", "sim://wormhole_b0[2]"], "device_not_found", "index 2 out of range"),
    ],
)
def test_what_query_cannot_answer(capsys, arguments, kind, words):
    error = as_json(capsys, "query", *arguments, code=2)["error"]
    assert error["kind"] == kind and words in error["message"]


# --- check


def test_check_of_a_binary_of_programs(capsys, saved):
    good = as_json(capsys, "check", saved, "--device", "sim://wormhole_b0")
    assert good == {
        "file": str(saved), "target": "sim://wormhole_b0", "mode": "compatible", "ok": True, "problems": [], "diff": "",
    }  # fmt: skip
    bad = as_json(capsys, "check", saved, "--device", "sim://blackhole", code=1)
    assert not bad["ok"] and [(problem["program"], problem["field"]) for problem in bad["problems"]] == [
        ("add", "arch"),
        ("sub", "arch"),
    ]
    assert as_json(capsys, "check", saved, "--system", "n300,blackhole")["ok"]
    exact = as_json(capsys, "check", saved, "--system", "n150", "--exact", code=1)
    assert exact["mode"] == "exact" and '"wormhole_b0"' in exact["diff"]


def test_check_of_a_captured_run(capsys, tmp_path):
    path = tmp_path / "run.bin"
    assert tensim(capsys, "capture", "eltwise_add", "-o", path, "--shape", "64x64")[0] == 0
    assert as_json(capsys, "check", path, "--device", "sim://blackhole")["ok"]
    assert as_json(capsys, "check", path, "--device", "sim://wormhole_b0", "--exact")["ok"]
    other = as_json(capsys, "check", path, "--device", "sim://blackhole", "--exact", code=1)
    assert "clock.aiclk_mhz" in other["diff"]


def test_bad_checks_are_refused(capsys, saved, tmp_path):
    (tmp_path / "text").write_text("no binary")
    for arguments, words in [
        ([saved], "needs a target"),
        ([saved, "--device", "local", "--system", "n300"], "needs a target"),
        ([tmp_path / "none", "--system", "n300"], "does not exist"),
        ([tmp_path / "text", "--system", "n300"], "error"),
        ([saved, "--device", "local;n150"], "does not select exactly one device"),
    ]:
        code, out, err = tensim(capsys, "check", *arguments)
        assert code == 2 and words in err and "Traceback" not in err and out == ""


# --- run


def test_run_on_the_device_of_a_spec(capsys):
    by_arch = as_json(capsys, "run", "add_integers", "--arch", "blackhole")
    by_spec = as_json(capsys, "run", "add_integers", "--device", "sim://quasar,sim://blackhole")
    assert by_spec["arch"] == "blackhole" and by_spec["cycles"] == by_arch["cycles"] and by_spec["verified"]
    slow = as_json(capsys, "run", "add_integers", "--device", "sim://wormhole_b0?clock_mhz=500&cqs=2")
    assert slow["device_seconds"] == pytest.approx(slow["cycles"] / 500e6)


def test_loops_of_a_run(capsys):
    once = as_json(capsys, "run", "add_integers")
    assert once["loops"] == [{"cycles": once["cycles"], "device_seconds": once["device_seconds"]}]
    found = as_json(capsys, "run", "add_integers", "--loops", "3")
    assert len(found["loops"]) == 3 and sum(loop["cycles"] for loop in found["loops"]) == found["cycles"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--arch", "blackhole", "--device", "sim://blackhole"], "both choose the chip"),
        (["--device", "sim://quasar"], "no term of device"),
        (["--device", "local"], "one chip with cycle timing"),
        (["--device", "sim://wormhole_b0?timing=functional"], "one chip with cycle timing"),
        (["--device", "sim://wormhole_b0?harvest=1"], "does not accept harvest"),
        (["--program", "0"], "is a single program"),
        (["--loops", "0"], "loops"),
    ],
)
def test_bad_choices_of_a_run(capsys, arguments, words):
    code, out, err = tensim(capsys, "run", "add_integers", *arguments)
    assert code == 2 and words in err and "Traceback" not in err and out == ""


# --- replay


def test_replay_of_a_binary_of_programs(capsys, saved, tmp_path):
    both = as_json(capsys, "replay", saved, "--loops", "2")
    assert both["programs"] == ["add", "sub"] and len(both["loops"]) == 2
    one = as_json(capsys, "replay", saved, "--program", "sub")
    assert one["programs"] == ["sub"] and one == one | {"arch": "wormhole_b0", "verified": None}
    assert as_json(capsys, "replay", saved, "--program", "1")["cycles"] == one["cycles"] < both["cycles"]
    for name, seed in (("a", 0), ("b", 1)):
        np.save(tmp_path / f"{name}.npy", vector(seed))
    bound = [f"--bind=sub/{name}={tmp_path / name}.npy" for name in "ab"]
    as_json(capsys, "replay", saved, "--program", "sub", *bound, "--save", f"sub/out={tmp_path / 'out.npy'}")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), vector(0) - vector(1))


def test_goldens_of_a_binary_of_programs_are_compared(capsys, tmp_path):
    inputs = {"a": vector(0), "b": vector(1)}
    for out, passed in ((vector(0) + vector(1), True), (vector(0), False)):
        program = pair_program("add", goldens={**inputs, "out": out})
        Binary([dataclasses.replace(program, variants=program.variants[:1])]).save(tmp_path / "g.bin")
        found = as_json(capsys, "replay", tmp_path / "g.bin", code=0 if passed else 1)
        assert found["verified"] is passed and found["compares"][0]["name"] == "add/out"


def test_loops_and_the_device_of_a_captured_run(capsys, tmp_path):
    path = tmp_path / "run.bin"
    assert tensim(capsys, "capture", "eltwise_add", "-o", path, "--shape", "64x64")[0] == 0
    found = as_json(capsys, "replay", path, "--loops", "2")
    assert [loop["cycles"] for loop in found["loops"]] == [found["captured_cycles"]] * 2
    moved = as_json(capsys, "replay", path, "--device", "sim://blackhole")
    assert (
        moved["arch"] == "blackhole"
        and moved["cycles"] == as_json(capsys, "replay", path, "--arch", "blackhole")["cycles"]
    )


def test_bad_choices_of_a_replay(capsys, saved, tmp_path):
    path = tmp_path / "run.bin"
    assert tensim(capsys, "capture", "add_integers", "-o", path)[0] == 0
    np.save(tmp_path / "short.npy", np.zeros(1, np.uint32))
    for arguments, words in [
        ([path, "--program", "0"], "captured run"),
        ([saved, "--program", "2"], "no program 2"),
        ([saved, "--program", "mul"], "no program 'mul'"),
        ([saved, "--device", "sim://blackhole"], "expected ['wormhole_b0'], found ['blackhole']"),
        ([saved, "--launch", "0"], "contains programs with their kernels"),
        ([saved, "--bind", f"add/a={tmp_path / 'short.npy'}"], "holds 4 B"),
        ([saved, "--program", "sub", "--bind", f"add/a={tmp_path / 'short.npy'}"], "there is no such input: add/a"),
        ([saved, "--save", f"add/x={tmp_path / 'x.npy'}"], "there is no such output: add/x"),
    ]:
        code, _, err = tensim(capsys, "replay", *arguments)
        assert code == 2 and words in " ".join(err.split()), err
