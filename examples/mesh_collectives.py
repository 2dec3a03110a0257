"""All-gather and reduce-scatter on a ring of chips, over the fabric, with 1 to 4 links.

The chips of a mesh form a ring (`tt.open_mesh_device(..., ring=True)`), and each link of each direction has a worker of its own.
In the all-gather every chip multicasts its shard both ways, to half of the ring each, page after page; the routers write the
pages to DRAM.  In the reduce-scatter a chunk goes round the ring once: every chip adds its own part and passes the sum on; here all
links lead east and share the tiles of a chunk.

`python -m tensim.examples.mesh_collectives` runs both and says how long they take.
"""
# ruff: noqa: F403, F405

from dataclasses import dataclass

import numpy as np

import tensim as tt
from tensim.examples.common import (
    create_circular_buffer,
    create_tensor,
    download_tensor,
    source_of,
    split_work,
    upload_tensor,
)
from tensim.fabric_api import *
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.errors import UsageError

CB_OWN, CB_ARRIVED, CB_SUM, CB_HEADER = 0, 1, 16, 24
SEM_CREDITS = 0
TILE = 32
DEPTH = 4  # tiles of a circular buffer


@kernel
def gather(
    x,
    y,
    first_slot,
    slot_bytes,
    slots,
    notified,
    credits_at,
    source,
    target,
    arrived,
    first,
    count,
    shard,
    hops,
    expected,
):
    """Send pages `first` ... of the own shard to `hops` chips, into their gathered tensors; wait for `expected` pages of others.

    `shard`: where the own one begins in the gathered tensors, in pages.  Each packet adds one to the word `arrived` of each
    receiver, the last one when all before it have been written.
    """
    page = get_tile_size(CB_OWN)
    header = get_write_ptr(CB_HEADER)
    credits = get_semaphore(SEM_CREDITS)
    own = InterleavedAddrGen(source, page_size=page, dram=True)
    gathered = InterleavedAddrGen(target, page_size=page, dram=True)
    router = fabric_open(x, y, credits_at, credits)
    words = l1_ptr(header, uint32)
    slot, last = first_slot, first_slot + (slots - 1) * slot_bytes
    staged = get_write_ptr(CB_OWN)
    for sent in range(count):
        noc_async_read_tile(first + sent, own, staged)
        place = get_noc_addr(shard + first + sent, gathered)
        words[0] = place & 0xFFFFFFFF
        words[1] = place >> 32
        mine = get_noc_addr(arrived)
        words[2] = mine & 0xFFFFFFFF
        words[3] = mine >> 32
        words[4] = 1
        words[5] = 0
        words[10] = page | FABRIC_FUSED_ATOMIC_INC << 16
        words[11] = 1 | hops << 8
        if sent == count - 1:
            words[5] = 1
        noc_async_read_barrier()
        fabric_wait_for_empty_write_slot(slots, credits, sent)
        fabric_send_payload(router, slot, staged, page)
        fabric_send_header(router, slot, header, notified)
        noc_async_writes_flushed()
        slot = first_slot if slot == last else slot + slot_bytes
    fabric_close(credits, count)
    noc_semaphore_wait_min(arrived, expected)


@kernel
def keep_own(source, target, first, count, shard):
    """Copy the own pages to their place in the own gathered tensor."""
    page = get_tile_size(CB_OWN)
    own = InterleavedAddrGen(source, page_size=page, dram=True)
    gathered = InterleavedAddrGen(target, page_size=page, dram=True)
    staged = get_write_ptr(CB_ARRIVED)
    for i in range(first, first + count):
        noc_async_read_tile(i, own, staged)
        noc_async_read_barrier()
        noc_async_write_tile(shard + i, gathered, staged)
        noc_async_write_barrier()


@kernel
def read_chunks(own_address, sums_address, arrived, chips, position, tiles, first, count):
    """Bring the own tiles of each chunk, and of all but the first what has arrived of it, in the order in which they leave."""
    page = get_tile_size(CB_OWN)
    own = InterleavedAddrGen(own_address, page_size=page, dram=True)
    sums = InterleavedAddrGen(sums_address, page_size=page, dram=True)
    for step in range(chips):
        chunk = (position + 2 * chips - 1 - step) % chips
        for i in range(count):
            cb_reserve_back(CB_OWN, 1)
            noc_async_read_tile(chunk * tiles + first + i, own, get_write_ptr(CB_OWN))
            if step > 0:
                noc_semaphore_wait_min(arrived, (step - 1) * count + i + 1)
                cb_reserve_back(CB_ARRIVED, 1)
                noc_async_read_tile((step - 1) * tiles + first + i, sums, get_write_ptr(CB_ARRIVED))
            noc_async_read_barrier()
            cb_push_back(CB_OWN, 1)
            if step > 0:
                cb_push_back(CB_ARRIVED, 1)


@kernel
def add_arrived(count, steps):
    """The sums of the chunks behind the first one, tile by tile; those of the first pass as they are."""
    binary_op_init_common(CB_OWN, CB_ARRIVED, CB_SUM)
    copy_tile_to_dst_init_short(CB_OWN)
    for _ in range(count):
        cb_wait_front(CB_OWN, 1)
        tile_regs_acquire()
        copy_tile(CB_OWN, 0, 0)
        tile_regs_commit()
        cb_pop_front(CB_OWN, 1)
        cb_reserve_back(CB_SUM, 1)
        tile_regs_wait()
        pack_tile(0, CB_SUM)
        tile_regs_release()
        cb_push_back(CB_SUM, 1)
    add_tiles_init(CB_OWN, CB_ARRIVED)
    for _ in range(count * steps):
        cb_wait_front(CB_OWN, 1)
        cb_wait_front(CB_ARRIVED, 1)
        tile_regs_acquire()
        add_tiles(CB_OWN, CB_ARRIVED, 0, 0, 0)
        tile_regs_commit()
        cb_pop_front(CB_OWN, 1)
        cb_pop_front(CB_ARRIVED, 1)
        cb_reserve_back(CB_SUM, 1)
        tile_regs_wait()
        pack_tile(0, CB_SUM)
        tile_regs_release()
        cb_push_back(CB_SUM, 1)


@kernel
def pass_sums(
    x,
    y,
    first_slot,
    slot_bytes,
    slots,
    notified,
    credits_at,
    sums_address,
    arrived,
    result_address,
    chips,
    tiles,
    first,
    count,
):
    """Send the sums of each chunk to the next chip, whose reader counts them; the last chunk's are the result."""
    page = get_tile_size(CB_SUM)
    header = get_write_ptr(CB_HEADER)
    credits = get_semaphore(SEM_CREDITS)
    sums = InterleavedAddrGen(sums_address, page_size=page, dram=True)
    result = InterleavedAddrGen(result_address, page_size=page, dram=True)
    router = fabric_open(x, y, credits_at, credits)
    words = l1_ptr(header, uint32)
    mine = get_noc_addr(arrived)
    words[2] = mine & 0xFFFFFFFF
    words[3] = mine >> 32
    words[4] = 1
    words[5] = 1
    words[10] = page | FABRIC_FUSED_ATOMIC_INC << 16
    words[11] = 1 | 1 << 8
    slot, last = first_slot, first_slot + (slots - 1) * slot_bytes
    sent = 0
    for step in range(chips - 1):
        for i in range(count):
            place = get_noc_addr(step * tiles + first + i, sums)
            words[0] = place & 0xFFFFFFFF
            words[1] = place >> 32
            cb_wait_front(CB_SUM, 1)
            fabric_wait_for_empty_write_slot(slots, credits, sent)
            fabric_send_payload(router, slot, get_read_ptr(CB_SUM), page)
            fabric_send_header(router, slot, header, notified)
            noc_async_writes_flushed()
            cb_pop_front(CB_SUM, 1)
            slot = first_slot if slot == last else slot + slot_bytes
            sent += 1
    for i in range(count):
        cb_wait_front(CB_SUM, 1)
        noc_async_write_tile(first + i, result, get_read_ptr(CB_SUM))
        noc_async_write_barrier()
        cb_pop_front(CB_SUM, 1)
    fabric_close(credits, sent)


@dataclass
class Outcome:
    """What a collective gave: a float32 array per chip, in the order of the ring, and how long it took."""

    values: list
    cycles: int
    seconds: float
    bytes: int

    @property
    def gb_per_s(self):
        """Of a chip: its own data, moved to all others (all-gather), or reduced, over the time."""
        return self.bytes / self.seconds / 1e9


def _ring(mesh):
    if not mesh.fabric.closed or mesh.fabric.mesh:
        raise UsageError("the collectives need a ring", hint="tt.open_mesh_device(..., ring=True)")
    return mesh.fabric.wiring.ring_order()


def _core(number):
    return tt.CoreRange(tt.CoreCoord(number, 0), tt.CoreCoord(number, 0))


def _buffers(program, core, indices):
    for index in indices:
        create_circular_buffer(program, core, index, DEPTH, DataFormat.Float16_b)
    tt.create_semaphore(program, core, 0)


def _arrivals(mesh, cores):
    """A word of each worker that counts what arrives: global, as packets may come before the receiver's program has started."""
    area = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(cores - 1, 0))
    return [tt.create_global_semaphore(device, area, 0) for device in mesh.devices]


def _run(mesh, programs):
    """Start all programs, wait for them; cycles from the first start to the last end."""
    before = [len(device.chip.launches) for device in mesh.devices]
    for device, program in zip(mesh.devices, programs, strict=True):
        tt.enqueue_program(device.command_queue(), program, False)
    for device in mesh.devices:
        tt.finish(device.command_queue())
    rows = [list(device.chip.launches.values())[first] for device, first in zip(mesh.devices, before, strict=True)]
    return max(row["ended"] for row in rows) - min(row["started"] for row in rows)


def _outcome(mesh, tensors, cycles, n_bytes):
    values = [download_tensor(mesh.devices[chip], tensors[chip]) for chip in _ring(mesh)]
    return Outcome(values, cycles, cycles / (mesh.devices[0].arch.clock_mhz * 1e6), n_bytes)


def _connection(mesh, chip, direction, link, kernels):
    """A connection as runtime arguments of kernels in a language."""
    connection = mesh.connection(chip, direction, link)
    return connection.sender_args if kernels == "cpp" else connection.args


def all_gather(mesh, shards, kernels="python"):
    """Let every chip of a ring have the shards of all, one below the other.

    `shards`: a float array of whole tiles per chip, in the order of the ring, all of one shape; `kernels`: python or cpp.
    Returns an `Outcome`.
    """
    ring, links, chips = _ring(mesh), mesh.fabric.wiring.per_neighbour, len(shards)
    own, gathered, programs = {}, {}, {}
    for position, chip in enumerate(ring):
        device = mesh.devices[chip]
        own[chip] = upload_tensor(device, shards[position], DataFormat.Float16_b)
        rows, columns = shards[position].shape
        gathered[chip] = create_tensor(device, (rows * chips, columns), DataFormat.Float16_b)
    tiles = own[0].tiles[0] * own[0].tiles[1]
    ahead, behind = chips // 2, (chips - 1) // 2
    arrivals = _arrivals(mesh, 2 * links)
    for position, chip in enumerate(ring):
        programs[chip] = program = tt.create_program()
        number = 0
        for direction, hops, from_others in (("east", ahead, ahead), ("west", behind, behind)):
            for link, (first, count) in enumerate(split_work(tiles, links)):
                if not hops or not count:
                    continue
                core = _core(number)
                _buffers(program, core, (CB_OWN, CB_ARRIVED, CB_HEADER))
                writer = tt.create_kernel(program, source_of(gather, kernels), core, tt.WriterDataMovementConfig())
                args = [*_connection(mesh, chip, direction, link, kernels), own[chip].address, gathered[chip].address]
                args += [arrivals[chip].address, first, count, position * tiles, hops, from_others * count]
                tt.set_runtime_args(program, writer, tt.CoreCoord(number, 0), args)
                if direction == "east":
                    reader = tt.create_kernel(
                        program, source_of(keep_own, kernels), core, tt.ReaderDataMovementConfig()
                    )
                    args = [own[chip].address, gathered[chip].address, first, count, position * tiles]
                    tt.set_runtime_args(program, reader, tt.CoreCoord(number, 0), args)
                number += 1
    cycles = _run(mesh, [programs[chip] for chip in range(chips)])
    return _outcome(mesh, gathered, cycles, tiles * tile_size(DataFormat.Float16_b))


def reduce_scatter(mesh, parts, kernels="python"):
    """Let the chip at each place of a ring have the sum of all chips' chunk of that number.

    `parts`: a float array per chip, in the order of the ring, of as many chunks of whole tiles, one below the other, as there are
    chips; `kernels`: python or cpp.  Returns an `Outcome`.
    """
    ring, links, chips = _ring(mesh), mesh.fabric.wiring.per_neighbour, len(parts)
    own, sums, results, programs = {}, {}, {}, {}
    rows, columns = parts[0].shape
    for position, chip in enumerate(ring):
        device = mesh.devices[chip]
        own[chip] = upload_tensor(device, parts[position], DataFormat.Float16_b)
        sums[chip] = create_tensor(device, (rows // chips * (chips - 1), columns), DataFormat.Float16_b)
        results[chip] = create_tensor(device, (rows // chips, columns), DataFormat.Float16_b)
    tiles, arrivals = own[0].tiles[0] * own[0].tiles[1] // chips, _arrivals(mesh, links)
    for position, chip in enumerate(ring):
        programs[chip] = program = tt.create_program()
        for link, (first, count) in enumerate(split_work(tiles, links)):
            if not count:
                continue
            core, place = _core(link), tt.CoreCoord(link, 0)
            _buffers(program, core, (CB_OWN, CB_ARRIVED, CB_SUM, CB_HEADER))
            reader = tt.create_kernel(program, source_of(read_chunks, kernels), core, tt.ReaderDataMovementConfig())
            compute = tt.create_kernel(program, source_of(add_arrived, kernels), core, tt.ComputeConfig())
            writer = tt.create_kernel(program, source_of(pass_sums, kernels), core, tt.WriterDataMovementConfig())
            arrived = arrivals[chip].address
            args = [own[chip].address, sums[chip].address, arrived, chips, position, tiles, first, count]
            tt.set_runtime_args(program, reader, place, args)
            tt.set_runtime_args(program, compute, place, [count, chips - 1])
            connection = _connection(mesh, chip, "east", link, kernels)
            args = [*connection, sums[chip].address, arrived, results[chip].address, chips, tiles, first, count]
            tt.set_runtime_args(program, writer, place, args)
    cycles = _run(mesh, [programs[chip] for chip in range(chips)])
    return _outcome(mesh, results, cycles, tiles * chips * tile_size(DataFormat.Float16_b))


def main():
    """Both collectives on a T3000's ring and on four p150, by links."""
    rng = np.random.default_rng(0)
    for board, links in (("t3k", 1), ("t3k", 2), ("p150_x4", 1), ("p150_x4", 2), ("p150_x4", 4)):
        with tt.open_mesh_device(board, links=links, ring=True) as mesh:
            chips = len(mesh.devices)
            shards = [rng.integers(-8, 8, (256, 256)).astype(np.float32) for _ in range(chips)]
            outcome = all_gather(mesh, shards)
            assert all(np.array_equal(values, np.concatenate(shards)) for values in outcome.values)
            print(
                f"{board} {links} links: all-gather {outcome.seconds * 1e6:.1f} us, {outcome.gb_per_s:.1f} GB/s a chip"
            )
            outcome = reduce_scatter(mesh, [np.tile(shard, (chips, 1)) for shard in shards])
            assert all(np.array_equal(values, sum(shards)) for values in outcome.values)
            print(
                f"{board} {links} links: reduce-scatter {outcome.seconds * 1e6:.1f} us, {outcome.gb_per_s:.1f} GB/s a chip"
            )


if __name__ == "__main__":
    main()
