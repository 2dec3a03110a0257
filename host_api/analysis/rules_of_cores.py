"""Rules of the division of work: among cores, and among launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensim.analysis.case import Advice

if TYPE_CHECKING:
    from tensim.analysis.case import Case


def imbalance(case: Case) -> Advice | None:
    """Cores that end at different times."""
    facts = case.facts
    if min(facts.imbalance, facts.work_imbalance) < 0.1 or case.idle_share > 0.5:
        return None
    gain = _bounded(case, facts.imbalance)
    return Advice(
        "imbalance",
        f"Divide the work evenly: cores are done after {100 * (1 - facts.imbalance):.0f} % of the time, on average",
        f"Core {facts.core_name(facts.slowest)} ends last; the first one is done after {100 * float(facts.active.min()):.0f} % of "
        "the time. The estimate is the mean of the cores' times, as far as shared memory lets them all go on.",
        {
            "mean_share": float(facts.active.mean()), "first_share": float(facts.active.min()),
            "slowest_core": facts.core_name(facts.slowest),
        },
        {"balanced": True},
        estimated_gain=gain,
    )  # fmt: skip


def idle_cores(case: Case) -> Advice | None:
    """Cores of the chip without a kernel."""
    facts = case.facts
    available = len(facts.arch.worker_coords)
    used = len(facts.cores)
    if used > 0.75 * available or case.idle_share > 0.5:
        return None
    return Advice(
        "idle_cores",
        f"Use more cores: {used} of {available} run kernels",
        "The estimate divides the time by as many cores more, down to what DRAM takes.",
        {"cores_used": used, "cores_available": available},
        {"cores": available},
        estimated_gain=_bounded(case, 1 - used / available),
    )


def _bounded(case: Case, gain: float) -> float:
    """A gain of more parallel work, as far as DRAM has room for it."""
    return min(gain, 1 - float(case.facts.channel_shares().mean()))


def many_launches(case: Case) -> Advice | None:
    """Programs that are shorter than what lies between them."""
    if case.launches < 2 or case.idle_share < 0.25:
        return None
    names = ", ".join(sorted({kernel["name"] for kernel in case.facts.kernels()}))
    return Advice(
        "many_launches",
        f"Launch less often: {case.launches} launches, and {100 * case.idle_share:.0f} % of the time none runs",
        "Between two programs lie host calls, dispatch and the start of kernels. Put the work of several programs into one, or "
        "capture a metal trace and replay it. The estimate is of one program that does it all.",
        {"launches": case.launches, "idle_share": case.idle_share, "kernels": names},
        {"launches": 1},
        estimated_gain=case.idle_share,
    )
