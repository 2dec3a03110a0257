"""What the vector unit's functions cost: each as genuine LLK on the instruction level, for the table of the operation level.

A function's call of the compute API and its initialisation are repeated by a math thread that nobody else disturbs; the cost is
the slope over repetitions, so that what begins and ends a series does not count.  In each width of Dst (16 and 32 bits), each form
that the operation level knows (`Approximation`), on both chips.  What a release does not have, or what does not build, takes the
cost of something else, and the table says of what (`stands_in`).

`python -m tensim.validation costs` writes `sim/arch/vector_costs.json`, which `tensim.sim.arch.vector_costs` reads.
"""

import itertools
import json
import multiprocessing
import re
from typing import NamedTuple

from tensim.sim.arch import vector_costs
from tensim.sim.arch.vector_costs import ACCURATE, APPROXIMATE, CASTS, REDUCTION, TABLE, UNCLAMPED, cast_name
from tensim.sim.cores.kernels.api_compute import vector_names
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.numerics.sfpu_functions import BY_FORMAT, SFPU_API, SfpuUnary
from tensim.sim.cores.riscv.llk.tree import FAMILIES, find_tree
from tensim.sim.errors import TensimError
from tensim.sim.output_files import write_output
from tensim.validation.instruction.kernels import OUT, A, B, Threads, text_of
from tensim.validation.instruction.lone_core import Buffer, LoneCore, program
from tensim.validation.instruction.vector_calls import declarations, vector_call
from tensim.validation.rows import Skip

COMMAND = "python -m tensim.validation costs"
FEW, MANY = 4, 12  # repetitions, between which the slope is taken
BATCH = 8  # functions of one kernel
MARKS = 5  # of a function: two series of initialisations, two of calls, and their end
FORMAT = DataFormat.Float16_b
BUFFERS = [Buffer(index, FORMAT, 1) for index in (A, B, OUT)]
WHERE = re.compile(r"^\S+:\d+: ")  # file and line of a message
START = f"compute_kernel_hw_startup({A}, {B}, {OUT});"
# One call site for each series: the series' lengths differ, the code that runs does not.
SERIES = """for (std::uint32_t series = 0; series < 2; series++) {
        lone::mark(0xC);
        for (std::uint32_t left = series ? @MANY : @FEW; left > 0; left--) {
            [[maybe_unused]] const std::uint32_t tile = left & 3;
            @CALL
        }
        tensix_sync();
    }
    """
# which rdiv.h uses without naming it
CONVERTER = '#ifdef TRISC_MATH\n#include "sfpu/ckernel_sfpu_converter.h"\n#endif\n'


class Function(NamedTuple):
    """A function in one form: `init` and `call` are statements; `header`: below api/compute, without .h."""

    name: str
    form: str
    header: str
    init: str
    call: str


# --- what is run


def functions():
    """[Function] of all that the operation level knows and the release has; the others are in `PARTS`."""
    found = [*_casts(), _reduction()]
    for name, (function, _) in SFPU_API.items():
        call = _call(name)
        if call is None or function is SfpuUnary.TYPECAST:
            continue
        forms = (ACCURATE, APPROXIMATE) if type(function) is SfpuUnary else (ACCURATE,)
        for form in (*forms, UNCLAMPED) if (function.name, UNCLAMPED) in FORMS else forms:
            texts = FORMS.get((function.name, form), (call.init, call.call))
            found.append(Function(function.name, form, call.header, *texts))
    return found


# Forms that a template argument chooses; of all other unary functions the kernel's math_approx_mode does
FORMS = {
    ("EXP", APPROXIMATE): ("exp_tile_init<true>();", "exp_tile<true>(tile);"),
    ("EXP", UNCLAMPED): (
        "exp_tile_init<true, 0x3F800000, InputClamping::None>();",
        "exp_tile<true, false, InputClamping::None>(tile);",
    ),
    ("GELU", APPROXIMATE): ("gelu_tile_init<true>();", "gelu_tile<true>(tile);"),
    ("TANH", APPROXIMATE): ("tanh_tile_init<true>();", "tanh_tile<true>(tile);"),
    ("SIGMOID", APPROXIMATE): ("sigmoid_tile_init<true>();", "sigmoid_tile<VectorMode::RC, true>(tile);"),
    ("ERF", APPROXIMATE): ("erf_tile_init<true>();", "erf_tile<true>(tile);"),
    ("MISH", ACCURATE): ("mish_tile_init<false>();", "mish_tile<false>(tile);"),
    ("MISH", APPROXIMATE): ("mish_tile_init<true>();", "mish_tile<true>(tile);"),
}
# Names of earlier releases and of the operation level: the call of this release, and the format that it is called for
RENAMED = {
    "mask_binary": ("mask_tile", FORMAT.name), "rdiv_trunc": ("rdiv_tile", FORMAT.name), "rdiv_floor": ("rdiv_tile", FORMAT.name),
    **{
        f"{name}_{kind.lower()}": (f"{name}_int_tile", kind)
        for name in ("add", "sub", "mul", "rsub")
        for kind in ("Int32", "UInt32", "UInt16")
    },
    **{
        function: (f"{name}_tile", data_format.name)
        for name, by_format in BY_FORMAT.items()
        for data_format, function in reversed(by_format.items())
        if data_format in (FORMAT, DataFormat.Int32, DataFormat.UInt32, DataFormat.UInt16)
    },
}  # fmt: skip
ROUNDED = {"rdiv_trunc": "rdiv_tile<RoundingMode::Trunc>", "rdiv_floor": "rdiv_tile<RoundingMode::Floor>"}
# What the release does not have, or does not build: the functions that it is made of
PARTS = {
    "QUICKGELU": ("MUL_UNARY", "SIGMOID", "MUL_BINARY"), "HARDGELU": ("HARDSIGMOID", "MUL_BINARY"),
    "HARDSWISH": ("HARDSIGMOID", "MUL_BINARY"), "POWER": ("LOG", "MUL_UNARY", "EXP"), "RPOW": ("LOG", "MUL_UNARY", "EXP"),
    "POWER_BINARY": ("LOG", "MUL_BINARY", "EXP"), "RSUB": ("RSUB_UNARY",),
}  # fmt: skip


def _call(name):
    """The call of a function of the operation level, None where the release has none."""
    renamed, data_format = RENAMED.get(name, (None, FORMAT.name))
    spelled = [one for one in vector_names(name) if one in declarations()]
    try:
        call = vector_call(spelled[0] if spelled else renamed or f"{name}_tile", data_format)
    except Skip:
        return None
    return call._replace(call=call.call.replace("rdiv_tile", ROUNDED[name])) if name in ROUNDED else call


def _casts():
    """Casts between all formats that the vector unit tells apart."""
    for source, target in itertools.permutations(CASTS, 2):
        kinds = f"<{int(DataFormat[source])}, {int(DataFormat[target])}>"
        yield Function(
            cast_name(source, target), ACCURATE, "eltwise_unary/typecast", f"typecast_tile_init{kinds}();",
            f"typecast_tile{kinds}(tile);",
        )  # fmt: skip


def _reduction():
    settings = "<PoolType::SUM, DataFormat::Float32>"
    call = "sfpu_reduce<PoolType::SUM, DataFormat::Float32, ReduceDim::REDUCE_COL>(tile);"
    return Function(REDUCTION, ACCURATE, "compute_kernel_api", f"sfpu_reduce_init{settings}();", call)


# --- how it is measured


def kernel(some):
    """The text of a kernel that runs some functions one after the other."""
    body = ""
    for one in some:
        for statement in (one.init, one.call):
            body += SERIES.replace("@CALL", statement)
        body += "lone::mark(0xC);\n    "
    body = body.replace("@FEW", str(FEW)).replace("@MANY", str(MANY))
    return CONVERTER + text_of(Threads(tuple(sorted({one.header for one in some})), START, math=body))


def costs_of_marks(words):
    """(cycles of a call, of an initialisation) of a function from the words that its `MARKS` wrote."""
    times = [int(word) for word in words[1::2]]
    spans = [later - earlier for earlier, later in itertools.pairwise(times)]
    init, call = (round((spans[i + 1] - spans[i]) / (MANY - FEW)) for i in (0, 2))
    return max(call, 1), max(init, 1)  # a cast that the packer does, or an initialisation without any


def measured(arch, wide, some):
    """{(name, form): (cycles of a call, of an initialisation) or why there are none} of functions of one kind of kernel."""
    try:
        return _run(arch, wide, some)
    except (TensimError, ValueError) as error:
        if len(some) == 1:
            return {(some[0].name, some[0].form): WHERE.sub("", str(error).splitlines()[0])}
    half = len(some) // 2
    return measured(arch, wide, some[:half]) | measured(arch, wide, some[half:])


def _run(arch, wide, some):
    settings = {"math_fidelity": 4, "fp32_dest": wide, "approximate": some[0].form != ACCURATE}
    idle, text = text_of(Threads(prepare=START)), kernel(some)
    elfs = [program(arch, number, text if number == 1 else idle, BUFFERS, **settings) for number in range(3)]
    core = LoneCore(arch, elfs, BUFFERS, (1, 1))
    core.run()
    words, size = core.results[1][2:], 2 * MARKS
    return {(one.name, one.form): costs_of_marks(words[size * i : size * (i + 1)]) for i, one in enumerate(some)}


def tasks(wanted):
    """[(chip, whether Dst has 32 bits, functions of one kernel)]."""
    found = []
    for chip, wide, is_accurate in itertools.product(FAMILIES, (False, True), (True, False)):
        alike = [one for one in wanted if (one.form == ACCURATE) == is_accurate]
        found += [(chip, wide, alike[i : i + BATCH]) for i in range(0, len(alike), BATCH)]
    return found


def _work(task):
    chip, wide, some = task
    return chip, wide, measured(chip, wide, some)


def measure(wanted, jobs, on_done=lambda done, of: None):
    """{(chip, wide): {(name, form): (cycles of a call, of an initialisation) or why there are none}}."""
    found, left = {}, tasks(wanted)
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for number, (chip, wide, some) in enumerate(pool.imap_unordered(_work, left), 1):
            found.setdefault((chip, wide), {}).update(some)
            on_done(number, len(left))
    return found


# --- the table


def table_of(found):
    """{chip: {name: {form: {"call": [cycles with 16-bit Dst, with 32-bit], "init": the same}, "stands_in": text}}}.

    A form that costs what the accurate one does, to a cycle by which a slope is rounded, is left out.
    """
    return {chip: _entries(found, chip) for chip in FAMILIES}


def _entries(found, chip):
    names = {name for some in found.values() for name, _ in some} | set(PARTS)
    entries = {}
    for name in sorted(names):
        entry, why = {}, []
        for form in vector_costs.FORMS:
            pairs = [_pair(found, chip, wide, name, form, why) for wide in (False, True)]
            if None in pairs:
                continue
            costs = {kind: [pair[i] for pair in pairs] for i, kind in enumerate(("call", "init"))}
            if form == ACCURATE or not _alike(costs, entry[ACCURATE]):
                entry[form] = costs
        if why:
            entry["stands_in"] = "; ".join(dict.fromkeys(why))
        entries[name] = entry
    return entries


def _alike(some, others):
    return all(abs(x - y) <= 1 for kind, costs in some.items() for x, y in zip(costs, others[kind], strict=True))


def _pair(found, chip, wide, name, form, why):
    """(cycles of a call, of an initialisation), of what stands in for a function that has none, said in `why`; None: no form."""
    known = {place: some.get((name, form)) for place, some in found.items()}
    if isinstance(known.get((chip, wide)), tuple):
        return known[chip, wide]
    reason, width = known.get((chip, wide)) or "not in the release", 32 if wide else 16
    if form != ACCURATE:
        return None
    other = next(one for one in FAMILIES if one != chip)
    if isinstance(known.get((other, wide)), tuple):
        why.append(f"{width}-bit Dst: the figure of {other} ({reason})")
        return known[other, wide]
    if name in PARTS:
        why.append(f"{width}-bit Dst: the sum of {', '.join(PARTS[name])} ({reason})")
        parts = [_pair(found, chip, wide, part, ACCURATE, why) for part in PARTS[name]]
        return tuple(map(sum, zip(*parts, strict=True)))
    if not isinstance(known.get((chip, not wide)), tuple):
        raise ValueError(f"{name} on {chip}: nothing stands in for it ({reason})")
    why.append(f"{width}-bit Dst: the figure of the other width ({reason})")
    return known[chip, not wide]


def require():
    """UsageError where the vendor's LLK sources are not known."""
    find_tree()


def write(found, path=TABLE):
    """Write the table, a line for each function; how many there are on both chips."""
    table, lines = table_of(found), []
    for chip, costs in table.items():
        rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(costs[name])}" for name in sorted(costs))
        lines.append(f"  {json.dumps(chip)}: {{\n{rows}\n  }}")
    head = f'  "release": {json.dumps(find_tree().release or "unknown")},\n  "command": {json.dumps(COMMAND)},\n'
    write_output(path, "{\n" + head + ",\n".join(lines) + "\n}\n")
    return sum(map(len, table.values()))
