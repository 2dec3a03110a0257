"""memmove in C++ kernels: what it copies, for ranges that overlap or are not aligned alike, of any length."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")

import tensim as tt

PLACE, BYTES = 0x80000, 256
TEXT = """
#include <cstdint>
#include <cstring>

#include "dataflow_api.h"

void kernel_main() {
    const uint32_t to = get_arg_val<uint32_t>(0), from = get_arg_val<uint32_t>(1), size = get_arg_val<uint32_t>(2);
    memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), size);
}
"""
CORE = tt.CoreCoord(0, 0)
INSIDE = st.integers(0, BYTES // 2)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """copy(to, from, size) -> the bytes of L1 afterwards, which were 0, 1, 2, ..."""
    path = tmp_path_factory.mktemp("kernels") / "move.cpp"
    path.write_text(TEXT)
    device = tt.create_device(0)

    def copied(to, source, size):
        device.chip.memory.write_l1(0, PLACE, bytes(range(BYTES)))
        program = tt.create_program()
        kernel = tt.create_kernel(program, str(path), CORE, tt.ReaderDataMovementConfig())
        tt.set_runtime_args(program, kernel, CORE, [PLACE + to, PLACE + source, size])
        tt.enqueue_program(device.command_queue(), program, blocking=True)
        return np.frombuffer(device.chip.memory.read_l1(0, PLACE, BYTES), np.uint8)

    yield copied
    tt.close_device(device)


@given(INSIDE, INSIDE, INSIDE)
@example(0, 4, 100)  # the target lies a word before the source: fewer words apart than are copied at a time
@example(4, 0, 100)
@example(0, 3, 37)
@example(128, 0, 125)  # whole rounds of four words, then words, then bytes
@settings(max_examples=40, deadline=None)
def test_memmove_copies_as_if_by_way_of_another_place(copy, to, source, size):
    wanted = np.arange(BYTES, dtype=np.uint8)
    wanted[to : to + size] = wanted[source : source + size].copy()
    np.testing.assert_array_equal(copy(to, source, size), wanted)
