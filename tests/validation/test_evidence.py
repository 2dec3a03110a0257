"""What rows are worth: the sources of the parameters name the rows that chose them, and figures keep those apart."""

import re

import pytest

from tensim.sim.arch import architectures, load_arch
from tensim.validation.baseline import SAMPLE
from tensim.validation.everything import selections_of
from tensim.validation.evidence import (
    CHOSEN,
    CIRCULAR,
    DOCUMENTED,
    FITTED,
    PREDICTED,
    SINGLE_COSTS,
    cited,
    evidence_of,
    files_of,
)
from tensim.validation.figures import by_evidence, summary
from tensim.validation.goals import judge


def test_a_source_names_files_and_in_brackets_their_families():
    assert files_of("full-sync copies of a.csv (MB5A, MB1), less b.csv") == {"a.csv": {"MB5A", "MB1"}, "b.csv": None}
    assert files_of("docs/hardware/dram.md") == {}
    assert files_of("48 random writers (ISA DRAMTile)") == {"isa_doc_measured.csv": {"channels"}}
    assert files_of("a.csv (X) and a.csv") == {"a.csv": None}, "a file without brackets is all of it"


@pytest.mark.parametrize(
    "row, group, expected",
    [
        ("ttlang_microbench.csv:7", "blackhole/MB5A_zero_math_chunk", FITTED),
        ("ttlang_microbench.csv:7", "blackhole/MB4_composed_op", PREDICTED),
        ("mine.csv:7", "blackhole/MB5A_zero_math_chunk", PREDICTED),  # a user's rows chose nothing
        ("ttlang_microbench.csv:7", "my_chip/MB5A_zero_math_chunk", PREDICTED),
        ("ttlang_microbench.csv:7", "blackhole/MB5_exp_subblock", PREDICTED),
        ("ttlang_microbench.csv:7", "blackhole/MB5E_fused_sfpu", PREDICTED),
        ("llk_blackhole_op_costs.csv:1", "blackhole/LLK SFPU", PREDICTED),
        ("llk_blackhole_op_costs.csv:1", "blackhole/LLK SFPU init", PREDICTED),
        ("llk_blackhole_op_costs.csv:1", "blackhole/LLK init", CIRCULAR),
        ("llk_blackhole_op_costs.csv:1", "blackhole/LLK math (FPU)", FITTED),
        ("wolfpine_derived_rates.csv:1", "blackhole/wolfpine SFPU", DOCUMENTED),
        ("wolfpine_derived_rates.csv:1", "blackhole/wolfpine matmul_tiles", FITTED),
    ],
)
def test_what_a_row_of_compute_is_worth(row, group, expected):
    assert evidence_of("compute", row, group) == expected


def test_recordings_that_chose_parameters_are_no_predictions():
    for name, group in (("1x2_BLOCK_TO_2x4_HEIGHT.json", "l1"), ("DRAM_TO_8x4_BLOCK.json", "dram")):
        assert evidence_of("replay-noc closed", name, f"wormhole_b0/{group}") == FITTED
    assert evidence_of("replay-noc closed", "mine.json", "wormhole_b0/l1") == PREDICTED
    assert evidence_of("replay-noc closed", "mine.json:device 1", "wormhole_b0/l1") == PREDICTED


def test_a_parameter_that_is_no_longer_fitted_claims_no_rows(monkeypatch):
    described = type(load_arch("blackhole")).describe
    monkeypatch.setattr(
        "tensim.sim.arch.loader.Arch.describe", lambda arch, key: described(arch, key) | {"conf": "assumed"}
    )
    cited.cache_clear()
    try:
        assert evidence_of("compute", "ttlang_microbench.csv:7", "blackhole/MB5A_zero_math_chunk") == PREDICTED
    finally:
        cited.cache_clear()


@pytest.mark.parametrize("cost", SINGLE_COSTS, ids=lambda cost: cost.groups)
def test_a_single_cost_has_rows_and_a_parameter(cost):
    rows = [f"{s.name}: {case.group}" for s in selections_of([SAMPLE])[0] for _, case in s.cases]
    chips = {re.search(r": (\w+)/", row)[1] for row in rows if re.match(cost.groups, row)}
    assert chips, "no row of the sample is one of these"
    for chip in chips:
        arch = load_arch(chip)
        confidence = {arch.describe(key).get("conf") for key in arch.values() if key.startswith(cost.parameters)}
        assert confidence & (set(CHOSEN) if cost.evidence == CIRCULAR else {"documented"}), (chip, confidence)


def test_every_family_that_a_source_names_is_one_of_the_measurements_or_prose():
    """A name in brackets that no row has would quietly call rows predicted that chose a parameter."""
    unknown = {
        name
        for chip in architectures()
        for file, families in cited(chip).items()
        if file in ("noc_latencies.csv", "ttlang_microbench.csv") and families
        for name in families
        if not re.fullmatch(r"(ALL|ONE|ROW|COLUMN)_(TO|FROM)_(ALL|ONE|ROW|COLUMN)|MB\w+", name)
    }
    assert not unknown


def rows_of(evidence, group, *errors):
    return [{"group": f"blackhole/{group}", "err_pct": error, "evidence": evidence} for error in errors]


def test_rows_that_chose_parameters_do_not_dilute_the_others():
    rows = rows_of(FITTED, "long", *[0.1] * 90) + rows_of(PREDICTED, "a", 10.0, 12.0) + rows_of(PREDICTED, "b", 30.0)
    result = summary(rows, [], [], 0.0)
    assert result["median_abs_err_pct"] == pytest.approx(0.1)
    assert result["by_evidence"][PREDICTED]["median_abs_err_pct"] == 12.0
    assert result["by_evidence"][PREDICTED]["family_median_abs_err_pct"] == pytest.approx(20.5)  # of 11 and 30
    assert result["family_median_abs_err_pct"] == 11.0
    assert [result["groups"][f"blackhole/{name}"]["evidence"] for name in ("a", "long")] == [PREDICTED, FITTED]


def test_a_goal_may_be_about_predicted_rows_alone():
    rows = rows_of(FITTED, "x", 1.0, 1.0, 1.0) + rows_of(PREDICTED, "x", 9.0)
    medians = {item.goal.rows: item for item in judge("compute", "blackhole", rows) if item.goal.figure == "median"}
    assert (medians[""].value, medians[""].holds) == (1.0, True)
    assert (medians[PREDICTED].value, medians[PREDICTED].holds) == (9.0, False)


def test_rows_without_evidence_have_no_part():
    assert by_evidence([{"group": "a/b", "err_pct": 1.0}]) == {}
