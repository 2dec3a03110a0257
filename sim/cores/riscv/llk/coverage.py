"""Which compute kernels are built against the vendor's LLK, with stand-ins for what their host programs would give.

The stand-ins are those of `tensim.sim.cores.riscv.stand_ins`; what a host program binds to names is said in the library's own
types.
"""

import re
from dataclasses import replace

from tensim.sim.cores.riscv import stand_ins
from tensim.sim.cores.riscv.coverage import Coverage
from tensim.sim.cores.riscv.layout import local_bytes
from tensim.sim.cores.riscv.llk.build import LlkBuild, compile_kernel
from tensim.sim.cores.riscv.llk.tree import find_tree
from tensim.sim.errors import KernelCompileError

# as its host program does
NEEDS_32_BITS = re.compile(r"(?:static assertion failed|declared with 'error' attribute): .*fp32 dest", re.I)
NAMED = re.compile(r'get_named_compile_time_arg_val\(\s*"([^"]+)"')
METADATA = "::binding_details::LLKMetadata{{.format = 5u}}"
ACCESS = "dfb::AccessPattern::STRIDED, dfb::AccessPattern::STRIDED"
FORMS = {
    "args": "constexpr experimental::CtaVal<uint32_t> {name}{{{value}u}};",
    "dfb": "constexpr DFBBindingToken<" + ACCESS + "> {name}{{{number}, " + METADATA + "}};",
    "tensor": "constexpr ::tensor_accessor::TensorBindingToken<0u, 0u> {name}{{" + METADATA + "}};",
    "sem": "constexpr SemaphoreBindingToken {name}{{{number}, SemScope{{}}}};",
    "scratch": "constexpr ScratchpadBindingToken {name}{{0, 1024}};",
}
HEADERS = {
    "args": "experimental/kernel_args.h", "dfb": "api/dataflow/dataflow_buffer.h", "tensor": "api/tensor/tensor_binding_token.h",
    "sem": "api/dataflow/semaphore_binding_token.h", "scratch": "api/scratchpad_binding_token.h",
}  # fmt: skip


class LlkCoverage(Coverage):
    """Builds compute kernels below a folder against the LLK that it belongs to."""

    def __init__(self, arch, roots, folder):
        super().__init__(arch, roots, folder)
        self.tree = find_tree((folder,))

    def counts(self, path):
        return self.is_compute(path)

    def _compile(self, build):
        try:
            compile_kernel(build)
        except KernelCompileError as error:
            if not NEEDS_32_BITS.search(error.message):
                raise
            compile_kernel(replace(build, fp32_dest=True))

    def _request(self, path, processor, text, guess):
        buffers = tuple((index, int(guess.data_format), 32, 32) for index in range(32))
        return LlkBuild(
            processor, self.arch, source=path, circular_buffers=buffers, compile_args=guess.arguments, include_paths=self.roots,
            stand_in=bindings(text, guess), local_memory=local_bytes(self.arch, processor.value), tree=self.tree,
            named_args=tuple((name, _named(name, guess)) for name in dict.fromkeys(NAMED.findall(text))),
        )  # fmt: skip


def _named(name, guess):
    """The value of a named argument: what its name says, a number, or one that differs from name to name (`stand_ins.APART`)."""
    if name in stand_ins.NAMED:
        return stand_ins.NAMED[name]
    if guess.named != stand_ins.APART:
        return int(guess.named)
    total = 0
    for letter in name.encode():
        total = (total * 3 + letter) & 0xFFFFFFFF
    return total % 31 + 1


def bindings(text, guess):
    """C++ text of the names that a host program binds, in the library's types."""
    found = {}
    for kind, name in stand_ins.BINDING.findall(text):
        found.setdefault(kind, {})[name] = None
    optional = {kind for kind in stand_ins.OPTIONAL.findall(text)}
    kinds = [kind for kind in FORMS if kind in found or kind in optional]
    lines = ['#include "internal/template_string.h"'] if kinds else []
    lines += [f'#include "{HEADERS[kind]}"' for kind in kinds]
    for kind in kinds:
        names = list(found.get(kind, ()))
        body = [
            FORMS[kind].format(name=name, number=number % 16, value=guess.arguments[number])
            for number, name in enumerate(names)
        ]
        if kind in ("dfb", "tensor"):
            body.append(_lookup(kind, names))
        lines.append(f"namespace {kind} {{ {' '.join(body)} }}")
    behind = [line for name, line in stand_ins.UNNAMED.items() if name in text]
    return "\n".join([*lines, *behind])


def _lookup(kind, names):
    """A name's token by its text, as the library's build generates it."""
    nothing = {
        "dfb": "static_cast<const DFBBindingToken<dfb::AccessPattern::UNKNOWN, dfb::AccessPattern::UNKNOWN>*>(nullptr)",
        "tensor": "static_cast<const ::tensor_accessor::NullTensorBindingToken*>(nullptr)",
    }[kind]
    cases = "".join(f'if constexpr (name == "{name}") return &{name}; else ' for name in names)
    return f"template <::internal::TemplateString name> constexpr auto get_token_if_present() {{ {cases}return {nothing}; }}"
