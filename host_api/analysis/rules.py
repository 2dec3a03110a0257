"""Rules: mistakes of data-movement and compute programs that figures show, each with its evidence and the experiment that
says what mending it brings.

docs/verdicts.md says what every rule means and what to change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tensim.analysis.rules_of_compute import high_fidelity, partial_results, small_blocks, wide_results
from tensim.analysis.rules_of_cores import idle_cores, imbalance, many_launches
from tensim.analysis.rules_of_traffic import (
    banks_in_step,
    both_on_one_noc,
    exchanged_nocs,
    hot_bank,
    hot_link,
    row_misses,
    small_requests,
    traffic_amplification,
    unicast_for_multicast,
)
from tensim.analysis.rules_of_waiting import few_reads_under_way, few_writes_under_way, single_buffered

if TYPE_CHECKING:
    from tensim.analysis.case import Advice, Case
    from tensim.analysis.verdict import Verdict

RULES: tuple[Callable[[Case], Advice | None | list[Advice]], ...] = (
    single_buffered, few_reads_under_way, few_writes_under_way, traffic_amplification, unicast_for_multicast, both_on_one_noc,
    hot_bank, banks_in_step, row_misses, small_requests, hot_link, exchanged_nocs, high_fidelity,
    small_blocks, partial_results, wide_results, imbalance, idle_cores, many_launches,
)  # fmt: skip
MEMORY_RULES = (
    "traffic_amplification", "hot_bank", "banks_in_step", "unicast_for_multicast", "both_on_one_noc", "hot_link", "small_pages",
    "row_misses",
)  # fmt: skip
FIRST_RULES = {  # kind of verdict, or resource whose bandwidth bounds -> rules that speak of it
    "dram": MEMORY_RULES,
    "noc": MEMORY_RULES,
    "latency": ("barrier_per_read", "barrier_per_write", "small_pages", "single_buffered"),
    "dependency": ("single_buffered", "barrier_per_read"),
    "imbalance": ("imbalance",),
    "dispatch": ("many_launches",),
    "fpu": ("high_fidelity", "small_blocks"),
    "unpack": ("small_blocks",),
    "pack": ("partial_results", "wide_results"),
    "mover": ("small_pages",),
}


def advice(case: Case) -> list[Advice]:
    """All `Advice` that the figures give reason for, none of it measured, in the order of the rules."""
    found = (rule(case) for rule in RULES)
    return [one for item in found for one in (item if isinstance(item, list) else [item]) if one is not None]


def by_relevance(found: Iterable[Advice], verdict: Verdict) -> list[Advice]:
    """Advice as long as nobody has measured it: first what the verdict speaks of."""
    first = FIRST_RULES.get(verdict.kind if verdict.kind != "bandwidth" else verdict.resource, ())
    return sorted(found, key=lambda one: first.index(one.rule) if one.rule in first else len(first))
