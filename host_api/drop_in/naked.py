"""Functions without a prologue whose bodies are C++: the vendor's programs start with one, and set their stack there.

Clang takes nothing but assembler in a naked function; its machine code for them has no such limit.  So a macro has them compiled
with another attribute, which these builds have no use for, and the last step makes them naked.  What they call is not drawn
into them, unless it has to be: it needs a stack.
"""

from __future__ import annotations

import re

MACRO = '-Dnaked=zero_call_used_regs("skip")'
MARKED = re.compile(r'^attributes #(\d+) = \{ [^}\n]*"zero-call-used-regs"', re.M)
ALWAYS = re.compile(r"^attributes #(\d+) = \{ [^}\n]*\balwaysinline\b", re.M)
DEFINED = re.compile(r"^define [^@\n]*@(?P<name>[\w.$]+)\(.*?(?= #(?P<group>\d+))", re.M)
BODY = re.compile(r"^define [^@\n]*@[\w.$]+\([^#\n]* #(\d+).*?^\}", re.M | re.S)
CALL = re.compile(r"\bcall [^@\n]*@([\w.$]+)\([^\n]*?\)(?= *(?:#|,|$))", re.M)


def apart(text: str) -> str:
    """A module's text, before any optimisation, with the calls in such functions kept as calls."""
    marked, always = set(MARKED.findall(text)), set(ALWAYS.findall(text))
    if not marked:
        return text
    drawn_in = {found["name"] for found in DEFINED.finditer(text) if found["group"] in always}

    def call(found: re.Match[str]) -> str:
        return found[0] if found[1] in drawn_in or found[1].startswith("llvm.") else f"{found[0]} noinline"

    def body(found: re.Match[str]) -> str:
        return CALL.sub(call, found[0]) if found[1] in marked else found[0]

    return BODY.sub(body, DEFINED.sub(lambda found: _with("noinline", found, marked), text))


def naked(text: str) -> str:
    """A module's text, optimised, in which those functions have no prologue."""
    marked = set(MARKED.findall(text))
    return DEFINED.sub(lambda found: _with("naked", found, marked), text) if marked else text


def _with(attribute: str, found: re.Match[str], marked: set[str]) -> str:
    return f"{found[0]} {attribute}" if found["group"] in marked else found[0]
