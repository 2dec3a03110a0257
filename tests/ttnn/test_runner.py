"""`tensim ttnn` and `pytest -p tensim.ttnn`: programs run unmodified, their output and exit status stay as they are."""

import json
import subprocess
import sys
import textwrap

import pytest

import tensim as tt
from tensim.ttnn.cards import card_of
from tensim.ttnn.runner import options, request_of
from tests.docs.pages import ROOT, blocks
from tests.ttnn.test_programs import NOTHING

PROGRAM = f"""
import sys

import numpy as np
import ttnn
from loguru import logger
from models.common.utility_functions import divup
from tests.ttnn.utils_for_testing import assert_with_pcc

logger.info("to standard error {{}}", 5)
device = ttnn.open_device(device_id=0)
values = ttnn.from_torch(np.ones((32, 32), np.float32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 0))])
kernel = ttnn.KernelDescriptor(
    {NOTHING!r}, ttnn.KernelDescriptor.SourceType.SOURCE_CODE, core_ranges=cores, config=ttnn.ReaderConfigDescriptor()
)
for _ in range(2):
    ttnn.generic_op([values, values], ttnn.ProgramDescriptor(kernels=[kernel]))
assert_with_pcc(ttnn.to_torch(values), ttnn.to_torch(values))
print("arguments", sys.argv[1:], __name__, divup(7, 2), ttnn.get_arch_name())
if "--leave" in sys.argv:
    sys.exit(3)
if "--fail" in sys.argv:
    raise KeyError("gone")
ttnn.close_device(device)
"""


def run(path, *arguments, options=(), command=("-m", "tensim", "ttnn")):
    (path / "program.py").write_text(PROGRAM)
    words = [sys.executable, *command, *options, str(path / "program.py"), *arguments]
    return subprocess.run(words, capture_output=True, text=True, cwd=path)


def test_both_commands_take_a_mesh():
    parser = options("python -m tensim.ttnn")
    settings = request_of(
        parser.parse_args(["--mesh", "t3k", "--set", "clock.aiclk_mhz=900", "program.py"]), parser
    ).settings
    assert settings["board"] == "t3k" and settings["arch"] == "wormhole_b0"
    assert settings["overrides"] == card_of("t3k") | {"clock.aiclk_mhz": 900}
    with pytest.raises(SystemExit):
        request_of(parser.parse_args(["--mesh", "t3k", "--check", "program.py"]), parser)


def test_a_program_and_its_report(tmp_path):
    options = ("--arch", "blackhole", "--json", str(tmp_path / "out.json"), "--timeline", str(tmp_path / "line.json"))
    done = run(tmp_path, "-x", "--json", "7", options=options)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "arguments ['-x', '--json', '7'] __main__ 4 blackhole\n"
    assert "to standard error 5" in done.stderr and "tensim: 2 operations" in done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    first = report["operations"][0]
    assert len(report["operations"]) == 2 and first["cycles"] >= 100 and first["cores"] == 2
    assert first["bounded_by"] and "NCRISC" in first["threads"]
    assert json.loads((tmp_path / "line.json").read_text())["traceEvents"]


def test_an_operation_counts_from_its_cores_sight_of_the_go_signal(tmp_path):
    """As a profiler's zones do: kernels without a statement take 149 to 158 cycles on silicon (docs/hardware/riscv.md)."""
    cycles = []
    for entry in (0, 100):
        done = run(
            tmp_path, "7", options=("--set", f"riscv.kernel_entry={entry}", "--json", str(tmp_path / "out.json"))
        )
        assert done.returncode == 0, done.stderr
        operations = json.loads((tmp_path / "out.json").read_text())["operations"]
        cycles.append([(one["cycles"], one["kernels"]["NCRISC"]) for one in operations])
    assert [(a - b, c - d) for (a, c), (b, d) in zip(*reversed(cycles), strict=True)] == [(100, 100)] * 2


def test_a_program_has_a_result_and_a_run_folder(tmp_path):
    done = run(tmp_path, "7", options=("--set", "noc.hop_cycles=12", "-o", str(tmp_path / "folder")))
    assert done.returncode == 0, done.stderr
    result = tt.Result.load(tmp_path / "folder")
    assert len(result.operations) == 2 and result.cycles == sum(one["cycles"] for one in result.operations)
    assert result.kernel_operations > 0 and "NCRISC" in result["breakdown"]
    assert result.identity["program"] == "program.py" and result.identity["parameters"] == {"arguments": ["7"]}
    assert result.identity["overrides"] == {"noc.hop_cycles": 12} and len(result.identity["kernels"]) == 1
    assert "noc.hop_cycles: 12\n" in (tmp_path / "folder" / "configuration.yaml").read_text()


def test_a_folder_that_cannot_be_written_is_refused_before_the_program_runs(tmp_path):
    done = run(tmp_path, options=("-o", str(tmp_path / "program.py" / "folder")))
    assert done.returncode == 2 and "cannot write the folder" in done.stderr and done.stdout == ""


def test_the_folder_of_a_program_that_fails_tells_how(tmp_path):
    assert run(tmp_path, "--fail", options=("-o", str(tmp_path / "folder"))).returncode == 1
    assert "KeyError: 'gone'" in (tmp_path / "folder" / "log.txt").read_text()
    assert len(tt.Result.load(tmp_path / "folder").operations) == 2


@pytest.mark.parametrize("argument, status", [("--leave", 3), ("--fail", 1)])
def test_the_exit_status_is_the_programs(tmp_path, argument, status):
    done = run(tmp_path, argument, command=("-m", "tensim.ttnn"))
    assert done.returncode == status and done.stdout.startswith("arguments")
    assert "tensim: 2 operations" in done.stderr
    trace = "Traceback (most recent call last):\n  File" in done.stderr and "KeyError: 'gone'" in done.stderr
    assert trace == (argument == "--fail")
    assert "runner.py" not in done.stderr


def test_a_program_that_survives_an_error_ends_as_it_says(tmp_path):
    """The device that the error has stopped is left alone at the end."""
    failing = PROGRAM.replace(repr(NOTHING), repr(NOTHING.replace("riscv_wait(100)", "assert False")))
    program = failing.replace(
        "assert_with_pcc(ttnn.to_torch(values), ttnn.to_torch(values))",
        "try:\n    ttnn.synchronize_device(device)\nexcept RuntimeError as error:\n    print(error.kind)\n    sys.exit(0)",
    )
    (tmp_path / "survivor.py").write_text(program)
    words = [sys.executable, "-m", "tensim", "ttnn", "survivor.py"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "kernel_failed\n"), done.stderr


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--max-cycles", "-5"), "at least one cycle"),
        (("--arch", "foo"), "unknown architecture 'foo'"),
        (("--set", "foo=1"), "has no parameter 'foo'"),
        (("--set", "noc.hop_cycles=abc"), "noc.hop_cycles is 'abc'"),
        (("--arch", "blackhole", "--mesh", "n300"), "--mesh n300 is of wormhole_b0 chips"),
    ],
)
def test_an_option_that_cannot_be_is_refused(option, message, capsys):
    parser = options("python -m tensim.ttnn")
    with pytest.raises(SystemExit) as end:
        request_of(parser.parse_args([*option, "program.py"]), parser)
    assert end.value.code == 2 and message in capsys.readouterr().err


def test_a_refused_option_ends_the_command_before_the_program_runs(tmp_path):
    done = run(tmp_path, options=("--max-cycles", "-5"))
    assert done.returncode == 2 and done.stdout == "" and "Traceback" not in done.stderr


def test_how_a_program_failed_is_said_as_other_commands_say_it(tmp_path):
    waiting = PROGRAM.replace(repr(NOTHING), repr(NOTHING.replace("riscv_wait(100)", "noc_semaphore_wait(600000, 1)")))
    (tmp_path / "waits.py").write_text(waiting)
    words = [sys.executable, "-m", "tensim", "ttnn", "--json", "out.json", "-o", "folder", "waits.py"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    error = json.loads((tmp_path / "out.json").read_text())["error"]
    assert done.returncode == 1 and error["kind"] == "deadlock" and {"hint", "where"} <= set(error)
    assert (
        "nothing was run on a simulated chip" not in done.stderr and not (tmp_path / "folder" / "result.json").exists()
    )


def test_a_program_that_is_not_there(tmp_path):
    words = [sys.executable, "-m", "tensim", "ttnn", "--json", "out.json", "no.py"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and "there is no program no.py" in done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["error"]["message"] == "there is no program no.py"


def test_a_program_that_opens_no_device_is_no_success(tmp_path):
    """As one for `tensim run`, which only defines a function."""
    (tmp_path / "idle.py").write_text("def run(device):\n    pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "tensim", "ttnn", "idle.py"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 2 and "0 operations: nothing was run on a simulated chip" in done.stderr
    assert "idle.py has opened no device" in done.stderr and "tensim run" in done.stderr


def test_pytest_has_fixtures_and_a_report(tmp_path):
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent("""
            import pytest
            import ttnn
            from tests.ttnn.utils_for_testing import assert_equal


            @pytest.mark.parametrize("device_params", [{"l1_small_size": 4096}], indirect=True)
            def test_device(device):
                assert device is ttnn.GetDefaultDevice() and ttnn.get_arch_name() == "wormhole_b0"


            @pytest.mark.parametrize("mesh_device", [(1, 1), (1, 2)], indirect=True)
            def test_mesh(mesh_device):
                assert mesh_device.shape == (1, 1)
        """)
    )
    words = [sys.executable, "-m", "pytest", "-p", "tensim.ttnn", "-q", "test_it.py", "-p", "no:cacheprovider"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert "2 passed, 1 skipped" in done.stdout and "tensim: 0 operations" in done.stdout, done.stdout + done.stderr


def test_a_program_of_a_mesh_tells_what_links_carried(tmp_path):
    """The example of docs/ttnn.md on an n300; the page's own test runs it on a p150_x2."""
    texts = [text for _, text, _ in blocks(ROOT / "docs/ttnn.md")]
    (tmp_path / "neighbour.py").write_text(next(text for text in texts if text.startswith("# neighbour.py")))
    words = [sys.executable, "-m", "tensim", "ttnn", "--mesh", "n300", "--json", "out.json", "neighbour.py"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 of 4 links carried packets, 65,536 B in all" in done.stderr and " chip 1: source code" in done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    assert [row["chip"] for row in report["operations"]] == [0, 1] and report["layers"] == []
    assert len({row["started"] for row in report["operations"]}) == 1
    fabric = report["fabric"]
    assert (fabric["chips"], fabric["rows"], fabric["columns"]) == (2, 1, 2)
    carried = {(row["chip"], row["direction"], row["link"]): row["packets"] for row in fabric["links"]}
    assert carried == {(0, "east", 0): 8, (0, "east", 1): 0, (1, "west", 0): 8, (1, "west", 1): 0}


def test_pytest_opens_meshes_of_a_board(tmp_path):
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent("""
            import pytest
            import ttnn


            @pytest.mark.parametrize("device_params", [{"fabric_config": ttnn.FabricConfig.FABRIC_1D}], indirect=True)
            @pytest.mark.parametrize("mesh_device", [2, (1, 2), (2, 2)], indirect=True)
            def test_mesh(mesh_device):
                assert mesh_device.shape == (1, 2) and mesh_device.get_fabric_node_id((0, 1)).chip_id == 1
        """)
    )
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tensim.ttnn",
        "--mesh",
        "n300",
        "-q",
        "test_it.py",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert "2 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
