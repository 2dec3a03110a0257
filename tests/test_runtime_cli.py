"""`tensim query`, `check`, and the options of the runtime on `run` and `replay`: T43 of the runtime reference."""

import json

import numpy as np
import pytest

from host_api.cli import main
from host_api.runtime import BinaryBuilder, DType, Layout, MemSpace, System, TensorDesc, host_function

DESC, DRAM = TensorDesc((64,), DType.U32), Layout(MemSpace.DRAM)


@host_function("test_runtime_cli.double")
def double(x):
    return x * np.uint32(2)


def tensim(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    streams = capsys.readouterr()
    return end.value.code or 0, streams.out, streams.err


def test_query_lists_specs_that_open_their_devices(capsys):
    code, out, _ = tensim(capsys, "query", "--system", "n300", "--json")
    listed = json.loads(out)
    assert code == 0 and {link["kind"] for link in listed["links"]} == {"pcie", "eth"}
    with System("n300") as system:
        for one in listed["devices"]:
            assert system.explain(one["spec"])["device0"].info.id == one["id"]
    code, out, _ = tensim(capsys, "query", "sim://*", "--system", "n300", "--json")
    assert [one["spec"] for one in json.loads(out)["devices"]] == ["sim://wormhole_b0[0]", "sim://wormhole_b0[1]"]


def test_query_explains_a_choice_and_a_typing_error(capsys):
    code, out, _ = tensim(capsys, "query", "--explain", "sim://blackhole,sim://wormhole_b0", "--json")
    explained = json.loads(out)["explain"]["device0"]
    assert code == 0 and explained["spec"] == "sim://wormhole_b0[0]" and len(explained["reasons"]) == 2
    code, _, err = tensim(capsys, "query", "--explain", "sim:/wormhole_b0")
    assert code == 2 and "column" in err
    code, _, err = tensim(capsys, "query", "--system", "quasar")
    assert code == 2 and "n300" in err


@pytest.fixture
def saved(tmp_path):
    binary = BinaryBuilder()
    program = binary.program("double", goldens={"x": np.arange(64, dtype=np.uint32)})
    program.input("x", DESC, DRAM)
    program.output("y", DESC, DRAM)
    program.host(double, cost_ns=10)
    path = tmp_path / "double.bin"
    binary.build().save(path)
    return path


def test_check_tells_where_a_binary_can_run(capsys, saved):
    code, out, _ = tensim(capsys, "check", str(saved), "--json")
    report = json.loads(out)
    assert code == 0 and report["ok"] and report["programs"] == ["double"]
    code, _, err = tensim(capsys, "check", str(saved), "--exact")
    assert code == 2 and "system description" in err
    broken = saved.with_name("broken.bin")
    broken.write_bytes(saved.read_bytes()[:100])
    assert tensim(capsys, "check", str(broken))[0] == 2


def test_run_on_a_device_by_spec_in_loops(capsys):
    spec = "sim://quasar,sim://blackhole?cqs=2"
    code, out, _ = tensim(capsys, "run", "add_integers", "--device", spec, "--loops", "2", "--json")
    result = json.loads(out)
    assert code == 0 and result["arch"] == "blackhole"
    assert [loop["cycles"] for loop in result["loops"]] == [result["cycles"]] * 2
    assert tensim(capsys, "run", "add_integers", "--program", "1")[0] == 2
    assert tensim(capsys, "run", "add_integers", "--device", "sim://quasar")[0] == 2


def test_replay_in_loops_on_another_device(capsys, tmp_path):
    path = str(tmp_path / "add.bin")
    assert tensim(capsys, "capture", "add_integers", "-o", path, "--json")[0] == 0
    code, out, _ = tensim(capsys, "replay", path, "--loops", "2", "--device", "sim://wormhole_b0", "--json")
    result = json.loads(out)
    assert code == 0 and len(result["loops"]) == 2 and result["loops"][0]["cycles"] == result["cycles"]
