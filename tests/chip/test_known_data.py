"""Programs that data steer, with numerics off: tables of the host and what kernels store decide, what is computed does not."""

import numpy as np
import pytest

import tensim as tt
from tensim.sim.errors import ProgramError

pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
SEEN = 600_000  # L1 address of what kernels have found
TABLE_AT, COPY_AT = 499_968, 519_936
WORDS = 512  # of a tile
HEAD = '#include "dataflow_api.h"\n'
# Follows a list in L1 by its links, and waits as long as its numbers say
FOLLOW = (
    HEAD
    + """
void follow(uint32_t at) {
    auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(at);
    uint32_t sum = 0;
    for (uint32_t i = 0; words[2 * i + 1] != 0; i = words[2 * i + 1]) {
        for (uint32_t n = 0; n < words[2 * i]; n++) sum += i;
    }
    *reinterpret_cast<volatile tt_l1_ptr uint32_t*>(600000) = sum + 1;
}
"""
)
LIST = [3, 2, 0, 0, 5, 7, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0] + [0] * (WORDS - 16)
SUM = 5 * 2 + 1


def reads(body):
    """A kernel that has read the tile of a buffer in DRAM (arguments 0, 1: bank, address) into L1."""
    return FOLLOW + (
        "void kernel_main() {\n"
        "    uint64_t page = get_noc_addr_from_bank_id<true>(get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1));\n"
        f"    noc_async_read(page, {TABLE_AT}, 2048);\n"
        f"    noc_async_read_barrier();\n    {body}\n}}\n"
    )


@pytest.fixture
def device():
    with tt.create_device(0, numerics="off", max_cycles=20_000_000) as opened:
        yield opened


def upload(device, words):
    """The arguments of `reads` for a tile of these words that the host has written."""
    buffer = tt.create_buffer(tt.InterleavedBufferConfig(device, 2048, 2048, tt.BufferType.DRAM))
    tt.enqueue_write_buffer(device.command_queue(0), buffer, np.array(words, np.uint32).tobytes(), blocking=True)
    return buffer, [0, buffer.address]


def run(device, *kernels, buffers=()):
    """Run (text, configuration, arguments) on one core; returns the cycles.  `buffers`: of a tile each."""
    program, core = tt.create_program(), tt.CoreCoord(0, 0)
    for index in buffers:
        config = tt.CircularBufferConfig(2048, {index: tt.DataFormat.Float16_b}).set_page_size(index, 2048)
        tt.create_circular_buffer(program, core, config)
    for text, config, arguments in kernels:
        made = tt.create_kernel_from_string(program, text, core, config())
        tt.set_runtime_args(program, made, core, list(arguments))
    with tt.measure(device) as measured:
        tt.enqueue_program(device.command_queue(0), program, blocking=False)
        tt.finish(device.command_queue(0))
    return measured.result.cycles


def seen(device):
    return int(np.frombuffer(device.chip.memory.read_l1(0, SEEN, 4), np.uint32)[0])


def refused(device, *kernels, **options):
    with pytest.raises(ProgramError, match="numerics=off") as caught:
        run(device, *kernels, **options)
    assert caught.value.kind == "data_not_known" and "--numerics fast" in caught.value.hint


def test_a_table_of_the_host_steers_a_kernel_as_it_does_with_data(device):
    text = reads(f"follow({TABLE_AT});")
    cycles = run(device, (text, tt.ReaderDataMovementConfig, upload(device, LIST)[1]))
    assert seen(device) == SUM
    with tt.create_device(1, numerics="fast") as other:
        assert run(other, (text, tt.ReaderDataMovementConfig, upload(other, LIST)[1])) == cycles


def test_a_table_goes_on_through_other_tiles_and_dram(device):
    """Written into another core and into DRAM, read back from both."""
    text = reads(
        f"noc_async_write({TABLE_AT}, get_noc_addr(2, 2, {COPY_AT}), 2048);\n"
        "uint64_t there = get_noc_addr_from_bank_id<true>(get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(2));\n"
        "noc_async_write_barrier();\n"
        f"noc_async_read(get_noc_addr(2, 2, {COPY_AT}), {TABLE_AT} + 4096, 2048);\n"
        "noc_async_read_barrier();\n"
        f"noc_async_write({TABLE_AT} + 4096, there, 2048);\n"
        "noc_async_write_barrier();\n"
        f"noc_async_read(there, {TABLE_AT} + 8192, 2048);\n"
        "noc_async_read_barrier();\n"
        f"follow({TABLE_AT} + 8192);"
    )
    (_, arguments), (_, (_, free)) = upload(device, LIST), upload(device, [0] * WORDS)
    run(device, (text, tt.ReaderDataMovementConfig, [*arguments, free]))
    assert seen(device) == SUM


def test_memory_that_nobody_has_written_decides_nothing(device):
    buffer = tt.create_buffer(tt.InterleavedBufferConfig(device, 2048, 2048, tt.BufferType.DRAM))
    refused(device, (reads(f"follow({TABLE_AT});"), tt.ReaderDataMovementConfig, [0, buffer.address]))


def test_what_is_read_over_a_table_takes_it_away(device):
    empty = tt.create_buffer(tt.InterleavedBufferConfig(device, 2048, 2048, tt.BufferType.DRAM))
    again = (
        "noc_async_read(get_noc_addr_from_bank_id<true>(0, get_arg_val<uint32_t>(2)), 499968, 2048);\n"
        "noc_async_read_barrier();\nfollow(499968);"
    )
    refused(device, (reads(again), tt.ReaderDataMovementConfig, [*upload(device, LIST)[1], empty.address]))


def test_words_that_a_kernel_stores_decide(device):
    """An array in L1, as operations count through the dimensions of a tensor."""
    body = """
    auto count = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(499968);
    for (uint32_t i = 0; i < 3; i++) count[i] = i;
    uint32_t turns = 0;
    while (count[0] < 4) {
        count[0] = count[0] + 1;
        turns += count[2];
    }
    *reinterpret_cast<volatile tt_l1_ptr uint32_t*>(600000) = turns;
    """
    run(device, (HEAD + f"void kernel_main() {{{body}}}\n", tt.ReaderDataMovementConfig, []))
    assert seen(device) == 8


def test_what_derives_from_unknown_words_stays_unknown_where_it_is_stored(device):
    body = """
    auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(499968);
    words[0] = 1;
    words[0] = words[8] + words[0];
    if (words[0] > 3) words[1] = 0;
    """
    refused(device, (HEAD + f"void kernel_main() {{{body}}}\n", tt.ReaderDataMovementConfig, []))


COPY_TILE = """
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/tile_move_copy.h"
namespace NAMESPACE {
void MAIN {
    unary_op_init_common(tt::CBIndex::c_0, tt::CBIndex::c_16);
    cb_wait_front(tt::CBIndex::c_0, 1);
    cb_reserve_back(tt::CBIndex::c_16, 1);
    tile_regs_acquire();
    copy_tile(tt::CBIndex::c_0, 0, 0);
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, tt::CBIndex::c_16);
    tile_regs_release();
    cb_push_back(tt::CBIndex::c_16, 1);
}
}
"""


def pack_over_a_table(device):
    """A table goes where a compute kernel packs, whose tile a writer then takes for a table."""
    read = reads(
        "cb_reserve_back(0, 1);\n"
        "noc_async_read(page, get_write_ptr(0), 2048);\n"
        "noc_async_read(page, get_write_ptr(16), 2048);\n"
        "noc_async_read_barrier();\n"
        "cb_push_back(0, 1);"
    )
    written = FOLLOW + "void kernel_main() {\n    cb_wait_front(16, 1);\n    follow(get_read_ptr(16));\n}\n"
    refused(
        device, (read, tt.ReaderDataMovementConfig, upload(device, LIST)[1]), (COPY_TILE, tt.ComputeConfig, []),
        (written, tt.WriterDataMovementConfig, []), buffers=(0, 16),
    )  # fmt: skip


def test_packed_tiles_decide_nothing_not_even_where_a_table_was(device):
    pack_over_a_table(device)


def test_many_zeros_take_no_memory_but_a_few_are_known(device):
    def chunks():
        return int((device.chip.arrays["dram_chunks"] != 0).sum())

    large = tt.create_buffer(tt.InterleavedBufferConfig(device, 1 << 23, 2048, tt.BufferType.DRAM))
    tt.enqueue_write_buffer(device.command_queue(0), large, bytes(1 << 23), blocking=True)
    assert chunks() == 0
    text = reads(f"follow({TABLE_AT});")
    run(device, (text, tt.ReaderDataMovementConfig, upload(device, [0] * WORDS)[1]))
    assert seen(device) == 1 and chunks() == 1
