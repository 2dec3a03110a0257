"""How two Light Metal binaries differ: command by command, and in the cycles of their replays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.running.replay import LightMetalReplay
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.errors import TensimError
from tensim.traces.flatbuffers.tables import Node

if TYPE_CHECKING:
    from tensim.traces.light_metal.binary import Binary

DATA = {"EnqueueWriteBufferCommand": "src", "LightMetalCompareCommand": "golden_data", "WriteDirectCommand": ""}


def differences(first: Binary, second: Binary) -> dict[str, list[Any]]:
    """How two binaries differ: {"differences": [{"index", "field", "first", "second"}], "cycles": [a, b]}."""
    found, sides = [], [list(binary.nodes()) for binary in (first, second)]
    if len(sides[0]) != len(sides[1]):
        found.append(_difference(None, "number of commands", len(sides[0]), len(sides[1])))
    for index, (a, b) in enumerate(zip(*sides, strict=False)):
        if a is None or b is None or a.table != b.table:
            found.append(_difference(index, "command", a and a.table, b and b.table))
            continue
        found += _field_differences(index, a, b, "", (first, second))
    return {"differences": found, "cycles": [_cycles(binary) for binary in (first, second)]}


def _difference(index: int | None, field_name: str, first: object, second: object) -> dict[str, Any]:
    return {"index": index, "field": field_name, "first": str(first)[:80], "second": str(second)[:80]}


def _field_differences(
    index: int, a: Node, b: Node, prefix: str, binaries: tuple[Binary, Binary]
) -> Iterator[dict[str, Any]]:
    """Data is what it says, in the command or in a payload, packed or not."""
    words = DATA.get(a.table)
    if words is not None:
        data = [binary.data_of(node, node.fields.get(words)) for binary, node in zip(binaries, (a, b), strict=True)]
        if data[0] != data[1]:
            yield _difference(index, f"{prefix}{words or 'payload'}", *data)
    for name, value in a.fields.items():
        other = b.fields[name]
        if words is not None and name in (words, "payload"):
            continue
        if isinstance(value, Node) and isinstance(other, Node) and value.table == other.table:
            yield from _field_differences(index, value, other, f"{prefix}{name}.", binaries)
        elif isinstance(value, np.ndarray) and isinstance(other, np.ndarray):
            if not np.array_equal(value, other):
                yield _difference(index, f"{prefix}{name}", value, other)
        elif isinstance(value, list) and isinstance(other, list) and len(value) == len(other):
            for i, (x, y) in enumerate(zip(value, other, strict=True)):
                if isinstance(x, Node):
                    yield from _field_differences(index, x, y, f"{prefix}{name}[{i}].", binaries)
                elif x != y:
                    yield _difference(index, f"{prefix}{name}[{i}]", x, y)
        elif type(value) is not type(other) or value != other:
            yield _difference(index, f"{prefix}{name}", value, other)


def _cycles(binary: Binary) -> int | None:
    """Cycles of a replay, or None when the binary cannot be replayed."""
    replay = LightMetalReplay(binary)
    try:
        replay.execute()
        return program_cycles(replay.chips[0]) if replay.chips else None
    except TensimError:
        return None
    finally:
        replay.close()
