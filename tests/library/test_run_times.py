"""How long operations take, asked by a program of the library's: equal calls once, nothing left behind."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tensim.library.run_times import ERROR, SUCCESS, RunTimes
from tests.library.test_wheel import LIBRARY

PROGRAM = """
import json, ttnn
device = ttnn.open_device(device_id=0)
spec = ttnn.TensorSpec((1, 1, 64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT)
in_l1 = ttnn.TensorSpec((1, 1, 64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, buffer_type=ttnn.BufferType.L1)
other = ttnn.TensorSpec((1, 1, 96, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT)
ask = ttnn.graph.query_op_runtime
times = [ask(ttnn.relu, device, one) for one in (spec, in_l1, spec)] + [ask(ttnn.matmul, device, spec, other)]
print(json.dumps([[one.status, one.runtime, one.error_message] for one in times]))
ttnn.close_device(device)
"""


class Tensor:
    layout = "TILE"

    def __init__(self, name):
        self.name = name

    def storage_type(self):
        return "StorageType.DEVICE"

    def is_allocated(self):
        return True


class Spec(SimpleNamespace):
    """A specification of the made-up library."""


@pytest.fixture
def asked():
    """(`RunTimes` of a made-up library, names of what was freed, an operation of 50 ns)."""
    clock, freed = [0], []
    library = SimpleNamespace(
        TensorSpec=Spec,
        allocate_tensor_on_device=lambda spec, device: Tensor(f"{device} {spec.shape}"),
        deallocate=lambda tensor: freed.append(tensor.name),
    )

    def operation(x, fails=False):
        if fails:
            raise RuntimeError("TT_FATAL: shapes\nbacktrace")
        clock[0] += 50
        return [Tensor("result"), x]

    described = lambda arguments, named: [str(arguments), named]  # noqa: E731
    return RunTimes(library, lambda: clock[0], described), freed, operation, clock


def spec(size):
    return Spec(shape=size, dtype="bf16", layout="TILE", tile=32, memory_config="DRAM")


def test_a_call_takes_what_its_programs_take_and_leaves_nothing(asked):
    times, freed, operation, _ = asked
    assert times.query_op_runtime(operation, "device", spec(64)) == (SUCCESS, 50, None)
    assert sorted(freed) == ["device 64", "result"]


def test_equal_calls_run_once(asked):
    times, _, operation, clock = asked
    assert [times.query_op_runtime(operation, "device", spec(size)).runtime for size in (64, 64, 96)] == [50, 50, 50]
    assert clock == [100]


def test_what_the_library_refuses_is_said(asked):
    times, freed, operation, _ = asked
    found = times.query_op_runtime(operation, "device", spec(64), fails=True)
    assert found == (ERROR, None, "TT_FATAL: shapes") and freed == ["device 64"]


@pytest.mark.skipif(LIBRARY is None, reason="the vendor's library is not installed")
def test_the_library_is_asked(tmp_path):
    (tmp_path / "ask.py").write_text(PROGRAM)
    command = [
        sys.executable,
        "-m",
        "tensim",
        "ttnn",
        "--library",
        "--arch",
        "blackhole",
        "--json",
        "out.json",
        "ask.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = next(json.loads(line) for line in done.stdout.splitlines() if line.startswith("[["))
    ran = [one for one in json.loads((tmp_path / "out.json").read_text())["operations"] if "relu" in one["name"]]
    assert [status for status, *_ in told] == [SUCCESS, SUCCESS, SUCCESS, ERROR]
    assert [told[0][1], told[1][1]] == [pytest.approx(one["ns"], abs=1) for one in ran] and told[2] == told[0]
    assert "a_shape[-1] == b_shape[-2]" in told[3][2]
