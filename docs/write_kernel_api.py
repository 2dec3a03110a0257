"""Write the tables of docs/kernel_api.md from those of the kernel compiler: python -m docs.write_kernel_api."""

from pathlib import Path

from tensim.sim.cores.kernels.api import parameters
from tensim.sim.cores.kernels.call_descriptions import CONFIG_TEXTS, FORMULAS, describe, signature, vector_function
from tensim.sim.cores.kernels.call_texts import METHODS, RECORD_TITLES, SECTIONS
from tensim.sim.cores.kernels.lowering_calls import METHODS as FREE_FUNCTIONS
from tensim.sim.cores.kernels.lowering_calls import call_names
from tensim.sim.cores.kernels.lowering_operations import OPERATIONS
from tensim.sim.cores.operations import CONFIG_COSTS, Config, Op

PAGE = Path(__file__).with_name("kernel_api.md")
BEGIN, END = "<!-- calls: docs/write_kernel_api.py -->", "<!-- end -->"
VECTOR_TITLES = {
    Op.SFPU_UNARY: (
        "One tile, in place",
        "`X(idst, ..., approx=math_approx_mode, vector_mode=0)`: x is a datum of Dst[idst].",
    ),
    Op.SFPU_BINARY: (
        "Two tiles",
        "`X(idst0, idst1, odst, approx=0, vector_mode=0)`: x is a datum of Dst[idst0], y of Dst[idst1].",
    ),
    Op.SFPU_TERNARY: (
        "Three tiles",
        "`X(idst0, idst1, idst2, odst, ..., approx=0, vector_mode=0)`: x, y, z are datums of those tiles.",
    ),
}
METHODS_INTRODUCTION = (
    "The objects that some calls return have methods. Where a call is named, the method is that call."
)
VECTOR_INTRODUCTION = """\
All belong to the math thread and cost `tensix.issue.math` and what the vendor's own code for them takes, by form and width of Dst
([costs](instruction_level.md#costs-of-vector-functions)); a parameter `tensix.sfpu_cycles.NAME`, in approximate form
`tensix.sfpu_cycles_approximate.NAME`, replaces that. `approx`, 0 or 1, chooses the form; a call of one tile that leaves it out
follows the kernel's `math_approx_mode`. `X_tile_init` has it, too; give both the same. `exp_tile` and its initialisation take
`input_clamping=0` besides ([numerics](numerics.md#approximate-forms)). Parameters are 32-bit patterns: a, b and c are `param0`,
`param1` and `param2` as floats, n is `param0` as an integer. Comparisons give 1 or 0."""
CONFIGURATION_INTRODUCTION = """\
Configuration calls take tt-metal's arguments and ignore them: the model knows the formats from the circular buffers. Each of their
threads is charged the cost. `X_tile_init` stands for that of each vector function."""
COMMON = ("idst", "idst0", "idst1", "idst2", "odst", "approx", "vector_mode")


def table(head, rows):
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]


def code(words):
    return ", ".join(f"`{word}`" for word in words)


def call_rows(names):
    for call in map(describe, names):
        yield code(call.spellings), call.thread_names, code(call.costs) or "-", call.text


def kind_of(name):
    """The operation that a vector or configuration call posts, None for other calls."""
    posts = OPERATIONS[name].posts if name in OPERATIONS else ()
    return posts[0].op if posts else None


def vector_rows(op):
    """Vector functions by formula: all spellings of a function in one row."""
    spellings = {}
    for name in call_names():
        if kind_of(name) == op:
            post = OPERATIONS[name].posts[0]
            spellings.setdefault(post.arguments[0], []).append(name)
    for names in spellings.values():
        extra = [name for name in OPERATIONS[names[0]].parameters if name not in COMMON]
        key = min(filter(None, map(vector_function, names)), key=len)
        yield code(names), code(extra), FORMULAS[key]


def config_rows():
    for register in CONFIG_TEXTS:
        by_threads = {}
        for name in call_names():
            if kind_of(name) == Op.CONFIG and OPERATIONS[name].posts[0].arguments[0] == register:
                by_threads.setdefault(describe(name).thread_names, []).append(name)
        for threads, names in by_threads.items():
            if register == Config.SFPU_INIT:
                names = ["X_tile_init", *(name for name in names if not name.endswith("_tile_init"))]
            yield code(names), threads, code([CONFIG_COSTS[register]]), CONFIG_TEXTS[register]


def method_rows(kind):
    fields = 0 if kind == "noc" else 1  # of the object, which the free function gets first; a NoC comes last there
    for (owner, method), function in FREE_FUNCTIONS.items():
        if owner == kind and not function.startswith("_"):
            form = {
                name: default for name, default in list(describe(function).forms[0].items())[fields:] if name != "noc"
            }
            yield spelling(method, form), f"`{function}`"
    for method, (params, text) in METHODS.get(kind, {}).items():
        yield spelling(method, parameters(params)), text


def spelling(name, form):
    return f"`{name}{signature(form)}`"


def lines():
    """The generated part of the page."""
    for title, calls in SECTIONS.items():
        yield from ("", f"## {title}", "", *table(("call", "threads", "cost", "what it does"), call_rows(calls)))
    yield from ("", "## Methods", "", METHODS_INTRODUCTION)
    for kind, title in RECORD_TITLES.items():
        yield from ("", f"### {title}", "", *table(("method", "what it does"), method_rows(kind)))
    yield from ("", "## Vector unit", "", VECTOR_INTRODUCTION)
    for op, (title, form) in VECTOR_TITLES.items():
        yield from ("", f"### {title}", "", form, "", *table(("call", "more parameters", "value"), vector_rows(op)))
    yield from ("", "## Configuration", "", CONFIGURATION_INTRODUCTION, "")
    yield from table(("call", "threads", "cost", "what it does"), config_rows())


def page(text):
    """The page with its generated part up to date."""
    return f"{text[: text.index(BEGIN) + len(BEGIN)]}\n" + "\n".join(lines()) + f"\n\n{text[text.index(END) :]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
