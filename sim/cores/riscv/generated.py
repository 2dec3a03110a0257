"""Header text that follows from the project's tables: operations as traps, enumerations, vector functions."""

from tensim.sim.cores.checks.initialisation import BUFFER_SHIFT, VECTOR_CODE_BITS, Setup, vector_code
from tensim.sim.cores.kernels.api_compute import vector_names
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.cores.numerics.sfpu import SFPU_API, SfpuBinary, SfpuTernary, SfpuUnary
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
from tensim.sim.cores.riscv.traps import ARGUMENTS, RESULTS, Form, Manipulator, Print

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


FLOAT_PARAMETERS = ("fill",)  # functions whose parameters tt-metal takes as numbers; others take a number's bits
# Places of the template argument that chooses the approximate form, of a call and of its initialisation (the reciprocal's is
# known by its type), and its default in the library's headers (docs/hardware/kernel_api.md#unary-sfpu-calls).
APPROXIMATED = {"gelu": (0, 0), "tanh": (0, 0), "sigmoid": (1, 0), "recip": (None, None)}
DEFAULTS = {"gelu": "true", "tanh": "false", "sigmoid": "false"}


def vector_functions_header():
    """Every call of the vector unit that the table of numerics knows, with its init."""
    lines = ["#pragma once", '#include "tensim/compute_threads.h"']
    lines += [
        f"namespace tensim {{ constexpr uint32_t exp_function = {int(SfpuUnary.EXP)}, exp_code = {vector_code(SfpuUnary.EXP)}; }}",
        "namespace ckernel {",
    ]
    for name, (function, count) in SFPU_API.items():
        operation, tiles, names, room = _TILES[type(function)]
        given = [f"p{i}" for i in range(count)]
        kind = "float" if name in FLOAT_PARAMETERS else "uint32_t"
        bits = [f"__builtin_bit_cast(uint32_t, {p})" for p in given]
        words = ", ".join([*bits, *["0"] * room][:room])
        extra = "".join(f", {kind} {p}" for p in given)
        post = (
            f"{{ if constexpr (tensim::on_math) tensim::post_{operation.lower()}({int(function)}, {names}, {words}); }}"
        )
        if name == "exp":  # compute.h: its scale and its clamping
            continue
        if name == "typecast":
            head = "template <auto in_format, auto out_format, auto... options> TENSIM_INLINE void typecast_tile(uint32_t idst)"
            post = post.replace(", ".join(bits), "uint32_t(in_format), uint32_t(out_format)")
            lines.append(f"{head} {post}")
            lines.append(
                "template <auto... options> TENSIM_INLINE void typecast_tile_init() "
                f"{{ tensim::configure_math(tensim::config_code::SFPU_INIT, {vector_code(function)}); }}"
            )
            continue
        if name in APPROXIMATED:
            lines.append(_approximated(name, function))
            continue
        for spelling in vector_names(name):
            lines.append(f"template <auto... options> TENSIM_INLINE void {spelling}({tiles}{extra}, auto...) {post}")
        lines.append(
            f"template <auto... options> TENSIM_INLINE void {name}_tile_init(auto...) "
            f"{{ tensim::configure_math(tensim::config_code::SFPU_INIT, {vector_code(function)}); }}"
        )
    return "\n".join([*lines, "}  // namespace ckernel", ""])


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


HEADERS = {
    "tensim/operations.h": operations_header,
    "tensim/formats.h": formats_header,
    "tensim/vector_functions.h": vector_functions_header,
}
