"""Blocked matrix product: the program behind matmul_reuse, matmul_multicast and matmul_multicast_1d.

The structure is that of tt-metal's MatmulMultiCoreReuseMultiCast.  Every core computes a `per_core_m` x
`per_core_n` block of output tiles, as one or more *out blocks* that fit in L1.  For each out block the inner
dimension is walked in K blocks of `in0_block_w` tiles: an in0 block (out_block_h x in0_block_w tiles) and an
in1 block (in0_block_w x out_block_w tiles) arrive in double-buffered circular buffers, and `matmul_block`
adds their product to each subblock of the destination register.  Between K blocks partial sums rest in an
intermediate circular buffer, added up by the packer in L1 (`packer_l1_acc`) or reloaded into the destination
for every K block.

NCRISC supplies in0; BRISC, on the other NoC, supplies in1 and writes the output.  Receivers in the right half of
the grid have the two NoCs the other way round when in0 comes from DRAM, so that the output leaves over both.  Who
reads what depends on the topology:

    NONE          every core reads its own blocks
    ROWS_COLUMNS  column 0 reads in0 for its row, row 0 reads in1 for its column; both multicast
    ALL           core (0, 0) reads in0 and multicasts it to all cores; every core reads its own in1 columns

Handshake of a multicast: each receiver reserves space, marks its `received` semaphore 0 and increments the
sender's `ready` semaphore; the sender waits for all of them, multicasts the block and then the value 1 into
`received`.  Both multicasts take the same route in order, so a receiver that sees 1 has the block.  Blackhole issues
them through separate queues, so tt-metal's kernels wait there until the block has left the core.
"""

from dataclasses import dataclass
from functools import partial

import tensim as tt
from tensim.examples.common import (
    compute_config,
    create_circular_buffer,
    create_tensor,
    download_tensor,
    execute,
    grid_cores,
    grid_range,
    matmul_tolerance,
    matrix_product,
    random_tensor,
    rectangle,
    sharded_config,
    source_of,
)
from tensim.examples.matmul_kernels import (
    CB_IN0,
    CB_IN1,
    CB_OUT,
    CB_PARTIALS,
    in0_receiver,
    in0_sender,
    in0_sharded,
    in1_receiver_writer,
    in1_sender_writer,
    multiply_blocks,
)
from tensim.examples.matmul_plan import DOUBLE_BUFFER, Topology, make_plan
from tensim.examples.result import ExampleResult
from tensim.sim.cores.numerics.data_format import tile_size


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

    def __init__(self, device, plan, settings, operands, kernels):
        self.device, self.plan, self.settings, self.operands = device, plan, settings, operands
        self.kernels = kernels  # "python" or "cpp"
        self.program = tt.create_program()
        self.grid = (plan.columns, plan.rows)
        self.cores = grid_range(self.grid)
        self.in0_noc = settings.in0_noc
        self.flush = int(device.arch.name == "blackhole")
        self.in1_noc = tt.NOC.NOC_1 if self.in0_noc == tt.NOC.NOC_0 else tt.NOC.NOC_0

    def build(self, fidelity):
        """The finished program."""
        self._circular_buffers()
        self.in0_semaphores = [tt.create_semaphore(self.program, self.cores, initial) for initial in (0, 0, 1)]
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

    @property
    def swapped(self):
        """Receivers of both operands whose kernels use the two NoCs the other way round, as a rectangle, or None.

        tt-metal splits a grid of more than two rows and columns so, unless in0 is sharded: the right half of its
        columns writes the output over the NoC that the left half leaves free.
        """
        columns, rows = self.grid
        if self.settings.topology is not Topology.ROWS_COLUMNS or self.settings.in0_sharded or min(self.grid) <= 2:
            return None
        return rectangle(columns // 2 + 1, 1, columns - 1, rows - 1)

    def _is_swapped(self, x, y):
        return self.swapped is not None and x > self.grid[0] // 2 and y > 0

    def _kernel(self, function, cores, compile_args, processor, noc):
        config = tt.DataMovementConfig(processor=processor, noc=noc, compile_args=compile_args)
        return tt.create_kernel(self.program, source_of(function, self.kernels), cores, config)

    def _in0_kernel(self, function, cores, compile_args, swapped=False):
        noc = self.in1_noc if swapped else self.in0_noc
        return self._kernel(function, cores, compile_args, tt.DataMovementProcessor.RISCV_1, noc)

    def _in1_kernel(self, function, cores, compile_args, swapped=False):
        noc = self.in0_noc if swapped else self.in1_noc
        return self._kernel(function, cores, compile_args, tt.DataMovementProcessor.RISCV_0, noc)

    def _receivers(self, create, function, ranges, compile_args):
        """{whether its NoCs are swapped: kernel} of the receivers of one operand on some CoreRanges."""
        made = {False: create(function, tt.CoreRangeSet(ranges), compile_args)} if ranges else {}
        if self.swapped is not None:
            made[True] = create(function, tt.CoreRangeSet([self.swapped]), compile_args, swapped=True)
        return made

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
        return [*blocks, *self.in0_semaphores, self.flush]

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
            Topology.ROWS_COLUMNS: self._unswapped(1, 0),
            Topology.ALL: _rest_of_grid(columns, rows),
        }[topology]
        sender = self._in0_kernel(in0_sender, tt.CoreRangeSet(senders), compile_args)
        receiver = self._receivers(self._in0_kernel, in0_receiver, receivers, compile_args)
        for core in grid_cores(self.grid):
            x, y = core.x, core.y
            sends = topology is Topology.NONE or x == 0 and (y == 0 or topology is Topology.ROWS_COLUMNS)
            if sends:
                row, valid_rows, _, _ = self._valid(x, y)
                self._set_args(sender, x, y, [self.operands.in0.address, row, valid_rows, *self._in0_targets(y)])
            else:
                sender_at = _physical(self.device, 0, 0 if topology is Topology.ALL else y)
                self._set_args(receiver[self._is_swapped(x, y)], x, y, sender_at)

    def _unswapped(self, x, y):
        """The grid from (x, y) on without `swapped`, as CoreRanges."""
        columns, rows = self.grid
        last = columns - 1 if self.swapped is None else columns // 2
        ranges = [rectangle(x, y, last, rows - 1)] if x <= last else []
        return ranges + ([rectangle(last + 1, 0, columns - 1, 0)] if y == 0 and last < columns - 1 else [])

    def _in0_targets(self, y):
        """Number of receivers and their rectangle for the in0 sender of row y."""
        columns, rows = self.grid
        if self.settings.topology is Topology.ROWS_COLUMNS and columns > 1:
            return [columns - 1, *_multicast_args(self.device, self.in0_noc, (1, y), (columns - 1, y))]
        if self.settings.topology is Topology.ALL and columns * rows > 1:
            return [
                columns * rows - 1,
                *_multicast_args(self.device, self.in0_noc, (0, 0), (columns - 1, rows - 1)),
            ]
        return [0, 0, 0, 0, 0]

    def _in0_sharded(self):
        columns, rows = self.grid
        compile_args = self._in0_compile_args() + [self.plan.k // columns, columns]
        kernel = self._in0_kernel(in0_sharded, self.cores, compile_args)
        for y in range(rows):
            row_cores = [value for x in range(columns) for value in _physical(self.device, x, y)]
            targets = _multicast_args(self.device, self.in0_noc, (0, y), (columns - 1, y))
            for x in range(columns):
                self._set_args(kernel, x, y, [self.operands.in0.address, x, *targets, *row_cores])

    def _in1(self):
        """Readers of in1 and writers of the output."""
        plan, (columns, rows) = self.plan, self.grid
        compile_args = [
            plan.out_blocks_h, plan.out_blocks_w, plan.k_blocks, plan.out_block_h, plan.out_block_w,
            plan.in0_block_w, plan.subblock_h, plan.subblock_w, plan.n, int(not self.settings.out_sharded),
            *self.in1_semaphores, self.flush,
        ]  # fmt: skip
        shares = self.settings.topology is Topology.ROWS_COLUMNS and rows > 1
        senders = tt.CoreRangeSet([rectangle(0, 0, columns - 1, 0)]) if shares else self.cores
        sender = self._in1_kernel(in1_sender_writer, senders, compile_args)
        if shares:
            receiver = self._receivers(self._in1_kernel, in1_receiver_writer, self._unswapped(0, 1), compile_args)
        for core in grid_cores(self.grid):
            x, y = core.x, core.y
            block = [self.operands.out.address, *self._valid(x, y)]
            if shares and y > 0:
                self._set_args(receiver[self._is_swapped(x, y)], x, y, [*_physical(self.device, x, 0), *block])
                continue
            targets = [0, 0, 0, 0, 0]
            if shares:
                targets = [rows - 1, *_multicast_args(self.device, self.in1_noc, (x, 1), (x, rows - 1))]
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
        tt.create_kernel(self.program, source_of(multiply_blocks, self.kernels), self.cores, config)


def build_program(device, plan, settings, operands, fidelity, kernels="python"):
    """The program of one blocked product."""
    return _Builder(device, plan, settings, operands, kernels).build(fidelity)


def _block_sharded(device, tiles, dtype, plan, shard_tiles):
    return sharded_config(
        device,
        tiles,
        dtype,
        tt.TensorMemoryLayout.BLOCK_SHARDED,
        grid_range((plan.columns, plan.rows)),
        shard_tiles,
    )


def create_operands(device, shape, plan, settings, rng=None):
    """A and B, random or, without `rng`, uninitialised as C is."""
    m, k, n = shape
    dtype, in0_config, out_config = settings.dtype, None, None
    if settings.in0_sharded:
        shard = (plan.per_core_m, plan.k // plan.columns)
        in0_config = _block_sharded(device, (plan.m, plan.k), dtype, plan, shard)
    if settings.out_sharded:
        shard = (plan.per_core_m, plan.per_core_n)
        out_config = _block_sharded(device, (plan.m, plan.n), dtype, plan, shard)
    create = create_tensor if rng is None else partial(random_tensor, rng=rng)
    return Operands(
        create(device, shape=(m, k), dtype=dtype, config=in0_config),
        create(device, shape=(k, n), dtype=dtype),
        create_tensor(device, (m, n), dtype, out_config),
    )


def free_l1_bytes(device):
    """L1 bytes per worker core that circular buffers and sharded operands may take, besides those in use."""
    arch = device.arch
    return arch.l1_size - arch.l1_user_base - device.allocated_bytes_per_bank(tt.BufferType.L1)


def run_blocked(device, shape, fidelity, grid, rng, settings, kernels="python"):
    """Plan, build, run and read back one product; `shape` (M, K, N) in elements."""
    m, k, n = shape
    plan = make_plan(shape, grid, settings, free_l1_bytes(device))
    operands = create_operands(device, shape, plan, settings, rng)
    execute(device, build_program(device, plan, settings, operands, fidelity, kernels))
    tensors = (operands.in0, operands.in1, operands.out)
    return ExampleResult(
        expected=matrix_product(device, operands.in0, operands.in1),
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
