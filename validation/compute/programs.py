"""The programs of the compute benchmarks: circular buffers, kernels and arguments on one core, and what is measured.

A measured zone of a compute thread ends when its RISC-V core has issued all, or, where a row says what an engine takes, when
the engine is done; "per round" is the slope between two numbers of rounds, so that start-up and first use drop out.

Compute kernels are Python functions at the level of operations.  At the level of instructions they are the same in C++,
`cpp/NAME.cpp`, built against the vendor's LLK; what one engine does alone is there the business of
`tensim.validation.instruction`.
"""

from pathlib import Path
from typing import NamedTuple

import tensim as tt
from tensim.examples.common import create_circular_buffer, grid_range, interleaved_config
from tensim.examples.matmul_kernels import CB_IN0, CB_IN1, CB_OUT, CB_PARTIALS, multiply_blocks
from tensim.sim.arch import load_arch, vector_costs
from tensim.sim.chip import statistics
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.validation.compute import kernels
from tensim.validation.compute import op_kernels as ops
from tensim.validation.compute.sources import (
    instruction_loop,
    part_of_tile,
    vector_init_loop,
    vector_loop,
    vector_stream,
)
from tensim.validation.instruction.vector_calls import vector_call

# data movement, which on silicon is C++ as well: what a page costs is its instructions
CPP = Path(__file__).parent / "cpp"
# structures whose compute kernels are there in C++ as well
AT_BOTH_LEVELS = (
    "copy_same copy_two vector_stream operation_per_round operation_per_tile vector_marginal fused_chain sum_in_dst sum_by_packer "
    "matmul_k_in_dst matmul_k_by_packer matmul_scaled_accumulate matmul_tile_loop matmul_packed"
).split()
A, B, SUM, SCALE, OUT = kernels.A, kernels.B, kernels.SUM, kernels.SCALE, kernels.OUT
FEW, MANY = 4, 12  # rounds between which a slope is taken
RESIDENT_RESULTS = 64  # tiles: more do not fit into L1 beside two resident operands
TILE_ROWS = 32
TRISCS = ("TRISC0", "TRISC1", "TRISC2")
THREAD_OF = {"unpack": "TRISC0", "math": "TRISC1", "pack": "TRISC2"}


class Settings(NamedTuple):
    """Of a compute kernel: names of formats and of a fidelity, modes of Dst, approximate functions, and the level it runs on."""

    input: str
    output: str
    fidelity: str
    fp32_dest: bool
    full_sync: bool
    approximate: bool
    by_instruction: bool = False


class Core:
    """A program on core (0, 0) of a fresh chip, by default one that moves no data.  `settings`: fields of `Settings`."""

    def __init__(self, arch, settings, numerics="off", overrides=None):
        self.settings = Settings(*settings)
        self.dtype, self.out_dtype = DataFormat[self.settings.input], DataFormat[self.settings.output]
        if self.settings.by_instruction:
            overrides = {**(overrides or {}), "tensix.instruction_level": 1}
        self.device = tt.create_device(0, arch=load_arch(arch, overrides), numerics=numerics)
        self.program, self.cores = tt.create_program(), grid_range((1, 1))
        self.tensors = []  # kept until the end: a dropped one is freed, and the next one takes its place

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        tt.close_device(self.device)

    def buffers(self, rows=None, formats=None, **pages):
        """Circular buffers by name (A, B, SUM, SCALE, OUT) with a number of tiles each.

        `rows`: {name: rows of its tiles}; `formats`: {name: its format} where it is not the kernel's.
        """
        for name, tiles in pages.items():
            dtype, index = self.out_dtype if name == "OUT" else self.dtype, globals()[name]
            dtype = DataFormat[formats[name]] if name in (formats or {}) else dtype
            page, height = tile_size(dtype), (rows or {}).get(name, TILE_ROWS)
            config = tt.CircularBufferConfig(tiles * page, {index: dtype}).set_page_size(index, page)
            if height < TILE_ROWS:
                config = config.set_tile_dims(index, (height, TILE_ROWS))
            tt.create_circular_buffer(self.program, self.cores, config)

    def tensor(self, tiles):
        """`tiles` tiles in DRAM."""
        self.tensors.append(tt.create_buffer(interleaved_config(self.device, (1, tiles), self.dtype)))
        return self.tensors[-1]

    def compute(self, kernel, *arguments, rounds=None, defines=None):
        """The compute kernel, a Python function or its C++ text, with its compile-time arguments and those of a C++ text's macros.

        `rounds`: its run-time argument, where it repeats what it does: programs of any number of rounds share a build.
        """
        one = self.settings
        config = tt.ComputeConfig(
            math_fidelity=getattr(tt.MathFidelity, one.fidelity), fp32_dest_acc_en=one.fp32_dest,
            dst_full_sync_en=one.full_sync, math_approx_mode=one.approximate, compile_args=list(arguments),
            defines=defines or {},
        )  # fmt: skip
        if one.by_instruction and not isinstance(kernel, Path):
            kernel = CPP / f"{kernel.name}.cpp"
        handle = tt.create_kernel(self.program, kernel, self.cores, config)
        if rounds is not None:
            tt.set_runtime_args(self.program, handle, tt.CoreCoord(0, 0), [rounds])

    def mover(self, kernel, compile_args, writer=False):
        """A data-movement kernel: reader on NCRISC, writer on BRISC."""
        make = tt.WriterDataMovementConfig if writer else tt.ReaderDataMovementConfig
        return tt.create_kernel(self.program, kernel, self.cores, make(compile_args=list(compile_args)))

    def reader(self, name, compile_args, tensors):
        """The kernel `cpp/NAME.cpp`, which reads these tensors: their accessors and addresses are its further arguments."""
        accessors = [arg for tensor in tensors for arg in tt.TensorAccessorArgs(tensor).get_compile_time_args()]
        handle = self.mover(CPP / f"{name}.cpp", [*compile_args, *accessors])
        tt.set_runtime_args(self.program, handle, tt.CoreCoord(0, 0), [tensor.address for tensor in tensors])

    def run(self):
        """The `Times` of the program."""
        queue = self.device.command_queue(0)
        tt.enqueue_program(queue, self.program, blocking=False)
        tt.finish(queue)
        chip = self.device.chip
        ended = {name: part["longest_cycles"] for name, part in statistics.breakdown(chip).items()}
        return Times(ended, statistics.risc_cycles(chip, 0))


class Times(NamedTuple):
    """{thread: cycles from its start until all its work is done}, and until its RISC-V core has issued all."""

    ended: dict
    issued: dict


def zone(times):
    """The slowest compute thread's profiler zone, whose end its RISC-V core writes down: it has run ahead of its coprocessor."""
    return max(times.issued[name] for name in TRISCS)


def end_of(*names):
    """The measure of a program: when the last of the threads `names` is done."""
    return lambda times: max(times.ended[name] for name in names)


def per_round(build, arch, settings, few=FEW, many=MANY, measure=zone, overrides=None):
    """Slope of a measure over the rounds; `build(core, rounds)` puts the program together."""
    values = []
    for rounds in (few, many):
        with Core(arch, settings, overrides=overrides) as core:
            build(core, rounds)
            values.append(measure(core.run()))
    return (values[1] - values[0]) / (many - few)


def once(build, arch, settings, measure=zone):
    """A measure of one run; `build(core)`."""
    with Core(arch, settings) as core:
        build(core)
        return measure(core.run())


# --- copies and operations through circular buffers


def copy_same(arch, settings, tiles, chunk):
    """A buffer of twice the tiles that is both input and output."""

    def build(core, rounds):
        core.buffers(A=2 * tiles)
        core.compute(kernels.copy_through, tiles, chunk, A, rounds=rounds)

    return per_round(build, arch, settings, 2, 6)


def copy_two(arch, settings, tiles, chunk):
    """Input and output buffers of two rounds each, kept full and empty."""

    def build(core, rounds):
        core.buffers(A=2 * tiles, OUT=2 * tiles)
        core.mover(kernels.feed, (A, tiles, rounds))
        core.mover(kernels.drain, (OUT, tiles, rounds), writer=True)
        core.compute(kernels.copy_through, tiles, chunk, OUT, rounds=rounds)

    return per_round(build, arch, settings, 2, 6)


def vector_stream_rounds(arch, settings, name, tiles, chunk):
    def build(core, rounds):
        core.buffers(A=2 * tiles, OUT=2 * tiles)
        core.mover(kernels.feed, (A, tiles, rounds))
        core.mover(kernels.drain, (OUT, tiles, rounds), writer=True)
        if core.settings.by_instruction:
            core.compute(CPP / "vector_stream.cpp", tiles, chunk, rounds=rounds, defines=_macros(name, settings))
        else:
            core.compute(vector_stream(name), tiles, chunk, rounds=rounds)

    return per_round(build, arch, settings, 2, 4)


def _macros(name, settings):
    """What `vector_stream.cpp` takes from a vector function's declaration."""
    call = vector_call(f"{name}_tile", settings.input)
    return {"HEADER": f'"api/compute/{call.header}.h"', "INITIALISE": call.init, "APPLY": call.call}


def operation_per_round(arch, settings, op, tiles, chunk, blockwise=1):
    """Resident operands: no handshake inside the rounds."""

    batch = min(tiles, RESIDENT_RESULTS)

    def build(core, rounds):
        core.buffers(A=tiles, B=tiles, OUT=2 * batch)
        core.mover(kernels.feed_pair, (A, B, tiles))
        core.mover(kernels.drain, (OUT, batch, rounds * tiles // batch), writer=True)
        core.compute(ops.operation_stream, ops.OPS[op], tiles, chunk, batch, blockwise, rounds=rounds)

    return per_round(build, arch, settings, 2, 6)


def operation_per_tile(arch, settings, op, tiles):
    return operation_per_round(arch, settings, op, tiles, tiles, blockwise=0) / tiles


def vector_marginal(arch, settings, name, tiles, approximate):
    """Time per tile that a vector function adds to the copy."""
    fast = settings._replace(approximate=bool(approximate))
    return (vector_stream_rounds(arch, fast, name, tiles, tiles) - copy_two(arch, fast, tiles, tiles)) / tiles


def fused_chain(arch, settings, tiles, chunk):
    def build(core):
        core.buffers(A=tiles, B=tiles, OUT=tiles)
        core.mover(kernels.feed, (A, tiles, 1))
        core.mover(kernels.feed, (B, tiles, 1), writer=True)
        core.compute(ops.fused_chain, tiles, chunk)

    return once(build, arch, settings)


# --- sums and products: the zone holds the whole kernel


def _sum(kernel):
    def measure(arch, settings, tiles, blocks, resident, op, depth):
        def build(core):
            core.buffers(A=depth * tiles, SUM=tiles, OUT=tiles)
            fetched = 1 if resident else blocks
            core.reader("read_sum_operands", (tiles, fetched), [core.tensor(tiles * (fetched + 1))])
            core.compute(kernel, tiles, blocks, resident, op)

        return once(build, arch, settings)

    return measure


def _matmul(kernel, resident_steps):
    """`resident_steps(kt)`: how many steps of K the operand buffers hold."""

    def measure(arch, settings, mt, nt, kt, rt, ct, epilogue):
        def build(core):
            steps = resident_steps(kt)
            core.buffers(A=steps * mt, B=steps * nt, SUM=mt * nt, SCALE=1, OUT=mt * nt)
            if kernel is kernels.matmul_scaled_accumulate:
                core.mover(kernels.feed_scaled_sum, (mt * nt,), writer=True)
            core.reader("read_matmul_operands", (mt, nt, kt), [core.tensor(mt * kt), core.tensor(kt * nt)])
            core.compute(kernel, mt, nt, kt, rt, ct, epilogue)

        return once(build, arch, settings)

    return measure


def matmul_tile_loop(arch, settings, mt, nt, bk, blocks):
    def build(core):
        core.buffers(A=2 * mt * bk, B=2 * nt * bk, SUM=2 * mt * nt, OUT=mt * nt)
        core.mover(kernels.feed, (A, mt * bk, blocks))
        core.mover(kernels.feed, (B, nt * bk, blocks), writer=True)
        core.compute(kernels.matmul_tile_loop, mt, nt, bk, blocks)

    return once(build, arch, settings, end_of("TRISC1"))


def matmul_blocks(arch, settings, mt, nt, bk, blocks, rt, ct, l1_acc):
    """tt-metal's blocked product on operands that are in L1 already."""

    def build(core):
        for index, tiles in ((CB_IN0, mt * bk), (CB_IN1, nt * bk), (CB_PARTIALS, mt * nt), (CB_OUT, mt * nt)):
            create_circular_buffer(core.program, core.cores, index, tiles, core.dtype)
        core.mover(kernels.feed, (CB_IN0, mt * bk, blocks))
        core.mover(kernels.feed, (CB_IN1, nt * bk, blocks), writer=True)
        core.compute(multiply_blocks, 1, blocks, mt, nt, bk, rt, ct, l1_acc, 0)

    return once(build, arch, settings, end_of("TRISC1"))


def matmul_packed(arch, settings, tiles, loops, rows):
    """`rows`: rows of the left operand's tiles and so of the results."""

    def build(core):
        core.buffers(A=1, B=tiles, OUT=tiles, rows={"A": rows, "OUT": rows})
        core.mover(kernels.feed, (A, 1, 1))
        core.mover(kernels.feed, (B, tiles, 1), writer=True)
        core.compute(ops.matmul_packed, tiles, rounds=loops)

    return once(build, arch, settings)


# --- one engine alone


def _alone(kernel, thread):
    def measure(arch, settings, op):
        def build(core, rounds):
            core.buffers(A=1, B=1, OUT=1)
            core.mover(kernels.feed, (A, 1, 1))
            core.mover(kernels.feed, (B, 1, 1), writer=True)
            core.compute(kernel, ops.OPS[op], rounds, load_arch(arch)["validation.free_banks_cycles"])

        return per_round(build, arch, settings, 16, 80, end_of(THREAD_OF[thread]))

    return measure


def pack_call(arch, settings, op):
    """Cycles per tile of the pack thread; results are taken away at once."""

    def build(core, rounds):
        core.buffers(OUT=2 * ops.PACKED)
        core.mover(kernels.drain, (OUT, ops.PACKED, rounds), writer=True)
        core.compute(ops.pack_alone, 0, rounds)

    return per_round(build, arch, settings, measure=end_of("TRISC2")) / ops.PACKED


def init_call(arch, settings, name, thread):
    """An initialisation, of which a thread's zone holds one."""

    def build(core, rounds):
        core.buffers(A=1, B=1, OUT=1)
        core.compute(ops.init_alone, ops.INITS[name], rounds)

    return per_round(build, arch, settings, measure=end_of(THREAD_OF[thread]))


def vector_init(arch, settings, name, arguments):
    """That of a vector function with what a zone itself takes: it holds nothing else."""

    def build(core, rounds):
        core.compute(vector_init_loop(name, arguments), 0, rounds)

    return per_round(build, arch, settings, measure=end_of("TRISC1")) + load_arch(arch)["validation.zone_cycles"]


def vector_part(arch, settings, name):
    """A face, 8 iterations, or a tile: what the data count."""

    def build(core, rounds):
        core.compute(vector_loop(name), 0, rounds)

    figures = figures_of_llk(arch, name, settings[3])
    return per_round(build, arch, settings, measure=end_of("TRISC1"), overrides=figures) * part_of_tile(name)


def figures_of_llk(arch, name, wide):
    """Overrides by which a function takes what the LLK takes, where a parameter says what it took in another release."""
    chip, key = load_arch(arch), f"tensix.sfpu_cycles.{name.upper()}"
    figures = vector_costs.CHIPS[chip["tensix.vector_costs"]]
    return {key: vector_costs.cost(figures, name.upper(), vector_costs.ACCURATE, "call", wide)} if key in chip else {}


def matmul_call(arch, settings):
    def build(core, rounds):
        core.buffers(A=1, B=1, OUT=1)
        core.mover(kernels.feed, (A, 1, 1))
        core.mover(kernels.feed, (B, 1, 1), writer=True)
        core.compute(ops.matmul_call_loop, 0, rounds)

    return per_round(build, arch, settings, 16, 80, end_of("TRISC1"))


def instruction(arch, settings, name, threads):
    """Cycles per instruction of each of `threads` threads that issue 64 of them per round, less those of an empty loop."""

    def build(kernel):
        return lambda core, rounds: core.compute(kernel, 0, rounds)

    loop = per_round(build(instruction_loop(name, threads)), arch, settings, measure=end_of(*TRISCS))
    return (loop - per_round(build(instruction_loop(name, 0)), arch, settings, measure=end_of(*TRISCS))) / 64


STRUCTURES = {
    "copy_same": copy_same, "copy_two": copy_two, "vector_stream": vector_stream_rounds,
    "operation_per_round": operation_per_round, "operation_per_tile": operation_per_tile,
    "vector_marginal": vector_marginal, "fused_chain": fused_chain,
    "sum_in_dst": _sum(kernels.sum_in_dst), "sum_by_packer": _sum(kernels.sum_by_packer),
    "matmul_k_in_dst": _matmul(kernels.matmul_k_in_dst, lambda kt: kt),
    "matmul_k_by_packer": _matmul(kernels.matmul_k_by_packer, lambda kt: 2),
    "matmul_scaled_accumulate": _matmul(kernels.matmul_scaled_accumulate, lambda kt: kt),
    "matmul_tile_loop": matmul_tile_loop, "matmul_blocks": matmul_blocks, "matmul_packed": matmul_packed,
    "math_call": _alone(ops.math_alone, "math"), "unpack_call": _alone(ops.unpack_alone, "unpack"),
    "pack_call": pack_call, "init_call": init_call, "vector_init": vector_init, "vector_part": vector_part,
    "matmul_call": matmul_call, "instruction": instruction,
}  # fmt: skip


def run(structure, arch, settings, arguments):
    """The measured quantity of a structure, in cycles; `settings`: fields of `Settings`."""
    return STRUCTURES[structure](arch, Settings(*settings), *arguments)
