"""What the compiler may know of a processor's memory: that a store to a register, or a word for the coprocessor, changes no
variable of the program.

The vendor's compiler knows both, so that it keeps what describes a circular buffer in its registers from tile to tile; clang takes
an address that is a number for one of any variable, and an assembler statement for one that writes anywhere.
"""

import re

REGISTERS = -0x4F0000  # 0xFFB10000 as a signed number: from there on, behind a core's local memory, lie registers
NUMBER = re.compile(r"inttoptr \(i32 (-?\d+) to ptr\)")
STATEMENT = re.compile(r'(\bcall [^\n"]*\basm sideeffect "[^\n"]*", "([^\n"]*)"\(.*?\))( #\d+)')
DERIVED = re.compile(r"^\s+(%[\w.]+) = getelementptr [^,]*, ptr (.*)$")
ACCESS = re.compile(
    r"^\s+(?:%[\w.]+ = load|store) .*?\bptr (%[\w.]+|@[\w.$]+|inttoptr \([^)]*\)|getelementptr [^(]*\(.*?\)), align"
)
LARGEST = re.compile(r"^!(\d+) = ", re.M)
ELSEWHERE = ("@__instrn_buffer",)  # what is declared as a variable and is a register


def statements_apart(text):
    """A module's text in which assembler statements touch no variable, but for those that say so."""
    return STATEMENT.sub(
        lambda found: (
            found[0] if "~{memory}" in found[2] else f"{found[1]} memory(inaccessiblemem: readwrite){found[3]}"
        ),
        text,
    )


def registers_apart(text):
    """An optimised module's text with accesses to registers and to variables told apart."""
    lines, registers, variables = text.split("\n"), set(), set()
    domain = 1 + max(map(int, LARGEST.findall(text)), default=-1)
    tags = (
        f", !alias.scope !{domain + 3}, !noalias !{domain + 4}",
        f", !alias.scope !{domain + 4}, !noalias !{domain + 3}",
    )
    for at, line in enumerate(lines):
        if line.startswith("define "):
            registers, variables = set(), set()
        elif derived := DERIVED.match(line):
            kind = _kind(derived[2], registers, variables)
            if kind is not None:
                (registers, variables)[kind].add(derived[1])
        elif (access := ACCESS.match(line)) and (kind := _kind(access[1], registers, variables)) is not None:
            lines[at] = line + tags[kind]
    return "\n".join([*lines, *_scopes(domain), ""])


def _kind(pointer, registers, variables):
    """0 of a pointer to registers, 1 of one to variables, else None."""
    number = NUMBER.search(pointer)
    if number is not None:
        return 0 if REGISTERS <= int(number[1]) < 0 else None
    name = re.search(r"[%@][\w.$]+", pointer)
    if name is None:
        return None
    if name[0] in registers or name[0] in ELSEWHERE:
        return 0
    return 1 if name[0] in variables or name[0].startswith("@") else None


def _scopes(domain):
    """Metadata of the two kinds of memory."""
    return (
        f'!{domain} = distinct !{{!{domain}, !"memory"}}',
        f'!{domain + 1} = distinct !{{!{domain + 1}, !{domain}, !"registers"}}',
        f'!{domain + 2} = distinct !{{!{domain + 2}, !{domain}, !"variables"}}',
        f"!{domain + 3} = !{{!{domain + 1}}}",
        f"!{domain + 4} = !{{!{domain + 2}}}",
    )
