"""The engines of a core at the level of instructions: what silicon measured of one call, by the vendor's own LLK on the machine.

`llk_blackhole_op_costs.csv`: cycles of one engine per tile or call (performance tests of tt-llk).  A row becomes the program that
those tests are (`kernels`): the engine repeats the call, other threads only hand over source registers.  A vector function of one
operand does one face of 16x16 in a call (the rows' unit: eight iterations), one of two operands a tile.
`wolfpine_derived_rates.csv`: cycles of one instruction that up to three threads issue again and again (`rates`).
"""

import functools
import re

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.riscv.llk.tree import find_tree
from tensim.sim.errors import UsageError
from tensim.validation.compute.sources import SUMS_OF_FACES
from tensim.validation.instruction import rates
from tensim.validation.instruction.kernels import OUT, A, B, Threads, each_tile, text_of, zone_cycles
from tensim.validation.instruction.lone_core import Buffer, LoneCore, programs
from tensim.validation.instruction.vector_calls import Call, vector_call
from tensim.validation.rows import Case, Skip

SECONDS = 5.0
COLUMNS = {
    "llk_ops": ("ttkernel_op", "engine", "input_format", "output_format", "extra_config", "cycles"),
    "derived_rates": ("dataset", "phase", "probe", "unit", "active_threads", "cycles_per_instruction_or_call"),
}
# the campaign whose math thread steps through Dst: its products take a cycle, the earlier one's six
STEPPING = "2026-08-09"
LOOPS, TILES = 16, 8  # of the performance tests
ENGINES = ("unpack", "math", "pack")
FACES = 4  # of a tile
WIDE = (DataFormat.Float32, DataFormat.Int32, DataFormat.UInt32)
START = f"compute_kernel_hw_startup({A}, {B}, {OUT});"
FIDELITIES = {"LoFi": 0, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}


def require():
    """UsageError where the vendor's LLK sources are not known."""
    find_tree()


@functools.cache
def release_of_llk():
    """Which library's LLK results belong to, by its release or where it lies; None where there is none."""
    try:
        tree = find_tree()
    except UsageError:
        return None
    return tree.release or str(tree.root)


def read(row, layout):
    """The case of a row of the file `layout`."""
    return _llk_op(row) if layout == "llk_ops" else _derived_rate(row)


def simulate(spec):
    """What a row's program takes in the row's unit; `spec` = (structure, arch, arguments, release of the LLK)."""
    structure, arch, arguments, _ = spec
    return {"engine": engine_cycles, "rate": rates.cycles_per_instruction}[structure](arch, *arguments)


def _llk_op(row):
    name, engine, extra = row["ttkernel_op"], row["engine"], row["extra_config"] or ""
    settings = (row["input_format"], row["output_format"], bool(row.integer("fp32_dest_acc", 0)), extra)
    kind = "init" if name.endswith("_init") or name == "compute_kernel_hw_startup" else engine
    group = f"{row['arch']}/{'math (SFPU)' if kind == 'math (SFPU)' else kind.split()[0] + _of(kind)}"
    arguments = (name, kind, engine.split()[0], *settings)
    return Case(("engine", row["arch"], arguments, release_of_llk()), group, row.number("cycles"), "cycles")


def _of(kind):
    return " (matrix)" if kind == "math (FPU)" else ""


def _derived_rate(row):
    if row["probe"] == "matmul_tiles" or row["unit"].startswith("RV"):
        raise Skip("not one coprocessor instruction again and again")
    threads, instruction = row.integer("active_threads"), rates.instruction_of_probe(row["probe"])
    group = f"{row['arch'] if 'arch' in row.columns else 'blackhole'}/rates {row['unit']}"
    steps = row["unit"] == "MATH" and STEPPING in row["dataset"]
    spec = ("rate", "blackhole", (instruction, threads, row.integer("thread"), steps), release_of_llk())
    return Case(spec, group, row.number("cycles_per_instruction_or_call"), "cycles", work=0.1)


# --- one engine


def engine_cycles(arch, name, kind, engine, source, target, wide, extra):
    """Cycles of an engine per call."""
    formats = DataFormat[source], DataFormat[target]
    if kind == "init":
        threads = _initialisation(name, engine, source, extra)
    elif kind == "math (SFPU)":
        threads = _vector(name, source)
    else:
        threads = OPERATIONS[_operation(name)](engine, wide, extra)
    calls = 1 if kind == "init" else LOOPS * TILES * (FACES if name in SUMS_OF_FACES else 1)
    return _measured(arch, threads, engine, formats, wide, extra) / calls


def _measured(arch, threads, engine, formats, wide, extra):
    source, target = formats
    direct = wide and source in WIDE and "unpack_to_dest" in extra
    buffers = [Buffer(index, source, TILES, TILES, direct) for index in (A, B)] + [Buffer(OUT, target, TILES)]
    fidelity = next((value for word, value in FIDELITIES.items() if word in extra), FIDELITIES["HiFi4"])
    elfs = programs(
        arch, text_of(threads), buffers, fp32_dest=wide, math_fidelity=fidelity, approximate="approx_mode=true" in extra,
        whole_program=False,
    )  # fmt: skip
    core = LoneCore(arch, elfs, buffers, (LOOPS, TILES))
    core.run()
    return zone_cycles(core.results[ENGINES.index(engine)])


def _operation(name):
    base = re.sub(r"_tiles?$", "", name)
    if base not in OPERATIONS:
        raise Skip(f"operation {name} has no re-creation")
    return base


# The suite's test of this name adds integers whose sign is apart, which the call of the API with this name cannot
SUM_OF_INTEGERS = Call(
    "add_int_sfpu", "add_int_tile_init();",
    "SFPU_BINARY_CALL(DST_SYNC_MODE, DST_ACCUM_MODE, _add_int_, (APPROX, 8, InstrModLoadStore::INT32, true), "
    "tile, (tile ^ 1), tile, VectorMode::RC);",
    2,
)  # fmt: skip


def _vector(name, source):
    integers = name == "add_binary_tile" and source == "Int32"
    call = SUM_OF_INTEGERS if integers else vector_call(name, source)
    return Threads((call.header,), f"{START} {call.init}", math=each_tile(call.call), one_face=call.operands == 1)


def _binary(operation):
    """mul_tiles and its like: four faces of each operand."""

    def threads(engine, wide, extra):
        prepare = f"{START}binary_tiles_init<true, EltwiseBinaryType::ELW{operation.upper()}>({A}, {B});"
        call = f"{operation}_tiles({A}, {B}, tile, tile, tile);"
        unpack = f"_llk_unpack_AB_<BroadcastType::NONE>(lone::address({A}, tile), lone::address({B}, tile));"
        handshake = f"<true, true>({FACES} * loops * tiles);"
        return Threads(
            ("eltwise_binary",), prepare,
            f"lone::give{handshake}" if engine == "math" else each_tile(unpack),
            f"lone::take{handshake}" if engine == "unpack" else each_tile(call),
        )  # fmt: skip

    return threads


def _reduce(engine, wide, extra):
    pool = "MAX" if "Max" in extra else "SUM"
    dim = next(kind for word, kind in REDUCTIONS.items() if word in extra)
    settings = f"PoolType::{pool}, ReduceDim::REDUCE_{dim}"
    prepare = f"{START}reduce_init<{settings}>({A}, {B}, {OUT});"
    call = f"reduce_tile<{settings}>({A}, {B}, tile, 0, tile);"
    unpack = f"_llk_unpack_AB_reduce_<{settings}>(lone::address({A}, tile), lone::address({B}, tile));"
    faces = 1 if dim == "ROW" and pool == "SUM" else FACES  # handed over for each tile
    handshake = f"<true, true>({faces} * loops * tiles);"
    return Threads(
        ("reduce",), prepare, f"lone::give{handshake}" if engine == "math" else each_tile(unpack),
        f"lone::take{handshake}" if engine == "unpack" else each_tile(call),
    )  # fmt: skip


def _copy(engine, wide, extra):
    call = f"copy_tile({A}, tile, tile);"
    if engine == "pack":
        return Threads(("pack",), START, pack=each_tile(f"pack_tile<true>(tile, {OUT}, tile);"))
    give = f"lone::give<true, {str(wide).lower()}>({FACES} * loops * tiles);"
    take = f"lone::take<true, true>({FACES} * loops * tiles);"
    if "unpack_to_dest" in extra:
        give = take = each_tile(call)
    return Threads(
        (),
        f"{START}copy_tile_init({A});",
        give if engine == "math" else each_tile(call),
        take if engine == "unpack" else each_tile(call),
    )


REDUCTIONS = {"ReduceColumn": "COL", "ReduceRow": "ROW", "ReduceScalar": "SCALAR"}
OPERATIONS = {
    "mul": _binary("mul"), "add": _binary("add"), "sub": _binary("sub"), "reduce": _reduce, "copy": _copy, "pack": _copy,
}  # fmt: skip


# --- initialisations


def _initialisation(name, engine, source, extra):
    header, call = INITIALISATIONS.get(name, (None, None))
    if header is None:
        function = vector_call(name.removesuffix("_init"), source)
        header, call = function.header, function.init
        if name == "exp_tile_init":
            approximate = str("approx_mode=true" in extra).lower()
            clamping = "None" if "input_clamping=false" in extra else "ClampToNegative"
            call = f"exp_tile_init<{approximate}, {ONE}, InputClamping::{clamping}>();"
    return Threads((header,), START, **{engine: call})


ONE = "0x3F800000"
INITIALISATIONS = {
    "mul_tiles_init": ("eltwise_binary", f"binary_tiles_init<true, EltwiseBinaryType::ELWMUL>({A}, {B});"),
    "copy_tile_init": ("tile_move_copy", f"copy_tile_init({A});"),
    "compute_kernel_hw_startup": ("compute_kernel_hw_startup", START),
}
