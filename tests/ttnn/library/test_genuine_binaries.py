"""Light Metal binaries that the vendor's library made, replayed with the kernels of its wheel.

TENSIM_TTNN_SOURCES names unpacked wheels, TENSIM_GENUINE_BINARIES the folder of the binaries.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.numerics.host_formats import decode, encode
from tests.commands import exit_code
from tests.ttnn.library.harness import roots

CLASSIC, BINARIES = roots("classic"), os.environ.get("TENSIM_GENUINE_BINARIES")
pytestmark = [
    pytest.mark.skipif(not CLASSIC, reason="TENSIM_TTNN_SOURCES names no unpacked wheel up to 0.66"),
    pytest.mark.skipif(not BINARIES, reason="TENSIM_GENUINE_BINARIES names no folder"),
]
SHAPE = (64, 64)


def replayed(capsys, tmp_path, binary, program, inputs, output):
    """The values of buffer `output` after a launch of a program on `inputs` ({buffer: array})."""
    arguments = ["replay", str(Path(BINARIES) / binary), "--launch", str(program), "--kernel-path", str(CLASSIC[0])]
    for buffer, array in inputs.items():
        np.save(tmp_path / f"{buffer}.npy", np.frombuffer(encode(array, DataFormat.Float16_b), np.uint8))
        arguments += ["--bind", f"{buffer}={tmp_path / str(buffer)}.npy"]
    code = exit_code(*arguments, "--save", f"{output}={tmp_path / 'out.npy'}")
    assert not code, capsys.readouterr().err
    return decode(np.load(tmp_path / "out.npy").tobytes(), DataFormat.Float16_b, SHAPE)


@pytest.fixture
def operands():
    """Two arrays of values that bfloat16 holds."""
    values = np.random.default_rng(3).standard_normal((2, *SHAPE)).astype(np.float32)
    return [decode(encode(value, DataFormat.Float16_b), DataFormat.Float16_b, SHAPE) for value in values]


def test_a_copy(capsys, tmp_path, operands):
    found = replayed(capsys, tmp_path, "v0.66.0_clone_64x64.bin", 4, {0: operands[0]}, 2)
    assert np.array_equal(found, operands[0])


def test_a_multicast_matmul(capsys, tmp_path, operands):
    found = replayed(capsys, tmp_path, "v0.66.0_matmul_64x64_bf16.bin", 6, dict(zip((0, 2), operands, strict=True)), 4)
    expected = operands[0] @ operands[1]
    assert np.abs(found - expected).max() < 0.01 * np.abs(expected).max()


def test_a_softmax(capsys, tmp_path, operands):
    found = replayed(capsys, tmp_path, "v0.66.0_softmax_64x64.bin", 4, {0: operands[0]}, 2)
    expected = np.exp(operands[0]) / np.exp(operands[0]).sum(1, keepdims=True)
    assert np.abs(found - expected).max() < 0.01 * expected.max()
