"""Expressions on tiles of one core: `compute_fusion`, `matmul_output_subblock` and `sfpu_tile_scope`.

Times per evaluation are the slope over rounds.  Times per launch take the rounds of the launch: the time of a few of them,
and the slope for the others.
"""

import tensim as tt
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.validation.compute import kernels as compute_kernels
from tensim.validation.compute.programs import SCALE, TRISCS, A, B, Core, end_of
from tensim.validation.compute.sources import vector_loop
from tensim.validation.kernels import expression_kernels as kernels
from tensim.validation.kernels.columns import find, nanoseconds

WHOLE = {  # (scenario, variant) of compute_fusion: what a round evaluates
    ("sfpu_chain", "fused"): kernels.FUSED_CHAIN,
    ("sfpu_chain", "unfused"): kernels.UNFUSED_CHAIN,
    ("fpu_sfpu", "dstreuse"): kernels.FUSED_REUSE,
    ("fpu_sfpu", "sfpu"): kernels.FUSED_VECTOR,
    ("fpu_sfpu", "unfused"): kernels.UNFUSED_PRODUCT,
    ("reduce_recip", "fused"): kernels.FUSED_REDUCE,
    ("reduce_recip", "unfused"): kernels.UNFUSED_REDUCE,
}
PASSES = {  # a zone of an unfused evaluation: one of its passes
    "CF_SQRT": kernels.PASS_SQRT, "CF_ADD": kernels.PASS_ADD, "CF_MUL": kernels.PASS_MUL, "CF_EXP": kernels.PASS_EXP,
    "CF_REDUCE": kernels.PASS_REDUCE, "CF_RECIP": kernels.PASS_RECIP,
}  # fmt: skip
ZONE_BLOCK = 4  # tiles per section where a zone row does not say (assumed)
VECTOR_ROWS = 32  # vector operations of a whole tile
FEW, MANY = 2, 6
COMPUTED = end_of(*TRISCS)


def spec(row):
    """What decides the program of a row."""
    return {
        "compute_fusion": _fusion, "matmul_output_subblock": _subblock, "sfpu_tile_scope": _scope,
    }[row["example"]](row)  # fmt: skip


def _fusion(row):
    scenario, tiles = find(row, r"scenario=(\w+)")[1], int(find(row, r"tiles=(\d+)")[1])
    if row["metric"].startswith("zone time"):
        thread = find(row, r"TRISC\d", "metric")[0]
        variant, name = find(row, r"(\w+) zone (CF_\w+)", "variant").groups()
        block = 1 if scenario == "reduce_recip" else ZONE_BLOCK
        what = WHOLE.get((scenario, variant)) if name == "CF_FUSED" else PASSES.get(name)
    else:
        thread, block = None, int(find(row, r"dest_block=(\d+)")[1])
        what = WHOLE.get((scenario, row["variant"]))
    if what is None:
        raise ValueError(f"columns variant and params: no expression {row['variant']!r} of scenario {scenario!r}")
    results = 1 if scenario == "reduce_recip" else tiles
    return "evaluation", row["arch"], _settings(), (what, tiles, block), results, thread


def _subblock(row):
    rt, ct = (int(size) for size in find(row, r"subblock (\d+)x(\d+)", "variant").groups())
    m, n, k = (int(size) for size in find(row, r"M=(\d+) N=(\d+) K=(\d+) tiles").groups())
    if k != 1:
        raise ValueError(f"column params: {k} steps of K, not 1")
    return "subblocks", row["arch"], _settings(), (m, n, rt, ct), int(find(row, r"(\d+) in-kernel iterations")[1])


def _scope(row):
    """The vector unit takes the same time for each operation of a call, whatever part of the tile it covers."""
    function, operations = row["variant"].split(" ")[0], int(find(row, r"vector ops per call=(\d+)")[1])
    if function not in ("rsqrt", "recip"):
        raise ValueError(f"column variant names the function {function!r}, not rsqrt or recip")
    return "scope", row["arch"], _settings(), function, operations


def _settings(dtype="Float16_b", wide=False):
    return (dtype, dtype, "HiFi4", wide, False, False)


def time_ns(what, arch, settings, *arguments):
    """ns per evaluation, call or launch."""
    measure = {"evaluation": evaluation, "subblocks": subblocks, "scope": scope}[what]
    return nanoseconds(arch, measure(arch, settings, *arguments))


def launch(build, arch, settings, rounds, measure=COMPUTED):
    """(cycles of a few rounds + the slope for the others, slope): what a launch of `rounds` rounds takes."""
    times = []
    for some in (FEW, MANY):
        with Core(arch, settings) as core:
            build(core, some)
            times.append(measure(core.run()))
    slope = (times[1] - times[0]) / (MANY - FEW)
    return times[0] + slope * (rounds - FEW), slope


def evaluation(arch, settings, arguments, results, thread):
    _, tiles, block = arguments

    def build(core, rounds):
        core.buffers(A=tiles, B=tiles, SUM=tiles, SCALE=1, OUT=2 * results)
        page = tile_size(DataFormat.Float16_b)
        config = tt.CircularBufferConfig(tiles * page, {kernels.PARTIAL: DataFormat.Float16_b})
        tt.create_circular_buffer(core.program, core.cores, config.set_page_size(kernels.PARTIAL, page))
        core.mover(compute_kernels.feed_pair, (A, B, tiles))
        core.mover(compute_kernels.feed, (SCALE, 1, 1), writer=True)
        core.compute(kernels.evaluate, *arguments, rounds, results)

    return launch(build, arch, settings, 0, COMPUTED if thread is None else end_of(thread))[1]


def subblocks(arch, settings, shape, iterations):
    m, n, _, _ = shape

    def build(core, rounds):
        core.buffers(A=m, B=n, OUT=m * n)
        core.mover(compute_kernels.feed, (A, m, 1))
        core.mover(compute_kernels.feed, (B, n, 1), writer=True)
        core.compute(kernels.multiply_subblocks, *shape, rounds)

    return launch(build, arch, settings, iterations)[0]


def scope(arch, settings, function, operations):
    def build(core, rounds):
        core.compute(vector_loop(function), 0, rounds)

    _, slope = launch(build, arch, settings, 0, end_of("TRISC1"))
    return slope * operations / VECTOR_ROWS
