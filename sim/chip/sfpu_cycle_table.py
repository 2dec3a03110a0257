"""Cycles of the vector unit's functions and their initialisations, as one table for the compiled engine.

Its entries lie where `tensim.sim.cores.numerics.sfpu_costs` says.
"""

import functools
import itertools

import numpy as np

from tensim.sim.arch import vector_costs
from tensim.sim.arch.vector_costs import ACCURATE, APPROXIMATE, FORMS, REDUCTION, UNCLAMPED
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.numerics.sfpu_costs import (
    APPROXIMATE_OFFSET,
    CAST_BITS,
    CAST_OFFSET,
    FUNCTIONS,
    INIT_OFFSET,
    UNCLAMPED_OFFSET,
    WIDTH_OFFSET,
)
from tensim.sim.cores.numerics.sfpu_functions import CASTS, SfpuUnary
from tensim.sim.cores.numerics.vector_codes import ANY_VECTOR, VECTOR_CODE_BITS, vector_code

SECTIONS = {
    ACCURATE: "tensix.sfpu_cycles", APPROXIMATE: "tensix.sfpu_cycles_approximate", UNCLAMPED: "tensix.sfpu_cycles_unclamped",
}  # fmt: skip


def sfpu_cycle_table(arch):
    """int64[2 * WIDTH_OFFSET]: cycles per tile of calls, cycles of initialisations; a function without a cost is 0."""
    chip = vector_costs.CHIPS[arch["tensix.vector_costs"]]
    given = {form: arch.section(section) for form, section in SECTIONS.items()}
    table = np.zeros((2, WIDTH_OFFSET), np.int64)
    for wide, half in enumerate(table):
        for offset, functions in FUNCTIONS:
            for function in functions:
                half[offset + function] = call_cost(chip, given, function.name, ACCURATE, wide)
        for offset, form in ((APPROXIMATE_OFFSET, APPROXIMATE), (UNCLAMPED_OFFSET, UNCLAMPED)):
            for function in SfpuUnary:
                half[offset + function] = call_cost(chip, given, function.name, form, wide)
        _fill_casts(half, chip, given, wide)
        _fill_initialisations(half, chip, wide)
    return table.reshape(-1)


def call_cost(chip, given, name, form, wide):
    """Cycles of a call: what a parameter says of this form, else of the form that it equals, else the figure of the LLK.

    `given`: {form: {name: cycles}}.
    """
    if name in given[form]:
        return given[form][name]
    if name == "TYPECAST":
        return max(cost for _, cost in _casts(chip, "call", wide))
    if form == ACCURATE or form in vector_costs.costs(chip)[name]:
        return vector_costs.cost(chip, name, form, "call", wide)
    return call_cost(chip, given, name, APPROXIMATE if form == UNCLAMPED else ACCURATE, wide)


@functools.cache
def _casts(chip, kind, wide):
    """[((format, format), cycles)] of every cast; one of a format to itself costs what the least one does."""
    return list(_each_cast(chip, kind, wide))


def _each_cast(chip, kind, wide):
    least = min(vector_costs.cost(chip, name, ACCURATE, kind, wide) for name in vector_costs.costs(chip) if " " in name)
    names = {one: vector_costs.CAST_LIKE.get(one.name, one.name) for one in map(DataFormat, CASTS)}
    for formats in itertools.product(CASTS, repeat=2):
        source, target = (names[one] for one in formats)
        same = source == target
        yield (
            formats,
            least if same else vector_costs.cost(chip, vector_costs.cast_name(source, target), ACCURATE, kind, wide),
        )


def _fill_casts(half, chip, given, wide):
    for formats, cost in _casts(chip, "call", wide):
        half[CAST_OFFSET + (formats[0] << CAST_BITS) + formats[1]] = given[ACCURATE].get("TYPECAST", cost)


def _fill_initialisations(half, chip, wide):
    """That of a cast does not say which one: the median of all."""
    for number, form in enumerate(FORMS):
        place = INIT_OFFSET + (number << VECTOR_CODE_BITS)
        half[place + ANY_VECTOR] = vector_costs.cost(chip, REDUCTION, ACCURATE, "init", wide)
        for function in itertools.chain.from_iterable(functions for _, functions in FUNCTIONS):
            if function is SfpuUnary.TYPECAST:
                cost = int(np.median([cost for _, cost in _casts(chip, "init", wide)]))
            else:
                cost = vector_costs.cost(chip, function.name, form, "init", wide)
            half[place + vector_code(function)] = cost
