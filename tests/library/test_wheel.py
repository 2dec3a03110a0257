"""The vendor's own library below tensim, with its wheel: TENSIM_LIBRARY_PYTHON names an interpreter that has it.

TENSIM_LIBRARY_CASES=every runs every case of the page's table on both chips, as `make test-library` does.

The page's table says which cases hold, release by release; the test fails when one stops to hold, and when one begins to.
"""

import csv
import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import tensim as tt
from tensim.library.descriptions import as_seen
from tensim.library.environment import find_library
from tensim.sim.arch import load_arch
from tensim.sim.errors import UsageError
from tests.library import table
from tests.library.interpreters import has_module

HERE = Path(__file__).parent
CHIPS = ["wormhole_b0", "blackhole"]
try:
    LIBRARY = find_library()
except UsageError:
    LIBRARY = None
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no interpreter that has ttnn")
SAMPLE = 15
EVERY_CASE = os.environ.get("TENSIM_LIBRARY_CASES") == "every"
NO_REFRESH = ("--set", "dram.t_refi_ns=100000000")  # a program's cycles then do not depend on when it starts
OPERATION = """
import sys, time
import ttnn

begun = time.perf_counter()
device = ttnn.open_device(device_id=0)
opened = time.perf_counter() - begun
tensor = ttnn.Tensor([1.0] * 4096, [1, 1, 64, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT).to(device)
times = []
for _ in range(10):
    begun = time.perf_counter()
    total = ttnn.add(tensor, tensor)
    ttnn.synchronize_device(device)
    times.append(time.perf_counter() - begun)
print(opened, min(times))
ttnn.close_device(device)
sys.exit(7)
"""

RIGHT = "    assert np.array_equal(found, np.maximum(values, 0))\n"  # of both.py: not after a fault
CAUGHT = """
import contextlib


@contextlib.contextmanager
def caught():
    try:
        yield
    except RuntimeError as error:
        print(error)

"""


@pytest.fixture(scope="module", autouse=True)
def untouched():
    """Nothing is written into the library's folder."""

    def listing():
        return {str(path): path.lstat().st_mtime_ns for path in LIBRARY.folder.rglob("*")}

    before = listing()
    yield
    assert listing() == before


def run_in(folder, program, *arguments, options=(), own=False, module=False):
    """Run a program or its text in a folder below `tensim ttnn`, with the library or, `own`, with tensim.ttnn."""
    if not isinstance(program, Path):
        (folder / "program.py").write_text(program)
        program = folder / "program.py"
    words = [sys.executable, "-m", "tensim", "ttnn", *options]
    words += [] if own else ["--library", "--python", LIBRARY.python]
    words += ["-m", program.stem] if module else [str(program)]
    return subprocess.run([*words, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=1200)


@pytest.fixture
def run(tmp_path):
    return partial(run_in, tmp_path)


@pytest.fixture(scope="module")
def operations(tmp_path_factory):
    """(finished process of `OPERATION`, folder with every file that it is asked for)."""
    folder = tmp_path_factory.mktemp("operations")
    files = {
        "-o": "folder",
        "--json": "out.json",
        "--timeline": "line.json",
        "--html": "page.html",
        "--tt-report": "files",
    }
    return run_in(folder, OPERATION, options=[word for pair in files.items() for word in pair]), folder


def needs_pytest():
    """Skip where the library's interpreter has no pytest."""
    if not has_module(LIBRARY.python, "pytest"):
        pytest.skip("the library's interpreter has no pytest")


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("arch", CHIPS)
def test_operations_against_numpy(run, tmp_path, arch):
    """Every fifteenth case, others on each chip, or all: a kernel that is new takes seconds to compile."""
    promised = table.column(LIBRARY.release, arch)
    if not EVERY_CASE:
        promised = {name: promised[name] for name in list(promised)[CHIPS.index(arch) :: SAMPLE]}
    done = run(HERE / "cases.py", tmp_path / "report", *promised, options=("--arch", arch))
    assert done.returncode == 0, done.stderr[-3000:]
    found = table.held(tmp_path / "report")
    said = {line["name"]: line["raised"] or line["error"] for line in lines(tmp_path / "report") if not line["held"]}
    assert found == promised, said


@pytest.mark.skipif(
    LIBRARY is not None and LIBRARY.release.startswith("0.66."),
    reason="partial results have other formats than in the cases",
)
@pytest.mark.skipif("TENSIM_GOLDEN_OPS" not in os.environ, reason="TENSIM_GOLDEN_OPS names no golden cases")
def test_operations_against_golden_cases(run, tmp_path):
    done = run(
        HERE / "golden.py", os.environ["TENSIM_GOLDEN_OPS"], tmp_path / "report", options=("--numerics", "exact")
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = lines(tmp_path / "report")
    assert sum(one["equal"] is True for one in found) >= 200
    assert [one for one in found if one["equal"] is False] == []


@pytest.mark.parametrize("arch", CHIPS)
def test_a_program_of_own_kernels_takes_the_same_cycles(run, tmp_path, arch):
    """Reader, compute and writer, with the library and with tensim.ttnn."""
    cycles = []
    for own in (True, False):
        done = run(
            HERE / "both.py", own=own, options=("--arch", arch, *NO_REFRESH, "--json", str(tmp_path / "out.json"))
        )
        assert done.returncode == 0 and done.stdout.splitlines()[-1] == "OK", done.stderr
        operations = json.loads((tmp_path / "out.json").read_text())["operations"]
        cycles.append([(one["cycles"], one["cores"], one["kernels"]) for one in operations])
    assert cycles[0] == cycles[1]


def test_files_and_exit_status(operations):
    done, folder = operations
    assert done.returncode == 7, done.stderr
    rows = json.loads((folder / "out.json").read_text())["operations"]
    assert len(rows) == 10 and all(one["name"].startswith("ttnn.add 1x1x64x64 1x1x64x64: ") for one in rows)
    first = rows[0]["launch_id"]
    assert [one["launch_id"] for one in rows] == list(range(first, first + 10))
    told = rows[0]["library"]
    assert told["name"] == "ttnn.add" and [one["shape"] for one in told["tensors"]] == [[1, 1, 64, 64]] * 2
    assert told["outputs"][0]["buffer"] == "DRAM" and told["outputs"][0]["dtype"] == "bfloat16"
    (table,) = (folder / "files").glob("ops_perf_results_*.csv")
    reported = list(csv.DictReader(table.open()))
    assert {row["OP CODE"] for row in reported} == {"BinaryNgDeviceOperation"}
    assert reported[0]["INPUT_1_X_PAD[LOGICAL]"] == "64[64]"
    assert "tensim: 10 operations" in done.stderr and "ttnn.add" in done.stderr
    assert tt.Result.load(folder / "folder").operations[0]["name"] == rows[0]["name"]
    assert json.loads((folder / "line.json").read_text())["traceEvents"]
    assert "ttnn.add" in (folder / "page.html").read_text() and any((folder / "files").iterdir())


def test_host_times(operations):
    """Bounds for slow machines; `make bench` shows the times."""
    opened, cached = map(float, operations[0].stdout.split()[-2:])
    assert opened < 20 and cached < 0.5


def test_a_module(run, tmp_path):
    (tmp_path / "there.py").write_text("import sys, ttnn\nprint(__name__, sys.argv[1:], hasattr(ttnn, 'matmul'))\n")
    done = run(tmp_path / "there.py", "7", module=True)
    assert done.stdout.splitlines()[-1] == "__main__ ['7'] True", done.stderr


@pytest.mark.parametrize(
    "arch, how, scope, reopens, says",
    [
        ("wormhole_b0", "fault", "function", "stays", "circular buffer 7 is not configured"),
        ("blackhole", "deadlock", "module", "reopens", "deadlock: "),
        ("wormhole_b0", "endless", "module", "stays", "passed the limit of 1000000 cycles"),
        ("wormhole_b0", "memory", "module", "reopens", "access outside L1: address 0x7fffffc0"),
        ("blackhole", "build", "module", "stays", "remote_cb_pop_front is not modelled"),
    ],
)
def test_a_suite_goes_on_after_a_launch_that_fails(run, tmp_path, monkeypatch, arch, how, scope, reopens, says):
    """The error is that of the operation, with our text; the tests behind it pass, on the same device or one opened anew."""
    needs_pytest()
    monkeypatch.setenv("SUITE", f"{how} {scope} {reopens}")
    (tmp_path / "test_it.py").write_text(
        (HERE / "suite.py").read_text()
    )  # outside our folder, whose pytest settings are ours
    done = run(Path("pytest"), "-q", "test_it.py", module=True, options=("--arch", arch, "--max-cycles", "1000000"))
    assert done.returncode == 1 and "1 failed, 4 passed" in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]
    assert says in done.stdout and re.search(r"^E +RuntimeError: ", done.stdout, re.M)
    assert "run_mailbox" not in done.stdout + done.stderr and "wait for each other" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "arch, board, sees",
    [
        ("blackhole", "p100", "11 10 7"),
        ("blackhole", "p150_13x10", "13 10 8"),
        ("blackhole", "p150a", "11 10 8"),
        ("wormhole_b0", "n300", "8 7 12"),
        ("wormhole_b0", "galaxy", "8 9 12"),
    ],
)
def test_boards(run, arch, board, sees):
    done = run(HERE / "whole_board.py", options=("--arch", arch, "--set", f"board={board}"))
    if "board" in as_seen(LIBRARY, load_arch(arch)) and board not in ("p150_13x10", "galaxy"):
        assert done.returncode == 2 and "on any board" in done.stderr
        return
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == f"sees {sees}", done.stderr[-3000:]


def test_a_fault_of_a_kernel(run):
    """It is the operation's error, with our message; the program goes on and closes its device."""
    text = (HERE / "both.py").read_text()
    wrong = text.replace("cb_pop_front(0, 1);", "cb_pop_front(7, 1);")
    wrong = wrong.replace("        ttnn.generic_op(", "        with caught():\n            ttnn.generic_op(")
    wrong = wrong.replace("def main", CAUGHT + "\n\ndef main").replace(RIGHT, "")
    assert RIGHT not in wrong and "with caught()" in wrong
    done = run(wrong)
    assert done.returncode == 0, done.stderr
    assert "circular buffer 7 is not configured" in done.stdout and done.stdout.splitlines()[-1] == "OK"


SMALL_TILES = """
import torch
import ttnn

device = ttnn.open_device(device_id=0)
for height, width in ((16, 32), (32, 16), (16, 16), (8, 32), (1, 32)):
    generator = torch.Generator().manual_seed(height)
    first = torch.rand(1, 1, 2 * height, 64, generator=generator) - 0.5
    second = torch.rand(1, 1, 64, 2 * width, generator=generator) - 0.5
    kept = {"dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT, "device": device}
    product = ttnn.matmul(
        ttnn.from_torch(first, tile=ttnn.Tile((height, 32)), **kept),
        ttnn.from_torch(second, tile=ttnn.Tile((32, width)), **kept),
        program_config=ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
            compute_with_storage_grid_size=(2, 1), in0_block_w=2, out_subblock_h=1, out_subblock_w=1, per_core_M=2,
            per_core_N=1, fuse_batch=True, fused_activation=None, mcast_in0=True,
        ),
        output_tile=ttnn.Tile((height, width)),
    )
    found = ttnn.to_torch(product).float()
    assert torch.allclose(found, first @ second, rtol=0.02, atol=0.05), (height, width)
ttnn.close_device(device)
"""


def test_products_of_tiles_of_other_shapes(run):
    """Operations know two shapes; at the instruction level the vendor's own kernels know all."""
    if not has_module(LIBRARY.python, "torch"):
        pytest.skip("the library's interpreter has no torch")
    done = run(SMALL_TILES, options=("--arch", "blackhole"))
    assert done.returncode == 0, done.stderr[-3000:]
