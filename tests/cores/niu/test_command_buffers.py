"""What requests wait for on the real chip: command buffers and virtual channels."""

import numpy as np
import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.arch import load_arch
from tensim.sim.errors import ProgramError, UsageError
from tests.cores.niu.programs import HOME, NOTES, SOURCE, TARGET, physical, read, run, write

# ruff: noqa: F405


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


@kernel
def flush_behind(x0, y0, x1, y1, count, note):
    """A block to one core (`count` 1), to a rectangle of so many, or to DRAM (0): cycles until its flush ends."""
    begin = get_timestamp()
    if count > 1:
        noc_async_write_multicast(SOURCE, get_noc_multicast_addr(x0, y0, x1, y1, TARGET), 2048, count)
    elif count == 1:
        noc_async_write(SOURCE, get_noc_addr(x0, y0, TARGET), 2048)
    else:
        noc_async_write(SOURCE, get_noc_addr_from_bank_id(0, 1 << 20), 2048)
    noc_async_writes_flushed()
    l1_ptr(note, uint32)[0] = get_timestamp() - begin


@pytest.mark.parametrize("noc", ["packet", "flit"])
@pytest.mark.parametrize(
    ("receivers", "key"), [(7, "noc.multicast_sent_cycles"), (1, "noc.write_sent_cycles"), (0, None)]
)
def test_a_core_is_told_later_that_its_writes_to_an_l1_have_left(receivers, key, noc):
    """Short products of gemm.csv, workers that flush behind each packet to a router; writes to DRAM have left at once."""
    taken = []
    for told in (0, 110):
        settings = {
            name: told if key in (name, None) else 0 for name in ("noc.multicast_sent_cycles", "noc.write_sent_cycles")
        }
        device = tt.create_device(1, arch=load_arch("blackhole", settings), numerics="off", noc=noc)
        corners = *physical(device, (1, 0)), *physical(device, (7, 0))
        run(device, (flush_behind, tt.CoreCoord(0, 0), [*corners, receivers, NOTES]))
        taken.append(int(read(device, (0, 0), NOTES, 4).view(np.uint32)[0]))
        tt.close_device(device)
    assert taken[1] - taken[0] == (110 if key else 0) and taken[0] > 2048 // 64
