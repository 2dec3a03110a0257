"""Forms of C++ that the vendor's compiler reads and clang does not: files that hold one are read with another text in its place.

Clang is told by an overlay of its file system, so names and lines stay those of the file, which is not touched.
"""

import json
import os
import re
from pathlib import Path

from tensim.sim.cores.riscv import toolchain
from tensim.sim.engine.sealed_files import read_sealed, write_sealed

# What clang says of a form that it never reads, and of one that it does not read in the place of a macro
NEVER = re.compile(
    r"^(/[^:\n]+):\d+:\d+: error: (?:expected body of lambda expression|'short type-name' is invalid|"
    r"an attribute list cannot appear here|'maybe_unused' attribute cannot be applied to types|"
    r"no matching function for call to '_llk_math_eltwise_\w+_sfpu_params_'|"
    r"cannot initialize a variable of type '[^']*__attribute__\(\(noreturn\)\)'.*)$",
    re.M,
)
IN_PLACES = re.compile(r"^(/[^:\n]+):\d+:\d+: note: expanded from macro 'SFPU_\w*(?:_NO_TEMPLATE_ARGS|CALL_FN)'$", re.M)
# (Form, what clang reads in its stead)
FORMS = (
    # An attribute of a lambda in front of its parameters: the pass inlines without it
    (re.compile(r"(\[[^\[\]]*\])\s*__attribute__\s*\(\(\w+\)\)\s*(?=\()"), r"\1"),
    # An attribute of a template's parameter
    (re.compile(r"([<,]\s*)\[\[maybe_unused\]\] (?=[\w:]+ \w+ *[,>=])"), r"\1"),
    # A type's name in the place of `unsigned`
    (re.compile(r"\b(?:uint|std::uint32_t) short\b"), "unsigned short"),
    # A pointer that is said not to return
    (re.compile(r"\[\[gnu::noreturn, (.*?\]\] void \(\*)"), r"[[\1"),
    # The name of a function whose template arguments all have defaults, as the argument of a macro and of another function
    (re.compile(r"(_sfpu_params_(?:<\w+>)?\(\s*)((?:\w+::)*\w+)(?=,)"), r"\1[&](auto... values) { \2(values...); }"),
    (re.compile(r"::ckernel::sfpu::FN(?=, DST)"), "[&](auto... values) { ::ckernel::sfpu::FN(values...); }"),
)


def unread(messages):
    """Names of the files that clang says it has stumbled over."""
    return {*NEVER.findall(messages), *IN_PLACES.findall(messages)}


def overlay(names, folder):
    """Flags that let clang read these files; empty when none holds such a form."""
    entries = []
    for number, name in enumerate(sorted(names)):
        text = Path(name).read_text(errors="replace") if os.path.isfile(name) else ""
        readable = text
        for form, other in FORMS:
            readable = form.sub(other, readable)
        if readable != text:
            path = folder / f"readable-{number}.h"
            path.write_text(readable)
            entries.append({"type": "file", "name": name, "external-contents": str(path)})
    if not entries:
        return []
    description = folder / "overlay.json"
    description.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": entries}))
    return ["-ivfsoverlay", str(description)]


def known():
    """Names of files that no build reads as they are: clang need not stumble over them again."""
    kept = read_sealed(_kept_names())
    return set(json.loads(kept)) if kept is not None else set()


def remember(messages):
    """Keep what `messages` tell for `known`, beside earlier names that are still there."""
    names, before = set(NEVER.findall(messages)), known()
    if names - before:
        write_sealed(_kept_names(), json.dumps(sorted(filter(os.path.isfile, names | before))).encode())


def _kept_names():
    return toolchain.cache_folder() / "unread.json"
