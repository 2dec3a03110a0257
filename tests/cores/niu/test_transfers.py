"""Data movement on the real chip: what transfers, multicasts, atomics and semaphores leave in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.errors import ProgramError
from tests.cores.niu.programs import BYTES, GRID, HOME, NOTES, SOURCE, TARGET, physical, random_bytes, read, run, write

# ruff: noqa: F405


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


@kernel
def asks(x, y, noc):
    """Looks again and again whether the reads of an id have ended, and counts how often they had not."""
    noc_async_read_set_trid(1, noc)
    noc_async_read(get_noc_addr(x, y, SOURCE), TARGET, 64, noc)
    noc_async_read_set_trid(2, noc)
    noc_async_read(get_noc_addr(x, y, SOURCE + 64), TARGET + 64, 8192, noc)
    words, notes, looks = l1_ptr(TARGET, uint32), l1_ptr(NOTES, uint32), 0
    while not ncrisc_noc_read_with_transaction_id_flushed(noc, 1):
        looks += 1
    notes[0], notes[1] = words[0], looks
    while not ncrisc_noc_read_with_transaction_id_flushed(noc, 2):
        looks += 1
    notes[2], notes[3] = words[16], looks


@pytest.mark.parametrize("noc", [0, 1])
def test_a_look_at_a_transaction_id_does_not_wait(fresh_device, noc):
    data = random_bytes(5)
    write(fresh_device, (7, 7), SOURCE, data)
    run(fresh_device, (asks, tt.CoreCoord(*HOME), [*physical(fresh_device, (7, 7)), noc]))
    first, looks, second, all_looks = read(fresh_device, HOME, NOTES, 16).view(np.uint32).tolist()
    assert [first, second] == data.view(np.uint32)[[0, 16]].tolist()
    assert 3 < looks < all_looks < looks + 8192 // 4
    assert not fresh_device.chip.oddities.rows()


def test_data_of_another_transaction_id_is_not_there_yet(fresh_device):
    run(fresh_device, (two_ids, tt.CoreCoord(*HOME), [*physical(fresh_device, (7, 7)), 1, 0]))
    (one,) = fresh_device.chip.oddities.rows()
    assert one["kind"] == "read_before_barrier" and "used before the barrier" in one["message"]


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


def test_a_place_outside_l1_names_the_core_that_it_is_of(fresh_device):
    x, y = physical(fresh_device, (3, 5))
    with pytest.raises(ProgramError, match=r"address 0x1000000, 512 bytes, of core \(3,5\) "):
        run(fresh_device, (move, tt.CoreCoord(*HOME), [1, 1, 0, x, y, 1 << 24, SOURCE, 512]))


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
