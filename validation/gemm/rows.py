"""`tensim validate gemm`: matrix products of the GEMM FLOPS report, each as the multicast matmul that its row describes.

`--metric device` compares the cycles of the longest TRISC1 kernel, `--metric host` the time per run of a loop of runs, and
`--metric host-at-full-clock` the same without the clock that falls under lasting load.
Rows that do not state their blocks take those of `tensim.validation.gemm.blocks`.
"""

from operator import itemgetter

from tensim.sim.arch import load_arch
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.validation.gemm import blocks as gemm_blocks
from tensim.validation.gemm import programs as gemm_programs
from tensim.validation.gemm.blocks import SIZES
from tensim.validation.rows import Case, Skip

SECONDS = 1.7e-11  # processor time per unit of a case's work, roughly
COLUMNS = {
    "gemm": (
        "report_generation", "chip", "config_mode", "M", "K", "N", "grid_x", "grid_y", "dtype", "math_fidelity",
        "use_trace", "in0_sharded", "out_sharded", "in0_memory", "in1_memory", "out_memory", "in0_block_w_tiles",
        "per_core_M_tiles", "per_core_N_tiles", "out_block_h_tiles", "out_block_w_tiles", "out_subblock_h_tiles",
        "out_subblock_w_tiles", "inference_time_avg_ns", "derived_trisc1_kernel_cycles",
    )
}  # fmt: skip
BOARDS = {"N150": ("n150",), "P150": ("p150", "p150_13x10")}
ARCHS = {"N150": "wormhole_b0", "P150": "blackhole"}
FORMATS = {"BFLOAT16": DataFormat.Float16_b, "BFLOAT8_B": DataFormat.Bfp8_b, "BFLOAT4_B": DataFormat.Bfp4_b}
FIDELITIES = ("LoFi", "HiFi2", "HiFi3", "HiFi4")
MODES = ("manual", "out_of_box")
MEMORIES = {True: "L1", False: "DRAM"}
STATED = ("in0_block_w", "per_core_M", "per_core_N", "out_block_h", "out_block_w", "out_subblock_h", "out_subblock_w")
TILE = 32
DEVICE_COLUMN, HOST_COLUMN = "derived_trisc1_kernel_cycles", "inference_time_avg_ns"


def simulate(spec):
    """[cycles of the longest TRISC1 kernel, ns per run traced, untraced, and both at the full clock] of a spec."""
    return gemm_programs.simulate(*spec)


def read_device(row, layout):
    """The case of a row's TRISC1 cycles."""
    spec, group = spec_of(row)
    if not row[DEVICE_COLUMN].strip():
        raise Skip("it has no device time")
    return _case(row, spec, group, row.number(DEVICE_COLUMN), "cycles", itemgetter(0))


def read_host(row, layout):
    """The case of a row's time per run on the host's clock; untraced runs are groups of their own."""
    return _host_case(row, 1)


def read_host_at_full_clock(row, layout):
    """The same without the clock of lasting load: what that adds or hides."""
    return _host_case(row, 3)


def _host_case(row, first):
    """`first`: place of the traced time in the results, behind which the untraced one stands."""
    spec, group = spec_of(row)
    traced = is_true(row, "use_trace")
    group += "/traced" if traced else "/untraced"
    return _case(row, spec, group, row.number(HOST_COLUMN), "ns", itemgetter(first if traced else first + 1))


read = read_device
METRICS = {"device": read_device, "host": read_host, "host-at-full-clock": read_host_at_full_clock}


def _case(row, spec, group, measured, unit, value):
    work = row.integer("M") * row.integer("K") * row.integer("N")
    return Case(spec, group, measured, unit, float(work), value)


def _choice(row, name, known):
    if row[name] not in known:
        raise ValueError(f"column {name} is {row[name]!r}, not one of {', '.join(known)}")
    return row[name]


def is_true(row, name):
    """A column that says True or False; an out-of-box row leaves the sharding empty: nothing is sharded."""
    return _choice(row, name, ("True", "False", "")) == "True"


def spec_of(row):
    """(spec, group): chip, board, grid, shape, format, fidelity, sharding and all block sizes."""
    chip, mode = _choice(row, "chip", BOARDS), _choice(row, "config_mode", MODES)
    grid = row.integer("grid_x"), row.integer("grid_y")
    board = _board(chip, grid)
    shape = tuple(row.integer(axis) for axis in "MKN")
    if any(size < 1 or size % TILE for size in shape):
        raise ValueError(f"a product of {'x'.join(map(str, shape))} is not one of whole tiles")
    dtype = FORMATS[_choice(row, "dtype", FORMATS)]
    fidelity = _choice(row, "math_fidelity", FIDELITIES)
    sharded = is_true(row, "in0_sharded"), is_true(row, "out_sharded")
    places = row["in0_memory"], row["in1_memory"], row["out_memory"]
    if places != (MEMORIES[sharded[0]], "DRAM", MEMORIES[sharded[1]]):
        raise ValueError(f"in0, in1 and output in {', '.join(places)} contradict the sharding {sharded}")
    arch = load_arch(ARCHS[chip], {"board": board})
    topology, blocks, group = "rows_columns", _stated_blocks(row), "older"
    if blocks is not None:
        group = row["report_generation"]
    elif mode == "manual":
        blocks = gemm_blocks.tuned(shape, grid, dtype, arch, *sharded)
    else:
        topology, blocks = gemm_blocks.automatic(shape, grid, dtype, arch)
    name = f"{ARCHS[chip]}/manual {group}" if mode == "manual" else f"{ARCHS[chip]}/out_of_box"
    spec = (
        ARCHS[chip],
        board,
        grid,
        shape,
        int(dtype),
        fidelity,
        *sharded,
        topology,
        tuple(blocks.items()),
        mode == "manual",
    )
    return spec, name


def _board(chip, grid):
    """The part whose worker grid is that of the row."""
    grids = {load_arch(ARCHS[chip], {"board": board}).grid: board for board in BOARDS[chip]}
    if grid not in grids:
        raise Skip(f"no {chip} with a grid of {grid[0]}x{grid[1]} is described")
    return grids[grid]


def _stated_blocks(row):
    """The block sizes that the row lists, in tiles; None when it lists none."""
    texts = [row[f"{name}_tiles"].strip() for name in STATED]
    if not any(texts):
        return None
    return dict(zip(SIZES, (row.integer(f"{name}_tiles") for name in STATED), strict=True))
