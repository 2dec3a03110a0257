"""What calls and initialisations of the vector unit's functions cost, by chip, width of Dst and form: `vector_costs.json`.

Every figure is that of the vendor's LLK on the instruction level (`tensim.validation.instruction.vector_costs`, which writes the
file).  Parameters of a chip (`tensix.sfpu_cycles.NAME`) replace them where silicon says otherwise.
"""

import functools
import json
from pathlib import Path

TABLE = Path(__file__).with_name("vector_costs.json")
CHIPS = ("wormhole_b0", "blackhole")  # whose figures there are, by `tensix.vector_costs`
ACCURATE, APPROXIMATE, UNCLAMPED = FORMS = ("accurate", "approximate", "unclamped")
REDUCTION = "REDUCTION"  # the reduction of a tile; its initialisation also stands for those that no function has
# Formats that casts tell apart; others are cast as `CAST_LIKE` says
CASTS = ("Float32", "Float16_b", "Bfp8_b", "Int32", "UInt32", "UInt16", "UInt8")
CAST_LIKE = {"Float16": "Float16_b", "Tf32": "Float32", "Bfp4_b": "Bfp8_b", "Bfp2_b": "Bfp8_b"}


def cast_name(source, target):
    """The name of a cast between two of `CASTS`."""
    return f"TYPECAST {source} {target}"


@functools.cache
def costs(chip):
    """{name: {form: {"call": [cycles with 16-bit Dst, with 32-bit], "init": the same}}} of one of `CHIPS`."""
    return json.loads(TABLE.read_text())[chip]


@functools.cache
def names():
    """Names of the functions, casts apart: what parameters may be called."""
    return frozenset(name for name in costs(CHIPS[0]) if " " not in name and name != REDUCTION) | {"TYPECAST"}


def cost(chip, name, form, kind, wide):
    """Cycles of a "call" or an "init" of a function; a form that the function does not have costs what the accurate one does."""
    entry = costs(chip)[name]
    return entry.get(form, entry[ACCURATE])[kind][wide]
