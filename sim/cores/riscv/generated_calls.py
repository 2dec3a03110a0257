"""The calls of the kernel API as C++ functions, from the tables that Python kernels are compiled by.

A row of `kernels.api` or `kernels.api_compute` says what a call posts on which threads, and its parameters in the order of C++:
"name:type=default", where a type is a letter of `TYPES` or `TEMPLATES` (without one it is as wide as the operation's argument),
"_" is a parameter that nothing reads and "..." any number of them.
"""

from tensim.sim.cores.kernels import api, api_compute
from tensim.sim.cores.kernels.api import ANY_ROLE, DM, MATH, PACK, UNPACK
from tensim.sim.cores.operations import ARGUMENTS

# unsigned, signed, 64 bits, byte, flag, pointer to L1
TYPES = {
    "u": "uint32_t", "s": "int32_t", "q": "uint64_t", "b": "uint8_t", "f": "bool", "p": "volatile tt_l1_ptr uint32_t*",
}  # fmt: skip
TEMPLATES = {"t": "bool", "a": "auto"}
CHANNELS = ("vc", "read_req_vc")  # -1 is the channel that tt-metal's calls have as default
THREADS = {
    DM: "", ANY_ROLE: "", DM | PACK: "tensim::fills", DM | UNPACK: "tensim::drains",
    UNPACK: "tensim::on_unpack", MATH: "tensim::on_math", PACK: "tensim::on_pack",
}  # fmt: skip
ANY_OPTIONS = "auto... options"  # template parameters of compute calls that change nothing here


def function(name, call, options=""):
    """The C++ function of a row; `options`: template parameters behind its own."""
    if call.ignores_arguments:
        return _configuration(name, call)
    templates, plain, values = [], [], {}
    for part in call.cpp.split():
        if part == "...":
            plain.append("auto...")
            continue
        head, _, default = part.partition("=")
        parameter, _, letter = head.partition(":")
        letter = letter or ("b" if parameter == "noc" else _width(call, parameter))
        kind = TEMPLATES.get(letter) or TYPES[letter]
        text = f"{kind} {parameter}" if parameter != "_" else kind
        text += f" = {_default(parameter, letter, default)}" if default else ""
        (templates if letter in TEMPLATES else plain).append(text)
        values[parameter] = f"uint32_t({parameter})" if letter in "ap" else parameter
    templates += [options] if options else []
    template = f"template <{', '.join(templates)}> " if templates else ""
    body = " ".join(
        _statement(post, [_word(word, values) for word in post.arguments], call.result) for post in call.posts
    )
    if call.result and THREADS[call.posts[0].roles]:
        body += f" return {call.result}();"
    return f"{template}TENSIM_INLINE {call.result or 'void'} {name}({', '.join(plain)}) {{ {body} }}"


def _width(call, parameter):
    """Letter of the operation's argument that a parameter becomes."""
    places = [(post.op, post.arguments.index(parameter)) for post in call.posts if parameter in post.arguments]
    return ARGUMENTS[places[0][0]][places[0][1]] if places else "u"


def _default(parameter, letter, text):
    if parameter == "noc":
        return "noc_index"
    if parameter in CHANNELS and text == "-1":
        return "NOC_UNICAST_WRITE_VC"
    if letter in "ft":
        return "true" if int(text) else "false"
    return f"tensim::{text}" if text in api.STATES else text


def _word(word, values):
    """An argument of an operation: a parameter, a number, or a state that other calls set."""
    return values.get(word, str(word) if isinstance(word, int) else f"tensim::{word}")


def _statement(post, words, result=""):
    text = f"{'return ' if result else ''}tensim::post_{post.op.name.lower()}({', '.join(words)});"
    condition = THREADS[post.roles]
    return f"if constexpr ({condition}) {text}" if condition else text


def _configuration(name, call):
    """A configuration call: any arguments, of which a circular buffer and whether a product transposes are read."""
    transposes, statements = "", []
    for post in call.posts:
        register, word = post.arguments
        text = str(int(word.setup))
        if word.setup == api_compute.Setup.MATMUL:
            transposes = f"const uint32_t setup = tensim::matmul_setup<{_place(call, 'transpose')}>(values...); "
            text = "setup"
        if word.buffers and (place := _place(call, word.buffers[0])) != "-1":
            text = f"tensim::setup_word<{place}>({text}, values...)"
        statements.append(_statement(post, [str(register), text]))
    body = transposes + " ".join(statements)
    return f"template <{ANY_OPTIONS}> TENSIM_INLINE void {name}(auto... values) {{ {body} }}"


def _place(call, name):
    """Which of its arguments `name` is, as C++; calls with several forms tell them by their number."""
    forms = [form.split() for form in call.forms]
    places = [form.index(name) if name in form else -1 for form in forms] or [-1]
    text = str(places[-1])
    for form, place in reversed(list(zip(forms, places, strict=False))[:-1]):
        if str(place) != text:
            text = f"(sizeof...(values) <= {len(form)} ? {place} : {text})"
    return text


def _functions(calls, by_hand, options=""):
    return [function(name, call, options) for name, call in calls if name not in by_hand and not name.startswith("_")]


def compute_calls():
    """(name, row) of all that `compute_header` declares."""
    for name, call in api_compute.OPERATIONS.items():
        for spelling in (name, *api_compute.CPP_NAMES.get(name, "").split()):
            yield spelling, call
    for names, call in api_compute.CPP_ONLY:
        for name in names.split():
            yield name, call


def data_movement_header():
    """Calls that act on the NoC, on semaphores and on circular buffers."""
    return "\n".join(["#pragma once", *_functions(api.OPERATIONS.items(), api.CPP_BY_HAND), ""])


def compute_header():
    """Calls that act on tiles, and those that configure the units; those of the vector unit are `vector_functions.h`."""
    functions = _functions(compute_calls(), api_compute.CPP_BY_HAND, ANY_OPTIONS)
    return "\n".join(["#pragma once", "namespace ckernel {", *functions, "}  // namespace ckernel", ""])
