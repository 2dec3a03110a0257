"""Rows of a DRAM bank are the bytes one would write and read one by one; zeros in memory never written take none."""

import hypothesis.strategies as some
import numpy as np
import pytest
from hypothesis import given

from tensim.sim.arch import load_arch
from tensim.sim.chip.chip import Chip
from tensim.sim.chip.functional_memory import CHUNK_BYTES

BANK = 1


@pytest.fixture(scope="module")
def chip():
    chip = Chip(load_arch("wormhole_b0"))
    yield chip
    chip.close()
    chip.free()


@given(
    base=some.integers(0, 3), offset=some.integers(0, 200), width=some.integers(1, 90), padding=some.integers(0, 40),
    n_rows=some.integers(0, 40), seed=some.integers(0, 99),
)  # fmt: skip
def test_rows_are_bytes_one_behind_the_other(chip, base, offset, width, padding, n_rows, seed):
    address, stride = (base + 1) * CHUNK_BYTES - 500 + offset, width + padding
    rows = np.random.default_rng(seed).integers(0, 256, (n_rows, width), np.uint8)
    chip.memory.write_dram(BANK, address - 8, b"\xff" * (n_rows * stride + 16))
    chip.memory.write_dram_rows(BANK, address, rows, stride)
    expected = b"".join(row.tobytes().ljust(stride, b"\0") for row in rows)
    assert chip.memory.read_dram(BANK, address - 8, len(expected) + 16) == b"\xff" * 8 + expected + b"\xff" * 8
    back = np.zeros_like(rows)
    chip.memory.read_dram_rows(BANK, address, stride, back)
    assert (back == rows).all()


def test_zeros_make_no_memory_and_overwrite_what_there_is():
    chip = Chip(load_arch("wormhole_b0"))
    zeros = np.zeros((CHUNK_BYTES // 64 * 8, 64), np.uint8)
    spare, image = int(chip.machine["n_spare"]), chip.memory.image_sha256()
    chip.memory.write_dram_rows(BANK, 32, zeros, 64)
    chip.memory.write_dram(BANK, 0, zeros.tobytes())
    assert chip.machine["n_spare"] == spare and chip.memory.image_sha256() == image
    chip.memory.write_dram(BANK, 3 * CHUNK_BYTES, b"x")
    chip.memory.write_dram_rows(BANK, 0, zeros, 64)
    assert chip.memory.read_dram(BANK, 3 * CHUNK_BYTES, 1) == b"\0" and chip.memory.image_sha256() == image
    chip.close()
    chip.free()
