"""Data movement on the real chip: what transfers, multicasts, atomics and address generators leave in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.arch import load_arch
from tensim.sim.errors import ProgramError, UsageError
from tensim.sim.noc.topology import EJECT, link_index

# ruff: noqa: F405
SOURCE, TARGET, NOTES = 0x40000, 0x80000, 0xC0000  # L1 addresses on every core that no allocator uses here
BYTES = 0x20000
GRID = (8, 8)
HOME = (1, 1)


@pytest.fixture(scope="module")
def device():
    device = tt.create_device(0, max_cycles=5_000_000)
    yield device
    tt.close_device(device)


@pytest.fixture
def fresh_device():
    """A device of its own for programs that fail."""
    device = tt.create_device(1, max_cycles=5_000_000)
    yield device
    tt.close_device(device)


def physical(device, core):
    return tuple(device.worker_core_from_logical_core(core))


def read(device, core, address, count):
    return np.frombuffer(device.chip.memory.read_l1(core[0] + core[1] * GRID[0], address, count), np.uint8)


def write(device, core, address, data):
    device.chip.memory.write_l1(core[0] + core[1] * GRID[0], address, np.asarray(data).tobytes())


def random_bytes(seed, count=BYTES):
    return np.random.default_rng(seed).integers(0, 256, count, np.uint8)


def run(device, *kernels):
    """Run one program of (kernel, cores, arguments[, compile-time arguments]): on RISCV_1 with NoC 0."""
    program = tt.create_program()
    for kernel_function, cores, args, *compile_args in kernels:
        config = tt.ReaderDataMovementConfig(compile_args=list(compile_args[0]) if compile_args else [])
        handle = tt.create_kernel(program, kernel_function, cores, config)
        tt.set_runtime_args(program, handle, cores, [int(arg) for arg in args])
    tt.enqueue_program(device.command_queue(), program, blocking=True)


# --- what calls cost


@kernel
def read_and_work(x, y, count, work, note):
    begin = get_timestamp()
    for _ in range(count):
        noc_async_read(get_noc_addr(x, y, SOURCE), TARGET, 64)
        riscv_wait(work)
    noc_async_read_barrier()
    l1_ptr(note, uint32)[0] = get_timestamp() - begin


def cycles_per_read(arch, work):
    """Of a loop with `work` further cycles: the slope from 20 to 60 reads."""
    device, taken = tt.create_device(1, arch=arch, numerics="off"), []
    for count in (20, 60):
        run(device, (read_and_work, tt.CoreCoord(0, 0), [*physical(device, (3, 1)), count, work, NOTES]))
        taken.append(int(read(device, (0, 0), NOTES, 4).view(np.uint32)[0]))
    tt.close_device(device)
    return (taken[1] - taken[0]) / 40


@pytest.mark.parametrize(("arch", "fits"), [("blackhole", 8), ("wormhole_b0", 1)])
def test_a_core_works_while_its_command_buffer_is_busy_with_a_read(arch, fits):
    """35 cycles per target of Blackhole's ONE_FROM_ALL in noc_latencies.csv, the search for the next one included, and 25 per
    read of Wormhole's ONE_FROM_ONE; what does not fit into the overlap counts.
    """
    issue = load_arch(arch)
    none, short, long = (cycles_per_read(arch, work) for work in (1, fits, 40))
    assert none == short == issue["riscv.issue.read"]
    own = issue["riscv.issue.read"] - issue["riscv.issue.read_overlap"]
    assert long == cycles_per_read(arch, 50) - 10 and own + 40 <= long <= own + 50


@kernel
def read_bank_and_note(bank, count, note):
    source = get_noc_addr_from_bank_id(bank, 1 << 20)
    begin = get_timestamp()
    for _ in range(count):
        noc_async_read(source, TARGET, 64)
    noc_async_read_barrier()
    l1_ptr(note, uint32)[0] = get_timestamp() - begin


@pytest.mark.parametrize(("arch", "period"), [("blackhole", 27), ("wormhole_b0", 25)])
def test_reads_of_dram_follow_each_other_at_their_own_period(arch, period):
    """ONE_FROM_ALL on DRAM_INTERLEAVED of noc_latencies.csv: Blackhole's pages come in 27 cycles, reads of L1 in 35."""
    issue = load_arch(arch, {"dram.refresh_per_bank": 1})  # no read waits for a refresh
    device, taken = tt.create_device(1, arch=issue, numerics="off"), []
    for count in (8, 16):
        run(device, (read_bank_and_note, tt.CoreCoord(0, 0), [0, count, NOTES]))
        taken.append(int(read(device, (0, 0), NOTES, 4).view(np.uint32)[0]))
    tt.close_device(device)
    assert (taken[1] - taken[0]) / 8 == period == issue["riscv.issue.read_dram"]


@kernel
def send_block_and_read(x0, y0, x1, y1, count, x, y, reads, note):
    """A block and a word behind it to a rectangle, then reads; notes what the calls of the reads take."""
    noc_async_write_multicast(SOURCE, get_noc_multicast_addr(x0, y0, x1, y1, TARGET), 8192, count, True)
    noc_semaphore_set_multicast(NOTES, get_noc_multicast_addr(x0, y0, x1, y1, NOTES), count)
    begin = get_timestamp()
    for _ in range(reads):
        noc_async_read(get_noc_addr(x, y, SOURCE), TARGET + 8192, 64)
    l1_ptr(note, uint32)[0] = get_timestamp() - begin
    noc_async_read_barrier()
    noc_async_write_barrier()


def test_a_read_waits_in_its_own_command_buffer():
    """Writes, words and reads have one each: the core goes on while a read waits for the multicasts before it, the next one
    finds its command buffer busy until they have left.
    """
    device, taken = tt.create_device(1, numerics="off"), []
    first, last, other = (physical(device, core) for core in ((1, 0), (7, 0), (0, 5)))
    for reads in (0, 1, 2):
        run(device, (send_block_and_read, tt.CoreCoord(0, 0), [*first, *last, 7, *other, reads, NOTES]))
        taken.append(int(read(device, (0, 0), NOTES, 4).view(np.uint32)[0]))
    tt.close_device(device)
    none, one, two = taken
    assert one - none < 2 * load_arch("wormhole_b0")["riscv.issue.read"] and two - one > 8192 // 32


@kernel
def signal_behind_multicasts(x0, y0, x1, y1, count, x, y, times):
    """Again and again: two multicasts on a path that they hold, then a block to one core and its signal; the core answers."""
    target, signal = get_noc_addr(x, y, TARGET), get_noc_addr(x, y, NOTES)
    for i in range(times):
        l1_ptr(SOURCE + 8188, uint32)[0] = i + 1
        noc_async_write_multicast(SOURCE, get_noc_multicast_addr(x0, y0, x1, y1, TARGET), 8192, count, True)
        noc_semaphore_set_multicast(NOTES + 64, get_noc_multicast_addr(x0, y0, x1, y1, NOTES + 64), count)
        noc_async_write(SOURCE, target, 8192)
        noc_semaphore_inc(signal, 1)
        noc_semaphore_wait_min(NOTES, i + 1)
    noc_async_write_barrier()
    noc_async_atomic_barrier()


@kernel
def look_and_answer(x, y, times):
    late = 0
    for i in range(times):
        noc_semaphore_wait_min(NOTES, i + 1)
        if l1_ptr(TARGET + 8188, uint32)[0] != i + 1:
            late += 1
        noc_semaphore_inc(get_noc_addr(x, y, NOTES), 1)
    l1_ptr(NOTES + 128, uint32)[0] = late
    noc_async_atomic_barrier()


def test_requests_that_wait_in_several_command_buffers_leave_in_the_order_of_the_calls():
    """A signal behind a write to the same core comes after it, whatever the number of transactions before (here all of 256)."""
    device, far = tt.create_device(1, max_cycles=5_000_000), (0, 5)
    first, last, other, home = (physical(device, core) for core in ((1, 0), (3, 0), far, (0, 0)))
    for core in ((0, 0), far):
        write(device, core, NOTES, np.zeros(256, np.uint8))
    program, config = tt.create_program(), tt.ReaderDataMovementConfig()
    for function, core, args in (
        (signal_behind_multicasts, (0, 0), [*first, *last, 3, *other, 300]), (look_and_answer, far, [*home, 300]),
    ):  # fmt: skip
        handle = tt.create_kernel(program, function, tt.CoreCoord(*core), config)
        tt.set_runtime_args(program, handle, tt.CoreCoord(*core), [int(arg) for arg in args])
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    assert read(device, far, NOTES, 4).view(np.uint32)[0] == 300
    assert read(device, far, NOTES + 128, 4).view(np.uint32)[0] == 0
    tt.close_device(device)


@pytest.mark.parametrize(
    ("read", "overlap", "allowed"),
    [
        ("read", -1, "from 0 to"), ("read", 35, "under riscv.issue.read, 35"), ("read_dram", 27, "under riscv.issue.read_dram, 27"),
        ("read_stateful", 34, "under riscv.issue.read_stateful, 34"),
    ],
)  # fmt: skip
def test_an_overlap_longer_than_its_read_is_refused(read, overlap, allowed):
    with pytest.raises(UsageError, match=f"riscv.issue.{read}_overlap is {overlap}; it must be {allowed}"):
        tt.create_device(1, arch=load_arch("blackhole", {f"riscv.issue.{read}_overlap": overlap}))


# --- virtual channels of requests


@kernel
def read_bank(bank, count, vc):
    for _ in range(count):
        noc_async_read(get_noc_addr_from_bank_id(bank, 0), TARGET, 8192, read_req_vc=vc)
    noc_async_read_barrier()


@kernel
def read_late(bank, wait, vc, note):
    riscv_wait(wait)
    begin = get_timestamp()
    noc_async_read(get_noc_addr_from_bank_id(bank, 0), TARGET, 64, read_req_vc=vc)
    noc_async_read_barrier()
    l1_ptr(note, uint32)[0] = get_timestamp() - begin


@pytest.mark.parametrize("noc", ["packet", "flit"])
def test_requests_on_a_static_channel_of_their_own_pass_those_for_a_busy_bank(noc):
    """Behind the core at NoC (4, 1), which reads all it can from the endpoint beside it, (1, 1) reads once from another one."""
    device, taken = tt.create_device(1, noc=noc, numerics="off"), []
    banks = [(x, y) for x, y, _ in device.arch.dram_endpoints[0]]
    assert physical(device, (3, 0)) == (4, 1) and physical(device, (0, 0)) == (1, 1)
    for vc in range(4):
        busy = (read_bank, tt.CoreCoord(3, 0), [banks.index((5, 1)), 200, 2])
        run(device, busy, (read_late, tt.CoreCoord(0, 0), [banks.index((5, 2)), 12_000, vc, NOTES]))
        taken.append(int(read(device, (0, 0), NOTES, 4).view(np.uint32)[0]))
    tt.close_device(device)
    assert max(taken[:2] + taken[3:]) < 800 < 3000 < taken[2]


@kernel
def send_and_tell(x, y, vc, increments):
    """A long write, then a word on the same channel that tells of it."""
    noc_async_write(SOURCE, get_noc_addr(x, y, TARGET), 8192, vc=vc)
    if increments:
        noc_semaphore_inc(get_noc_addr(x, y, NOTES), 1, vc=vc)
    else:
        noc_inline_dw_write(get_noc_addr(x, y, NOTES), 1, vc=vc)
    noc_async_write_barrier()
    noc_async_atomic_barrier()


@kernel
def note_what_came():
    noc_semaphore_wait(NOTES, 1)
    l1_ptr(NOTES + 64, uint32)[0] = l1_ptr(TARGET + 8188, uint32)[0]
    noc_semaphore_set(NOTES, 0)


@pytest.mark.parametrize("vc", range(4))
@pytest.mark.parametrize("increments", [0, 1])
def test_words_stay_behind_writes_on_their_static_channel(device, increments, vc):
    """Same source, target, NoC and static virtual channel: in order (docs/hardware/noc.md#virtual-channels-and-arbitration)."""
    write(device, HOME, SOURCE, np.full(2048, 70 + vc, np.uint32))
    write(device, (3, 3), NOTES, np.zeros(4, np.uint32))
    args = [*physical(device, (3, 3)), vc, increments]
    run(device, (send_and_tell, tt.CoreCoord(*HOME), args), (note_what_came, tt.CoreCoord(3, 3), []))
    assert read(device, (3, 3), NOTES + 64, 4).view(np.uint32)[0] == 70 + vc


@kernel
def name_channel(call, vc, x, y):
    far = get_noc_addr(x, y, TARGET)
    if call == 0:
        noc_async_read(far, TARGET, 64, read_req_vc=vc)
    if call == 1:
        noc_async_write(SOURCE, far, 64, vc=vc)
    if call == 2:
        noc_inline_dw_write(far, 1, vc=vc)
    if call == 3:
        noc_semaphore_inc(far, 1, vc=vc)
    if call == 4:
        noc_async_write_one_packet_set_state(far, 64, vc=vc)
    if call == 5:
        noc_async_read_one_packet_set_state(far, 64, vc=vc, use_vc=True)


@pytest.mark.parametrize("call", range(6))
def test_virtual_channels_that_requests_do_not_have_are_refused(fresh_device, call):
    """4 and 5 are those of multicasts, 6 and 7 of answers."""
    with pytest.raises(ProgramError, match=r"static virtual channel 4 of a request is not in 0\.\.3; .*thread NCRISC"):
        run(fresh_device, (name_channel, tt.CoreCoord(*HOME), [call, 4, *physical(fresh_device, (3, 1))]))


# --- reads and writes of any size


@kernel
def move(n, writes, noc):
    """n transfers: x, y, address there, address here, bytes."""
    for i in range(n):
        first = 3 + 5 * i
        far = get_noc_addr(get_arg_val(first), get_arg_val(first + 1), get_arg_val(first + 2))
        if writes:
            noc_async_write(get_arg_val(first + 3), far, get_arg_val(first + 4), noc)
        else:
            noc_async_read(far, get_arg_val(first + 3), get_arg_val(first + 4), noc)
    noc_async_read_barrier(noc)
    noc_async_write_barrier(noc)


TRANSFERS = st.lists(
    st.tuples(
        st.sampled_from([(0, 0), HOME, (7, 7), (3, 5)]),  # the core itself is one of them
        st.integers(0, 15),  # low bits of both addresses: they must agree
        st.integers(0, 900).map(lambda k: 16 * k),
        st.one_of(st.integers(1, 100), st.integers(1, 20_000)),
    ),
    min_size=1, max_size=6,
)  # fmt: skip


@settings(max_examples=12)
@given(TRANSFERS, st.sampled_from([0, 1]), st.booleans())
def test_transfers_of_any_size_and_alignment(device, transfers, noc, writes):
    """Larger ones are split into packets; bytes beside the transfer stay as they are."""
    sources = {core: random_bytes(8 * core[1] + core[0]) for core in [(0, 0), HOME, (7, 7), (3, 5)]}
    wanted, args, slot = {}, [], 0x5000
    for core, data in sources.items():
        write(device, core, SOURCE, data)
        write(device, core, TARGET, np.zeros(BYTES, np.uint8))
        wanted[core] = np.zeros(BYTES, np.uint8)
    for i, (core, phase, offset, size) in enumerate(transfers):
        start, spot = offset + phase, slot * i + phase
        far, near = (spot + TARGET, start + SOURCE) if writes else (start + SOURCE, spot + TARGET)
        args += [*physical(device, core), far, near, size]
        origin, end = (HOME, core) if writes else (core, HOME)
        wanted[end][spot : spot + size] = sources[origin][start : start + size]
    run(device, (move, tt.CoreCoord(*HOME), [len(transfers), writes, noc, *args]))
    for core, memory in wanted.items():
        assert np.array_equal(read(device, core, TARGET, BYTES), memory)


@kernel
def variants(x, y, noc):
    far_source, far_target = get_noc_addr(x, y, SOURCE), get_noc_addr(x, y, TARGET)
    # reads to TARGET
    noc_async_read_one_packet(far_source, TARGET, 8192, noc)
    noc_async_read_one_packet_set_state(far_source, 128, noc)
    for i in range(4):
        noc_async_read_one_packet_with_state(SOURCE + 0x2000 + 512 * i, TARGET + 0x2000 + 128 * i, noc)
    noc_async_read_set_state(far_source, noc)
    noc_async_read_with_state(SOURCE + 0x4000, TARGET + 0x4000, 10000, noc)
    noc_async_read_with_state(SOURCE + 0x8000, TARGET + 0x8000, 33, noc, inc_num_issued=False)
    noc_async_read_inc_num_issued(1, noc)
    noc_async_read_barrier(noc)
    # writes from SOURCE
    noc_async_write_one_packet(SOURCE, far_target, 8192, noc)
    noc_async_write_one_packet_set_state(far_target, 128, noc)
    for i in range(4):
        noc_async_write_one_packet_with_state(SOURCE + 0x2000 + 512 * i, TARGET + 0x2000 + 128 * i, noc)
    noc_async_write_barrier(noc)
    noc_async_write_one_packet_with_trid_set_state(far_target, noc)
    noc_async_write_one_packet_with_trid_with_state(SOURCE + 0x4000, TARGET + 0x4000, 64, 2, noc)
    noc_async_write_one_packet_with_trid(SOURCE + 0x5000, far_target + 0x5000, 64, 3, noc)
    noc_async_write_barrier_with_trid(2, noc)
    noc_async_write_barrier_with_trid(3, noc)
    noc_async_write(SOURCE + 0x8000, far_target + 0x8000, 100, noc, posted=True)
    noc_async_posted_writes_flushed(noc)


@pytest.mark.parametrize("noc", [0, 1])
def test_one_packet_and_stateful_variants(device, noc):
    far, data = (6, 2), random_bytes(noc)
    wanted = {core: np.zeros(BYTES, np.uint8) for core in (HOME, far)}
    for core, seed in ((HOME, 10), (far, 20)):
        write(device, core, SOURCE, random_bytes(seed + noc))
        write(device, core, TARGET, np.zeros(BYTES, np.uint8))
    for core, seed, rest in (
        (HOME, 20, [(0x4000, 10000), (0x8000, 33)]),
        (far, 10, [(0x4000, 64), (0x5000, 64), (0x8000, 100)]),
    ):
        data = random_bytes(seed + noc)
        pieces = [
            (0, 0, 8192),
            *((0x2000 + 512 * i, 0x2000 + 128 * i, 128) for i in range(4)),
            *((at, at, n) for at, n in rest),
        ]
        for start, end, size in pieces:
            wanted[core][end : end + size] = data[start : start + size]
    run(device, (variants, tt.CoreCoord(*HOME), [*physical(device, far), noc]))
    for core, memory in wanted.items():
        assert np.array_equal(read(device, core, TARGET, BYTES), memory)


# --- transaction ids


@kernel
def two_ids(x, y, early, noc):
    """Reads under ids 1 and 2; only the data of id 1 may be used after its barrier."""
    noc_async_read_set_trid(1, noc)
    noc_async_read(get_noc_addr(x, y, SOURCE), TARGET, 64, noc)
    noc_async_read_set_trid(2, noc)
    noc_async_read(get_noc_addr(x, y, SOURCE + 64), TARGET + 64, 8192, noc)
    noc_async_read_barrier_with_trid(1, noc)
    words, notes = l1_ptr(TARGET, uint32), l1_ptr(NOTES, uint32)
    notes[0] = words[0]
    if early:
        notes[1] = words[16]
    noc_async_read_barrier_with_trid(2, noc)
    notes[1] = words[16]


@pytest.mark.parametrize("noc", [0, 1])
def test_a_barrier_waits_for_its_transaction_id(device, noc):
    data = random_bytes(5)
    write(device, (7, 7), SOURCE, data)
    run(device, (two_ids, tt.CoreCoord(*HOME), [*physical(device, (7, 7)), 0, noc]))
    assert np.array_equal(read(device, HOME, NOTES, 8).view(np.uint32), data.view(np.uint32)[[0, 16]])


def test_data_of_another_transaction_id_is_not_there_yet(fresh_device):
    run(fresh_device, (two_ids, tt.CoreCoord(*HOME), [*physical(fresh_device, (7, 7)), 1, 0]))
    (one,) = fresh_device.chip.oddities.rows()
    assert one["kind"] == "read_before_barrier" and "used before the barrier" in one["message"]


# --- multicast


@kernel
def multicast(x0, y0, x1, y1, count, loopback, noc):
    """Three multicasts of which the first two are linked to the next."""
    rectangle = get_noc_multicast_addr(x0, y0, x1, y1, TARGET, noc)
    for i in range(3):
        if loopback:
            noc_async_write_multicast_loopback_src(SOURCE + 256 * i, rectangle + 256 * i, 256, count, i < 2, noc)
        else:
            noc_async_write_multicast(SOURCE + 256 * i, rectangle + 256 * i, 256, count, i < 2, noc)
    noc_async_write_barrier(noc)


@pytest.mark.parametrize("noc", [0, 1])
@pytest.mark.parametrize("loopback", [False, True])
@pytest.mark.parametrize("corners", [((0, 0), (3, 2)), ((2, 0), (7, 7)), ((0, 1), (7, 1)), ((1, 2), (1, 7))])
def test_multicasts_reach_their_rectangle(device, corners, loopback, noc):
    """Rectangles with and without the sender; without loopback the sender gets nothing, with it only if it is inside."""
    (left, top), (right, bottom) = corners
    inside = {(x, y) for x in range(left, right + 1) for y in range(top, bottom + 1)}
    receivers = inside if loopback else inside - {HOME}
    cores = [(x, y) for x in range(GRID[0]) for y in range(GRID[1])]
    for core in cores:
        write(device, core, TARGET, np.zeros(1024, np.uint8))
    data = random_bytes(30, 1024)
    write(device, HOME, SOURCE, data)
    first, last = (physical(device, corner) for corner in (corners if noc == 0 else corners[::-1]))
    run(device, (multicast, tt.CoreCoord(*HOME), [*first, *last, len(receivers), loopback, noc]))
    reached = {core for core in cores if np.array_equal(read(device, core, TARGET, 768), data[:768])}
    touched = {core for core in cores if read(device, core, TARGET, 1024).any()}
    assert reached == touched == receivers


@pytest.mark.parametrize("noc", [0, 1])
def test_translated_coordinates_name_the_same_rectangle(device, noc):
    """Worker columns and rows are consecutive in translated coordinates: (1, 1) to (6, 7) is (18, 18) to (22, 23)."""
    inside = {(x, y) for x in range(5) for y in range(6)}
    for x, y in np.ndindex(GRID):
        write(device, (x, y), TARGET, np.zeros(1024, np.uint8))
    data = random_bytes(31, 1024)
    write(device, HOME, SOURCE, data)
    corners = [(18, 18), (22, 23)] if noc == 0 else [(22, 23), (18, 18)]
    run(device, (multicast, tt.CoreCoord(*HOME), [*corners[0], *corners[1], len(inside), True, noc]))
    reached = {core for core in np.ndindex(GRID) if np.array_equal(read(device, core, TARGET, 768), data[:768])}
    assert reached == inside


@pytest.mark.parametrize("core", [(0, 0), (4, 5), (7, 7)])
def test_translated_coordinates_name_the_same_core(device, core):
    data = random_bytes(32, 512)
    write(device, core, SOURCE, data)
    x, y = device.arch.kernel_coords[core[0] + core[1] * GRID[0]]
    assert (x, y) == (18 + core[0], 18 + core[1])
    run(device, (move, tt.CoreCoord(*HOME), [1, 0, 0, x, y, SOURCE, TARGET, 512]))
    assert np.array_equal(read(device, HOME, TARGET, 512), data)


@pytest.mark.parametrize("x, y", [(17, 18), (26, 18), (18, 28)])
def test_translated_coordinates_of_no_core(fresh_device, x, y):
    with pytest.raises(ProgramError, match=f"names tile x={x}, y={y}"):
        run(fresh_device, (move, tt.CoreCoord(*HOME), [1, 0, 0, x, y, SOURCE, TARGET, 512]))


# --- small writes and atomics


@kernel
def small(x, y):
    far = get_noc_addr(x, y, NOTES)
    noc_inline_dw_write(far, 0xAABBCCDD)
    noc_inline_dw_write(far + 4, 0xAABBCCDD, be=0b0101)
    noc_semaphore_inc(far + 16, 5)
    noc_semaphore_inc(far + 16, 0xFFFFFFFF)
    noc_semaphore_inc(far + 20, 7, noc_index, posted=True)
    l1_ptr(SOURCE)[0] = 77
    noc_semaphore_set_remote(SOURCE, far + 32)
    noc_async_full_barrier()


def test_inline_writes_and_atomics(device):
    """Byte enables choose bytes; increments are 32-bit and wrap."""
    write(device, (4, 4), NOTES, np.array([1, 0x11223344, 9, 9, 10, 20, 9, 9, 30], np.uint32))
    run(device, (small, tt.CoreCoord(*HOME), physical(device, (4, 4))))
    found = read(device, (4, 4), NOTES, 36).view(np.uint32).tolist()
    assert found == [0xAABBCCDD, 0x11BB33DD, 9, 9, 14, 27, 9, 9, 77]


# --- semaphores


@kernel
def leader(x0, y0, x1, y1, followers):
    """Start all followers by a multicast semaphore, then wait until each has counted."""
    start, done = get_semaphore(0), get_semaphore(1)
    noc_semaphore_set(start, 3)
    noc_semaphore_set_multicast(start, get_noc_multicast_addr(x0, y0, x1, y1, start), followers)
    noc_semaphore_wait(done, followers)
    notes = l1_ptr(NOTES, uint32)
    notes[0] = l1_ptr(done, uint32)[0]


@kernel
def follower(x, y):
    start, done = get_semaphore(0), get_semaphore(1)
    noc_semaphore_wait_min(start, 2)
    l1_ptr(NOTES)[0] = l1_ptr(start)[0]
    noc_semaphore_inc(get_noc_addr(x, y, done), 1)
    noc_async_atomic_barrier()


def test_semaphores_start_and_join_cores(device):
    program, cores = tt.create_program(), tt.CoreRange((2, 2), (5, 4))
    everyone = tt.CoreRangeSet([tt.CoreRange(HOME, HOME), cores])
    for _ in range(2):
        tt.create_semaphore(program, everyone, 0)
    corners = [*physical(device, (2, 2)), *physical(device, (5, 4))]
    for source, where, args in (
        (leader, tt.CoreCoord(*HOME), [*corners, 12]),
        (follower, cores, physical(device, HOME)),
    ):
        handle = tt.create_kernel(program, source, where, tt.ReaderDataMovementConfig())
        tt.set_runtime_args(program, handle, where, list(args))
    for _ in range(2):  # the host gives semaphores their initial values at every launch
        write(device, HOME, NOTES, np.zeros(4, np.uint8))
        tt.enqueue_program(device.command_queue(), program, blocking=True)
        assert read(device, HOME, NOTES, 4).view(np.uint32)[0] == 12
        assert {int(read(device, (x, y), NOTES, 4).view(np.uint32)[0]) for x in range(2, 6) for y in range(2, 5)} == {3}


# --- address generators


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


# --- DRAM banks


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


# --- where DRAM banks are


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
