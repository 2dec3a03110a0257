"""What the command line is given: refused before the run where it cannot be, and never at the price of the report."""

import errno
import json
import os
import subprocess
import sys

import pytest

from tensim.cli.output import Outputs, require_writable
from tensim.sim.errors import UsageError
from tests.cli.test_main import tensim

SMALL = ("run", "eltwise_add", "--shape", "32x32")
RUN = "def run(device, *, shape, dtype, fidelity, grid, rng):\n"


def in_a_process(*arguments, **environment):
    """A command in a process of its own."""
    command = [sys.executable, "-c", "from tensim.cli.main import main; main(prog_name='tensim')", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=120)


# --- values and files that cannot be


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seed", "-1"], "'--seed': -1 is not in the range"),
        (["--seed", "4294967296"], "is not in the range"),
        (["--max-cycles", str(10**30)], "is not in the range"),
        (["--shape", "900000x900000"], "needs 1,620.0 GB of DRAM or more; wormhole_b0 has 12.9 GB"),
        (["--timeline", "t.png"], "must end in .json or .json.gz"),
        (["--roofline", "roof.txt"], "must end in .png or .svg or .pdf"),
        (["--noc-trace", "events.csv"], "must end in .json"),
        (["--json=/proc/x.json"], "cannot write /proc/x.json"),
        (["--timeline", "/proc/x.json"], "cannot write /proc/x.json"),
        (["--set", "clock.aiclk_mhz=-5"], "clock.aiclk_mhz is -5; it must be from 1 to 10000"),
        (["--set", "dram.t_refi_ns=0"], "dram.t_refi_ns is 0; it must be from 1"),
    ],
)
def test_what_cannot_be_is_refused_before_the_run(capsys, arguments, words):
    code, out, err = tensim(capsys, *SMALL, *arguments)
    assert code == 2 and out == "" and words in err


@pytest.mark.parametrize("path", ["/proc/x.json", "nowhere/x.json"])
@pytest.mark.parametrize("wrong", [(), ("--shape", "900000x900000")])
def test_what_cannot_be_written_is_said_once(capsys, path, wrong):
    """With another mistake, too."""
    code, _, err = tensim(capsys, *SMALL, f"--json={path}", *wrong)
    assert code == 2 and err.count("cannot write") == 1 and err.count(path) == 1


def test_a_file_for_json_is_named_so(capsys):
    code, _, err = tensim(capsys, *SMALL, "--json", "out.txt")
    assert code == 2 and "--json takes a FILE whose name ends in .json, as out.txt does not" in err


@pytest.mark.parametrize("command", [("replay",), ("inspect",), ("diff", __file__)])
def test_a_file_of_another_kind_is_told_what_takes_it(capsys, command):
    code, _, err = tensim(capsys, *command, __file__)
    assert code == 2 and f"{__file__}: this is no Light Metal binary" in err and "tensim run takes programs" in err


def test_the_product_of_a_matmul_counts(capsys):
    code, _, err = tensim(capsys, "run", "matmul_multicast", "--shape", "90000x32x90000")
    assert code == 2 and "needs 16.2 GB of DRAM or more" in err


@pytest.mark.parametrize("there", [False, True])
def test_looking_whether_a_file_can_be_written_leaves_no_trace(tmp_path, there):
    file = tmp_path / "out.json"
    if there:
        file.write_text("old")
    require_writable(file, (".json",))
    assert file.exists() == there and (not there or file.read_text() == "old")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(UsageError, match="Is a directory"):
        require_writable(tmp_path)


# --- outputs that fail


def test_a_failing_output_stops_neither_the_report_nor_other_outputs(capsys, tmp_path):
    target = tmp_path / "result.json"
    code, out, err = tensim(
        capsys, "run", "dram_loopback", "--roofline", str(tmp_path / "r.png"), "--json", str(target)
    )
    assert code == 2 and "does no arithmetic" in err
    results = json.loads(target.read_text())
    assert (
        "Where the time goes" in out
        and results["verified"] is True
        and "does no arithmetic" in results["error"]["message"]
    )


def test_a_full_disk_costs_a_file_and_not_the_report(capsys, tmp_path):
    full = tmp_path / "full.json"
    full.symlink_to("/dev/full")
    code, out, err = tensim(capsys, *SMALL, "--timeline", str(full))
    assert code == 2 and "full.json: No space left on device" in err and "Where the time goes" in out
    code, out, err = tensim(capsys, *SMALL, f"--json={full}")
    assert code == 2 and "full.json: No space left on device" in err and "Where the time goes" in out


def test_a_capture_that_cannot_be_written_is_said(capsys, tmp_path, monkeypatch):
    def no_room(self, path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tensim.light_metal.binary.LightMetalBinary.save_to_file", no_room)
    code, out, err = tensim(capsys, "capture", *SMALL[1:], "-o", str(tmp_path / "x.bin"))
    assert code == 2 and "x.bin: No space left on device" in err and "cycles; nothing written" in out


@pytest.mark.parametrize("option", ["--timeline", "--json"])
def test_a_replay_whose_outputs_fail_is_shown(capsys, tmp_path, option):
    binary, full = tmp_path / "a.bin", tmp_path / "full.json"
    full.symlink_to("/dev/full")
    assert tensim(capsys, "capture", *SMALL[1:], "-o", str(binary))[0] == 0
    code, out, err = tensim(capsys, "replay", str(binary), option, str(full))
    assert code == 2 and "full.json: No space left on device" in err and "a.bin: " in out


def test_every_failure_is_told(capsys):
    outputs = Outputs()
    for number in (1, 2):
        outputs.failures.append(UsageError(f"cannot write file {number}"))
    with pytest.raises(UsageError, match="file 1"):
        outputs.finish({"unwritten": []}, None, lambda summary: None)
    assert "file 2" in capsys.readouterr().err


def test_standard_output_that_is_full_or_closed():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", "from tensim.cli.main import main; main()", "examples"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode != 0 and "No space left on device" in done.stderr
    closed = subprocess.run(
        ["bash", "-c", f"{sys.executable} -c 'from tensim.cli.main import main; main()' examples | true"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert "Traceback" not in closed.stderr and "error" not in closed.stderr


# --- program files


@pytest.fixture
def program(capsys, tmp_path):
    """(exit code, standard output, standard error) of a run of the text of a program file."""

    def run(text, *options):
        (tmp_path / "mine.py").write_text(text)
        return tensim(capsys, "run", str(tmp_path / "mine.py"), *options)

    return run


def test_modules_beside_a_program_file_can_be_imported(program, tmp_path):
    (tmp_path / "sibling_22.py").write_text("NAME = 'eltwise_add'\n")
    (tmp_path / "late_22.py").write_text("SHAPE = (32, 32)\n")
    code, out, err = program(
        "from __future__ import annotations\nfrom dataclasses import dataclass\nimport importlib\nimport sibling_22\n"
        "@dataclass\nclass Sizes:\n    rows: int\n" + RUN + "    import late_22\n"
        "    run = importlib.import_module('tensim.examples.' + sibling_22.NAME).run\n"
        "    return run(device, shape=late_22.SHAPE, dtype=dtype, fidelity=fidelity, grid=(1, 1), rng=rng)\n"
    )
    assert code == 0, err


RESULT = "    import numpy as np\n    from tensim.examples import ExampleResult\n    a = np.zeros((64, 64))\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (RUN + "    return None\n", None, "run returned NoneType, not an ExampleResult"),
        (RUN + "    return 3\n", None, "run returned int, not an ExampleResult"),
        (RUN + RESULT + "    return ExampleResult('x', a, 0, 0, 0, '')\n", None, "expected is no array of numbers"),
        (RUN + RESULT + "    return ExampleResult(a, a, -1, 0, 0, '')\n", None, "tolerance is -1"),
        (RUN + RESULT + "    return ExampleResult(a, a, 0, None, 0, '')\n", None, "flops is None"),
        ("def run(device):\n    pass\n", 1, "run cannot be called: got an unexpected keyword argument 'shape'"),
        (RUN + "    raise SystemExit(0)\n", None, "ends the process (SystemExit: 0)"),
        (RUN + "    return 1 / 0\n", 2, "ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit()\n", 2, "cannot be loaded: SystemExit"),
        ("x = 1\nimport missing_22\n", 2, "cannot be loaded: ModuleNotFoundError"),
        ("AXES = 5\n" + RUN + "    pass\n", None, "AXES is 5"),
        (RUN + "    import numpy as np\n    np.zeros((1 << 30, 1 << 20))\n", None, "more memory than this machine has"),
    ],
)
def test_what_is_wrong_with_a_program_file_is_said(program, text, line, words):
    code, _, err = program(text)
    assert code in (1, 2) and words in err and "mine" in err
    assert line is None or f"mine.py:{line}: " in err


# --- results that differ from numpy's


def test_how_a_result_differs_is_said(program, tmp_path):
    target = tmp_path / "result.json"
    code, out, err = program(
        RUN
        + RESULT
        + "    import tensim.examples.add_integers as add\n"
        + "    add.run(device, shape=(16,), dtype=dtype, fidelity=fidelity, grid=(1, 1), rng=rng)\n"
        + "    a[:] = np.arange(64)\n    b = a.copy()\n    b[40, 3] = 700\n"
        + "    return ExampleResult(a, b, 0.01, 0, 0, 'wrong')\n",
        "--json", str(target),
    )  # fmt: skip
    assert code == 1 and "Where the time goes" in out
    for words in ("relative error 0.298, allowed 0.01", "PCC 0.858326", "1 of 4,096 values differ", "[40, 3]: 700 instead of 3",
                  "worst tile [1, 0], by up to 697"):  # fmt: skip
        assert words in " ".join(err.split()), err
    results = json.loads(target.read_text())
    comparison = results["comparison"]
    assert results["verified"] is False and results["error"]["kind"] == "verification"
    assert comparison["first"] == {"index": [40, 3], "expected": 3.0, "actual": 700.0}
    assert comparison["worst_tile"] == {"index": [1, 0], "largest_difference": 697.0}


def test_shapes_that_differ_are_said(program):
    code, _, err = program(
        RUN + RESULT
        + "    import tensim.examples.add_integers as add\n"
        + "    add.run(device, shape=(16,), dtype=dtype, fidelity=fidelity, grid=(1, 1), rng=rng)\n"
        + "    return ExampleResult(a, a[:2], 0.01, 0, 0, 'wrong')\n"
    )  # fmt: skip
    assert code == 1 and "its shape is [2, 64], not [64, 64]" in " ".join(err.split())


# --- terminals


def test_a_terminal_of_ascii():
    done = in_a_process("run", "add_integers", PYTHONIOENCODING="ascii")
    assert done.returncode == 0 and " us of device time" in done.stdout and done.stdout.isascii()


def test_a_narrow_terminal_shows_every_number():
    wide, narrow = (in_a_process("run", "eltwise_add", "--shape", "64x64", COLUMNS=width) for width in ("200", "40"))
    assert narrow.returncode == 0 and max(map(len, narrow.stdout.splitlines())) <= 40 and "…" not in narrow.stdout
    numbers = [line.split("│")[1:3] for line in wide.stdout.splitlines() if ".py:" in line]
    words = narrow.stdout.split()
    assert numbers and all(cell.strip() in words for row in numbers for cell in row)


# --- files that would be lost


@pytest.mark.parametrize(
    "words",
    [
        ("run", "mine.py", "--json", "out.json", "--timeline", "out.json"),
        ("capture", "mine.py", "-o", "mine.py"),
        ("compare", "a.json", "b.json", "--json", "a.json"),
    ],
)
def test_a_file_is_written_once_and_never_over_what_is_read(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {name: f"# {name}\n" for name in ("mine.py", "a.json", "b.json")}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    code, _, err = tensim(capsys, *words)
    assert code == 2 and "the command reads or writes" in err
    assert {name: (tmp_path / name).read_text() for name in texts} == texts and not (tmp_path / "out.json").exists()
