"""Every check has its words, its advice and its row in docs/checks.md."""

from pathlib import Path

from tensim.sim.cores.checks.faults import ADVICE, FIRST, MESSAGES, Check
from tensim.sim.cores.faults import Fault

PAGE = Path(__file__).parents[3] / "docs/checks.md"


def test_every_check_is_described():
    page = PAGE.read_text()
    assert set(MESSAGES) == set(ADVICE) == set(Check)
    assert [check.name for check in Check if f"`{check.name.lower()}`" not in page] == []


def test_codes_of_checks_and_of_the_engine_differ():
    assert min(Check) >= FIRST > max(Fault)
