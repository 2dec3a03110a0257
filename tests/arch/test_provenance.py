"""What the files say of their numbers is true: nothing measured on one chip counts as measured or fitted on another."""

import re

import pytest

from docs import write_parameters
from tensim.sim.arch import architectures, load_arch
from tensim.sim.arch.loader import CONFIDENCE
from tensim.validation.evidence import CHOSEN, files_of

WORMHOLE, BLACKHOLE, GRAYSKULL = CHIPS = ("wormhole_b0", "blackhole", "grayskull")
NAMES = {"Wormhole": WORMHOLE, "Blackhole": BLACKHOLE}
BOTH = (WORMHOLE, BLACKHOLE)
# The chips that have rows in a file of measurements, or in a family of it.
MEASURED = {
    "gemm.csv": BOTH,
    "noc_latencies.csv": BOTH,
    "program_dispatch_golden.csv": BOTH,
    "github_issue_measurements.csv": BOTH,
    "host_buffer_rw_golden.csv": BOTH,
    "golden_bandwidth.csv": BOTH,
    "golden_latency.csv": BOTH,
    "perf_lab_2026-09.csv": (BLACKHOLE,),
    "isa_doc_measured.csv": (WORMHOLE,),
    "noc_traces": (WORMHOLE,),
    "torp_exp.csv": (WORMHOLE,),
    "torp_matmul_height_sharded.csv": (WORMHOLE,),
    "llk_blackhole_op_costs.csv": (BLACKHOLE,),
    "wolfpine_derived_rates.csv": (BLACKHOLE,),
    "dramratebench-blackhole-2026-08-09.csv": (BLACKHOLE,),
    "nocbench-grid-blackhole.csv": (BLACKHOLE,),
    ("model_operations.csv", "idle kernels"): (BLACKHOLE,),
    "single_core_matmul_and_dram_baselines.csv": (WORMHOLE, GRAYSKULL),
    **{("ttlang_microbench.csv", name): BOTH for name in ("MB1", "MB2", "MB3_matmul_K", "MB3_compute_feed_ladder")},
    **{("ttlang_microbench.csv", f"MB{n}"): (BLACKHOLE,) for n in ("4", "5A", "5B", "5C", "5D", "5E", "5_exp")},
    **{("perf_lab_microkernels.csv", name): (WORMHOLE,) for name in (
        "compute_block_size", "double_buffer", "dram_saturation", "row_reduce_accumulate", "tensix_all_reduce_compute",
        "bank_placement", "index_staging", "page_walk_order", "split_reader", "transfer_alignment",
    )},
    **{("perf_lab_microkernels.csv", name): (BLACKHOLE,) for name in (
        "eltwise_l1_vs_dest_accumulate", "reduce_block", "sfpu_tile_scope",
    )},
}  # fmt: skip


def leaves(chip):
    arch = load_arch(chip)
    return [(key, arch.describe(key)) for key in arch.values()]


def chips_of(file, families):
    """The chips that were measured by what a source cites; families that are variants of others are known by those alone."""
    if file in MEASURED:
        return set(MEASURED[file])
    return {chip for name in families or () for chip in MEASURED.get((file, name), ())}


@pytest.mark.parametrize("chip", CHIPS)
def test_fitted_and_measured_parameters_cite_rows_of_their_own_chip(chip):
    for key, leaf in leaves(chip):
        cited = files_of(leaf["src"])
        if leaf["conf"] in CHOSEN and cited:
            assert chip in set.union(*(chips_of(*one) for one in cited.items())), (key, leaf["src"])


def test_nothing_of_grayskull_was_measured_but_one_row():
    assert [key for key, leaf in leaves(GRAYSKULL) if leaf["conf"] in CHOSEN] == ["dram.t_refi_ns"]


@pytest.mark.parametrize("chip", CHIPS)
def test_what_is_borrowed_is_assumed_and_the_value_of_the_other_chip(chip):
    for key, leaf in leaves(chip):
        for name in re.findall(r"published for (\w+)", leaf["src"]):
            assert leaf["conf"] == "assumed" and NAMES[name] != chip, key
        for earlier, name in re.findall(r"\b(an earlier )?(Wormhole|Blackhole) value\b", leaf["src"]):
            other = load_arch(NAMES[name])
            assert leaf["conf"] == "assumed" and NAMES[name] != chip, key
            assert (other[key] == leaf["value"]) is not bool(earlier), (key, other[key], leaf["value"])
        for name in re.findall(r"\(measured on (\w+)\)", leaf["src"]):
            assert NAMES[name] == chip and leaf["conf"] == "measured", key


def section(page, anchor):
    """The text of a section of docs/ with those below it."""
    found, depth = [], 0
    for line in (write_parameters.PAGE.parent / page).read_text().splitlines():
        level = len(line) - len(line.lstrip("#"))
        if level:
            slug = re.sub(r"[^\w\- ]", "", line[level:].strip().lower()).replace(" ", "-")
            depth = level if slug == anchor else depth if level > depth else 0
        if depth:
            found.append(line)
    return "\n".join(found)


def spellings(value):
    """How a page may write a number: as it is, a thousandth (GHz), or in KiB, MiB and GiB."""
    numbers = [value, value / 1000, *(value / 1024**n for n in (1, 2, 3))]
    whole = (number for number in numbers if number == round(number, 3))
    return {str(value)} | {f"{number:{form}}" for number in whole for form in ("g", ",g", ".1f")}


@pytest.mark.parametrize("chip", CHIPS)
def test_documented_values_stand_in_the_sections_that_are_cited(chip):
    looked_at = 0
    for key, leaf in leaves(chip):
        cited = re.findall(r"docs/((?:hardware/)?\w+\.md)#([\w-]+)", leaf["src"])
        if leaf["conf"] == "documented" and cited and not isinstance(leaf["value"], list):
            text = "\n".join(section(*one) for one in cited)
            words = (re.escape(word) for word in spellings(leaf["value"]))
            assert re.search(rf"(?<![\d.])({'|'.join(words)})(?!\d)", text), (key, leaf)
            looked_at += 1
    assert looked_at > 20


@pytest.mark.parametrize("chip", CHIPS)
def test_every_parameter_has_a_confidence_and_a_source(chip):
    assert all(leaf["conf"] in CONFIDENCE and leaf["src"] for _, leaf in leaves(chip))


def test_the_table_of_the_docs_counts_these_files():
    assert set(CHIPS) == set(architectures())
    page = write_parameters.PAGE.read_text()
    assert write_parameters.replaced(page) == page, "write it anew: python -m docs.write_parameters"


def test_the_table_adds_up():
    for chip in CHIPS:
        counts = write_parameters.counts(chip)
        assert sum(counts.values()) == len(leaves(chip))
        assert all(f"| {counts[confidence]} |" in write_parameters.table() for confidence in CONFIDENCE)
