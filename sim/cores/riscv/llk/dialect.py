"""Forms of C++ that the vendor's compiler reads and clang does not: files that hold one are read with another text in its place.

Clang is told by an overlay of its file system, so names and lines stay those of the file, which is not touched.
"""

import json
import re
from pathlib import Path

FAILED = re.compile(
    r"^(/[^:\n]+):\d+:\d+: error: (?:expected body of lambda expression|'short type-name' is invalid|"
    r"cannot initialize a variable of type '[^']*__attribute__\(\(noreturn\)\)'.*)$|"
    r"^(/[^:\n]+):\d+:\d+: note: expanded from macro 'SFPU_\w+_NO_TEMPLATE_ARGS'$",
    re.M,
)
# (Form, what clang reads in its stead)
FORMS = (
    # An attribute of a lambda in front of its parameters: the pass inlines without it
    (re.compile(r"(\[[^\[\]]*\])\s*__attribute__\s*\(\(\w+\)\)\s*(?=\()"), r"\1"),
    # A type's name in the place of `unsigned`
    (re.compile(r"\buint short\b"), "unsigned short"),
    # A pointer that is said not to return
    (re.compile(r"\[\[gnu::noreturn, (.*?\]\] void \(\*)"), r"[[\1"),
    # The name of a function whose template arguments all have defaults, as the argument of another one
    (re.compile(r"::ckernel::sfpu::FN(?=, DST)"), "[&](auto... values) { ::ckernel::sfpu::FN(values...); }"),
)


def overlay(messages, folder):
    """Flags that let clang read the files it has stumbled over; empty when the compiler's messages name none."""
    entries = []
    for number, name in enumerate(sorted({first or second for first, second in FAILED.findall(messages)})):
        text = Path(name).read_text(errors="replace")
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
