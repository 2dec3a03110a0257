"""Buffers: placement, page maps, transfers and their errors."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tensim as tt
from tensim.sim.errors import ProgramError, UsageError
from tensim.sim.host import buffers
from tensim.sim.host.allocator import Allocator


def interleaved(device, pages, page=1024, kind=tt.BufferType.DRAM, **options):
    return tt.create_buffer(tt.InterleavedBufferConfig(device, pages * page, page, kind), **options)


def sharded(device, tensor, shard, corner, layout, orientation=tt.ShardOrientation.ROW_MAJOR, **options):
    """A buffer of 64 B pages over the cores (0,0)..corner; `tensor`, `shard` in pages."""
    grid = tt.CoreRangeSet([tt.CoreRange((0, 0), corner)])
    spec = tt.ShardSpecBuffer(tt.ShardSpec(grid, shard, orientation), (1, 1), tensor)
    kind = options.pop("buffer_type", tt.BufferType.L1)
    config = tt.ShardedBufferConfig(device, tensor[0] * tensor[1] * 64, 64, kind, layout, spec)
    return tt.create_buffer(config, **options)


def noise(size, seed=0):
    return np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8).tobytes()


def test_dram_grows_upwards_and_l1_downwards(device):
    first, second = (interleaved(device, 24) for _ in range(2))
    assert first.address == device.arch.dram_alignment  # the barrier word lies below
    assert second.address == first.address + 2 * 1024
    low, high = (interleaved(device, 64, kind=tt.BufferType.L1) for _ in range(2))
    assert low.address == device.arch.l1_size - 1024 and high.address == low.address - 1024


def test_interleaved_pages_go_round_the_banks(device):
    buffer = interleaved(device, 30, page=40)
    assert buffer.aligned_page_size == 64
    assert buffer.page_location(13) == (1, buffer.address + 64)
    assert buffer.page_address(1, 13) == buffer.address + 64
    with pytest.raises(UsageError, match="lies in bank 1"):
        buffer.page_address(2, 13)
    with pytest.raises(UsageError, match="page 30"):
        buffer.page_location(30)


@pytest.mark.parametrize("kind", [tt.BufferType.DRAM, tt.BufferType.L1])
@pytest.mark.parametrize("page", [4, 36, 64, 2048])
def test_what_is_written_is_read(device, kind, page):
    buffer, data = interleaved(device, 77, page, kind), noise(77 * page)
    tt.enqueue_write_buffer(device.command_queue(), buffer, data)
    assert tt.enqueue_read_buffer(device.command_queue(), buffer) == data
    assert tt.read_from_buffer(buffer) == data


@pytest.mark.parametrize("piece", [1, 200, 1000])
def test_transfers_may_take_several_pieces(device, monkeypatch, piece):
    """Pieces smaller than a page, and pieces that end anywhere in the banks; from the first page on or not."""
    monkeypatch.setattr(buffers, "PIECE_BYTES", piece)
    height, block = tt.TensorMemoryLayout.HEIGHT_SHARDED, tt.TensorMemoryLayout.BLOCK_SHARDED
    for buffer in (
        interleaved(device, 77, 36), interleaved(device, 77, 64, tt.BufferType.L1),
        sharded(device, (18, 2), (5, 2), (3, 0), height), sharded(device, (4, 6), (2, 2), (2, 1), block),
    ):  # fmt: skip
        queue, page, data = device.command_queue(), buffer.page_size, noise(buffer.size)
        tt.enqueue_write_buffer(queue, buffer, data)
        assert tt.enqueue_read_buffer(queue, buffer) == data
        region = tt.BufferRegion(7 * page, 11 * page)
        tt.enqueue_write_buffer(queue, buffer.view(region), data[: 11 * page])
        expected = data[: 7 * page] + data[: 11 * page] + data[18 * page :]
        monkeypatch.setattr(buffers, "PIECE_BYTES", 1 << 20)
        assert tt.enqueue_read_buffer(queue, buffer) == expected
        monkeypatch.setattr(buffers, "PIECE_BYTES", piece)
        assert tt.enqueue_read_buffer(queue, buffer.view(region)) == data[: 11 * page]


def test_two_buffers_do_not_touch(device):
    a, b = interleaved(device, 13, 36), interleaved(device, 5, 100)
    queue, data_a, data_b = device.command_queue(), noise(13 * 36, 1), noise(500, 2)
    tt.enqueue_write_buffer(queue, a, data_a)
    tt.enqueue_write_buffer(queue, b, data_b)
    assert tt.enqueue_read_buffer(queue, a) == data_a
    assert tt.enqueue_read_buffer(queue, b) == data_b


def test_regions_and_views(device):
    buffer, queue, data = interleaved(device, 50, 96), device.command_queue(), bytearray(noise(50 * 96))
    tt.enqueue_write_buffer(queue, buffer, data)
    region = tt.BufferRegion(7 * 96, 20 * 96)
    tt.enqueue_write_sub_buffer(queue, buffer, b"\7" * region.size, region)
    data[region.offset : region.offset + region.size] = b"\7" * region.size
    assert tt.enqueue_read_buffer(queue, buffer) == data
    inner = tt.BufferRegion(96, 3 * 96)
    assert tt.enqueue_read_sub_buffer(queue, buffer.view(tt.BufferRegion(6 * 96, 480)), inner) == data[672:960]
    for offset, size in ((1, 96), (0, 95), (49 * 96, 2 * 96), (-96, 96)):
        with pytest.raises(UsageError, match="region"):
            tt.enqueue_read_sub_buffer(queue, buffer, tt.BufferRegion(offset, size))
        with pytest.raises(UsageError, match="region"):
            buffer.view(tt.BufferRegion(offset, size))


@pytest.mark.parametrize(
    "data, expected",
    [
        ([1, -1], b"\1\0\0\0\xff\xff\xff\xff"),
        (np.array([1.0, 2.0], np.float32), np.array([1.0, 2.0], np.float32).tobytes()),
        (memoryview(b"12345678"), b"12345678"),
    ],
)
def test_host_data_forms(device, data, expected):
    buffer = interleaved(device, 1, 8)
    tt.enqueue_write_buffer(device.command_queue(), buffer, data)
    assert tt.enqueue_read_buffer(device.command_queue(), buffer) == expected


def test_host_memory_may_change_after_a_write(device):
    buffer, data = interleaved(device, 1, 8), bytearray(b"original")
    tt.enqueue_write_buffer(device.command_queue(), buffer, data)
    data[:] = b"changed!"
    assert tt.enqueue_read_buffer(device.command_queue(), buffer) == b"original"


def test_a_read_that_does_not_block_needs_a_finish(device):
    buffer, queue = interleaved(device, 1, 8), device.command_queue()
    tt.enqueue_write_buffer(queue, buffer, b"abcdefgh")
    read = tt.enqueue_read_buffer(queue, buffer, blocking=False)
    assert not read.ready and len(read) == 8
    with pytest.raises(UsageError, match="not arrived"):
        bytes(read)
    tt.finish(queue)
    assert bytes(read) == b"abcdefgh"


def test_a_read_fills_its_destination(device):
    buffer, queue, data = interleaved(device, 3, 8), device.command_queue(), noise(24)
    tt.enqueue_write_buffer(queue, buffer, data)
    grown, array = bytearray(b"short"), np.zeros((2, 3), np.uint32)
    assert tt.enqueue_read_buffer(queue, buffer, grown) == grown == data
    read = tt.enqueue_read_buffer(queue, buffer, array, blocking=False)
    assert not array.any() and not read.ready
    tt.finish(queue)
    assert array.tobytes() == bytes(read) == data
    part = bytearray()
    tt.enqueue_read_sub_buffer(queue, buffer, tt.BufferRegion(8, 16), part)
    assert part == data[8:]


def test_reads_into_arrays_of_bfloat16(device):
    buffer, array = interleaved(device, 3, 8), np.zeros((2, 6), ml_dtypes.bfloat16)
    ones = np.ones(12, ml_dtypes.bfloat16)
    tt.enqueue_write_buffer(device.command_queue(), buffer, ones, False)
    tt.enqueue_read_buffer(device.command_queue(), buffer, array)
    assert (array == 1).all()


@pytest.mark.parametrize(
    "dst, message",
    [
        (b"x" * 24, "writable"),
        (np.zeros(23, np.uint8), "24 B needs.*not 23 B"),
        (np.zeros((24, 2), np.uint8)[:, 0], "contiguous"),
        (True, "cannot read into bool"),
    ],
)
def test_destinations_that_cannot_take_a_read(device, dst, message):
    with pytest.raises(UsageError, match=message):
        tt.enqueue_read_buffer(device.command_queue(), interleaved(device, 3, 8), dst)


# --- sharding


def test_height_shards_fill_core_after_core(device):
    buffer = sharded(device, (10, 2), (4, 2), (2, 0), tt.TensorMemoryLayout.HEIGHT_SHARDED)
    assert buffer.shard_cores() == [(0, 0), (1, 0), (2, 0)]
    assert [buffer.page_location(page) for page in (0, 7, 8, 19)] == [
        (0, buffer.address), (0, buffer.address + 448), (1, buffer.address), (2, buffer.address + 192)
    ]  # fmt: skip
    assert (buffer.num_pages, buffer.num_dev_pages) == (20, 24)


def test_block_shards_follow_the_grid(device):
    buffer = sharded(device, (5, 5), (2, 2), (3, 2), tt.TensorMemoryLayout.BLOCK_SHARDED)
    width = device.arch.grid[0]
    assert buffer.page_location(4 * 5 + 4) == (2 * width + 2, buffer.address)
    assert buffer.page_location(5 + 3) == (1, buffer.address + 192)
    args = tt.TensorAccessorArgs(buffer).get_compile_time_args()
    cores = [device.arch.kernel_coords[y * width + x] for x, y in buffer.shard_cores()]
    places = [x << 8 | y for x, y in cores] + [0]
    pairs = [low | high << 16 for low, high in zip(places[::2], places[1::2], strict=True)]
    assert args == [1, 64, 2, 9, 5, 5, 2, 2, *pairs]


def test_column_major_shards(device):
    layout, column = tt.TensorMemoryLayout, tt.ShardOrientation.COL_MAJOR
    height = sharded(device, (4, 1), (1, 1), (1, 1), layout.HEIGHT_SHARDED, column)
    assert height.shard_cores() == [(0, 0), (0, 1), (1, 0), (1, 1)]
    block = sharded(device, (2, 3), (1, 1), (1, 2), layout.BLOCK_SHARDED, column)
    assert block.shard_cores() == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]


@settings(max_examples=40, deadline=None)
@given(tensor=st.tuples(st.integers(1, 9), st.integers(1, 9)), shard=st.tuples(st.integers(1, 4), st.integers(1, 4)))
def test_sharded_round_trip(tensor, shard):
    import sys

    from tests.host_api.fake_chip import fake_module

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "tensim.sim.chip.chip", fake_module())
        with tt.create_device(0, arch="blackhole") as device:
            buffer = sharded(device, tensor, shard, (9, 9), tt.TensorMemoryLayout.BLOCK_SHARDED)
            data = noise(buffer.size)
            tt.enqueue_write_buffer(device.command_queue(), buffer, data)
            assert tt.enqueue_read_buffer(device.command_queue(), buffer) == data
            places = {buffer.page_location(page) for page in range(buffer.num_pages)}
            assert len(places) == buffer.num_pages


def distributed(device, tensor, shard, cores, kind=tt.BufferType.L1):
    """A buffer of 64 B pages; `tensor`, `shard` in pages."""
    spec, size = tt.BufferDistributionSpec(tensor, shard, cores), int(np.prod(tensor)) * 64
    layout = tt.TensorMemoryLayout.BLOCK_SHARDED
    return tt.create_buffer(tt.ShardedBufferConfig(device, size, 64, kind, layout, spec))


def test_a_distribution_deals_shards_of_any_dimension_round_the_cores(device):
    cores = (tt.CoreCoord(5, 1), tt.CoreCoord(0, 0))
    buffer = distributed(device, (2, 3, 4), (1, 2, 4), cores)  # 2x2x1 shards of 8 pages
    assert buffer.shard_cores() == [cores[0], cores[1]] * 2
    assert buffer.aligned_size_per_bank == 2 * 8 * 64 and buffer.num_dev_pages == 32
    page = (1 * 3 + 1) * 4 + 3  # (1, 1, 3): shard (1, 0, 0) is the third, the second on its core
    assert buffer.page_location(page) == (1 * 8 + 5, buffer.address + (8 + 7) * 64)
    data = noise(buffer.size)
    tt.enqueue_write_buffer(device.command_queue(), buffer, data)
    assert tt.enqueue_read_buffer(device.command_queue(), buffer) == data
    (x0, y0), (x1, y1) = (device.arch.kernel_coords[worker] for worker in (8 + 5, 0))
    args = [1, 64, 2, 2, 2, 12, 1, 8, x0 << 8 | y0 | (x1 << 8 | y1) << 16]
    assert tt.TensorAccessorArgs(buffer).get_compile_time_args() == args


@pytest.mark.parametrize(
    "tensor, shard, cores, message",
    [
        ((2, 3, 4), (2, 2), [(0, 0)], "3 dimensions cannot have shards of 2"),
        ((2, 2), (1, 1), [], "needs cores"),
        ((2, 2), (1, 1), [(0, 0), (0, 0)], "each of them once"),
        ((2, 2), (0, 1), [(0, 0)], "not a multiple"),
        ((2, 2), (1, 1), [(9, 0)], "outside the 8x8"),
    ],
)
def test_distributions_that_cannot_be(device, tensor, shard, cores, message):
    with pytest.raises(UsageError, match=message):
        distributed(device, tensor, shard, cores)


def test_dram_shards(device):
    buffer = sharded(
        device, (6, 1), (2, 1), (2, 0), tt.TensorMemoryLayout.HEIGHT_SHARDED, buffer_type=tt.BufferType.DRAM
    )
    assert buffer.page_location(5) == (2, buffer.address + 64)
    assert tt.TensorAccessorArgs(buffer).get_compile_time_args() == [3, 64, 1, 3, 6, 2, 0x0100_0000, 0x0200]


@pytest.mark.parametrize(
    "tensor, shard, corner, layout, message",
    [
        ((4, 4), (1, 4), (0, 0), "HEIGHT_SHARDED", "4 shards need"),
        ((4, 4), (1, 2), (7, 0), "HEIGHT_SHARDED", "2 pages wide"),
        ((4, 4), (2, 1), (7, 0), "WIDTH_SHARDED", "2 pages high"),
        ((4, 4), (1, 1), (1, 7), "BLOCK_SHARDED", "do not fit the 2x8"),
        ((4, 1), (1, 1), (8, 0), "HEIGHT_SHARDED", None),
        ((9, 1), (1, 1), (8, 0), "HEIGHT_SHARDED", "outside the 8x8"),
    ],
)
def test_shards_that_do_not_fit(device, tensor, shard, corner, layout, message):
    if message is None:
        sharded(device, tensor, shard, corner, tt.TensorMemoryLayout[layout])
        return
    with pytest.raises(UsageError, match=message):
        sharded(device, tensor, shard, corner, tt.TensorMemoryLayout[layout])


def test_shard_specifications_that_disagree(device):
    grid = tt.CoreRangeSet([tt.CoreRange((0, 0), (1, 0))])
    layout = tt.TensorMemoryLayout
    bad_page = tt.ShardSpecBuffer(tt.ShardSpec(grid, (48, 32)), (32, 32), (2, 1))
    bad_pages = tt.ShardSpecBuffer(tt.ShardSpec(grid, (32, 32)), (32, 32), (3, 1))
    for spec, message in ((bad_page, "multiple of the page shape"), (bad_pages, "3x1 pages"), (None, "needs")):
        config = tt.ShardedBufferConfig(device, 128, 64, tt.BufferType.L1, layout.HEIGHT_SHARDED, spec)
        with pytest.raises(UsageError, match=message):
            tt.create_buffer(config)
    good = tt.ShardSpecBuffer(tt.ShardSpec(grid, (32, 32)), (32, 32), (2, 1))
    with pytest.raises(UsageError, match="must not have"):
        tt.create_buffer(tt.ShardedBufferConfig(device, 128, 64, tt.BufferType.L1, layout.INTERLEAVED, good))


# --- life of a buffer


@pytest.mark.parametrize("thing", [None, 1024])
def test_only_buffers_can_be_freed(thing):
    with pytest.raises(UsageError, match=f"takes a Buffer, not {thing}"):
        tt.deallocate_buffer(thing)


def test_freed_memory_is_used_again(device):
    buffer = interleaved(device, 24)
    address = buffer.address
    tt.deallocate_buffer(buffer)
    tt.deallocate_buffer(buffer)
    assert buffer.address == address and not buffer.is_allocated
    with pytest.raises(UsageError, match="deallocated"):
        tt.enqueue_read_buffer(device.command_queue(), buffer)
    assert interleaved(device, 24).address == address  # and this one is dropped at once
    assert device.allocated_bytes_per_bank(tt.BufferType.DRAM) == 0


def test_fixed_addresses_own_nothing(device):
    buffer = interleaved(device, 12, address=0x4000)
    assert buffer.address == 0x4000
    assert device.allocated_bytes_per_bank(tt.BufferType.DRAM) == 0
    tt.deallocate_buffer(buffer)
    with pytest.raises(UsageError, match="does not fit"):
        interleaved(device, 12, address=device.arch.dram_bank_bytes)


def test_direction_can_be_chosen(device):
    assert interleaved(device, 1, kind=tt.BufferType.L1, bottom_up=True).address == device.arch.l1_user_base


def test_buffers_without_bytes(device):
    buffer = tt.create_buffer(tt.InterleavedBufferConfig(device, 0, 1024))
    tt.enqueue_write_buffer(device.command_queue(), buffer, b"")
    assert tt.enqueue_read_buffer(device.command_queue(), buffer) == b""


def test_small_and_trace_regions_are_carved_out(fake):
    with tt.create_device(0, l1_small_size=4096, trace_region_size=1 << 20) as device:
        small = interleaved(device, 1, kind=tt.BufferType.L1_SMALL)
        assert small.address == device.arch.l1_size - 1024
        assert interleaved(device, 1, kind=tt.BufferType.L1).address == device.arch.l1_size - 4096 - 1024
        assert interleaved(device, 1, kind=tt.BufferType.TRACE).address == device.arch.dram_bank_bytes - (1 << 20)
    with pytest.raises(UsageError, match="leaves no memory"):
        tt.create_device(0, l1_small_size=1 << 22)


@pytest.mark.parametrize(
    "size, page, kind, message",
    [
        (100, 64, "DRAM", "not a multiple"),
        (64, 0, "DRAM", "page size 0"),
        (-64, 64, "DRAM", "size -64"),
        (64, 64, "SYSTEM_MEMORY", "cannot be allocated"),
    ],
)
def test_bad_configurations(device, size, page, kind, message):
    with pytest.raises(UsageError, match=message):
        tt.create_buffer(tt.InterleavedBufferConfig(device, size, page, tt.BufferType[kind]))


def test_no_device():
    with pytest.raises(UsageError, match="needs a device"):
        tt.create_buffer(tt.InterleavedBufferConfig(None, 64, 64))


def test_out_of_memory_names_the_sizes(device):
    with pytest.raises(
        ProgramError, match=r"268435456 B in L1 over 64 banks.*4194304 B.*largest free block has"
    ) as caught:
        interleaved(device, 262144, kind=tt.BufferType.L1)
    assert caught.value.kind == "out_of_memory"


def test_wrong_amount_of_data(device):
    with pytest.raises(UsageError, match="10 B of host data for 1024 B"):
        tt.enqueue_write_buffer(device.command_queue(), interleaved(device, 1), b"0123456789")


def test_a_buffer_of_another_device(fake):
    with tt.create_device(0) as a, tt.create_device(1) as b:
        with pytest.raises(UsageError, match="on device 0, the queue on device 1"):
            tt.enqueue_write_buffer(b.command_queue(), interleaved(a, 1, 4), b"1234")


# --- the free list, against a set of granules


class Granules:
    """What a first-fit allocator over [112, 4000) in granules of 16 B must do; `free`: granule numbers."""

    ALIGNMENT = 16

    def __init__(self):
        self.free, self.blocks = set(range(7, 250)), {}

    def first_fit(self, size, upwards):
        """Granules of the lowest (or highest) place with room, or None."""
        count = max(-(-size // self.ALIGNMENT), 1)
        starts = range(251 - count) if upwards else range(250 - count, -1, -1)
        for start in starts:
            if self.free.issuperset(range(start, start + count)):
                return range(start, start + count)
        return None

    def take(self, granules):
        self.free -= set(granules)
        self.blocks[granules.start * self.ALIGNMENT] = granules

    def give(self, address):
        self.free |= set(self.blocks.pop(address))


OPERATIONS = st.one_of(
    st.tuples(st.just("allocate"), st.integers(0, 900), st.booleans()),
    st.tuples(st.just("free"), st.integers(0, 30)),
    st.tuples(st.just("move base"), st.integers(0, 4200)),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(OPERATIONS, max_size=40))
def test_the_allocator_is_first_fit_aligned_and_merges(operations):
    """First fit in either direction decides every address, so blocks never overlap and freed ones merge."""
    allocator, model = Allocator("memory", 1, 100, 4000, 16, bottom_up=True), Granules()
    for operation, *values in operations:
        if operation == "allocate":
            size, upwards = values
            expected = model.first_fit(size, upwards)
            if expected is None:
                with pytest.raises(ProgramError, match="out of memory"):
                    allocator.allocate(size, bottom_up=upwards)
                continue
            assert allocator.allocate(size, bottom_up=upwards) == expected.start * 16
            model.take(expected)
        elif operation == "free" and values[0] < len(model.blocks):
            address = sorted(model.blocks)[values[0]]
            allocator.free(address)
            model.give(address)
        elif operation == "move base":
            move_both(allocator, model, values[0])
        assert allocator.allocated == 16 * sum(map(len, model.blocks.values()))
        assert allocator.lowest() == min(model.blocks, default=None)
    for address in model.blocks:
        allocator.free(address)
    if room := allocator.limit - allocator.base:
        assert allocator.allocate(room) == allocator.base


def move_both(allocator, model, base):
    """Move the base of the allocator, and of the model when nothing is in the way."""
    granule = -(-base // 16)
    if granule > 250 or min(model.blocks, default=4000) < granule * 16:
        with pytest.raises(ProgramError, match="lies"):
            allocator.move_base(base)
        return
    allocator.move_base(base)
    model.free = {g for g in range(250) if g >= granule} - {g for block in model.blocks.values() for g in block}


def test_freeing_what_is_not_allocated():
    with pytest.raises(UsageError, match="nothing is allocated"):
        Allocator("memory", 1, 0, 64, 16, True).free(16)


# --- regions, against numpy


def interleaved_places(draw):
    kind = draw(st.sampled_from([tt.BufferType.DRAM, tt.BufferType.L1]))
    pages, page = draw(st.integers(1, 200)), draw(st.sampled_from([4, 36, 64, 100]))
    return pages, page, lambda device: interleaved(device, pages, page, kind)


def sharded_places(draw):
    tensor, shard = (tuple(draw(st.integers(1, most)) for _ in range(2)) for most in (8, 4))
    orientation = draw(st.sampled_from(list(tt.ShardOrientation)))
    layout = tt.TensorMemoryLayout.BLOCK_SHARDED
    return tensor[0] * tensor[1], 64, lambda device: sharded(device, tensor, shard, (7, 7), layout, orientation)


def distributed_places(draw):
    dimensions = draw(st.integers(1, 4))
    tensor, shard = (tuple(draw(st.integers(1, most)) for _ in range(dimensions)) for most in (5, 3))
    cores = draw(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=5, unique=True))
    return int(np.prod(tensor)), 64, lambda device: distributed(device, tensor, shard, cores)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), places=st.sampled_from([interleaved_places, sharded_places, distributed_places]))
def test_regions_are_slices_of_an_array(device, data, places):
    """Any sequence of region writes leaves what the same slices leave in a numpy array, and no neighbour."""
    pages, page, create = places(data.draw)
    below, buffer, above = create(device), create(device), create(device)
    assert len({buffer.page_location(number) for number in range(pages)}) == pages
    queue, model = device.command_queue(), np.zeros(pages * page, np.uint8)
    for item in (below, buffer, above):
        tt.enqueue_write_buffer(queue, item, model)
    for step in range(data.draw(st.integers(1, 5))):
        first = data.draw(st.integers(0, pages - 1))
        region = tt.BufferRegion(first * page, data.draw(st.integers(1, pages - first)) * page)
        part = slice(region.offset, region.offset + region.size)
        model[part] = np.frombuffer(noise(region.size, step), np.uint8)
        tt.enqueue_write_sub_buffer(queue, buffer, model[part], region)
        assert tt.enqueue_read_sub_buffer(queue, buffer, region) == model[part].tobytes()
        assert tt.enqueue_read_buffer(queue, buffer.view(region)) == model[part].tobytes()
    assert tt.enqueue_read_buffer(queue, buffer) == tt.read_from_buffer(buffer) == model.tobytes()
    assert not any(tt.read_from_buffer(below)) and not any(tt.read_from_buffer(above))


def test_what_a_buffer_holds_is_said_for_reports_only(device):
    buffer = tt.create_buffer(tt.InterleavedBufferConfig(device, 4096, 2048))
    before = buffer.address, buffer.size
    buffer.describe([30, 50], [32, 64])
    assert (buffer.address, buffer.size) == before
    for shape, padded in (([], None), ([0, 3], None), ([2, 3], [3]), (["2"], None)):
        with pytest.raises(UsageError, match="a tensor has positive sizes"):
            buffer.describe(shape, padded)
