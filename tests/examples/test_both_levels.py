"""Operations, formats, fidelities and modes of Dst drawn at random: both levels give the same bits.

It runs where TENSIM_LLK names a release's sources; TENSIM_EXAMPLES says how many cases are drawn, and then anew each time.
"""

import os
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensim as tt
from tensim.examples.common import create_circular_buffer, create_tensor, execute, upload_tensor
from tensim.examples.eltwise_add import read_pairs
from tensim.examples.tile_kernels import write_tiles
from tensim.sim.arch import load_arch
from tensim.sim.cores.riscv.kernel import INSTRUCTION_LEVEL

pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
pytestmark = pytest.mark.skipif("TENSIM_LLK" not in os.environ, reason="TENSIM_LLK names no LLK sources")
EXAMPLES = int(os.environ.get("TENSIM_EXAMPLES", 0))
ONE, TILES = tt.CoreCoord(0, 0), 2
FORMATS_B = [tt.DataFormat[name] for name in ("Float16_b", "Float32", "Bfp8_b", "Bfp4_b")]
FORMATS_A = [tt.DataFormat.Float16]

KERNEL = """#include <cstdint>
#define REDUCE_OP PoolType::SUM
#define REDUCE_DIM ReduceDim::REDUCE_ROW
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/bcast.h"
#include "api/compute/matmul.h"
#include "api/compute/reduce.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/transpose.h"
void kernel_main() {
    START
    for (uint32_t i = 0; i < 2; i++) {
        cb_wait_front(0, 1);
        cb_wait_front(1, 1);
        tile_regs_acquire();
        CALL
        tile_regs_commit();
        cb_pop_front(0, 1);
        cb_pop_front(1, 1);
        cb_reserve_back(16, 1);
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        cb_push_back(16, 1);
    }
    END
}
"""
TWO, UNARY = "compute_kernel_hw_startup(0, 1, 16);", "compute_kernel_hw_startup(0, 16);"
OPERATIONS = {
    "copy": (UNARY + "copy_init(0);", "copy_tile(0, 0, 0);"),
    "transpose": (UNARY + "transpose_init(0);", "transpose_tile(0, 0, 0);"),
    "matmul": ("compute_kernel_hw_startup<SrcOrder::Reverse>(0, 1, 16); matmul_init(0, 1);",
               "matmul_tiles(0, 1, 0, 0, 0); matmul_tiles(0, 1, 0, 0, 0);"),
}  # fmt: skip
OPERATIONS |= {
    name: (f"{TWO} {name}_init(0, 1);", f"{name}_tiles(0, 1, 0, 0, 0);") for name in ("add", "sub", "mul")
}  # fmt: skip
OPERATIONS |= {
    f"{name}_{side}": (f"{TWO} {name}_bcast_{side}_init(0, 1);", f"{name}_tiles_bcast_{side}(0, 1, 0, 0, 0);")
    for name in ("add", "sub", "mul") for side in ("rows", "cols", "scalar")
}  # fmt: skip
REDUCTIONS = {
    f"{kind}_{side}": f"PoolType::{kind}, ReduceDim::REDUCE_{side}"
    for kind in ("SUM", "AVG", "MAX") for side in ("ROW", "COL", "SCALAR")
}  # fmt: skip
SWAPPED = ("SUM_ROW", "AVG_ROW")  # their numbers go to SrcB (reduce.h of the compute API)
OPERATIONS |= {
    name: (f"compute_kernel_hw_startup({'1, 0' if name in SWAPPED else '0, 1'}, 16); reduce_init<{given}>(0, 1, 16);",
           f"reduce_tile<{given}>(0, 1, 0, 0, 0);", "reduce_uninit();")
    for name, given in REDUCTIONS.items()
}  # fmt: skip
KINDS = ("normal", "wide", "integers", "special")


class Case(NamedTuple):
    """An operation on two tensors of two tiles; `kind`: of their values."""

    chip: str
    operation: str
    formats: tuple
    output: tt.DataFormat
    fidelity: tt.MathFidelity
    fp32_dest: bool
    full_sync: bool
    kind: str
    seed: int


@st.composite
def cases(draw):
    family = draw(st.sampled_from([FORMATS_B, FORMATS_B, FORMATS_B, FORMATS_A]))
    wide = draw(st.booleans())
    # What of a 32-bit Dst passes through SrcB as fp16 are other bits than a program means
    left = [
        name
        for name in sorted(OPERATIONS)
        if not (wide and family is FORMATS_A and name.endswith(("MAX_ROW", "_SCALAR")))
    ]
    operation = draw(st.sampled_from(left))
    first, second, output = (draw(st.sampled_from(family)) for _ in range(3))
    return Case(
        draw(st.sampled_from(["wormhole_b0", "blackhole"])), operation, (first, second), output,
        draw(st.sampled_from([tt.MathFidelity.LoFi, tt.MathFidelity.HiFi2, tt.MathFidelity.HiFi3, tt.MathFidelity.HiFi4])),
        wide, draw(st.booleans()), draw(st.sampled_from(KINDS)), draw(st.integers(0, 99)),
    )  # fmt: skip


def values(random, kind, shape):
    found = random.standard_normal(shape)
    if kind == "wide":
        found *= np.exp2(random.integers(-24, 24, shape))
    elif kind == "integers":
        found = np.round(found * 8)
    elif kind == "special":
        places = random.random(shape)
        found = np.where(
            places < 0.2, 0.0, np.where(places < 0.3, -0.0, found * np.exp2(random.integers(-140, 100, shape)))
        )
    return found.astype(np.float32)


def result(case, level, printed=()):
    """Bytes of the output; lines that the kernels print are added to the list `printed`."""
    device = tt.create_device(
        0, arch=load_arch(case.chip, {INSTRUCTION_LEVEL: level}), numerics="exact", max_cycles=1_000_000
    )
    device.chip.printer.on_print = getattr(printed, "append", None)
    try:
        random, shape = np.random.default_rng(case.seed), (32, 32 * TILES)
        first = values(random, case.kind, shape)
        second = np.full(shape, 0.5, np.float32) if case.operation in REDUCTIONS else values(random, case.kind, shape)
        tensors = [upload_tensor(device, one, code) for one, code in zip((first, second), case.formats, strict=True)]
        out, program, cores = create_tensor(device, shape, case.output), tt.create_program(), tt.CoreRange(ONE, ONE)
        for index, code in zip((0, 1, 16), (*case.formats, case.output), strict=True):
            create_circular_buffer(program, cores, index, 2, code)
        start, call, *end = OPERATIONS[case.operation]
        text = KERNEL.replace("START", start).replace("CALL", call).replace("END", "".join(end))
        reader = tt.create_kernel(program, read_pairs, cores, tt.ReaderDataMovementConfig())
        writer = tt.create_kernel(program, write_tiles, cores, tt.WriterDataMovementConfig())
        config = tt.ComputeConfig(
            math_fidelity=case.fidelity, fp32_dest_acc_en=case.fp32_dest, dst_full_sync_en=case.full_sync
        )
        tt.create_kernel_from_string(program, text, cores, config)
        tt.set_runtime_args(program, reader, ONE, [*(one.address for one in tensors), 0, TILES])
        tt.set_runtime_args(program, writer, ONE, [out.address, 0, TILES])
        execute(device, program)
        return bytes(tt.enqueue_read_buffer(device.command_queue(0), out.buffer, blocking=True))
    finally:
        tt.close_device(device)


@settings(max_examples=EXAMPLES or 12, derandomize=not EXAMPLES, deadline=None)
@given(cases())
def test_both_levels_give_the_same_bits(case):
    expected, actual = (np.frombuffer(result(case, level), np.uint8) for level in (0, 1))
    assert np.array_equal(expected, actual), f"{(expected != actual).sum()} of {len(expected)} bytes differ"


SHOWN = """DPRINT_MATH("a half is {}, a count {}\\n", 0.5f, 3u); DPRINT_PACK("pack {}\\n", -7);
    DPRINT_UNPACK("{} and {}\\n", "unpack", true);"""


def test_both_levels_print_the_same_lines(monkeypatch):
    start, call = OPERATIONS["add"]
    monkeypatch.setitem(OPERATIONS, "add", (SHOWN + start, call))
    monkeypatch.setitem(globals(), "KERNEL", '#include "api/debug/dprint.h"\n' + KERNEL)
    formats, lines = (tt.DataFormat.Float16_b,) * 2, ([], [])
    case = Case("blackhole", "add", formats, formats[0], tt.MathFidelity.HiFi4, False, False, "normal", 1)
    for level, shown in enumerate(lines):
        result(case, level, shown)
    assert sorted(lines[1]) == sorted(lines[0])
    assert "(0,0) TRISC1: a half is 0.5, a count 3" in lines[1]
