"""Tiles that kernels print: of circular buffers in their formats, and of Dst, at the moment of the print and in no time."""

import numpy as np
import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.chip.printed_tiles import shown_tile
from tensim.sim.cores import print_tiles as at
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.cores.numerics.host_formats import decode, encode
from tensim.sim.cores.numerics.matrix_unit import INTEGER, NARROW, WIDE

# ruff: noqa: F405
CORE = tt.CoreCoord(0, 0)
NUMBERS = np.arange(1024, dtype=np.float32).reshape(32, 32) % 61
FORMATS = [
    DataFormat[name] for name in "Float32 Float16 Float16_b Bfp8_b Bfp4_b Bfp2 Int32 UInt16 UInt32 Int8 UInt8".split()
]


@kernel
def fills(address):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    for i in range(2):
        cb_reserve_back(0, 1)
        noc_async_read_tile(i, source, get_write_ptr(0))
        noc_async_read_barrier()
        print_tile_rows(0, 0, 1, 0, 2, 0, 3)
        cb_push_back(0, 1)


@kernel
def doubles(shows):
    binary_op_init_common(0, 0, 16)
    add_tiles_init(0, 0)
    cb_wait_front(0, 2)
    tile_regs_acquire()
    add_tiles(0, 0, 0, 1, 0)
    if shows != 0:
        dprint_tensix_dest_reg(0)
        dprint_tensix_dest_reg(1)
        dprint_tensix_dest_reg(20)
    tile_regs_commit()
    tile_regs_wait()
    cb_reserve_back(16, 1)
    pack_tile(0, 16)
    if shows != 0:
        PACK(print_tile_rows(16, 0, untilize=1, end_row=1, start_col=16, end_col=19))
        UNPACK(print_full_tile(5))
    tile_regs_release()
    cb_push_back(16, 1)
    cb_pop_front(0, 2)


def printed(numerics="fast", shows=1):
    """(lines of a program by thread, cycles)."""
    lines = {}
    with tt.create_device(0, numerics=numerics) as device:
        device.chip.printer.on_print = lambda line: lines.setdefault(line[6:12].rstrip(":"), []).append(line.partition(": ")[2])
        program = tt.create_program()
        for index in (0, 16):
            buffer = tt.CircularBufferConfig(4096, {index: tt.DataFormat.Float16_b}).set_page_size(index, 2048)
            tt.create_circular_buffer(program, CORE, buffer)
        buffer = tt.create_buffer(tt.InterleavedBufferConfig(device, 4096, 2048, tt.BufferType.DRAM))
        queue = device.command_queue()
        tt.enqueue_write_buffer(queue, buffer, encode(np.vstack([NUMBERS, 2 * NUMBERS]), DataFormat.Float16_b))
        reader = tt.create_kernel(program, fills, CORE, tt.ReaderDataMovementConfig())
        compute = tt.create_kernel(program, doubles, CORE, tt.ComputeConfig())
        tt.set_runtime_args(program, reader, CORE, [buffer.address])
        tt.set_runtime_args(program, compute, CORE, [shows])
        tt.enqueue_program(queue, program, blocking=True)
        return lines, device.chip.cycle


@pytest.mark.parametrize("numerics", ["fast", "exact"])
def test_each_thread_shows_the_tile_that_it_has(numerics):
    lines, cycles = printed(numerics)
    assert lines["NCRISC"] == ["0: 0 1 2", "1: 32 33 34", "0: 0 2 4", "1: 64 66 68"]  # as they are pushed
    assert lines["TRISC1"][0] == "0: " + " ".join(f"{3 * i}" for i in range(32))
    assert len(lines["TRISC1"]) == 32 + 32 + 1  # a tile that nobody wrote is zero; there is no tile 20
    assert lines["TRISC1"][32] == "0:" + 32 * " 0" and lines["TRISC1"][64] == "(no tile: Dst has no tile of this index)"
    assert lines["TRISC2"] == ["0: 48 51 54"]
    assert lines["TRISC0"] == ["(no tile: the circular buffer is not configured on this core)"]


def test_without_data_there_is_nothing_to_show():
    lines, _ = printed("off")
    assert lines["NCRISC"] == ["(no tile: no data move with numerics=off)"] * 2


def record(kind, value, extra):
    return {"kind": kind, "value": value, "extra": extra}


WHOLE = at.WHOLE_ROWS, 32 | 1 << 8 | (at.IN_FACES | at.ON_LINES) << 16


@pytest.mark.parametrize("data_format", FORMATS, ids=lambda one: one.name)
def test_numbers_are_those_of_the_format(data_format):
    data = encode(
        NUMBERS - 30 * (data_format not in (DataFormat.UInt16, DataFormat.UInt32, DataFormat.UInt8)), data_format
    )
    text = shown_tile(record(at.BUFFER_TILE, len(data), data_format | 1024 << 8), data, *WHOLE)
    shown = np.array([line.split() for line in text.split("\n")], float)
    assert (shown == decode(data, data_format, (32, 32))).all()


def test_small_tiles_have_their_own_order():
    tile = np.arange(512).reshape(16, 32)
    data = np.concatenate([tile[:, :16].ravel(), tile[:, 16:].ravel()]).astype(np.uint16).tobytes()
    about = DataFormat.UInt16 | 512 << 8 | 32 << 24
    row = 1 | 2 << 8 | 1 << 16  # of the order in rows, and of memory's
    columns = 20 | 4 << 8
    assert shown_tile(record(at.BUFFER_TILE, 1024, about), data, row, columns | at.IN_FACES << 16) == "32 36 40 44 48"
    assert shown_tile(record(at.BUFFER_TILE, 1024, about), data, row, columns) == "64 68 72 76 96"


@pytest.mark.parametrize("kind, word, text", [
    (WIDE, 0xC0200000, "-2.5"), (NARROW, 1 << 31 | 16 << 23 | 1 << 21, "-2.5"), (NARROW, 1 << 22, "3.05176e-05"),
    (INTEGER, 1 << 31 | 7, "-7"), (3, 0xFFFFFFF9, "-7"),
])  # fmt: skip
def test_words_of_dst_are_numbers_of_their_kind(kind, word, text):
    content = np.full(1024, word, np.uint32).tobytes()
    assert shown_tile(record(at.DST_TILE, 4096, kind), content, 0 | 1 << 8 | 1 << 16, 1 | 1 << 8) == text


def test_small_block_floats_keep_their_exponents_in_front():
    whole = np.frombuffer(encode(NUMBERS, DataFormat.Bfp8_b), np.uint8)
    half = np.concatenate([whole[:32], whole[64 : 64 + 512]]).tobytes()  # the upper two faces
    about = DataFormat.Bfp8_b | 512 << 8 | 32 << 24
    text = shown_tile(
        record(at.BUFFER_TILE, tile_size(DataFormat.Bfp8_b) // 2, about), half, 15 | 16 << 8 | 1 << 16, WHOLE[1]
    )
    assert (np.array(text.split(), float) == decode(whole.tobytes(), DataFormat.Bfp8_b, (32, 32))[15]).all()


CPP = {
    "reader": """#include "api/debug/device_print.h"
        void kernel_main() {
            const InterleavedAddrGenFast<true> x = {get_arg_val<uint32_t>(0), get_tile_size(0), get_dataformat(0)};
            cb_reserve_back(0, 2);
            noc_async_read_tile(0, x, get_write_ptr(0));
            noc_async_read_tile(1, x, get_write_ptr(0) + 2048);
            noc_async_read_barrier();
            DPRINT << TSLICE(0, 1, SliceRange::hw0_32_16(), TSLICE_INPUT_CB) << ENDL();
            DEVICE_PRINT("{} in {}\\n", 7, TileSlice(0, 0, SliceRange::h0_w0_32(), TSLICE_INPUT_CB, TSLICE_RD_PTR, false, false));
            tt::data_movement::common::print_bf16_pages(get_write_ptr(0), 3, 2);
            WATCHER_RING_BUFFER_PUSH(0xBEEF);
            PAUSE();
            cb_push_back(0, 2);
        }""",
    "compute": """#include "compute_kernel_api/eltwise_binary.h"
        #include "debug/dprint_tensix.h"
        #include "debug/dprint_pages.h"
        namespace NAMESPACE { void MAIN {
            binary_op_init_common(0, 0, 16);
            add_tiles_init(0, 0);
            cb_wait_front(0, 2);
            tile_regs_acquire();
            add_tiles(0, 0, 0, 1, 2);
            dprint_tensix_dest_reg(2);
            tile_regs_commit();
            UNPACK(tt::compute::common::print_tile_rows(0, 1, true, 31, 32, 30));
            MATH(tt::compute::common::print_full_tile(0));
            tile_regs_wait();
            tile_regs_release();
            cb_pop_front(0, 2);
        } }""",
}


def test_cpp_kernels_print_by_the_vendor_s_names(tmp_path):
    pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    lines = {}
    with tt.create_device(0) as device:
        device.chip.printer.on_print = lambda line: lines.setdefault(line[6:12].rstrip(":"), []).append(line.partition(": ")[2])
        program, queue = tt.create_program(), device.command_queue()
        for index in (0, 16):
            buffer = tt.CircularBufferConfig(4096, {index: tt.DataFormat.Float16_b}).set_page_size(index, 2048)
            tt.create_circular_buffer(program, CORE, buffer)
        buffer = tt.create_buffer(tt.InterleavedBufferConfig(device, 4096, 2048, tt.BufferType.DRAM))
        tt.enqueue_write_buffer(queue, buffer, encode(np.vstack([NUMBERS, 2 * NUMBERS]), DataFormat.Float16_b))
        for name, config in (("reader", tt.ReaderDataMovementConfig()), ("compute", tt.ComputeConfig())):
            path = tmp_path / f"{name}.cpp"
            path.write_text(CPP[name])
            kernel = tt.create_kernel(program, str(path), CORE, config)
            if name == "reader":
                tt.set_runtime_args(program, kernel, CORE, [buffer.address])
        tt.enqueue_program(queue, program, blocking=True)
    two, last = 2 * NUMBERS, lines["NCRISC"].pop()
    assert lines["NCRISC"] == [
        f"{two[0, 0]:g} {two[0, 16]:g}", f"{two[16, 0]:g} {two[16, 16]:g}",
        "7 in " + " ".join(f"{value:g}" for value in [*NUMBERS[0, :16], *NUMBERS[1, :16]]),
        "0: 0 1 2 ", "1: 3 4 5 ", "watcher ring buffer: 0xbeef",
    ]  # fmt: skip
    assert last.startswith("PAUSE() at ") and "reader.cpp:12: the kernel goes on" in last
    assert lines["TRISC0"] == [f"31: {two[31, 30]:g} {two[31, 31]:g}"]
    assert lines["TRISC1"][:2] == [f"{row}: " + " ".join(f"{3 * v:g}" for v in NUMBERS[row]) for row in (0, 1)]
    (refused,) = lines["TRISC1"][32:]
    assert refused.startswith(
        "(no tile: this thread has none: the unpack and the pack thread have tiles of circular buffers"
    )
