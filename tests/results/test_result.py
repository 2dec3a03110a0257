"""A result as data: typed, saved and loaded, repeatable; the same from Python, from commands and from a plain script."""

import json
import sys
from pathlib import Path

import pytest

import tensim as tt
from tensim.results.code_digest import code_digest
from tensim.results.result import ALWAYS, SCHEMA_VERSION
from tensim.running.runnable import find_program
from tensim.sim.errors import UsageError
from tests.commands import exit_code
from tests.sweeps.programs import COPY

CONTRACT = """
    arch cycles device_seconds host_seconds verified numerics noc_model seed breakdown noc dram flops flops_utilization
    warnings bounded_by units lines loops operations
""".split()  # keys of docs/design.md#9-machine-readable-output
WALL = {"host_seconds"}  # of this machine


@pytest.fixture(scope="module")
def result():
    return tt.run("eltwise_add", shape=(64, 64), seed=3, image_hash=True)


def test_figures_are_typed_and_their_names_say_the_unit(result):
    assert isinstance(result, tt.Result)
    assert result.verified is True and result.arch == "wormhole_b0" and result.name == "eltwise_add"
    assert result.device_seconds == result.cycles / 1e9  # 1000 MHz
    assert result.kernel_operations == result["operations"] > 0 and result.operations == []
    assert len(result.image_sha256["dram"]) == 64


def test_the_keys_of_the_command_line_stay_at_top_level(result, tmp_path):
    file = tmp_path / "run.json"
    assert exit_code("run", "eltwise_add", "--shape", "64x64", "--seed", "3", "--image-hash", "--json", file) == 0
    data = json.loads(file.read_text())
    assert not set(CONTRACT) - set(data)
    mine = json.loads(json.dumps(result.to_dict()))
    for told in (data, mine):
        assert told["schema_version"] == SCHEMA_VERSION
        for key in WALL:
            told.pop(key)
        told["identity"].pop("check")  # on in the command, off in Python
    assert data == mine


def test_what_is_saved_is_loaded(result, tmp_path):
    file = result.save(tmp_path / "r.json")
    assert file == tmp_path / "r.json" and tt.Result.load(file) == result
    assert result.save(tmp_path) == tmp_path / "result.json" and tt.Result.load(tmp_path) == result
    assert tt.Result.from_dict(result.to_dict()) == result


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[1]", "it is a list"),
        ('{"a": 1}', "arch, cycles, device_seconds, breakdown, noc, dram missing"),
        ('{"error": {"message": "no core (9,9)"}}', "the error of a run: no core"),
        ('{"results": [{}, {}]}', "holds 2 results"),
        (json.dumps(dict.fromkeys(ALWAYS, 0) | {"schema_version": 99}), "schema version 99"),
    ],
)
def test_what_is_no_result_is_refused_by_name(text, message, tmp_path):
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=message) as error:
        tt.Result.load(file)
    assert str(file) in str(error.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot read .*absent.json: No such file"):
        tt.Result.load(tmp_path / "absent.json")


# --- what makes it repeatable


def test_the_identity_says_what_ran(result):
    identity = result.identity
    assert identity["program"] == "eltwise_add" and len(identity["program_sha256"]) == 64
    assert (identity["shape"], identity["dtype"], identity["fidelity"], identity["grid"]) == (
        "64x64",
        "bf16",
        "HiFi4",
        "1x1",
    )
    assert (identity["seed"], identity["numerics"], identity["noc_model"]) == (3, "fast", "packet")
    assert identity["tensim_version"] == tt.__version__ and identity["code_sha256"] == code_digest()
    assert sorted(kernel["processor"] for kernel in identity["kernels"]) == ["BRISC", "NCRISC", "TRISC"]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"overrides": {"noc.hop_cycles": 12}}, "arch_sha256"),
        ({"shape": "64x96"}, "arguments_sha256"),
        ({"fidelity": "LoFi"}, "kernels"),
    ],
)
def test_what_changes_the_run_changes_the_identity(result, change, key):
    same = {"shape": "64x64", "seed": 3}
    assert tt.run("eltwise_add", **same).identity[key] == result.identity[key]
    assert tt.run("eltwise_add", **(same | change)).identity[key] != result.identity[key]


def test_a_kernel_s_text_is_part_of_the_identity(tmp_path):
    def hashes(text):
        (tmp_path / "copies.py").write_text(text)
        kernels = tt.run(tmp_path / "copies.py", shape="16", grid=(1, 1)).identity["kernels"]
        return [kernel["sha256"] for kernel in kernels]

    source = 'AXES = "N"\n' + Path(find_program("add_integers").source_file()).read_text()
    before = hashes(source)
    assert hashes(source.replace("import numpy as np", "import numpy as np  # arrays")) == before
    assert hashes(source.replace("total[i] = a[i] + b[i]", "total[i] = b[i] + a[i]")) != before


# --- tables


def test_a_result_is_a_row_and_its_parts_are_tables(result):
    pytest.importorskip("pandas")
    frame = result.to_frame()
    assert len(frame) == 1 and frame["cycles"][0] == result.cycles and frame["shape"][0] == "64x64"
    assert list(result.to_frame("links")["bytes"]) == [link["bytes"] for link in result.links]
    assert set(result.to_frame("threads")["thread"]) == set(result["breakdown"])
    with pytest.raises(UsageError, match="no table 'wires'"):
        result.to_frame("wires")


def test_without_pandas_the_error_says_what_to_install(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="needs pandas.*\n.*pip install pandas"):
        result.to_frame()


# --- settings


def test_a_setting_that_does_not_exist_is_named():
    with pytest.raises(UsageError, match="no setting 'shpae'.*\n.*did you mean shape"):
        tt.run("eltwise_add", shpae="64x64")


# --- run folders


def test_a_run_folder_holds_result_configuration_and_log(tmp_path):
    folder = tmp_path / "new" / "folder"
    assert (
        exit_code("run", "add_integers", "--set", "noc.hop_cycles=12", "-o", folder, "--json", tmp_path / "x.json") == 0
    )
    assert sorted(path.name for path in folder.iterdir()) == ["configuration.yaml", "log.txt", "result.json"]
    assert tt.Result.load(folder).identity["overrides"] == {"noc.hop_cycles": 12}
    assert "noc.hop_cycles: 12\n" in (folder / "configuration.yaml").read_text()
    assert "running" in (folder / "log.txt").read_text()


def test_the_log_has_what_kernels_print(tmp_path):
    pytest.importorskip("ziglang")
    (tmp_path / "says.cpp").write_text(
        '#include "debug/dprint.h"\nvoid kernel_main() { DPRINT << "hello" << ENDL(); }\n'
    )
    (tmp_path / "says.py").write_text(COPY.replace("(program, spends,", "(program, HERE / 'says.cpp',"))
    tt.run(tmp_path / "says.py", folder=tmp_path / "folder")
    assert "BRISC: hello\n" in (tmp_path / "folder" / "log.txt").read_text()


def test_a_run_that_fails_leaves_its_error_in_the_log_and_no_result(tmp_path):
    tt.run("add_integers", folder=tmp_path)
    with pytest.raises(tt.sim.errors.TensimError):
        tt.run("add_integers", folder=tmp_path, max_cycles=10)
    assert "CycleLimitError" in (tmp_path / "log.txt").read_text()
    assert not (tmp_path / "result.json").exists()


def test_a_folder_that_cannot_be_written_is_refused_before_the_run(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert exit_code("run", "add_integers", "-o", tmp_path / "file" / "folder") == 2
    assert "cannot write the folder" in capsys.readouterr().err


# --- every command that simulates


def test_a_replay_has_a_result_of_the_same_kernels(tmp_path):
    binary, folder = tmp_path / "a.bin", tmp_path / "replayed"
    assert exit_code("capture", "eltwise_add", "--shape", "64x64", "-o", binary, "--json", tmp_path / "c.json") == 0
    assert exit_code("replay", binary, "-o", folder) == 0
    captured, replayed = tt.Result.load(tmp_path / "c.json"), tt.Result.load(folder)
    assert replayed.cycles == captured.cycles
    assert replayed.identity["arguments_sha256"] == captured.identity["arguments_sha256"]
    names = [[kernel["name"] for kernel in one.identity["kernels"]] for one in (captured, replayed)]
    assert names[0] == names[1] and len(names[0]) == 3
