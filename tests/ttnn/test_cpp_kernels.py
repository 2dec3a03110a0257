"""generic_op with C++ kernels: operands interleaved and in shards, on several cores; what goes wrong names file and line."""

import ml_dtypes
import numpy as np
import pytest

import tensim.ttnn as ttnn
from tensim.sim.errors import DeadlockError, KernelCompileError

pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
READ_PAIRS = """#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/circular_buffer.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"

void kernel_main() {
    constexpr uint32_t cb_a = get_compile_time_arg_val(0), cb_b = get_compile_time_arg_val(1);
    constexpr auto a_args = TensorAccessorArgs<2>();
    constexpr auto b_args = TensorAccessorArgs<a_args.next_compile_time_args_offset()>();
    const auto a = TensorAccessor(a_args, get_arg_val<uint32_t>(0));
    const auto b = TensorAccessor(b_args, get_arg_val<uint32_t>(1));
    const uint32_t first = get_arg_val<uint32_t>(2), count = get_arg_val<uint32_t>(3);
    Noc noc;
    CircularBuffer to_a(cb_a), to_b(cb_b);
    for (uint32_t page = first; page < first + count; page++) {
        to_a.reserve_back(1);
        to_b.reserve_back(1);
        noc.async_read(a, to_a, get_tile_size(cb_a), {.page_id = page}, {.offset_bytes = 0});
        noc.async_read(b, to_b, get_tile_size(cb_b), {.page_id = page}, {.offset_bytes = 0});
        noc.async_read_barrier();
        to_a.push_back(1);
        to_b.push_back(1);
    }
}
"""
ADD_PAIRS = """#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_unary/relu.h"

void kernel_main() {
    constexpr uint32_t out = get_named_compile_time_arg_val("out");
    compute_kernel_hw_startup(0, 1, out);
    add_init(0, 1);
    for (uint32_t left = get_arg_val<uint32_t>(0); left > 0; left--) {
        cb_wait_front(0, 1);
        cb_wait_front(1, 1);
        tile_regs_acquire();
        add_tiles(0, 1, 0, 0, 0);
        AFTER(0);
        tile_regs_commit();
        cb_pop_front(0, 1);
        cb_pop_front(1, 1);
        cb_reserve_back(out, 1);
        tile_regs_wait();
        pack_tile(0, out);
        tile_regs_release();
        cb_push_back(out, 1);
    }
}
"""
WRITE_PAGES = """#include "dataflow_api.h"

void kernel_main() {
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    const auto out = TensorAccessor(TensorAccessorArgs<1>(), get_arg_val<uint32_t>(0), get_tile_size(cb));
    const uint32_t first = get_arg_val<uint32_t>(1), count = get_arg_val<uint32_t>(2);
    for (uint32_t page = first; page < first + count; page++) {
        cb_wait_front(cb, 1);
        noc_async_write_tile(page, out, get_read_ptr(cb));
        noc_async_write_barrier();
        cb_pop_front(cb, 1);
    }
}
"""
SHIFT_SHARD = """#include "dataflow_api.h"

// Every core copies its neighbour's shard into its own.
void kernel_main() {
    const uint32_t pages = get_arg_val<uint32_t>(0), shard = get_arg_val<uint32_t>(1);
    const auto from = TensorAccessor(TensorAccessorArgs<0>(), get_common_arg_val<uint32_t>(0));
    cb_reserve_back(0, pages);
    noc_async_read(from.get_shard_noc_addr(shard), get_write_ptr(0), pages * get_tile_size(0));
    noc_async_read_barrier();
    cb_push_back(0, pages);
}
"""
ADD = {"AFTER": "(void)"}
CORES = [(x, y) for y in range(2) for x in range(2)]
GRID = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
SHAPE, TILES = (128, 128), 16
HEIGHT = ttnn.create_sharded_memory_config(SHAPE, ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.HEIGHT)
BLOCK = ttnn.create_sharded_memory_config(SHAPE, ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.BLOCK)
DRAM, L1 = ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG


@pytest.fixture
def files(tmp_path):
    """The kernels' files, by their stems."""
    texts = {"read_pairs": READ_PAIRS, "add_pairs": ADD_PAIRS, "write_pages": WRITE_PAGES}
    paths = {name: tmp_path / f"{name}.cpp" for name in texts}
    for name, text in texts.items():
        paths[name].write_text(text)
    return paths


def placed(device, config, seed):
    values = np.random.default_rng(seed).integers(-64, 64, SHAPE).astype(ml_dtypes.bfloat16)
    return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)


def empty(device, config):
    return ttnn.allocate_tensor_on_device(ttnn.Shape(list(SHAPE)), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, config)


def words(tensor):
    return ttnn.TensorAccessorArgs(tensor).get_compile_time_args()


def addition(files, a, b, out, defines=ADD):
    """Every core adds a quarter of the tiles."""
    share = TILES // len(CORES)
    read, add, write = ttnn.RuntimeArgs(), ttnn.RuntimeArgs(), ttnn.RuntimeArgs()
    for index, (x, y) in enumerate(CORES):
        read[x][y] = [a.buffer_address(), b.buffer_address(), index * share, share]
        add[x][y], write[x][y] = [share], [out.buffer_address(), index * share, share]
    kernels = [
        ttnn.KernelDescriptor(
            str(files["read_pairs"]), core_ranges=GRID, compile_time_args=[0, 1, *words(a), *words(b)],
            runtime_args=read, config=ttnn.ReaderConfigDescriptor(),
        ),
        ttnn.KernelDescriptor(
            str(files["add_pairs"]), core_ranges=GRID, named_compile_time_args=[("out", 16)],
            defines=list(defines.items()), runtime_args=add, config=ttnn.ComputeConfigDescriptor(),
        ),
        ttnn.KernelDescriptor(
            str(files["write_pages"]), core_ranges=GRID, compile_time_args=[16, *words(out)],
            runtime_args=write, config=ttnn.WriterConfigDescriptor(),
        ),
    ]  # fmt: skip
    cbs = [ttnn.CBDescriptor(4096, GRID, [ttnn.CBFormatDescriptor(index, ttnn.bfloat16, 2048)]) for index in (0, 1, 16)]
    return ttnn.ProgramDescriptor(kernels=kernels, cbs=cbs)


def values(tensor):
    return tensor.to_numpy().astype(np.float32)


@pytest.mark.parametrize("configs", [(DRAM, DRAM, DRAM), (HEIGHT, BLOCK, DRAM), (L1, DRAM, BLOCK), (BLOCK, L1, HEIGHT)])
def test_accessors_find_operands_wherever_they_lie(device, files, configs):
    a, b, out = placed(device, configs[0], 1), placed(device, configs[1], 2), empty(device, configs[2])
    assert ttnn.generic_op([a, b, out], addition(files, a, b, out)) is out
    assert np.array_equal(values(out), values(a) + values(b))


def test_a_known_program_takes_other_tensors(fresh_device, files):
    for seed in (1, 3):
        a, b, out = placed(fresh_device, DRAM, seed), placed(fresh_device, DRAM, seed + 1), empty(fresh_device, DRAM)
        ttnn.generic_op([a, b, out], addition(files, a, b, out))
        assert np.array_equal(values(out), values(a) + values(b))
    assert fresh_device.num_program_cache_entries() == 1


def test_defines_choose_what_a_kernel_does(device, files):
    a, b, out = placed(device, DRAM, 1), placed(device, DRAM, 2), empty(device, DRAM)
    ttnn.generic_op([a, b, out], addition(files, a, b, out, {"AFTER": "relu_tile"}))
    assert np.array_equal(values(out), np.maximum(values(a) + values(b), 0))


def test_circular_buffers_lie_on_shards(device):
    """A kernel given as text fills the circular buffer that is the output's shard."""
    a, out = placed(device, HEIGHT, 1), empty(device, HEIGHT)
    pages = TILES // len(CORES)
    one = ttnn.KernelDescriptor(
        SHIFT_SHARD, ttnn.KernelDescriptor.SourceType.SOURCE_CODE, GRID, compile_time_args=words(a),
        runtime_args=[(core, [pages, (index + 1) % len(CORES)]) for index, core in enumerate(CORES)],
        common_runtime_args=[a.buffer_address()], config=ttnn.ReaderConfigDescriptor(),
    )  # fmt: skip
    program = ttnn.ProgramDescriptor(kernels=[one], cbs=[ttnn.cb_descriptor_from_sharded_tensor(0, out)])
    ttnn.generic_op([a, out], program)
    assert np.array_equal(values(out), np.roll(values(a), -SHAPE[0] // len(CORES), axis=0))


# --- what goes wrong


def failing(device, files, error, match):
    a, b, out = placed(device, DRAM, 1), placed(device, DRAM, 2), empty(device, DRAM)
    with pytest.raises(error, match=match) as caught:
        ttnn.generic_op([a, b, out], addition(files, a, b, out)).to_numpy()
    return caught.value


def line_of(text, part):
    return text[: text.index(part)].count("\n") + 1


def test_a_file_that_is_not_there(device, files):
    files["write_pages"] = files["write_pages"].with_name("absent.cpp")
    failing(device, files, RuntimeError, r"ProgramDescriptor\.kernels\[2\].*absent\.cpp")


def test_a_compile_error_names_the_line(device, files):
    files["add_pairs"].write_text(ADD_PAIRS.replace("pack_tile(0, out)", "pack_tiles(0, out)"))
    error = failing(device, files, KernelCompileError, "pack_tiles")
    assert f"add_pairs.cpp:{line_of(ADD_PAIRS, 'pack_tile(0')}" in str(error)


def test_a_compile_time_argument_that_was_not_given(device, files):
    files["write_pages"].write_text(WRITE_PAGES.replace("get_compile_time_arg_val(0)", "get_compile_time_arg_val(7)"))
    error = failing(device, files, KernelCompileError, "write_pages.cpp")
    assert "7" in str(error)


def test_an_accessor_whose_arguments_were_not_given(device, files):
    files["write_pages"].write_text(WRITE_PAGES.replace("TensorAccessorArgs<1>", "TensorAccessorArgs<9>"))
    failing(device, files, KernelCompileError, "reads a tensor accessor's compile-time arguments that it was not given")


def test_a_named_argument_that_was_not_given(device, files):
    files["add_pairs"].write_text(ADD_PAIRS.replace('("out")', '("result")'))
    failing(device, files, KernelCompileError, "reads the named argument 'result', which it was not given")


@pytest.mark.parametrize("call, word", [("get_arg_val<uint32_t>(9)", 9), ("get_common_arg_val<uint32_t>(5)", 8)])
def test_a_runtime_argument_that_was_not_set(fresh_device, files, call, word):
    """It is what L1 holds, and the report says so.  Unique arguments lie before common ones."""
    files["write_pages"].write_text(WRITE_PAGES.replace("get_arg_val<uint32_t>(0)", call))
    a, b, out = placed(fresh_device, DRAM, 1), placed(fresh_device, DRAM, 2), empty(fresh_device, DRAM)
    ttnn.generic_op([a, b, out], addition(files, a, b, out)).to_numpy()
    (one,) = fresh_device.host.chip.oddities.rows()
    assert f"runtime argument is read that was not set: word {word} of 3 unique and 0 common" in one["message"]
    assert one["file"].endswith("write_pages.cpp") and one["count"] == one["cores"]


def test_a_missing_push_is_a_deadlock_that_names_the_waiting_lines(fresh_device, files):
    files["read_pairs"].write_text(READ_PAIRS.replace("        to_b.push_back(1);\n", ""))
    text = str(failing(fresh_device, files, DeadlockError, "add_pairs.cpp"))
    assert f"add_pairs.cpp:{line_of(ADD_PAIRS, 'cb_wait_front(1, 1)')}" in text
    assert f"write_pages.cpp:{line_of(WRITE_PAGES, 'cb_wait_front(cb, 1)')}" in text


def test_a_transfer_from_outside_l1_names_the_line(fresh_device, files):
    files["write_pages"].write_text(WRITE_PAGES.replace("get_read_ptr(cb)", "get_read_ptr(cb) + (1 << 21)"))
    error = failing(fresh_device, files, RuntimeError, "write_pages.cpp")
    assert f"write_pages.cpp:{line_of(WRITE_PAGES, 'noc_async_write_tile')}" in str(error)
