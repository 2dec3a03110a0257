"""Functions that the compiler has to inline: those that handle vectors which come from outside, as a vector has no address.

They are told by their names, which say the types of their parameters: a type of sfpi's, or a lambda, whose captures no name
tells.  Of those, the functions that issue vector instructions themselves or through others are marked.
"""

import re

from tensim.sim.cores.riscv.vector.program_text import PREFIX

DEFINE = re.compile(r'^define [^@]*@("[^"]*"|[\w.$-]+)\(')
CALLED = re.compile(r'\bcall [^@\n]*@("[^"]*"|[\w.$-]+)\(')
VECTOR = re.compile(r"4sfpi6Vector|4sfpi5vBool|4sfpi11TableVector|13tensim_lanes")
LAMBDA = re.compile(r"Ul[A-Za-z0-9_]*E\d*_")
ATTRIBUTES = re.compile(r" #(\d+)")
CONTRARY = re.compile(r"\b(noinline|optnone)\b ?")


def marked(text):
    """A module's text, before any optimisation, with those functions marked."""
    if f"@{PREFIX}" not in text:
        return text
    lines = text.split("\n")
    bodies, called = _bodies(lines)
    vector = _reaching(called)
    groups, number = {}, _largest_group(lines)
    for name, at in bodies.items():
        if name not in vector or not (VECTOR.search(name) or LAMBDA.search(name)):
            continue
        found = ATTRIBUTES.search(lines[at], lines[at].rindex(")"))
        old = found[1] if found else None
        if old not in groups:
            number += 1
            groups[old] = number
        new = f" #{groups[old]}"
        lines[at] = (
            lines[at][: found.start()] + new + lines[at][found.end() :]
            if found
            else lines[at].replace(" {", f"{new} {{")
        )
    return "\n".join([*lines, *(_group(lines, old, new) for old, new in groups.items()), ""])


def _bodies(lines):
    """({function: line of its definition}, {function: functions that it calls})."""
    bodies, called, name = {}, {}, None
    for number, line in enumerate(lines):
        found = DEFINE.match(line)
        if found:
            name = found[1]
            bodies[name], called[name] = number, set()
        elif line.startswith("}"):
            name = None
        elif name is not None and "call " in line:
            called[name].update(CALLED.findall(line))
    return bodies, called


def _reaching(called):
    """Functions that issue vector instructions, or call one that does."""
    callers = {}
    for name, others in called.items():
        for other in others:
            callers.setdefault(other, set()).add(name)
    waiting, found = [name for name in callers if name.startswith(PREFIX)], set()
    while waiting:
        for caller in callers.get(waiting.pop(), ()):
            if caller not in found:
                found.add(caller)
                waiting.append(caller)
    return found


def _largest_group(lines):
    return max((int(found[1]) for line in lines if (found := re.match(r"attributes #(\d+) = ", line))), default=0)


def _group(lines, old, new):
    """A group of attributes as an old one, and to be inlined."""
    inside = next(
        (line.partition("{")[2].rpartition("}")[0] for line in lines if line.startswith(f"attributes #{old} = ")), ""
    )
    return f"attributes #{new} = {{ alwaysinline {CONTRARY.sub('', inside)} }}"
