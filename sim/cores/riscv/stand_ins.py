"""Stand-ins for what a host program gives its kernels: arguments, circular buffers' formats, bound names, macros."""

import re
from dataclasses import dataclass, replace

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.riscv.refusals import UNDECLARED

BINDING = re.compile(
    r"\b(args|dfb|tensor|sem|scratch)::(?!AccessPattern\b|PackedTileCounter\b|get_token_if_present\b)(\w+)"
)
OPTIONAL = re.compile(r"\b(dfb|tensor)::get_token_if_present\b")  # a pointer to what a host program binds or leaves out
ARRAY = r"(?:\]|\barray<[^;=]*>\s*\w+)\s*=\s*"  # in front of the values of an array

DEMAND = re.compile(r"\b([A-Z][A-Z0-9_]{2,})(?: or [A-Z0-9_]+)* must be defined")
CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|elif)\b(.*)$", re.M)
SWITCH = re.compile(r"\b([A-Z][A-Z0-9_]{2,})\b(?:\s*==\s*(\d+))?")
# A compile-time argument that a kernel gives a name, by its number or by an enumerator's name
ARGUMENT = re.compile(
    r"\b(\w+)(?:\s*\[\[\w+\]\])?\s*=\s*(?:\w+<[\w:]+>\()?\s*get_compile_time_arg_val\(\s*([\w:]+)\s*\)"
)
NUMBERS = re.compile(r"\bnamespace\s+(\w+)\s*\{\s*enum\b[^{]*\{([^}]*)\}")
ALIAS = re.compile(r"\bnamespace\s+(\w+)\s*=\s*(?:\w+::)*(\w+)\s*;")
REQUIREMENT = re.compile(r"static assertion failed due to requirement '([^']*)'")
POWERS = (1, 2, 4, 8, 16, 32, 64)  # tried where an assertion has no number of its own
# Arguments whose names say what they are, by number and by name: no window of attention, no work that is split
KNOWN = {"tile_h": 32, "tile_w": 32, "sliding_window_size": 0}
NAMED = {"kv_stripe_split": 1, "ksplit_count": 1, "seg_accum": 0}
BUFFER = re.compile(r"cb_\w+")  # arguments that are circular buffers
BUFFERS = 32  # indexes of circular buffers
WORDS = 256  # stand-in compile-time arguments
SWITCHES = 8  # macros of a kernel's conditions that are tried


@dataclass(frozen=True)
class Guess:
    """What a host program might give: compile-time arguments, named ones, the format of all circular buffers.

    `buffers_apart`: arguments that a kernel names cb_* are each another circular buffer.
    """

    arguments: tuple
    named: str = "1"  # C++ text; the argument's `name` may stand in it
    data_format: DataFormat = DataFormat.Float16_b
    reduction: str = "PoolType::SUM"
    buffers_apart: bool = False

    def differs_in_arguments_only(self, other):
        return replace(self, arguments=other.arguments) == other


# A number from 1 to 31 that differs from name to name
APART = "[&] { uint32_t sum = 0; for (char letter : name) sum = sum * 3 + letter; return sum % 31 + 1; }()"
# Tried one after the other.  A 2 describes a tensor in DRAM, 1 and 3 one in shards.
GUESSES = (
    Guess((2,) * WORDS), Guess((1,) * WORDS), Guess((32,) * WORDS), Guess((0,) * WORDS, named="0"),
    Guess((64,) * WORDS), Guess((4,) * WORDS, named="4"), Guess(tuple(range(WORDS)), named=APART),
    Guess(tuple(range(1, WORDS + 1)), named=APART),
    Guess((3,) * WORDS), Guess((1,) * WORDS, named=APART), Guess((2,) * WORDS, data_format=DataFormat.Bfp4_b),
    Guess((2,) * WORDS, reduction="PoolType::MAX"), Guess((0,) * WORDS), Guess((2,) * WORDS, buffers_apart=True),
)  # fmt: skip
# of these, those whose arguments are repaired: all alike, all different, buffers apart
REPAIRED = (0, 6, len(GUESSES) - 1)
# Macros that the library's host code gives its kernels, where 1 would not do
MACROS = {
    "REDUCE_DIM": "ReduceDim::REDUCE_ROW", "ELTWISE_OP": "add_tiles",
    "ELTWISE_OP_INIT": "add_tiles_init", "ELTWISE_OP_TYPE": "EltwiseBinaryType::ELWADD", "SFPU_OP_CHAIN_0": "",
    "BINARY_OP": "add_tiles", "BINARY_OP_TYPE": "EltwiseBinaryType::ELWADD", "BINARY_SFPU_INIT": "",
    "MASK_ELEM_UINT": "uint16_t", "BCAST_OP": "add_tiles_bcast_rows", "BCAST_LLKOP": "EltwiseBinaryType::ELWADD",
    "BCAST_DIM": "BroadcastType::ROW", "TYPECAST_LLK_INIT": "typecast_tile_init<5u, 5u>", "TYPECAST_LLK": "typecast_tile<5u, 5u>",
    "SRC_DATA_FORMAT": "DataFormat::Float16_b", "WHERE_DATA_FORMAT": "Float16_b",
    "FILL_PAD_DATA_FMT": "DataFormat::Float16_b",
    "ADDCMUL_DATA_FORMAT": "DataFormat::Int32", "COPY_DEST_DATA_FORMAT": "DataFormat::Float16_b",
    "BF16_ROUNDING_MODE": "ckernel::DstRoundingMode::Default",
    "CHAIN_BCAST_OP": "compute_kernel_lib::BinaryFpuOp::Add", "CHAIN_BCAST_DIM": "compute_kernel_lib::BroadcastDim::Row",
}  # fmt: skip


def argument_places(text):
    """{name that a kernel gives a compile-time argument: its number}."""
    numbers = {}
    for space, body in NUMBERS.findall(text):
        at = 0
        for entry in filter(None, (part.strip() for part in body.split(","))):
            name, _, value = (part.strip() for part in entry.partition("="))
            at = int(value) if value.isdigit() else at
            numbers[f"{space}::{name}"] = at
            at += 1
    found, aliases = {}, dict(ALIAS.findall(text))
    for name, place in ARGUMENT.findall(text):
        *spaces, last = place.split("::")
        space = aliases.get(spaces[-1], spaces[-1]) if spaces else ""
        number = int(place) if place.isdigit() else numbers.get(f"{space}::{last}")
        if number is not None and number < WORDS:
            found[name] = number
    return found


def with_names(text, guess):
    """The guess with the arguments whose names say what they are."""
    places = argument_places(text)
    values = {places[name]: value for name, value in KNOWN.items() if name in places}
    if guess.buffers_apart:
        named = (place for name, place in places.items() if BUFFER.fullmatch(name))
        values |= {place: number % BUFFERS for number, place in enumerate(named)}
    return replace(guess, arguments=tuple(values.get(i, value) for i, value in enumerate(guess.arguments)))


def repaired(message, text, guess):
    """[Guess] with one argument changed that a failed static assertion names: to a number of its own, or to a power of two."""
    requirement = REQUIREMENT.search(message)
    if requirement is None:
        return []
    places = argument_places(text)
    numbers = [int(number) for number in re.findall(r"\b(\d+)[uU]?[lL]?\b", requirement[1])]
    found = []
    for name in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", requirement[1])):
        for number in dict.fromkeys((*numbers, *POWERS)) if name in places else ():
            if guess.arguments[places[name]] != number:
                changed = list(guess.arguments)
                changed[places[name]] = number
                found.append(replace(guess, arguments=tuple(changed)))
    return found


TENSOR = "::tensor_accessor::TensorBindingToken<0, 0>"
# Arguments behind the named ones
UNNAMED = {
    "get_vararg": "inline uint32_t get_vararg(uint32_t index) { return get_arg_val<uint32_t>(index); }",
    "get_common_vararg": "inline uint32_t get_common_vararg(uint32_t index) { return get_common_arg_val<uint32_t>(index); }",
    "get_compile_time_vararg": """template <uint32_t index>
constexpr uint32_t get_compile_time_vararg() { return get_ct_arg<index>(); }
constexpr uint32_t get_compile_time_vararg(uint32_t index) { return kernel_compile_time_args[index]; }""",
}


def bindings(text, guess):
    """C++ text of the names that a host program binds: arguments, buffers, tensors, semaphores, scratch memory."""
    found = {}
    for kind, name in BINDING.findall(text):
        found.setdefault(kind, {})[name] = None
    forms = {
        "args": "constexpr CtaVal<uint32_t> {name}{{{value}u}};", "dfb": "constexpr DFBBindingToken<> {name}{{{number}}};",
        "tensor": f"constexpr {TENSOR} {{name}}{{{{}}}};", "sem": "constexpr SemaphoreBindingToken {name}{{{number}}};",
        "tensors": f"constexpr std::tuple<{TENSOR}, {TENSOR}> {{name}}{{{{}}}};",
        "scratch": "constexpr ScratchpadBindingToken {name}{{0, 1024}};",
    }  # fmt: skip
    lines = []
    for kind, names in found.items():
        body = []
        for number, name in enumerate(names):
            several = kind == "tensor" and re.search(rf"tuple_size\w*<\s*decltype\(tensor::{name}\)", text)
            form = "tensors" if several else kind
            body.append(forms[form].format(name=name, number=number % 16, value=guess.arguments[number]))
        lines.append(f"namespace {kind} {{ {' '.join(body)} }}")
    behind = [line for name, line in UNNAMED.items() if name in text]
    return "\n".join([*lines, *_optional_bindings(text), *behind])


def _optional_bindings(text):
    """Lines that let a kernel ask for names that a host program may leave out."""
    kinds = sorted(set(OPTIONAL.findall(text)))
    tokens = {"dfb": "DFBBindingToken<> token{15};", "tensor": f"{TENSOR} token{{}};"}
    get = "template <::internal::TemplateString name> constexpr auto* get_token_if_present() { return &token; }"
    return [f"namespace {kind} {{ inline constexpr {tokens[kind]} {get} }}" for kind in kinds]


def macros(message, text, guess):
    """Stand-ins {name: value} for the undeclared names in a compiler's message that look like macros of a host program."""
    names = {name for name in UNDECLARED.findall(message) if re.fullmatch(r"[A-Z][A-Z0-9_]{2,}", name)}
    found = dict.fromkeys(DEMAND.findall(message), "1")
    known = MACROS | {"REDUCE_OP": guess.reduction}
    if re.search(r"\bBCAST_OP\s*<", text):  # the general call, which is told its dimension
        known["BCAST_OP"] = "add_tiles_bcast"
    for name in sorted(names):
        called = re.search(rf"\b{name}\s*\(", text) or name.startswith("PROCESS_")
        if called and name not in known:
            found[f"{name}(...)"] = ""
        elif re.search(rf"{ARRAY}{name}\s*;", text):
            found[name] = "{}"
        else:
            found[name] = known.get(name, "0" if name.startswith("LOG2_") else "1")
    return found


def switches(text):
    """Macros {name: value} that a kernel's own conditions ask for, one at a time, as its host program would choose."""
    found = {}
    for condition in CONDITION.findall(text):
        for name, number in SWITCH.findall(condition):
            found.setdefault((name, number or "1"))
    return [{name: number} for name, number in list(found)[:SWITCHES]]
