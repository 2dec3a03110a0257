"""The vendor's kernels of vector functions, built against its LLK, on one core's coprocessor: right numbers, in both widths of Dst.

They run where TENSIM_LLK names a release's folder that holds tt_metal.
"""

import math
import os

import numpy as np
import pytest

from tensim.sim.cores.coprocessor.instruction_table import CHIPS
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.validation.instruction.lone_core import Buffer, LoneCore, programs

pytestmark = pytest.mark.skipif("TENSIM_LLK" not in os.environ, reason="TENSIM_LLK names no LLK sources")

KERNEL = """#include <cstdint>
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/HEADER.h"
void kernel_main() {
    init_sfpu(0, 2);
    tile_regs_acquire();
    cb_wait_front(0, 1);
    copy_tile_to_dst_init_short(0);
    copy_tile(0, 0, 0);
    cb_wait_front(1, 1);
    copy_tile_to_dst_init_short(1);
    copy_tile(1, 0, 1);
    CALLS
    tile_regs_commit();
    tile_regs_wait();
    cb_reserve_back(2, 1);
    pack_tile(0, 2);
    cb_push_back(2, 1);
    tile_regs_release();
}
"""
FUNCTIONS = {
    "gelu": ("eltwise_unary/gelu", "gelu_tile_init<false>(); gelu_tile<false>(0);",
             lambda x, y: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2),
    "hardsigmoid": ("eltwise_unary/activations", "hardsigmoid_tile_init(); hardsigmoid_tile(0);",
                    lambda x, y: np.clip(x / 6 + 0.5, 0, 1)),
    "add_binary": ("eltwise_binary_sfpu", "add_binary_tile_init(); add_binary_tile(0, 1, 0);", lambda x, y: x + y),
    "atan2": ("atan2", "atan2_binary_tile_init(); atan2_binary_tile(0, 1, 0);", lambda x, y: np.arctan2(x, y)),
}  # fmt: skip
TOLERANCE = {DataFormat.Float16_b: 2.0**-7, DataFormat.Float32: 2.0**-18}  # of a number of that size, or of 1


def to_bytes(values, data_format):
    words = values.astype(np.float32).view(np.uint32)
    return words.tobytes() if data_format == DataFormat.Float32 else (words >> 16).astype(np.uint16).tobytes()


def from_bytes(content, data_format):
    if data_format == DataFormat.Float32:
        return np.frombuffer(content, np.float32)
    return (np.frombuffer(content, np.uint16).astype(np.uint32) << 16).view(np.float32)


def run(chip, header, calls, data_format, x, y):
    """(result of a kernel on two tiles, instructions that the vector unit has executed)."""
    wide = data_format == DataFormat.Float32
    buffers = [Buffer(0, data_format, 1, 1, wide), Buffer(1, data_format, 1, 1, wide), Buffer(2, data_format, 1)]
    elfs = programs(chip, KERNEL.replace("HEADER", header).replace("CALLS", calls), buffers, fp32_dest=wide)
    core = LoneCore(chip, elfs, buffers, data=True)
    core.write(0, to_bytes(x, data_format))
    core.write(1, to_bytes(y, data_format))
    core.run()
    return from_bytes(core.read(2, buffers[2].page_bytes), data_format), core.tile.units["vector"][0]


@pytest.mark.parametrize("data_format", TOLERANCE, ids=lambda one: one.name)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("chip", CHIPS)
def test_functions_compute_what_they_are_named_for(chip, name, data_format):
    header, calls, definition = FUNCTIONS[name]
    random = np.random.default_rng(3)
    x, y = (from_bytes(to_bytes(random.uniform(-4, 4, 1024), data_format), data_format) for _ in range(2))
    found, instructions = run(chip, header, calls, data_format, x, y)
    expected = definition(x.astype(np.float64), y.astype(np.float64))
    error = np.abs(found - expected) / np.maximum(np.abs(expected), 1.0)
    assert error.max() <= TOLERANCE[data_format]
    assert instructions >= 32 * 3  # load, compute and store of each 32 numbers


@pytest.mark.parametrize("chip", CHIPS)
def test_random_numbers_follow_their_seed(chip):
    def tile(seed):
        one = np.float32(1.0).view(np.uint32)
        calls = f"rand_tile_init({seed}); rand_tile(0, 0, {one});"
        return run(chip, "eltwise_unary/rand", calls, DataFormat.Float32, np.zeros(1024), np.zeros(1024))[0]

    first, again, other = tile(7), tile(7), tile(8)
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert first.min() >= 0 and first.max() <= 1 and abs(first.mean() - 0.5) < 0.1


@pytest.mark.parametrize("chip", CHIPS)
def test_dropout_drops_its_share_of_numbers(chip):
    two = np.float32(2.0).view(np.uint32)
    calls = f"dropout_kernel_init(5); dropout_tile(0, {2**31 // 4}, {two});"
    found, _ = run(chip, "eltwise_unary/dropout", calls, DataFormat.Float16_b, np.ones(1024), np.ones(1024))
    assert set(found.tolist()) == {0.0, 2.0}
    assert 0.1 < np.mean(found == 0) < 0.4


ADDING = """#include <cstdint>
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/pack.h"
#include "api/compute/tile_move_copy.h"
void kernel_main() {
    init_sfpu(0, 1);
    tile_regs_acquire();
    cb_wait_front(0, 1);
    copy_tile(0, 0, 0);
    tile_regs_commit();
    tile_regs_wait();
    cb_reserve_back(1, 1);
    pack_reconfig_l1_acc(1);
    pack_tile(0, 1);
    cb_push_back(1, 1);
    tile_regs_release();
}
"""
FLOATS = {DataFormat.Float16: np.float16, DataFormat.Float16_b: None, DataFormat.Float32: np.float32}


# A 16-bit Dst has the exponents of its inputs and outputs, which are alike; a 32-bit one those of float32
ADDED = [(given, output, True) for given in (DataFormat.Float16, DataFormat.Float16_b) for output in FLOATS]
ADDED += [(DataFormat.Float16_b, DataFormat.Float16_b, False), (DataFormat.Float16, DataFormat.Float16, False)]


@pytest.mark.parametrize(("given", "output", "wide"), ADDED)
@pytest.mark.parametrize("chip", CHIPS)
def test_the_packer_adds_to_l1_in_the_output_format(chip, given, output, wide):
    """Numbers come to the output's exponents before they are added: all floats, whatever Dst holds."""

    def stored(values, data_format):
        kind = FLOATS[data_format]
        return to_bytes(values, data_format) if kind is None else values.astype(kind).tobytes()

    def numbers(content, data_format):
        kind = FLOATS[data_format]
        return from_bytes(content, data_format) if kind is None else np.frombuffer(content, kind).astype(np.float32)

    random = np.random.default_rng(5)
    x = numbers(stored(random.uniform(0.25, 2, 1024), given), given)
    y = numbers(stored(random.uniform(0.25, 2, 1024), output), output)
    buffers = [Buffer(0, given, 1, 1), Buffer(1, output, 1)]
    core = LoneCore(chip, programs(chip, ADDING, buffers, fp32_dest=wide), buffers, data=True)
    core.write(0, stored(x, given))
    core.write(1, stored(y, output))
    core.run()
    found = numbers(core.read(1, buffers[1].page_bytes), output)
    np.testing.assert_allclose(found, x + y, rtol=2.0**-7 if wide or given == DataFormat.Float16_b else 2.0**-10)
