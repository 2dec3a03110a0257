"""Header text that follows from the project's tables: operations as traps, enumerations, vector functions."""

from tensim.sim.cores.fabric import layout, worker_area
from tensim.sim.cores.kernels.api_compute import SHARED_INITIALISATIONS, vector_names
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.cores.numerics.sfpu_functions import BY_FORMAT, CASTS, SFPU_API, SfpuBinary, SfpuTernary, SfpuUnary
from tensim.sim.cores.numerics.vector_codes import VECTOR_CODE_BITS, vector_code
from tensim.sim.cores.operations import (
    FUNCTION_BITS,
    Approximation,
    Barrier,
    Bcast,
    Binary,
    Config,
    Issue,
    Op,
    Pool,
    ReduceDim,
    Reuse,
)
from tensim.sim.cores.riscv import generated_calls
from tensim.sim.cores.riscv.traps import ARGUMENTS, RESULTS, Form, Manipulator, Print
from tensim.sim.cores.tensix.initialisation import BUFFER_SHIFT, Setup

TYPES = {"u": "uint32_t", "s": "int32_t", "q": "uint64_t"}


# Macros of the assembler that the trap instructions of operations are
FORMS = {
    "tensim_u r": f".insn r 0x0b, {Form.UNSIGNED:d}, 0, x0, \\r, x0",
    "tensim_s r": f".insn r 0x0b, {Form.SIGNED:d}, 0, x0, \\r, x0",
    "tensim_q low, high": f".insn r 0x0b, {Form.PAIR:d}, 0, x0, \\low, \\high",
    "tensim_ui i": f".insn i 0x0b, {Form.IMMEDIATE:d}, x0, x0, \\i",
    "tensim_si i": f".insn i 0x0b, {Form.IMMEDIATE:d}, x0, x0, \\i",
    "tensim_call rd, operation": f".insn i 0x0b, {Form.CALL:d}, \\rd, x0, \\operation",
}
ASSEMBLER_MACROS = frozenset(f".macro {head}\n{body}\n.endm" for head, body in FORMS.items())


def operations_header():
    """One function per operation, and the macros of the assembler that it needs."""
    lines = ["#pragma once", "#include <stdint.h>", "#define TENSIM_INLINE inline __attribute__((always_inline))"]
    for text in sorted(ASSEMBLER_MACROS):
        escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
        lines.append(f'asm("{escaped}");')
    lines.append("namespace tensim {")
    for enumeration in (
        Op,
        Barrier,
        Issue,
        Bcast,
        Binary,
        Reuse,
        Pool,
        ReduceDim,
        Config,
        Setup,
        Approximation,
        Print,
        Manipulator,
    ):
        members = ", ".join(f"{member.name} = {int(member)}" for member in enumeration)
        lines.append(f"namespace {enumeration.__name__.lower()}_code {{ enum : uint32_t {{ {members} }}; }}")
    lines.append(f"constexpr uint32_t setup_shift = {BUFFER_SHIFT};")
    lines.append(f"constexpr uint32_t function_bits = {FUNCTION_BITS}, vector_code_bits = {VECTOR_CODE_BITS};")
    # An immediate is sign-extended: a large unsigned constant must come from a register.
    lines.append(
        "TENSIM_INLINE uint32_t argument(uint32_t v) "
        '{ if (__builtin_constant_p(v) && v >= 0xfffff800u) asm("" : "+r"(v)); return v; }'
    )
    lines += [operation_function(operation, kinds) for operation, kinds in ARGUMENTS.items()]
    return "\n".join([*lines, "}  // namespace tensim", ""])


def operation_function(operation, kinds):
    """The function that posts an operation."""
    result = operation in RESULTS
    texts, inputs = [], []
    place = int(result)
    for number, kind in enumerate(kinds):
        if kind == "q":
            texts.append(f"tensim_q %z{place}, %z{place + 1}")
            inputs += [f'"rJ"(uint32_t(a{number}))', f'"rJ"(uint32_t(a{number} >> 32))']
            place += 2
            continue
        texts.append(f"tensim_{kind}%i{place} %{place}")
        inputs.append(f'"rI"(argument(a{number}))' if kind == "u" else f'"rI"(a{number})')
        place += 1
    texts.append(f"tensim_call {'%0' if result else 'x0'}, {int(operation)}")
    parameters = ", ".join(f"{TYPES[kind]} a{number}" for number, kind in enumerate(kinds))
    body = '"' + "\\n".join(texts) + '"'
    output = '"=r"(result)' if result else ""
    return (
        f"TENSIM_INLINE {'uint32_t' if result else 'void'} post_{operation.name.lower()}({parameters}) {{ "
        + ("uint32_t result; " if result else "")
        + f'asm volatile({body} : {output} : {", ".join(inputs)} : "memory");'
        + (" return result;" if result else "")
        + " }"
    )


def formats_header():
    """DataFormat and the bytes of a tile of 1024 elements in each format."""
    members = ", ".join(f"{member.name} = {int(member)}" for member in DataFormat)
    cases = " ".join(
        f"case {int(member)}: return {tile_size(member)};" for member in DataFormat if member is not DataFormat.Invalid
    )
    return "\n".join(
        [
            "#pragma once",
            "#include <stdint.h>",
            f"enum class DataFormat : uint8_t {{ {members} }};",
            "namespace tensim {",
            f"constexpr uint32_t bytes_of_tile(uint32_t format) {{ switch (format) {{ {cases} default: return 0; }} }}",
            "}",
            "",
        ]
    )


_TILES = {
    SfpuUnary: ("SFPU_UNARY", "uint32_t idst", "idst", 3),
    SfpuBinary: ("SFPU_BINARY", "uint32_t idst0, uint32_t idst1, uint32_t odst", "idst0, idst1, odst", 1),
    SfpuTernary: (
        "SFPU_TERNARY", "uint32_t idst0, uint32_t idst1, uint32_t idst2, uint32_t odst", "idst0, idst1, idst2, odst", 1,
    ),
}  # fmt: skip


OF_THEIR_OWN = ("exp", "fmod", "remainder", "rdiv")  # compute.h: what an initialisation or a mode says changes the call
ROUNDED = ("add_binary", "sub_binary", "rsub_binary")  # calls whose template argument is a DstRoundingMode
FLOAT_PARAMETERS = ("fill",)  # functions whose parameters tt-metal takes as numbers; others take a number's bits
# Places of the template argument that chooses the approximate form, of a call and of its initialisation (the reciprocal's is
# known by its type), and its default in the library's headers (docs/hardware/kernel_api.md#unary-sfpu-calls).
APPROXIMATED = {"gelu": (0, 0), "tanh": (0, 0), "sigmoid": (1, 0), "recip": (None, None)}
DEFAULTS = {"gelu": "true", "tanh": "false", "sigmoid": "false"}


def vector_functions_header():
    """Every call of the vector unit that the table of numerics knows, with its init."""
    numbers = ", ".join(f"{name}_function = {int(SFPU_API[name][0])}" for name in NUMBERED)
    codes = ", ".join(f"{name}_code = {vector_code(SFPU_API[name][0])}" for name in NUMBERED)
    casts = " || ".join(f"format == {int(code)}" for code in CASTS)
    lines = [
        "#pragma once",
        '#include "tensim/compute_threads.h"',
        f"namespace tensim {{ constexpr uint32_t {numbers}, {codes};",
        f"constexpr bool casts(uint32_t format) {{ return {casts}; }} }}",
        "namespace ckernel {",
    ]
    for name, (function, count) in SFPU_API.items():
        if name in OF_THEIR_OWN:
            continue
        if name == "typecast":
            lines += _typecast(function)
        elif name in APPROXIMATED:
            lines.append(_approximated(name, function))
        elif name not in BY_FORMAT:
            chosen = f"constexpr uint32_t function = {int(function)};"
            lines += _call(name, chosen, _FORMATLESS.format(name=name), function, count)
            lines.append(_init(f"{name}_tile_init", function))
    for name, functions in BY_FORMAT.items():
        lines += _call_by_format(name, functions)
    lines += [_init(name, function) for name, function in SHARED_INITIALISATIONS.items()]
    return "\n".join([*lines, "}  // namespace ckernel", ""])


NUMBERED = (*OF_THEIR_OWN, "rdiv_trunc", "rdiv_floor")
_FORMATLESS = (
    'static_assert(!tensim::names_a_format<options...>, "tensim refuses data_format: {name}_tile of a data format");'
)


def _call(name, chosen, check, function, count):
    """The spellings of a call.  `chosen`: declares the number of its function; `check`: of its template arguments."""
    operation, tiles, names, room = _TILES[type(function)]
    given = [f"p{i}" for i in range(count)]
    kind = "float" if name in FLOAT_PARAMETERS else "uint32_t"
    bits = [f"__builtin_bit_cast(uint32_t, {p})" for p in given]
    if name == "power":
        bits = ["tensim::exponent_bits(p0)"]
    if name in ROUNDED:
        bits = ["tensim::rounds_to_even<options...>"]
    words = ", ".join([*bits, *["0"] * room][:room])
    extra = "".join(f", {kind} {p}" for p in given)
    body = f"if constexpr (tensim::on_math) tensim::post_{operation.lower()}(function, {names}, {words});"
    return [
        f"template <auto... options> TENSIM_INLINE void {spelling}({tiles}{extra}, auto...) {{ {chosen} {check} {body} }}"
        for spelling in vector_names(name)
    ]


def _init(name, function):
    return (
        f"template <auto... options> TENSIM_INLINE void {name}(auto...) "
        f"{{ tensim::configure_math(tensim::config_code::SFPU_INIT, {vector_code(function)}); }}"
    )


def _call_by_format(name, functions):
    """A call whose function a data format chooses, the first of the table without one."""
    numbers = {data_format: SFPU_API[function] for data_format, function in functions.items()}
    first = next(iter(numbers))
    cases = " ".join(f"case {int(code)}: return {int(function)};" for code, (function, _) in numbers.items())
    yield (
        f"struct {name}_functions {{ static constexpr uint32_t of(uint32_t format) "
        f"{{ switch (format) {{ {cases} default: return tensim::no_function; }} }} }};"
    )
    chosen = f"constexpr uint32_t function = {name}_functions::of(tensim::format_of<{int(first)}, options...>());"
    check = f'static_assert(function != tensim::no_function, "tensim refuses data_format: {name}_tile of this data format");'
    function, count = numbers[first]
    yield from _call(name, chosen, check, function, count)
    yield _init(f"{name}_tile_init", function)


def _typecast(function):
    check = (
        "static_assert(tensim::casts(uint32_t(in_format)) && tensim::casts(uint32_t(out_format)), "
        '"tensim refuses data_format: typecast_tile of this data format");'
    )
    words = f"{int(function)}, idst, uint32_t(in_format), uint32_t(out_format), 0"
    yield (
        "template <auto in_format, auto out_format, auto... options> TENSIM_INLINE void typecast_tile(uint32_t idst) "
        f"{{ {check} if constexpr (tensim::on_math) tensim::post_sfpu_unary({words}); }}"
    )
    yield _init("typecast_tile_init", function)


def _approximated(name, function):
    """Call and initialisation of a function that has an approximate form (compute_threads.h: `form_of`)."""
    call, init = (
        "reciprocal_form<options...>()" if place is None else f"form_of<{place}, {DEFAULTS[name]}, options...>()"
        for place in APPROXIMATED[name]
    )
    return (
        f"template <auto... options> TENSIM_INLINE void {name}_tile(uint32_t idst, auto...) {{ "
        f"if constexpr (tensim::on_math) tensim::post_sfpu_unary({int(function)} | "
        f"tensim::{call} << tensim::function_bits, idst, 0, 0, 0); }}\n"
        f"template <auto... options> TENSIM_INLINE void {name}_tile_init(auto...) {{ "
        f"tensim::configure_math(tensim::config_code::SFPU_INIT, {vector_code(function)} | "
        f"tensim::{init} << tensim::vector_code_bits); }}"
    )


# Numbers of the fabric that kernels share with routers, and of the area that tells them of these
FABRIC_NUMBERS = """HEADER_BYTES SECOND VALUE FLAGS SIZES COUNT PAYLOAD ROUTE UNICAST_WRITE INLINE_WRITE ATOMIC_INC FUSED_ATOMIC_INC
    SCATTER_WRITE CHUNK_WRITE CHUNK_INC CHUNK_INC_FLUSH MESH EVERYONE SPARSE""".split()
AREA_NUMBERS = """CHANNELS FIRST_SLOT SLOT_BYTES SLOTS NOTIFIED CREDITS_AT MAX_PAYLOAD ROWS COLUMNS CHIP ENTRIES ENTRY_BYTES
    MAX_CHANNELS PLACE DIRECTION CREDITS STREAMS STREAM_BYTES MAX_STREAMS HEADERS HEADERS_EACH""".split()


def fabric_header():
    """The layouts of packet headers and of what a worker's L1 says of the fabric."""

    def constants(module, names):
        return ", ".join(f"{name} = {getattr(module, name)}u" for name in names)

    directions = ", ".join(
        f"layout_{name.lower()} = {getattr(layout, name)}u" for name in "NORTH SOUTH EAST WEST".split()
    )
    return "\n".join(
        [
            "#pragma once",
            "#include <stdint.h>",
            "namespace tensim::fabric {",
            f"constexpr uint32_t {constants(layout, FABRIC_NUMBERS)}, {directions};",
            f"namespace area {{ constexpr uint32_t {constants(worker_area, AREA_NUMBERS)}; }}",
            "#if defined(COMPILE_FOR_NCRISC)",
            "constexpr uint32_t second_processor = 1;",
            "#else",
            "constexpr uint32_t second_processor = 0;",
            "#endif",
            "}",
            "",
        ]
    )


HEADERS = {
    "tensim/fabric_layout.h": fabric_header,
    "tensim/operations.h": operations_header,
    "tensim/formats.h": formats_header,
    "tensim/vector_functions.h": vector_functions_header,
    "tensim/data_movement_calls.h": generated_calls.data_movement_header,
    "tensim/compute_calls.h": generated_calls.compute_header,
}
