"""Address generators and DRAM banks on the real chip: where data lands."""

import numpy as np
import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.noc.topology import EJECT, link_index
from tests.cores.niu.programs import BYTES, HOME, NOTES, SOURCE, TARGET, random_bytes, read, run, write

# ruff: noqa: F405


@kernel
def copy_interleaved(source, target, pages, page, from_dram, to_dram):
    """Every page through L1, whole, and by its two halves at an offset."""
    pages_in = InterleavedAddrGen(source, page, from_dram)
    pages_out = InterleavedAddrGen(target, page, to_dram)
    half = page // 2
    for i in range(pages):
        noc_async_read_page(i, pages_in, TARGET)
        noc_async_read_barrier()
        noc_async_write_page(i, pages_out, TARGET, half)
        noc_async_write_page(i, pages_out, TARGET + half, page - half, half)
        noc_async_write_barrier()


@kernel
def copy_accessors(source, target, pages, page):
    args_in = TensorAccessorArgs(0)
    pages_in = TensorAccessor(args_in, source, page)
    pages_out = TensorAccessor(TensorAccessorArgs(args_in.next_compile_time_args_offset()), target, page)
    for i in range(pages):
        noc_async_read(pages_in.get_noc_addr(i), TARGET, page)
        noc_async_read_barrier()
        noc_async_write_page(i, pages_out, TARGET)
        noc_async_write_barrier()


@kernel
def copy_tiles(source, target, pages, page):
    pages_in = InterleavedAddrGenFast(source, page, DataFormat.Float16_b)
    pages_out = InterleavedPow2AddrGen(target, 11)
    for i in range(pages):
        noc_async_read_tile(i, pages_in, TARGET)
        noc_async_read_barrier()
        noc_async_write_tile(i, pages_out, TARGET)
        noc_async_write_barrier()


@kernel
def copy_shards(source, target, shards, page):
    """Whole shards of one buffer to the same place of another with the same distribution."""
    args_in = TensorAccessorArgs(0)
    shards_in = TensorAccessor(args_in, source, page)
    shards_out = TensorAccessor(TensorAccessorArgs(args_in.next_compile_time_args_offset()), target, page)
    for i in range(shards):
        noc_async_read_shard(i, shards_in, TARGET)
        noc_async_read_barrier()
        noc_async_write_shard(i, shards_out, TARGET)
        noc_async_write_barrier()


PAGES = 30


def interleaved(device, page, kind):
    return tt.create_buffer(tt.InterleavedBufferConfig(device, PAGES * page, page, kind))


def sharded(device, page, layout, shard):
    grid = tt.CoreRangeSet([tt.CoreRange((1, 1), (4, 4))])
    spec = tt.ShardSpecBuffer(tt.ShardSpec(grid, shard, tt.ShardOrientation.ROW_MAJOR), (1, 1), (6, 5))
    return tt.create_buffer(tt.ShardedBufferConfig(device, PAGES * page, page, tt.BufferType.L1, layout, spec))


def copy_through(device, kernel_function, source, target, page, *more, compile_args=(), count=PAGES):
    """Host data in, one kernel that copies, host data out."""
    data, queue = random_bytes(40, PAGES * page).tobytes(), device.command_queue()
    tt.enqueue_write_buffer(queue, source, data)
    tt.enqueue_write_buffer(queue, target, bytes(PAGES * page))
    args = [source.address, target.address, count, page, *more]
    run(device, (kernel_function, tt.CoreCoord(*HOME), args, compile_args))
    return data, tt.enqueue_read_buffer(queue, target)


@pytest.mark.parametrize("page", [32, 96, 2048, 9216])
@pytest.mark.parametrize("kinds", ["DRAM DRAM", "L1 DRAM", "DRAM L1", "L1 L1"])
def test_pages_land_where_the_host_reads_them(device, kinds, page):
    kinds = [tt.BufferType[kind] for kind in kinds.split()]
    buffers = [interleaved(device, page, kind) for kind in kinds]
    sent, found = copy_through(
        device, copy_interleaved, *buffers, page, *(kind == tt.BufferType.DRAM for kind in kinds)
    )
    assert found == sent


@pytest.mark.parametrize("kinds", [("DRAM", "HEIGHT"), ("HEIGHT", "BLOCK"), ("BLOCK", "WIDTH"), ("WIDTH", "L1")])
def test_accessors_land_where_the_host_reads_them(device, kinds):
    page = 64
    shards = {"HEIGHT": (2, 5), "BLOCK": (3, 2), "WIDTH": (6, 1)}
    buffers = [
        sharded(device, page, tt.TensorMemoryLayout[f"{kind}_SHARDED"], shards[kind])
        if kind in shards
        else interleaved(device, page, tt.BufferType[kind])
        for kind in kinds
    ]
    words = [word for buffer in buffers for word in tt.TensorAccessorArgs(buffer).get_compile_time_args()]
    sent, found = copy_through(device, copy_accessors, *buffers, page, compile_args=words)
    assert found == sent


def test_tiles_land_where_the_host_reads_them(device):
    buffers = [interleaved(device, 2048, tt.BufferType.DRAM) for _ in range(2)]
    sent, found = copy_through(device, copy_tiles, *buffers, 2048)
    assert found == sent


def test_shards_land_where_the_host_reads_them(device):
    buffers = [sharded(device, 64, tt.TensorMemoryLayout.BLOCK_SHARDED, (3, 2)) for _ in range(2)]
    words = [word for buffer in buffers for word in tt.TensorAccessorArgs(buffer).get_compile_time_args()]
    sent, found = copy_through(device, copy_shards, *buffers, 64, compile_args=words, count=6)
    assert found == sent


@kernel
def through_bank(bank, offset, size, noc):
    noc_async_write(SOURCE, get_noc_addr_from_bank_id(bank, offset), size, noc)
    noc_async_write_barrier(noc)
    noc_async_read(get_noc_addr_from_bank_id(bank, offset), TARGET, size, noc)
    noc_async_read_barrier(noc)
    base = noc_async_read_tile_dram_sharded_set_state(offset, 128, bank, 0, noc)
    for i in range(4):
        noc_async_read_tile_dram_sharded_with_state(base, 128 * i, TARGET + 0x10000 + 128 * i, noc)
    noc_async_read_barrier(noc)


@pytest.mark.parametrize("noc", [0, 1])
@pytest.mark.parametrize("size", [512, 8192, 50_000])
def test_dram_banks_keep_what_is_written(device, size, noc):
    data, offset = random_bytes(50 + size), 0x4000000
    for bank in (0, device.arch.dram_banks - 1):
        write(device, HOME, SOURCE, data)
        write(device, HOME, TARGET, np.zeros(BYTES, np.uint8))
        run(device, (through_bank, tt.CoreCoord(*HOME), [bank, offset, size, noc]))
        assert np.array_equal(read(device, HOME, TARGET, size), data[:size])
        assert np.array_equal(read(device, HOME, TARGET + 0x10000, 512), data[:512])
        assert device.chip.memory.read_dram(bank, offset, size) == data[:size].tobytes()


@kernel
def read_bank_in_all_ways(bank, pages, shards, note, noc):
    """Page `bank` of 64 B pages, one per bank, found in every way.

    Compile-time arguments: of the interleaved `pages`, then of `shards`, one page per bank as well.
    """
    noc_async_read(get_noc_addr_from_bank_id(bank, pages, noc), note, 64, noc)
    noc_async_read(get_dram_noc_addr(bank, 64, pages, 0, noc), note + 64, 64, noc)
    noc_async_read_page(bank, InterleavedAddrGen(pages, 64, True), note + 128, 0, noc)
    noc_async_read_page(bank, TensorAccessor(TensorAccessorArgs(0), pages, 64), note + 192, 0, noc)
    sharded = TensorAccessor(TensorAccessorArgs(2), shards, 64)
    noc_async_read_page(bank, sharded, note + 256, 0, noc)
    noc_async_read(sharded.get_noc_addr(bank, 0, noc), note + 320, 64, noc)
    noc_async_read(sharded.get_shard_noc_addr(bank, 0, noc), note + 384, 64, noc)
    noc_async_read_shard(bank, sharded, note + 448, noc)
    base = noc_async_read_tile_dram_sharded_set_state(pages, 64, bank, 0, noc)
    noc_async_read_tile_dram_sharded_with_state(base, 0, note + 512, noc)
    noc_async_read_barrier(noc)


READ_BANK = """
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t bank = get_arg_val<uint32_t>(0), pages = get_arg_val<uint32_t>(1), shards = get_arg_val<uint32_t>(2);
    const uint32_t note = get_arg_val<uint32_t>(3), noc = get_arg_val<uint32_t>(4);
    const auto generator = InterleavedAddrGen<true>{.bank_base_address = pages, .page_size = 64};
    constexpr auto first = TensorAccessorArgs<0>();
    constexpr auto second = TensorAccessorArgs<2>();
    const auto accessor = TensorAccessor(first, pages, 64);
    const auto sharded = TensorAccessor(second, shards, 64);
    noc_async_read(get_noc_addr_from_bank_id<true>(bank, pages, noc), note, 64, noc);
    noc_async_read(get_dram_noc_addr(bank, 64, pages, 0, noc), note + 64, 64, noc);
    noc_async_read_page(bank, generator, note + 128, 0, noc);
    noc_async_read_page(bank, accessor, note + 192, 0, noc);
    noc_async_read_page(bank, sharded, note + 256, 0, noc);
    noc_async_read(sharded.get_noc_addr(bank, 0, noc), note + 320, 64, noc);
    noc_async_read(sharded.get_shard_noc_addr(bank, 0, noc), note + 384, 64, noc);
    for (const auto& page : sharded.shard_pages(bank, 0, 1, noc)) noc_async_read(page.noc_addr(), note + 448, 64, noc);
    const uint32_t base = noc_async_read_tile_dram_sharded_set_state(pages, 64, bank, 0, noc);
    noc_async_read_tile_dram_sharded_with_state(base, 0, note + 512, 0, noc);
    noc_async_read_barrier(noc);
}
"""
WAYS = 9


@pytest.mark.parametrize("arch", ["blackhole", "wormhole_b0"])
@pytest.mark.parametrize("noc", [0, 1])
@pytest.mark.parametrize("own", [0, 1])
@pytest.mark.parametrize("language", ["python", "cpp"])
def test_each_noc_reads_a_bank_at_its_own_endpoint(arch, noc, own, language):
    """The bytes are the same; requests leave the network at the tile that the architecture names for the bank and the NoC.

    Also those of a kernel whose own NoC is the other one.
    """
    device, core, bank = tt.create_device(1, arch=arch), tt.CoreCoord(0, 0), 1
    banks = device.arch.dram_banks
    config = tt.InterleavedBufferConfig(device=device, size=64 * banks, page_size=64, buffer_type=tt.BufferType.DRAM)
    pages = tt.create_buffer(config)
    spec = tt.BufferDistributionSpec((banks, 1), (1, 1), [(x, 0) for x in range(banks)])
    layout = tt.TensorMemoryLayout.BLOCK_SHARDED
    shards = tt.create_buffer(tt.ShardedBufferConfig(device, 64 * banks, 64, tt.BufferType.DRAM, layout, spec))
    data = random_bytes(noc, 64 * banks)
    for buffer in (pages, shards):
        tt.enqueue_write_buffer(device.command_queue(0), buffer, data.tobytes())
    program = tt.create_program()
    arguments = [arg for buffer in (pages, shards) for arg in tt.TensorAccessorArgs(buffer).get_compile_time_args()]
    config = tt.DataMovementConfig(processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC(own), compile_args=arguments)
    if language == "python":
        handle = tt.create_kernel(program, read_bank_in_all_ways, core, config)
    else:
        handle = tt.create_kernel_from_string(program, READ_BANK, core, config)
    tt.set_runtime_args(program, handle, core, [bank, pages.address, shards.address, NOTES, noc])
    tt.enqueue_program(device.command_queue(0), program, blocking=True)
    assert (read(device, (0, 0), NOTES, 64 * WAYS).reshape(WAYS, 64) == data[64 * bank : 64 * bank + 64]).all()
    x, y, _ = device.arch.dram_endpoints[noc][bank]
    width, height = device.arch.noc_size
    ejection = device.chip.arrays["links"][link_index(width * height, noc, y * width + x, EJECT)]
    assert ejection["packets"] == WAYS
    tt.close_device(device)
