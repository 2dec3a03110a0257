"""The table of vector functions' costs: complete, positive, and what the instruction level says again."""

import itertools
import os

import numpy as np
import pytest

from tensim.sim.arch import load_arch, vector_costs
from tensim.sim.arch.vector_costs import ACCURATE, APPROXIMATE, CHIPS, FORMS, UNCLAMPED
from tensim.sim.chip.sfpu_cycle_table import sfpu_cycle_table
from tensim.sim.cores.numerics import sfpu_costs as entries
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.numerics.sfpu_functions import CASTS, SfpuBinary, SfpuTernary, SfpuUnary
from tensim.sim.cores.numerics.vector_codes import ANY_VECTOR, vector_code
from tensim.sim.cores.operations import Approximation
from tensim.sim.errors import UsageError

needs_tree = pytest.mark.skipif("TENSIM_LLK" not in os.environ, reason="TENSIM_LLK names no LLK sources")
KNOWN = (Approximation.ACCURATE, Approximation.APPROXIMATE, Approximation.UNCLAMPED)
ALL = [*SfpuUnary, *SfpuBinary, *SfpuTernary]


def halves(chip, overrides=None):
    """int64[2, entries]: the engine's table, for 16-bit and 32-bit Dst."""
    return sfpu_cycle_table(load_arch(chip, overrides)).reshape(2, -1)


@pytest.mark.parametrize("chip", ["grayskull", *CHIPS])
def test_every_call_and_initialisation_has_a_cost(chip):
    calls = [entries.unary_cost(function, form) for function in SfpuUnary for form in KNOWN]
    calls += [entries.BINARY_OFFSET + function for function in SfpuBinary]
    calls += [entries.TERNARY_OFFSET + function for function in SfpuTernary]
    calls += [entries.cast_cost(*formats) for formats in itertools.product(CASTS, repeat=2)]
    codes = [ANY_VECTOR, *map(vector_code, ALL)]
    calls += [entries.initialisation_cost(code, form) for code in codes for form in KNOWN]
    assert len(set(calls)) == len(calls) and (halves(chip)[:, calls] > 0).all()


@pytest.mark.parametrize("chip", CHIPS)
def test_the_table_has_figures_for_both_widths(chip):
    for name, entry in vector_costs.costs(chip).items():
        forms = [entry[form] for form in FORMS if form in entry]
        assert ACCURATE in entry and set(entry) <= {*FORMS, "stands_in"}, name
        assert all(len(cycles) == 2 and min(cycles) > 0 for form in forms for cycles in form.values()), name


def test_grayskull_has_the_figures_of_wormhole():
    assert load_arch("grayskull")["tensix.vector_costs"] == CHIPS.index("wormhole_b0")


def test_the_width_of_dst_counts():
    narrow, wide = halves("blackhole")
    table = vector_costs.costs("blackhole")["ATAN2_BINARY"][ACCURATE]["call"]
    place = entries.BINARY_OFFSET + SfpuBinary.ATAN2_BINARY
    assert [narrow[place], wide[place]] == table and wide[place] > 1.2 * narrow[place]


def test_a_cast_costs_what_its_formats_make_it_cost():
    narrow = halves("blackhole")[0]
    places = {
        formats: entries.cast_cost(*(DataFormat[name] for name in formats))
        for formats in (("Float32", "Int32"), ("Float16_b", "Bfp8_b"), ("Float16_b", "Bfp4_b"), ("Int32", "Int32"))
    }
    cycles = {formats: narrow[place] for formats, place in places.items()}
    known = vector_costs.cost("blackhole", vector_costs.cast_name("Float32", "Int32"), ACCURATE, "call", 0)
    assert cycles["Float32", "Int32"] == known > 100
    assert cycles["Float16_b", "Bfp8_b"] == cycles["Float16_b", "Bfp4_b"]  # the packer does it
    assert cycles["Int32", "Int32"] <= cycles["Float16_b", "Bfp8_b"] < 40


def test_a_parameter_replaces_a_cost_in_both_widths_and_forms_without_their_own():
    changed = halves("blackhole", {"tensix.sfpu_cycles.ATAN": 7, "tensix.sfpu_cycles_approximate.EXP": 8})
    assert APPROXIMATE not in vector_costs.costs("blackhole")["ATAN"]
    for form in KNOWN:
        assert (changed[:, entries.unary_cost(SfpuUnary.ATAN, form)] == 7).all()
    assert (changed[:, entries.unary_cost(SfpuUnary.EXP, Approximation.APPROXIMATE)] == 8).all()
    same = [entries.unary_cost(SfpuUnary.EXP, form) for form in (Approximation.ACCURATE, Approximation.UNCLAMPED)]
    assert (changed[:, same] == halves("blackhole")[:, same]).all()


def test_a_parameter_for_all_casts():
    changed = halves("blackhole", {"tensix.sfpu_cycles.TYPECAST": 9})
    places = [entries.cast_cost(*formats) for formats in itertools.product(CASTS, repeat=2)]
    assert np.unique(changed[:, places]) == [9]


def test_a_parameter_of_a_function_that_does_not_exist():
    with pytest.raises(UsageError, match="no parameter 'tensix.sfpu_cycles.SINUS'"):
        load_arch("blackhole", {"tensix.sfpu_cycles.SINUS": 1})


# --- the instruction level says it again


@needs_tree
@pytest.mark.parametrize("chip", CHIPS)
def test_functions_measured_again(chip):
    from tensim.validation.instruction import vector_costs as generator

    wanted = [("ABS", ACCURATE), ("EXP", UNCLAMPED), (vector_costs.cast_name("Int32", "Float32"), ACCURATE)]
    known = {(one.name, one.form): one for one in generator.functions()}
    for name, form in wanted:
        call, init = generator.measured(chip, True, [known[name, form]])[name, form]
        assert call == pytest.approx(vector_costs.cost(chip, name, form, "call", 1), abs=1)
        assert init == pytest.approx(vector_costs.cost(chip, name, form, "init", 1), abs=1)


@needs_tree
def test_all_functions_but_a_few_are_in_the_release():
    from tensim.validation.instruction import vector_costs as generator

    found = {one.name for one in generator.functions()}
    left_out = {function.name for function in ALL} - found - {"TYPECAST"}
    assert left_out == {"QUICKGELU", "HARDGELU", "HARDSWISH"} and left_out <= set(generator.PARTS)
