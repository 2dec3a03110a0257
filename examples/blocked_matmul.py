"""Blocked matrix product: the kernels and the host program behind matmul_reuse, matmul_multicast and
matmul_multicast_1d.

The structure is that of tt-metal's MatmulMultiCoreReuseMultiCast.  Every core computes a `per_core_m` x
`per_core_n` block of output tiles, as one or more *out blocks* that fit in L1.  For each out block the inner
dimension is walked in K blocks of `in0_block_w` tiles: an in0 block (out_block_h x in0_block_w tiles) and an
in1 block (in0_block_w x out_block_w tiles) arrive in double-buffered circular buffers, and `matmul_block`
adds their product to each subblock of the destination register. Between K blocks partial sums rest in an
intermediate circular buffer, added up by the packer in L1 (`packer_l1_acc`) or reloaded into the destination
for every K block.

NCRISC on NoC 0 supplies in0; BRISC on NoC 1 supplies in1 and writes the output.  Who reads what depends on
the topology:

    NONE          every core reads its own blocks
    ROWS_COLUMNS  column 0 reads in0 and multicasts it along its row, row 0 reads in1 and multicasts it down
    its column ALL           core (0, 0) reads in0 and multicasts it to all cores, every core reads its own
    in1 columns

Handshake of a multicast: each receiver reserves space, marks its `received` semaphore 0 and increments the
sender's `ready` semaphore; the sender waits for all of them, multicasts the block and then the value 1 into
`received`.  Both multicasts take the same route in order, so a receiver that sees 1 has the block.
"""
# ruff: noqa: F403, F405

from dataclasses import dataclass
from enum import Enum

from host_api.kernel_api import *

import host_api as tt
from examples import ExampleResult
from examples.common import (
    ceil_div,
    compute_config,
    create_circular_buffer,
    create_tensor,
    download_tensor,
    execute,
    grid_cores,
    grid_range,
    matmul_tolerance,
    random_tensor,
    rectangle,
    sharded_config,
    tile_counts,
)
from sim.cores.data_format import DataFormat, tile_size
from sim.errors import UsageError

CB_IN0 = 0
CB_IN1 = 1
CB_OUT = 16
CB_PARTIALS = 24

DOUBLE_BUFFER = 2
MAX_IN0_BLOCK_W = 8  # tiles; longer K blocks only lengthen the first, unoverlapped reads
# Subblocks (height, width) in tiles by preference: most reuse of the source registers first.
SUBBLOCKS = (
    (4, 2), (2, 4), (1, 8), (8, 1), (1, 7), (7, 1), (2, 3), (3, 2), (1, 6), (6, 1),
    (1, 5), (5, 1), (2, 2), (1, 4), (4, 1), (1, 3), (3, 1), (1, 2), (2, 1), (1, 1),
)  # fmt: skip


# --- device: in0 on NCRISC


@device_function
def send_block(start, nbytes, ready, received, receivers, x0, y0, x1, y1):
    """Multicast `nbytes` of L1 from `start` to the same address of the receivers, once all of them are
    ready.
    """
    noc_semaphore_wait(ready, receivers)
    noc_semaphore_set(ready, 0)
    noc_async_write_multicast(
        start, get_noc_multicast_addr(x0, y0, x1, y1, start), nbytes, receivers, linked=True
    )
    noc_semaphore_set_multicast(received, get_noc_multicast_addr(x0, y0, x1, y1, received), receivers)


@device_function
def receive_block(sender_ready, received):
    """Tell the sender that there is space and wait for its block."""
    noc_semaphore_set(received, 0)
    noc_semaphore_inc(sender_ready, 1)
    noc_semaphore_wait(received, 1)


@kernel
def in0_sender(in0_address, first_row, valid_rows, receivers, x0, y0, x1, y1):
    """Read in0 blocks from DRAM and multicast them.

    The core owns `valid_rows` tile rows from `first_row`; (x0, y0)-(x1, y1) is the rectangle of the
    `receivers`.
    """
    out_blocks_h = get_compile_time_arg_val(0)
    out_blocks_w = get_compile_time_arg_val(1)
    k_blocks = get_compile_time_arg_val(2)
    out_block_h = get_compile_time_arg_val(3)
    block_w = get_compile_time_arg_val(4)
    ready = get_semaphore(get_compile_time_arg_val(5))
    received = get_semaphore(get_compile_time_arg_val(6))
    k_tiles = k_blocks * block_w
    block_tiles = out_block_h * block_w
    tile_bytes = get_tile_size(CB_IN0)
    source = InterleavedAddrGen(in0_address, page_size=tile_bytes, dram=True)
    noc_semaphore_set(received, 1)
    for block_row in range(out_blocks_h):
        for _column in range(out_blocks_w):
            for k in range(k_blocks):
                cb_reserve_back(CB_IN0, block_tiles)
                start = get_write_ptr(CB_IN0)
                address = start
                for row in range(block_row * out_block_h, (block_row + 1) * out_block_h):
                    if row < valid_rows:
                        page = (first_row + row) * k_tiles + k * block_w
                        for column in range(block_w):
                            noc_async_read_tile(page + column, source, address + column * tile_bytes)
                    address += block_w * tile_bytes
                noc_async_read_barrier()
                if receivers > 0:
                    send_block(start, block_tiles * tile_bytes, ready, received, receivers, x0, y0, x1, y1)
                cb_push_back(CB_IN0, block_tiles)
    noc_async_write_barrier()


@kernel
def in0_receiver(sender_x, sender_y):
    """Receive in0 blocks from the core at physical (sender_x, sender_y)."""
    blocks = get_compile_time_arg_val(0) * get_compile_time_arg_val(1) * get_compile_time_arg_val(2)
    block_tiles = get_compile_time_arg_val(3) * get_compile_time_arg_val(4)
    sender_ready = get_noc_addr(sender_x, sender_y, get_semaphore(get_compile_time_arg_val(5)))
    received = get_semaphore(get_compile_time_arg_val(6))
    for _ in range(blocks):
        cb_reserve_back(CB_IN0, block_tiles)
        receive_block(sender_ready, received)
        cb_push_back(CB_IN0, block_tiles)
    noc_async_atomic_barrier()


@kernel
def in0_sharded(shard_address, my_column, x0, y0, x1, y1):
    """in0 lies block-sharded in L1: the cores of a row take turns to multicast the K blocks they hold.

    Runtime arguments 6 ...: physical x, y of each core of the row.  A K block as wide as the shard goes out
    straight from the shard; a narrower one is first gathered in the circular buffer, from where it need not
    come back.
    """
    out_blocks_h = get_compile_time_arg_val(0)
    out_blocks_w = get_compile_time_arg_val(1)
    k_blocks = get_compile_time_arg_val(2)
    out_block_h = get_compile_time_arg_val(3)
    block_w = get_compile_time_arg_val(4)
    ready = get_semaphore(get_compile_time_arg_val(5))
    received = get_semaphore(get_compile_time_arg_val(6))
    valid = get_semaphore(get_compile_time_arg_val(7))
    shard_w = get_compile_time_arg_val(8)
    columns = get_compile_time_arg_val(9)
    tile_bytes = get_tile_size(CB_IN0)
    block_tiles = out_block_h * block_w
    nbytes = block_tiles * tile_bytes
    row_bytes = block_w * tile_bytes
    blocks_per_shard = shard_w // block_w
    straight = blocks_per_shard == 1 and columns > 1
    for block_row in range(out_blocks_h):
        for _column in range(out_blocks_w):
            for k in range(k_blocks):
                cb_reserve_back(CB_IN0, block_tiles)
                start = get_write_ptr(CB_IN0)
                owner = k // blocks_per_shard
                noc_semaphore_set(received, 0)
                if owner == my_column:
                    offset = block_row * out_block_h * shard_w + (k % blocks_per_shard) * block_w
                    source = shard_address + offset * tile_bytes
                    if not straight:
                        for row in range(out_block_h):
                            noc_async_read(
                                get_noc_addr(source + row * shard_w * tile_bytes),
                                start + row * row_bytes,
                                row_bytes,
                            )
                        noc_async_read_barrier()
                    if columns > 1:
                        noc_semaphore_wait(ready, columns - 1)
                        noc_semaphore_set(ready, 0)
                        block_at = get_noc_multicast_addr(x0, y0, x1, y1, start)
                        received_at = get_noc_multicast_addr(x0, y0, x1, y1, received)
                        if straight:
                            noc_async_write_multicast_loopback_src(
                                source, block_at, nbytes, columns, linked=True
                            )
                            noc_semaphore_set_multicast_loopback_src(valid, received_at, columns)
                            noc_semaphore_wait(received, 1)
                        else:
                            noc_async_write_multicast(start, block_at, nbytes, columns - 1, linked=True)
                            noc_semaphore_set_multicast(valid, received_at, columns - 1)
                else:
                    owner_x = get_arg_val(6 + 2 * owner)
                    owner_y = get_arg_val(7 + 2 * owner)
                    noc_semaphore_inc(get_noc_addr(owner_x, owner_y, ready), 1)
                    noc_semaphore_wait(received, 1)
                cb_push_back(CB_IN0, block_tiles)
    noc_async_write_barrier()
    noc_async_atomic_barrier()


# --- device: in1 and output on BRISC


@device_function
def write_out_block(
    destination, row0, column0, rows, columns, block_h, block_w, subblock_h, subblock_w, pitch
):
    """Write an out block of tiles as its subblocks come from the packer; tiles beyond (rows, columns) are
    dropped.

    (row0, column0): tile position of the block in the output; `pitch`: tiles in a row of the output.
    """
    subblock_tiles = subblock_h * subblock_w
    tile_bytes = get_tile_size(CB_OUT)
    for sub_row in range(0, block_h, subblock_h):
        for sub_column in range(0, block_w, subblock_w):
            cb_wait_front(CB_OUT, subblock_tiles)
            address = get_read_ptr(CB_OUT)
            for row in range(sub_row, sub_row + subblock_h):
                for column in range(sub_column, sub_column + subblock_w):
                    if row < rows and column < columns:
                        noc_async_write_tile((row0 + row) * pitch + column0 + column, destination, address)
                    address += tile_bytes
            noc_async_writes_flushed()
            cb_pop_front(CB_OUT, subblock_tiles)


@kernel
def in1_sender_writer(
    in1_address, out_address, first_row, valid_rows, first_column, valid_columns, receivers, x0, y0, x1, y1
):
    """Read in1 blocks from DRAM, multicast them to the `receivers` in (x0, y0)-(x1, y1), write the core's
    output.
    """
    out_blocks_h = get_compile_time_arg_val(0)
    out_blocks_w = get_compile_time_arg_val(1)
    k_blocks = get_compile_time_arg_val(2)
    out_block_h = get_compile_time_arg_val(3)
    out_block_w = get_compile_time_arg_val(4)
    block_k = get_compile_time_arg_val(5)
    subblock_h = get_compile_time_arg_val(6)
    subblock_w = get_compile_time_arg_val(7)
    n_tiles = get_compile_time_arg_val(8)
    writes = get_compile_time_arg_val(9)
    ready = get_semaphore(get_compile_time_arg_val(10))
    received = get_semaphore(get_compile_time_arg_val(11))
    block_tiles = block_k * out_block_w
    tile_bytes = get_tile_size(CB_IN1)
    source = InterleavedAddrGen(in1_address, page_size=tile_bytes, dram=True)
    destination = InterleavedAddrGen(out_address, page_size=get_tile_size(CB_OUT), dram=True)
    noc_semaphore_set(received, 1)
    for block_row in range(out_blocks_h):
        for block_column in range(out_blocks_w):
            column0 = block_column * out_block_w
            columns = min(out_block_w, valid_columns - column0)
            for k in range(k_blocks):
                cb_reserve_back(CB_IN1, block_tiles)
                start = get_write_ptr(CB_IN1)
                address = start
                for row in range(k * block_k, (k + 1) * block_k):
                    page = row * n_tiles + first_column + column0
                    for column in range(columns):
                        noc_async_read_tile(page + column, source, address + column * tile_bytes)
                    address += out_block_w * tile_bytes
                noc_async_read_barrier()
                if receivers > 0:
                    send_block(start, block_tiles * tile_bytes, ready, received, receivers, x0, y0, x1, y1)
                cb_push_back(CB_IN1, block_tiles)
            if writes:
                row0 = block_row * out_block_h
                write_out_block(
                    destination, first_row + row0, first_column + column0, valid_rows - row0, columns,
                    out_block_h, out_block_w, subblock_h, subblock_w, n_tiles,
                )  # fmt: skip
    noc_async_write_barrier()


@kernel
def in1_receiver_writer(sender_x, sender_y, out_address, first_row, valid_rows, first_column, valid_columns):
    """Receive in1 blocks from the core at physical (sender_x, sender_y), write the core's output."""
    out_blocks_h = get_compile_time_arg_val(0)
    out_blocks_w = get_compile_time_arg_val(1)
    k_blocks = get_compile_time_arg_val(2)
    out_block_h = get_compile_time_arg_val(3)
    out_block_w = get_compile_time_arg_val(4)
    block_tiles = get_compile_time_arg_val(5) * out_block_w
    subblock_h = get_compile_time_arg_val(6)
    subblock_w = get_compile_time_arg_val(7)
    n_tiles = get_compile_time_arg_val(8)
    writes = get_compile_time_arg_val(9)
    sender_ready = get_noc_addr(sender_x, sender_y, get_semaphore(get_compile_time_arg_val(10)))
    received = get_semaphore(get_compile_time_arg_val(11))
    destination = InterleavedAddrGen(out_address, page_size=get_tile_size(CB_OUT), dram=True)
    for block_row in range(out_blocks_h):
        for block_column in range(out_blocks_w):
            for _ in range(k_blocks):
                cb_reserve_back(CB_IN1, block_tiles)
                receive_block(sender_ready, received)
                cb_push_back(CB_IN1, block_tiles)
            if writes:
                row0 = block_row * out_block_h
                column0 = block_column * out_block_w
                write_out_block(
                    destination, first_row + row0, first_column + column0, valid_rows - row0,
                    valid_columns - column0, out_block_h, out_block_w, subblock_h, subblock_w, n_tiles,
                )  # fmt: skip
    noc_async_write_barrier()
    noc_async_atomic_barrier()


# --- device: compute


@kernel
def multiply_blocks():
    """Multiply in0 and in1 blocks subblock by subblock, carrying partial sums from K block to K block.

    With L1 accumulation the packer adds every K block but the last to the partials; the last one reloads them
    into the destination.  Without it every K block reloads.  `shared` says that output and partials share
    their L1 range, so that new partials must wait until the writer has taken the output of the previous out
    block.
    """
    out_blocks = get_compile_time_arg_val(0)
    k_blocks = get_compile_time_arg_val(1)
    out_block_h = get_compile_time_arg_val(2)
    out_block_w = get_compile_time_arg_val(3)
    block_k = get_compile_time_arg_val(4)
    subblock_h = get_compile_time_arg_val(5)
    subblock_w = get_compile_time_arg_val(6)
    l1_acc = get_compile_time_arg_val(7)
    shared = get_compile_time_arg_val(8)
    in0_block_tiles = out_block_h * block_k
    in1_block_tiles = block_k * out_block_w
    out_block_tiles = out_block_h * out_block_w
    subblock_tiles = subblock_h * subblock_w
    mm_block_init(CB_IN0, CB_IN1, CB_PARTIALS, 0, subblock_w, subblock_h, block_k)
    for _ in range(out_blocks):
        for k in range(k_blocks):
            last = k == k_blocks - 1
            reload = k > 0 and (last or l1_acc == 0)
            if last:
                target = CB_OUT
                if l1_acc:
                    pack_reconfig_l1_acc(0)
                pack_reconfig_data_format(CB_OUT)
            else:
                target = CB_PARTIALS
                if k == 0:
                    pack_reconfig_data_format(CB_PARTIALS)
                if l1_acc and k == 1:
                    pack_reconfig_l1_acc(1)
            cb_wait_front(CB_IN0, in0_block_tiles)
            cb_wait_front(CB_IN1, in1_block_tiles)
            done = 0
            for sub_row in range(0, out_block_h, subblock_h):
                for sub_column in range(0, out_block_w, subblock_w):
                    tile_regs_acquire()
                    if reload:
                        copy_tile_to_dst_init_short_with_dt(CB_IN1, CB_PARTIALS)
                        cb_wait_front(CB_PARTIALS, subblock_tiles)
                        copy_block_matmul_partials(CB_PARTIALS, 0, 0, subblock_tiles)
                        cb_pop_front(CB_PARTIALS, subblock_tiles)
                        mm_block_init_short_with_dt(
                            CB_IN0, CB_IN1, CB_PARTIALS, 0, subblock_w, subblock_h, block_k
                        )
                    in0_tile = sub_row * block_k
                    in1_tile = sub_column
                    for _inner in range(block_k):
                        matmul_block(
                            CB_IN0, CB_IN1, in0_tile, in1_tile, 0, 0, subblock_w, subblock_h, block_k
                        )
                        in0_tile += 1
                        in1_tile += out_block_w
                    tile_regs_commit()
                    done += subblock_tiles
                    if shared and k == 0 and not last:
                        cb_reserve_back(CB_OUT, done)
                    cb_reserve_back(target, subblock_tiles)
                    tile_regs_wait()
                    pack_tile_block(0, target, subblock_tiles)
                    tile_regs_release()
                    cb_push_back(target, subblock_tiles)
            if l1_acc and k < k_blocks - 2:
                cb_wait_front(CB_PARTIALS, out_block_tiles)
                cb_pop_front(CB_PARTIALS, out_block_tiles)
            cb_pop_front(CB_IN0, in0_block_tiles)
            cb_pop_front(CB_IN1, in1_block_tiles)


# --- host: plan


class Topology(Enum):
    """Which cores share what they read."""

    NONE = "every core reads its own blocks"
    ROWS_COLUMNS = "in0 multicast along rows, in1 along columns"
    ALL = "in0 multicast to all cores"


@dataclass(frozen=True)
class Plan:
    """How a product is cut; all sizes in tiles.  `columns` x `rows` cores take part."""

    m: int
    k: int
    n: int
    columns: int
    rows: int
    per_core_m: int
    per_core_n: int
    out_block_h: int
    out_block_w: int
    in0_block_w: int
    subblock_h: int
    subblock_w: int

    @property
    def k_blocks(self):
        return self.k // self.in0_block_w

    @property
    def out_blocks_h(self):
        return self.per_core_m // self.out_block_h

    @property
    def out_blocks_w(self):
        return self.per_core_n // self.out_block_w

    @property
    def out_block_tiles(self):
        return self.out_block_h * self.out_block_w

    @property
    def in0_block_tiles(self):
        return self.out_block_h * self.in0_block_w

    @property
    def in1_block_tiles(self):
        return self.in0_block_w * self.out_block_w


@dataclass(frozen=True)
class Settings:
    """What besides the shape decides a plan.  Sizes in tiles; None: chosen by the rules of `make_plan`."""

    topology: Topology
    dtype: DataFormat
    fp32_dest_acc_en: bool
    packer_l1_acc: bool = True
    in0_sharded: bool = False
    out_sharded: bool = False
    in0_block_w: int | None = None
    per_core_m: int | None = None
    per_core_n: int | None = None
    out_block_h: int | None = None
    out_block_w: int | None = None
    subblock_h: int | None = None
    subblock_w: int | None = None

    @property
    def partials_format(self):
        """Format of partial sums: full width of the destination under L1 accumulation, else that of the
        output.
        """
        if self.fp32_dest_acc_en:
            return DataFormat.Float32
        return DataFormat.Float16_b if self.packer_l1_acc else self.dtype

    @property
    def shares_partials(self):
        """Whether output and partials share one L1 range (possible when their tiles have one size)."""
        return self.partials_format == self.dtype

    @property
    def dst_tiles(self):
        """Tiles of the destination register in half-sync mode."""
        return 4 if self.fp32_dest_acc_en else 8


def _divisors(n):
    """Divisors of n, largest first."""
    return [d for d in range(n, 0, -1) if n % d == 0]


def buffer_bytes(plan, settings):
    """L1 bytes per core that the plan's circular buffers take (a sharded output lies in its own buffer)."""
    page, out_tiles = tile_size(settings.dtype), plan.out_block_tiles
    total = DOUBLE_BUFFER * (plan.in0_block_tiles + plan.in1_block_tiles) * page
    if not settings.out_sharded:
        total += out_tiles * page
    if not settings.shares_partials:
        total += out_tiles * tile_size(settings.partials_format)
    return total


def _require(condition, message):
    if not condition:
        raise UsageError(message)


def _choose_subblock(plan_h, plan_w, settings):
    """The first of SUBBLOCKS that divides the out block and fits in the destination; one row when sharded."""
    for height, width in SUBBLOCKS:
        fits = height * width <= settings.dst_tiles and plan_h % height == 0 and plan_w % width == 0
        row_major = not settings.out_sharded or height == 1 or width == plan_w
        if fits and row_major:
            return height, width
    return 1, 1


def _candidates(per_core_m, per_core_n, k_share, settings):
    """(out_block_h, out_block_w, in0_block_w) in order of preference; fixed settings leave one choice per
    size.

    Largest out block first (fewest repeated reads of the operands), then the squarer one, then the widest K
    block: the largest divisor of `k_share` up to MAX_IN0_BLOCK_W tiles.
    """
    heights = [settings.out_block_h] if settings.out_block_h else _divisors(per_core_m)
    widths = [settings.out_block_w] if settings.out_block_w else _divisors(per_core_n)
    if settings.out_sharded:
        heights, widths = [per_core_m], [per_core_n]
    depths = [settings.in0_block_w] if settings.in0_block_w else []
    depths = depths or [d for d in _divisors(k_share) if d <= MAX_IN0_BLOCK_W]
    blocks = sorted(((h, w) for h in heights for w in widths), key=lambda b: (-b[0] * b[1], b[0] + b[1]))
    return [(h, w, depth) for h, w in blocks for depth in depths]


def _cores_used(m, n, per_core_m, per_core_n, grid, topology):
    """(columns, rows) of cores that take part; with ALL the whole grid does."""
    if topology is Topology.ALL:
        return grid
    return ceil_div(n, per_core_n), ceil_div(m, per_core_m)


def _check_plan(plan, settings, grid):
    """UsageError for block sizes that do not go together."""
    _require(
        plan.columns <= grid[0] and plan.rows <= grid[1],
        f"blocks of {plan.per_core_m}x{plan.per_core_n} tiles need {plan.columns}x{plan.rows} cores, "
        f"the grid has {grid[0]}x{grid[1]}",
    )
    _require(
        plan.k % plan.in0_block_w == 0, f"in0_block_w {plan.in0_block_w} does not divide K = {plan.k} tiles"
    )
    for whole, part, what in (
        (plan.per_core_m, plan.out_block_h, "out_block_h"),
        (plan.per_core_n, plan.out_block_w, "out_block_w"),
        (plan.out_block_h, plan.subblock_h, "out_subblock_h"),
        (plan.out_block_w, plan.subblock_w, "out_subblock_w"),
    ):
        _require(whole % part == 0, f"{what} {part} does not divide {whole} tiles")
    tiles = plan.subblock_h * plan.subblock_w
    _require(
        tiles <= settings.dst_tiles, f"a subblock of {tiles} tiles exceeds Dst ({settings.dst_tiles} tiles)"
    )
    if settings.in0_sharded:
        shard_w = ceil_div(plan.k, plan.columns)
        _require(
            plan.k % plan.columns == 0, f"K = {plan.k} tiles cannot be sharded over {plan.columns} columns"
        )
        _require(
            shard_w % plan.in0_block_w == 0,
            f"in0_block_w {plan.in0_block_w} does not divide a shard of {shard_w}",
        )
    if settings.out_sharded:
        _require(
            plan.out_block_h == plan.per_core_m and plan.out_block_w == plan.per_core_n,
            "a sharded output needs one out block per core",
        )
        _require(
            plan.subblock_h == 1 or plan.subblock_w == plan.per_core_n,
            "a sharded output needs subblocks of one row or of full width: tiles are packed row-major",
        )


def make_plan(shape, grid, settings, l1_bytes):
    """Cut an (M, K, N) product, in elements, over `grid` (columns, rows); `l1_bytes`: L1 free for it on every
    core.

    Rules where `settings` leaves a choice: per-core blocks spread M over the rows and N over the columns
    evenly (over all cores with topology ALL); `in0_block_w` is the largest divisor of the K tiles per column
    (of all K tiles where they do not divide evenly) up to MAX_IN0_BLOCK_W that fits; the out block is the
    largest that fits with it.
    """
    (m, k), (_, n) = tile_counts(shape[:2]), tile_counts(shape[1:])
    spread = settings.topology is Topology.ALL
    per_core_m = settings.per_core_m or (m if spread else ceil_div(m, grid[1]))
    per_core_n = settings.per_core_n or ceil_div(n, grid[0] * grid[1] if spread else grid[0])
    columns, rows = _cores_used(m, n, per_core_m, per_core_n, grid, settings.topology)
    k_share = k // columns if k % columns == 0 else k
    l1_bytes -= settings.in0_sharded * per_core_m * ceil_div(k, columns) * tile_size(settings.dtype)
    l1_bytes -= settings.out_sharded * per_core_m * per_core_n * tile_size(settings.dtype)
    for height, width, depth in _candidates(per_core_m, per_core_n, k_share, settings):
        subblock = _choose_subblock(height, width, settings)
        plan = Plan(
            m, k, n, columns, rows, per_core_m, per_core_n, height, width, depth,
            settings.subblock_h or subblock[0], settings.subblock_w or subblock[1],
        )  # fmt: skip
        _check_plan(plan, settings, grid)
        if buffer_bytes(plan, settings) <= l1_bytes:
            return plan
    raise UsageError(
        f"no block of the {m}x{k}x{n}-tile product fits in {l1_bytes} bytes of L1 per core",
        hint="use more cores, smaller blocks or a narrower dtype",
    )


# --- host: program


@dataclass(frozen=True)
class Operands:
    """The three tensors of C = A B."""

    in0: object
    in1: object
    out: object


def _rest_of_grid(columns, rows):
    """All cores of the grid but (0, 0), as CoreRanges."""
    ranges = [rectangle(1, 0, columns - 1, 0)] if columns > 1 else []
    return ranges + ([rectangle(0, 1, columns - 1, rows - 1)] if rows > 1 else [])


def _multicast_args(device, noc, corner0, corner1):
    """Physical corners of a logical rectangle, in the order the NoC runs: NOC_1 starts at the far corner."""
    first = device.worker_core_from_logical_core(tt.CoreCoord(*corner0))
    last = device.worker_core_from_logical_core(tt.CoreCoord(*corner1))
    if noc == tt.NOC.NOC_1:
        first, last = last, first
    return [first.x, first.y, last.x, last.y]


def _physical(device, x, y):
    core = device.worker_core_from_logical_core(tt.CoreCoord(x, y))
    return [core.x, core.y]


class _Builder:
    """Puts together the program of one product."""

    def __init__(self, device, plan, settings, operands):
        self.device, self.plan, self.settings, self.operands = device, plan, settings, operands
        self.program = tt.create_program()
        self.grid = (plan.columns, plan.rows)
        self.cores = grid_range(self.grid)

    def build(self, fidelity):
        """The finished program."""
        self._circular_buffers()
        self.in0_semaphores = [
            tt.create_semaphore(self.program, self.cores, initial) for initial in (0, 0, 1)
        ]
        self.in1_semaphores = [tt.create_semaphore(self.program, self.cores, 0) for _ in range(2)]
        if self.settings.in0_sharded:
            self._in0_sharded()
        else:
            self._in0_interleaved()
        self._in1()
        self._compute(fidelity)
        return self.program

    def _circular_buffers(self):
        plan, settings, dtype = self.plan, self.settings, self.settings.dtype
        create = create_circular_buffer
        create(self.program, self.cores, CB_IN0, DOUBLE_BUFFER * plan.in0_block_tiles, dtype)
        create(self.program, self.cores, CB_IN1, DOUBLE_BUFFER * plan.in1_block_tiles, dtype)
        formats = {CB_OUT: dtype}
        if settings.shares_partials:
            formats[CB_PARTIALS] = dtype
        else:
            create(self.program, self.cores, CB_PARTIALS, plan.out_block_tiles, settings.partials_format)
        page = tile_size(dtype)
        config = tt.CircularBufferConfig(plan.out_block_tiles * page, formats)
        for index in formats:
            config = config.set_page_size(index, page)
        if settings.out_sharded:
            config = config.set_globally_allocated_address(self.operands.out.buffer)
        tt.create_circular_buffer(self.program, self.cores, config)

    def _kernel(self, function, cores, compile_args, reader):
        config = (tt.ReaderDataMovementConfig if reader else tt.WriterDataMovementConfig)(
            compile_args=compile_args
        )
        return tt.create_kernel(self.program, function, cores, config)

    def _set_args(self, kernel, x, y, args):
        tt.set_runtime_args(self.program, kernel, tt.CoreCoord(x, y), args)

    def _position(self, x, y):
        """(block row, block column) of the output that core (x, y) computes."""
        return (0, y * self.plan.columns + x) if self.settings.topology is Topology.ALL else (y, x)

    def _valid(self, x, y):
        """(first row, valid rows, first column, valid columns) of core (x, y), in tiles of the output."""
        plan = self.plan
        block_row, block_column = self._position(x, y)
        row, column = block_row * plan.per_core_m, block_column * plan.per_core_n
        return (
            row, max(0, min(plan.per_core_m, plan.m - row)),
            column, max(0, min(plan.per_core_n, plan.n - column)),
        )  # fmt: skip

    def _in0_compile_args(self):
        plan = self.plan
        blocks = [plan.out_blocks_h, plan.out_blocks_w, plan.k_blocks, plan.out_block_h, plan.in0_block_w]
        return blocks + self.in0_semaphores

    def _in0_interleaved(self):
        """Senders and receivers of in0 by topology."""
        columns, rows = self.grid
        topology, compile_args = self.settings.topology, self._in0_compile_args()
        senders = {
            Topology.NONE: [rectangle(0, 0, columns - 1, rows - 1)],
            Topology.ROWS_COLUMNS: [rectangle(0, 0, 0, rows - 1)],
            Topology.ALL: [rectangle(0, 0, 0, 0)],
        }[topology]
        receivers = {
            Topology.NONE: [],
            Topology.ROWS_COLUMNS: [rectangle(1, 0, columns - 1, rows - 1)] if columns > 1 else [],
            Topology.ALL: _rest_of_grid(columns, rows),
        }[topology]
        sender = self._kernel(in0_sender, tt.CoreRangeSet(senders), compile_args, reader=True)
        receiver = receivers and self._kernel(
            in0_receiver, tt.CoreRangeSet(receivers), compile_args, reader=True
        )
        for core in grid_cores(self.grid):
            x, y = core.x, core.y
            sends = topology is Topology.NONE or x == 0 and (y == 0 or topology is Topology.ROWS_COLUMNS)
            if sends:
                row, valid_rows, _, _ = self._valid(x, y)
                self._set_args(
                    sender, x, y, [self.operands.in0.address, row, valid_rows, *self._in0_targets(y)]
                )
            else:
                self._set_args(
                    receiver, x, y, _physical(self.device, 0, 0 if topology is Topology.ALL else y)
                )

    def _in0_targets(self, y):
        """Number of receivers and their rectangle for the in0 sender of row y."""
        columns, rows = self.grid
        if self.settings.topology is Topology.ROWS_COLUMNS and columns > 1:
            return [columns - 1, *_multicast_args(self.device, tt.NOC.NOC_0, (1, y), (columns - 1, y))]
        if self.settings.topology is Topology.ALL and columns * rows > 1:
            return [
                columns * rows - 1,
                *_multicast_args(self.device, tt.NOC.NOC_0, (0, 0), (columns - 1, rows - 1)),
            ]
        return [0, 0, 0, 0, 0]

    def _in0_sharded(self):
        columns, rows = self.grid
        compile_args = self._in0_compile_args() + [self.plan.k // columns, columns]
        kernel = self._kernel(in0_sharded, self.cores, compile_args, reader=True)
        for y in range(rows):
            row_cores = [value for x in range(columns) for value in _physical(self.device, x, y)]
            targets = _multicast_args(self.device, tt.NOC.NOC_0, (0, y), (columns - 1, y))
            for x in range(columns):
                self._set_args(kernel, x, y, [self.operands.in0.address, x, *targets, *row_cores])

    def _in1(self):
        """Readers of in1 and writers of the output."""
        plan, (columns, rows) = self.plan, self.grid
        compile_args = [
            plan.out_blocks_h, plan.out_blocks_w, plan.k_blocks, plan.out_block_h, plan.out_block_w,
            plan.in0_block_w, plan.subblock_h, plan.subblock_w, plan.n, int(not self.settings.out_sharded),
            *self.in1_semaphores,
        ]  # fmt: skip
        shares = self.settings.topology is Topology.ROWS_COLUMNS and rows > 1
        senders = tt.CoreRangeSet([rectangle(0, 0, columns - 1, 0)]) if shares else self.cores
        sender = self._kernel(in1_sender_writer, senders, compile_args, reader=False)
        if shares:
            below = tt.CoreRangeSet([rectangle(0, 1, columns - 1, rows - 1)])
            receiver = self._kernel(in1_receiver_writer, below, compile_args, reader=False)
        for core in grid_cores(self.grid):
            x, y = core.x, core.y
            block = [self.operands.out.address, *self._valid(x, y)]
            if shares and y > 0:
                self._set_args(receiver, x, y, [*_physical(self.device, x, 0), *block])
                continue
            targets = [0, 0, 0, 0, 0]
            if shares:
                targets = [rows - 1, *_multicast_args(self.device, tt.NOC.NOC_1, (x, 1), (x, rows - 1))]
            self._set_args(sender, x, y, [self.operands.in1.address, *block, *targets])

    def _compute(self, fidelity):
        plan, settings = self.plan, self.settings
        config = compute_config(
            settings.dtype,
            fidelity,
            fp32_dest_acc_en=settings.fp32_dest_acc_en,
            compile_args=[
                plan.out_blocks_h * plan.out_blocks_w, plan.k_blocks, plan.out_block_h, plan.out_block_w,
                plan.in0_block_w, plan.subblock_h, plan.subblock_w, int(settings.packer_l1_acc),
                int(settings.shares_partials),
            ],
        )  # fmt: skip
        tt.create_kernel(self.program, multiply_blocks, self.cores, config)


def build_program(device, plan, settings, operands, fidelity):
    """The program of one blocked product."""
    return _Builder(device, plan, settings, operands).build(fidelity)


def _block_sharded(device, tiles, dtype, plan, shard_tiles):
    return sharded_config(
        device,
        tiles,
        dtype,
        tt.TensorMemoryLayout.BLOCK_SHARDED,
        grid_range((plan.columns, plan.rows)),
        shard_tiles,
    )


def _create_operands(device, shape, plan, settings, rng):
    """Random A and B, uninitialised C."""
    m, k, n = shape
    dtype, in0_config, out_config = settings.dtype, None, None
    if settings.in0_sharded:
        shard = (plan.per_core_m, plan.k // plan.columns)
        in0_config = _block_sharded(device, (plan.m, plan.k), dtype, plan, shard)
    if settings.out_sharded:
        shard = (plan.per_core_m, plan.per_core_n)
        out_config = _block_sharded(device, (plan.m, plan.n), dtype, plan, shard)
    return Operands(
        random_tensor(device, rng, (m, k), dtype, in0_config),
        random_tensor(device, rng, (k, n), dtype),
        create_tensor(device, (m, n), dtype, out_config),
    )


def free_l1_bytes(device):
    """L1 bytes per worker core that circular buffers and sharded operands may take, besides the buffers in use."""
    arch = device.arch
    return arch.l1_size - arch.l1_user_base - device.allocated_bytes_per_bank(tt.BufferType.L1)


def run_blocked(device, shape, fidelity, grid, rng, settings):
    """Plan, build, run and read back one product; `shape` (M, K, N) in elements."""
    m, k, n = shape
    plan = make_plan(shape, grid, settings, free_l1_bytes(device))
    operands = _create_operands(device, shape, plan, settings, rng)
    execute(device, build_program(device, plan, settings, operands, fidelity))
    tensors = (operands.in0, operands.in1, operands.out)
    return ExampleResult(
        expected=operands.in0.values @ operands.in1.values,
        actual=download_tensor(device, operands.out),
        tolerance=matmul_tolerance(settings.dtype, fidelity),
        flops=2 * m * k * n,
        bytes_moved=sum(tensor.nbytes for tensor in tensors),
        description=(
            f"{m}x{k}x{n} {settings.dtype.name} {fidelity.name} product on {plan.columns}x{plan.rows} cores, "
            f"{settings.topology.value}; {plan.per_core_m}x{plan.per_core_n} tiles per core, "
            f"out block {plan.out_block_h}x{plan.out_block_w}, K block {plan.in0_block_w}, "
            f"subblock {plan.subblock_h}x{plan.subblock_w}"
        ),
    )
