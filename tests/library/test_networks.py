"""The networks of examples/networks: a layer of each, small, on one chip, as `tensim ttnn --library` runs them, against torch.

They need an interpreter that has the library and torch (TENSIM_LIBRARY_PYTHON).
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tensim.sim.host.wiring import BOARDS
from tests.library.interpreters import library_with_torch

NETWORKS = Path(__file__).parents[2] / "examples/networks"
SMALL = {  # chip, or board of several, and command line
    "bert": ("blackhole", "--layers 1 --tokens 96 --width 128 --heads 2"),
    "vit": ("wormhole_b0", "--layers 1 --size 64 --width 128 --heads 2"),
    "resnet50": ("blackhole", "--layers 1 --size 64"),
    "llama": ("blackhole", "--layers 1 --tokens 31 --vocabulary 1024"),
    "llama --prefill": ("wormhole_b0", "--layers 1 --tokens 32 --vocabulary 1024"),
    "unet": ("blackhole", "--layers 1 --size 8 --channels 128 --heads 2"),
    "whisper": ("blackhole", "--layers 1 --frames 64 --width 128 --heads 2 --vocabulary 512"),
    "yolo": ("blackhole", "--layers 1 --size 64 --channels 8"),
    "tensor_parallel": ("p150_x2", "--layers 1 --tokens 64 --width 256 --heads 4"),
}
WRONG = f"""
import sys

sys.path.insert(0, {str(NETWORKS)!r})
import torch
from common import main, parser

main(lambda session: session.check("all", session.put(torch.eye(32)), lambda: -torch.eye(32)), parser("", 1, 1).parse_args())
"""


LIBRARY = library_with_torch()
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no interpreter that has ttnn and torch")


def run(program, *arguments, arch="blackhole", options=()):
    command = [
        sys.executable,
        "-m",
        "tensim",
        "ttnn",
        "--library",
        "--python",
        LIBRARY.python,
        "--mesh" if arch in BOARDS else "--arch",
        arch,
        *options,
    ]
    return subprocess.run([*command, program, *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("name", ["vit", "llama", "yolo", "tensor_parallel"])
def test_networks_that_tables_steer_take_the_same_cycles_without_data(name, tmp_path):
    """Slices, pages of a cache and halos are found through tables of the host."""
    arch, arguments = SMALL[name]
    cycles = {}
    for numerics in ("off", "fast"):
        told = tmp_path / f"{numerics}.json"
        options = ("--json", told, "--numerics", numerics)
        done = run(NETWORKS / f"{name}.py", *arguments.split(), "--no-compare", arch=arch, options=options)
        assert done.returncode == 0, done.stderr
        cycles[numerics] = [one["cycles"] for one in json.loads(told.read_text())["operations"]]
    assert cycles["off"] == cycles["fast"]


@pytest.mark.parametrize("name", SMALL)
def test_a_layer_of_each_network_computes_what_torch_does(name, tmp_path):
    (program, *mode), (arch, arguments) = name.split(), SMALL[name]
    told = tmp_path / "out.json"
    done = run(NETWORKS / f"{program}.py", *mode, *arguments.split(), arch=arch, options=("--json", told))
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()[-1]  # the library logs before it
    assert re.fullmatch(rf"{program}: PCC .+ (0\.99|1\.0)\d+", said)
    data = json.loads(told.read_text())
    groups, pace = data["by_operation"], data["pace"]
    assert pace["alone_ns"] < pace["traced_ns"] < pace["untraced_ns"]
    assert abs(sum(one["share"] for one in groups) - 1) < 0.01
    assert {"ttnn.linear", "ttnn.conv2d"} & {one["operation"] for one in groups}


def test_every_network_is_run():
    programs = {path.stem for path in NETWORKS.glob("*.py")} - {"common"}
    assert {name.split()[0] for name in SMALL} == programs


def test_a_wrong_result_is_said_and_exits_with_1(tmp_path):
    (tmp_path / "wrong.py").write_text(WRONG)
    done = run(tmp_path / "wrong.py")
    assert done.returncode == 1
    assert done.stdout.endswith("wrong: PCC all -1.00000\n") and "wrong: all: PCC below 0.99" in done.stderr
