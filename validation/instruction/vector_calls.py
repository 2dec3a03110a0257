"""Calls of the compute API's vector functions, put together from their declarations in a release's headers."""

import functools
import re
from typing import NamedTuple

from tensim.sim.cores.riscv.llk.tree import find_tree
from tensim.validation.rows import Skip

FOLDERS = ("tt_metal/hw/inc/api/compute", "tt_metal/include/compute_kernel_api")  # of later and of earlier releases
DECLARATION = re.compile(r"(?:^template\s*<(?P<template>[^;{}]*?)>\s*)?^ALWI\s+void\s+(?P<name>\w+)\(", re.M | re.S)
NUMBER = "1065353216"  # 1.0 as bits, for what is no tile
IN_DST = re.compile(r"\bi?(dst|odst|idst)\w*$|_dst\w*$|^tile_index$|^tile_\w+$")
PLACES = ("tile", "(tile ^ 1)", "tile")  # of two operands and the result; one operand is the result


class Call(NamedTuple):
    """`header`: below api/compute, without .h; `init` and `call`: statements; `operands`: tiles of Dst that the function reads."""

    header: str
    init: str
    call: str
    operands: int


class Declaration(NamedTuple):
    header: str
    template: str
    parameters: tuple


@functools.cache
def declarations():
    """{name: Declaration} of the calls of the compute API, the first one of a name."""
    found = {}
    for folder in (find_tree().root / name for name in FOLDERS):
        for path in sorted(folder.rglob("*.h"), key=lambda path: ("experimental" in path.parts, path)):
            text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.S)
            for match in DECLARATION.finditer(text):
                end = text.index(")", match.end())
                parameters = tuple(part.strip() for part in text[match.end() : end].split(",") if part.strip())
                header = str(path.relative_to(folder)).removesuffix(".h")
                found.setdefault(match["name"], Declaration(header, match["template"] or "", parameters))
    return found


def vector_call(name, data_format):
    """The `Call` of a function by the API's name (gelu_tile) on tiles of a format; Skip when there is none."""
    known = declarations().get(name)
    if known is None:
        raise Skip(f"the compute API of this release has no {name}")
    places, tiles = [], 0
    for parameter in known.parameters:
        declared, _, default = parameter.partition("=")
        word = declared.split()[-1]
        if IN_DST.search(word):
            places.append("")
            tiles += 1
        elif not default:
            places.append(NUMBER)
    targets = iter(PLACES if tiles > 1 else PLACES[2:])
    arguments = [next(targets, "tile") if place == "" else place for place in places]
    template = _template(known, data_format)
    return Call(
        known.header,
        _init(name, known.header, data_format),
        f"{name}{template}({', '.join(arguments)});",
        min(tiles, 2),
    )


def _template(declared, data_format):
    """Template arguments: the format where a function has one, and the exact variant where the approximate one, or the one of
    earlier chips (`legacy_compat`), is the default.
    """
    if re.match(r"\s*DataFormat\b", declared.template):
        return f"<DataFormat::{data_format}>"
    return "<false>" if re.match(r"\s*bool\s+\w*(approx|legacy)\w*\s*=\s*true", declared.template) else ""


def _init(name, header, data_format):
    """The initialisation of a function: its own, or the one of its header."""
    base = re.sub(r"_(u?int\d*)$", "", name)
    names = [f"{name}_init", f"{base}_init"]
    names += [one for one, declared in declarations().items() if declared.header == header and re.search("_init$", one)]
    for one in names:
        known = declarations().get(one)
        required = () if known is None else [part for part in known.parameters if "=" not in part]
        if known is None or (required and one not in names[:2]):
            continue
        return f"{one}{_template(known, data_format)}({', '.join([NUMBER] * len(required))});"
    return ""
