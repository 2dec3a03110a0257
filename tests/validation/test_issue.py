"""Rows of issue measurements: what they become, why some are skipped, and what a few of them give."""

import pytest

from tensim.validation.compute import rows as compute
from tensim.validation.issue import rows as issue
from tensim.validation.issue.kernels import PROBES
from tensim.validation.rows import Row, Skip


def probe(name, phase="r", unit="RV", threads="1", thread="1"):
    columns = {"dataset": "riscvbench-blackhole", "phase": phase, "variant": f"t{threads}", "probe": name, "unit": unit,
               "active_threads": threads, "thread": thread, "cycles_per_instruction_or_call": "0.9987"}  # fmt: skip
    return issue.read(Row("f.csv:1", 2, columns, []), "probes")


def test_probes_become_loops_on_their_threads():
    assert probe("rv_addi_dep").spec == ("statement", "blackhole", "rv_addi_dep", (1,), 1)
    assert probe("tt_pad", "t", "TTINSN", "3", "2").spec == ("statement", "blackhole", "tt_pad", (0, 1, 2), 2)
    assert probe("f_256", "f").spec == ("code", "blackhole", 256)


@pytest.mark.parametrize(("name", "phase"), [("SFPADD", "A"), ("tt_sfpnop", "t"), ("matmul_tiles", "B")])
def test_series_of_one_instruction_are_those_of_validate_compute(name, phase):
    assert probe(name, phase, "SFPU").spec[0] == "compute"


def test_what_a_riscv_core_does_alone_is_measured_in_cpp_too():
    case = probe("rv_load_chase", "r", "RV_LSU", "3", "2")
    assert case.specs == (
        ("statement", "blackhole", "rv_load_chase", (0, 1, 2), 2),
        ("cpp", "blackhole", "rv_load_chase", 64, (0, 1, 2), 2),
    )
    assert probe("f_256", "f").cpp == ("cpp", "blackhole", "rv_addi_dep", 256, (1,), 1)
    assert probe("tt_pad", "t", "TTINSN").cpp is None
    assert probe("SFPADD", "A", "SFPU").cpp is None


def test_a_store_on_the_stack_is_a_probe_in_cpp_alone():
    case = probe("rv_store_stack")
    assert case.specs == (case.cpp,) == (("cpp", "blackhole", "rv_store_stack", 64, (1,), 1),)


def test_an_unknown_probe_is_skipped():
    with pytest.raises(Skip, match="no statement of the kernel language is known for rv_fence"):
        probe("rv_fence")


@pytest.mark.parametrize(("threads", "thread"), [("4", "1"), ("2", "2"), ("1", "0")])
def test_a_thread_that_does_not_take_part_is_an_error(threads, thread):
    with pytest.raises(ValueError, match="column (active_)?thread"):
        probe("rv_div", threads=threads, thread=thread)


def test_only_lines_with_a_role_are_made_for_each_thread():
    lines = PROBES["tt_fuse2"].lines((0, 2))
    assert lines.count("x = x + 1") == 16
    assert lines[16:] == [f'{role}(tt_instruction("NOP", 2))' for role in ("UNPACK", "PACK")]


@pytest.mark.parametrize(
    ("name", "cycles"), [("rv_addi_dep", 1), ("rv_mul_indep", 1), ("rv_mul_dep", 127 / 64), ("c_xor_t", 2), ("c_nt", 1)]
)
def test_statements_cost_what_they_cost_on_silicon(name, cycles):
    assert issue.simulate(("statement", "blackhole", name, (1,), 1)) == cycles


@pytest.mark.parametrize(
    ("name", "threads", "thread", "cycles"),
    [
        ("rv_addi_dep", (1,), 1, 1),
        ("rv_mul_dep", (1,), 1, 127 / 64),
        ("rv_div", (1,), 1, 33),
        ("rv_load_stack", (1,), 1, 127 / 64),
        ("rv_store_stack", (0, 1, 2), 2, 1),
        ("rv_store_coalesce", (1,), 1, 1),
        ("c_xor_alt", (1,), 1, 2),
    ],
)
def test_instructions_cost_what_they_cost_on_silicon(name, threads, thread, cycles):
    assert issue.simulate(("cpp", "blackhole", name, 64, threads, thread)) == cycles


def test_memory_costs_both_front_ends_the_same():
    """A load of 8 cycles, and stores that wait for each other at the port that TRISC1 and TRISC2 share."""
    chase = issue.simulate(("cpp", "blackhole", "rv_load_chase", 64, (1,), 1))
    assert chase == pytest.approx(8.1, rel=0.02)
    spread = issue.simulate(("cpp", "blackhole", "rv_store_spread", 64, (0, 1, 2), 2))
    assert spread == pytest.approx(
        issue.simulate(("statement", "blackhole", "rv_store_spread", (0, 1, 2), 2)), rel=0.02
    )


def test_code_that_does_not_fit_the_instruction_cache_costs_a_quarter_more_on_both_front_ends():
    python, cpp = (issue.simulate(spec) for spec in probe("g_1536", "g").specs)
    assert cpp == pytest.approx(1.25, rel=0.01) and python == pytest.approx(1.25, rel=0.01)


def test_pushes_do_not_fuse_and_leave_no_gap():
    """Additions and pushes take a slot each; 64 pushes hide the loop around them, so that its cycles are taken off twice."""
    assert issue.simulate(("statement", "blackhole", "tt_spread4", (1,), 1)) == 20
    assert compute.simulate(("instruction", "blackhole", compute._settings(), ("NOP", 1))) == 1
    assert compute.simulate(("instruction", "blackhole", compute._settings(), ("SFPNOP", 2))) == 126 / 64
