"""Programs of golden cases: which kernel, formats and settings each operation runs with, on one core.

A `Work` is one program.  Operands and results are bytes as they lie in DRAM, in pages of one tile.  What the golden files do
not record are the vendor's defaults; docs/numerics.md lists them.
"""

from dataclasses import dataclass, field

import numpy as np

import tensim as tt
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.cores.numerics.host_formats import encode
from tensim.sim.cores.operations import Bcast, Binary, Pool
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.validation.numerics import kernels

FORMATS = {
    "bf16": DataFormat.Float16_b, "fp16": DataFormat.Float16, "fp32": DataFormat.Float32, "bfp8": DataFormat.Bfp8_b,
    "bfp4": DataFormat.Bfp4_b, "bfp2": DataFormat.Bfp2_b,
}  # fmt: skip
ARCHS = {"wh": "wormhole_b0", "bh": "blackhole"}


@dataclass
class Work:
    """One program: operands {cb: (format, bytes)}, results {cb: (format, first page, pages)}, other buffers {cb: format}.

    `kernel` None: data moves from circular buffer 0 to DRAM without a compute kernel.
    """

    kernel: object
    compile_args: list
    operands: dict
    results: dict
    scratch: dict = field(default_factory=dict)
    fidelity: tt.MathFidelity = tt.MathFidelity.HiFi4
    fp32_dest: bool = False
    pack_precise: bool = False
    to_dst: tuple = ()  # circular buffers whose float32 data goes to Dst unchanged

    def run(self, device):
        """{cb: bytes} of the results."""
        core, program, queue = tt.CoreCoord(0, 0), tt.create_program(), device.command_queue(0)
        sizes = {cb: (code, len(data) // tile_size(code)) for cb, (code, data) in self.operands.items()}
        sizes |= {cb: (code, 1) for cb, code in self.scratch.items()}
        sizes |= {cb: (code, first + pages) for cb, (code, first, pages) in self.results.items() if cb not in sizes}
        for cb, (code, pages) in sizes.items():
            page = tile_size(code)
            tt.create_circular_buffer(
                program, core, tt.CircularBufferConfig(pages * page, {cb: code}).set_page_size(cb, page)
            )
        inputs = {cb: _buffer(device, code, len(data)) for cb, (code, data) in self.operands.items()}
        outputs = {cb: _buffer(device, code, pages * tile_size(code)) for cb, (code, _, pages) in self.results.items()}
        for cb, buffer in inputs.items():
            tt.enqueue_write_buffer(queue, buffer, self.operands[cb][1], blocking=False)
        reader = tt.create_kernel(program, kernels.read_operands, core, tt.ReaderDataMovementConfig())
        writer = tt.create_kernel(program, kernels.write_results, core, tt.WriterDataMovementConfig())
        read = [word for cb in range(3) for word in ((inputs[cb].address, sizes[cb][1]) if cb in inputs else (0, 0))]
        write = [
            word for cb, (_, first, pages) in self.results.items() for word in (cb, outputs[cb].address, pages, first)
        ]
        tt.set_runtime_args(program, reader, core, read)
        tt.set_runtime_args(program, writer, core, (write + [0] * 8)[:8])
        if self.kernel is not None:
            modes = [int(cb in self.to_dst) for cb in range(N_CIRCULAR_BUFFERS)]
            config = tt.ComputeConfig(
                math_fidelity=self.fidelity, fp32_dest_acc_en=self.fp32_dest, unpack_to_dest_mode=modes,
                bfp8_pack_precise=self.pack_precise, compile_args=self.compile_args,
            )  # fmt: skip
            tt.create_kernel(program, self.kernel, core, config)
        tt.enqueue_program(queue, program, blocking=True)
        found = {cb: bytes(tt.enqueue_read_buffer(queue, buffer, blocking=True)) for cb, buffer in outputs.items()}
        for buffer in (*inputs.values(), *outputs.values()):
            tt.deallocate_buffer(buffer)
        return found


def _buffer(device, code, size):
    return tt.create_buffer(
        tt.InterleavedBufferConfig(device=device, size=size, page_size=tile_size(code), buffer_type=tt.BufferType.DRAM)
    )


OUT, DST = kernels.CB_OUT, kernels.CB_DST
BINARY = {"add": Binary.ADD, "sub": Binary.SUB, "mul": Binary.MUL}
BROADCAST = {None: Bcast.NONE, "row": Bcast.ROW, "col": Bcast.COL, "scalar": Bcast.SCALAR}


def matmul(a, b, out, tiles, block_w, fidelity, fp32_dest, l1_accumulate, dst=None):
    """`a`, `b`: (format, bytes); `tiles`: of M, K, N; `dst`: format in which Dst is packed as well."""
    rows, inner, columns = tiles
    l1_accumulate = int(l1_accumulate and inner // block_w > 2)
    wide = DataFormat.Float32 if fp32_dest else DataFormat.Float16_b
    partials = wide if l1_accumulate or fp32_dest else out
    results = {OUT: (out, 0, rows * columns)}
    if dst is not None:
        results[DST] = (dst, 0, rows * columns)
    return Work(
        kernels.multiply_matrices,
        [rows, columns, inner, block_w, l1_accumulate, int(dst is not None)],
        {kernels.CB_A: a, kernels.CB_B: b},
        results,
        scratch={kernels.CB_PARTIALS: partials},
        fidelity=fidelity,
        fp32_dest=fp32_dest,
        to_dst=(kernels.CB_PARTIALS,),
    )


def eltwise(op, a, b, out, tiles, broadcast=None, fidelity=tt.MathFidelity.HiFi4, fp32_dest=False, dst=None):
    """`tiles`: (rows, columns) of `a` and the result."""
    count = tiles[0] * tiles[1]
    results = {OUT: (out, 0, count)}
    if dst is not None:
        results[DST] = (dst, 0, count)
    args = [int(BINARY[op]), int(BROADCAST[broadcast]), *tiles, int(dst is not None)]
    return Work(
        kernels.combine_tiles, args, {kernels.CB_A: a, kernels.CB_B: b}, results, fidelity=fidelity, fp32_dest=fp32_dest
    )


def copy(a, out, tiles, transpose=False):
    """Tiles through Dst: typecast, transpose.  float32 data goes to a 32-bit Dst unchanged; others need 16 bits.

    A change to bfp8 packs all bits of Dst (bfp8_pack_precise).
    """
    wide = a[0] == DataFormat.Float32
    return Work(
        kernels.copy_tiles, [*tiles, int(transpose)], {kernels.CB_A: a}, {OUT: (out, 0, tiles[0] * tiles[1])},
        fp32_dest=wide, to_dst=(kernels.CB_A,), pack_precise=out == DataFormat.Bfp8_b != a[0],
    )  # fmt: skip


def layout(a, out, tiles, tilize):
    """Tilize or untilize; float32 data goes to a 32-bit Dst unchanged."""
    wide = a[0] == DataFormat.Float32
    return Work(
        kernels.change_layout, [*tiles, int(tilize)], {kernels.CB_A: a}, {OUT: (out, 0, tiles[0] * tiles[1])},
        fp32_dest=wide, to_dst=(kernels.CB_A,),
    )  # fmt: skip


def move(a, first, pages):
    """Data movement alone: `pages` tiles from the first one."""
    return Work(None, [], {kernels.CB_A: a}, {kernels.CB_A: (a[0], first, pages)})


POOLS = {"sum": Pool.SUM, "mean": Pool.AVG, "max": Pool.MAX}


def scaler_tile(value, rows, columns):
    """A bf16 tile that holds a factor in some rows and columns, 0 elsewhere."""
    tile = np.zeros((32, 32), np.float32)
    tile[rows, columns] = value
    return DataFormat.Float16_b, encode(tile, DataFormat.Float16_b)


def reduction(op, dim, a, out, tiles, factor, fidelity, fp32_dest):
    """`dim`: -1 along rows, -2 down columns.  Sums along rows are matrix products with a column of factors."""
    if dim == -2:
        kernel, args = kernels.reduce_columns, [int(POOLS[op]), *tiles]
    else:
        kernel, args = (kernels.largest_of_rows if op == "max" else kernels.sum_rows), [*tiles]
    if kernel is kernels.sum_rows:
        scaler = scaler_tile(factor, slice(None), 0)
    else:
        scaler = scaler_tile(factor, [0, 16], slice(None))
    return Work(
        kernel, args, {kernels.CB_A: a, kernels.CB_SCALER: scaler}, {OUT: (out, 0, tiles[0 if dim == -1 else 1])},
        fidelity=fidelity, fp32_dest=fp32_dest,
    )  # fmt: skip
