"""Rules of circular buffers and barriers: threads that wait where they need not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tensim.analysis import what_if
from tensim.analysis.case import Advice, kernels_of
from tensim.analysis.facts import MOVERS
from tensim.analysis.what_if import Experiment
from tensim.sim import state as st
from tensim.sim.cores import context as ctx

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensim.analysis.case import Case
    from tensim.analysis.facts import LaunchFacts, Transfers
    from tensim.sim.chip.launch_work import BufferWork

FEW_UNDER_WAY = 2.5  # reads at a time
MOST_UNDER_WAY = 8  # reads at a time that advice asks for


def single_buffered(case: Case) -> Advice | None:
    """Buffers that are only ever empty or full, while somebody waits for them."""
    found = [one for one in case.buffers if _is_single(one) and _is_waited_for(case, one)]
    if not found:
        return None
    factors = {one.index: 2 for one in found}
    names = ", ".join(str(one.index) for one in found)
    each = "it" if len(found) == 1 else "each"
    return Advice(
        "single_buffered",
        f"Make circular buffer{'s' if len(found) > 1 else ''} {names} twice as deep",
        f"It is filled and emptied as a whole: producer and consumer take turns. With room for twice as many pages in {each}, "
        "one writes while the other reads.",
        {
            "circular_buffers": [one.index for one in found],
            "pages": [one.pages for one in found],
            "producer_waits_cycles": sum(one.waits["back"] for one in found),
            "consumer_waits_cycles": sum(one.waits["front"] for one in found),
        },
        {"circular_buffers": [{"index": one.index, "pages": 2 * one.pages} for one in found]},
        Experiment(
            "deeper_" + "_".join(map(str, factors)), f"CB {names} twice as deep", {}, what_if.deeper_buffers(factors)
        ),
        kernels=kernels_of(case, {slot for one in found for slot in (*one.producers, *one.consumers)}),
    )


def _is_single(buffer: BufferWork) -> bool:
    return buffer.pushed > buffer.pages and not buffer.levels[1 : ctx.CB_LEVELS - 1].any()


def _is_waited_for(case: Case, buffer: BufferWork) -> bool:
    """Whether the threads of a buffer wait for it, both ends together, for more than 2 % of their time."""
    waits = buffer.waits["front"] + buffer.waits["back"]
    return waits > 0.02 * case.facts.cycles * max(len(buffer.cores), 1)


def few_reads_under_way(case: Case) -> list[Advice]:
    """Readers that wait for every transfer by itself."""
    facts, work = case.facts, case.facts.work
    result = []
    for base in sorted(set(work.line_base[np.isin(work.slots, MOVERS)].tolist())):
        rows = work.line_base == base
        one = _reads_of_kernel(facts, rows)
        if one is not None:
            result.append(_several_reads(case, rows, one))
    return result


def _reads_of_kernel(facts: LaunchFacts, rows: NDArray[np.bool_]) -> Transfers | None:
    """The reads of a kernel that issues few before each barrier and waits for them, or None."""
    found = [item for kind, item in facts.transfers(rows).items() if kind.endswith("reads")]
    traffic = facts.work.traffic[rows]
    barriers, reads = int(traffic["read_barriers"].sum()), sum(item.transfers for item in found)
    waits = int(facts.work.waits[rows, 2].sum())
    if (
        not found
        or barriers < 4 * rows.sum()
        or waits < 0.1 * facts.cycles * rows.sum()
        or reads > FEW_UNDER_WAY * barriers
    ):
        return None
    return max(found, key=lambda item: item.bytes)


def _several_reads(case: Case, rows: NDArray[np.bool_], one: Transfers) -> Advice:
    facts, slot = case.facts, int(case.facts.work.slots[rows][0])
    mine = [buffer for buffer in case.buffers if slot in buffer.producers]
    per_barrier = one.transfers / max(int(facts.work.traffic[rows]["read_barriers"].sum()), 1)
    # half the room, so that one half is filled while the other is consumed; where there is no room, with more of it
    count = min(max((buffer.pages // 2 for buffer in mine), default=MOST_UNDER_WAY), MOST_UNDER_WAY)
    factors = {}
    if count < 4:
        count = 4
        factors = {buffer.index: -(-2 * count // buffer.pages) for buffer in mine}
    name = _name(facts, rows)
    deeper = {index: factor * next(b.pages for b in mine if b.index == index) for index, factor in factors.items()}
    text = (
        f"{name} waits at a read barrier after every {per_barrier:.1f} reads, so that {one.in_flight:.1f} are under way at a time "
        f"and each one's {one.latency_cycles:,.0f} cycles count. Reserve {count} pages, issue {count} reads, then one barrier"
        + (f"; circular buffers {', '.join(map(str, deeper))} need {2 * count} pages for that." if deeper else ".")
    )
    return Advice(
        "barrier_per_read",
        f"Issue {count} reads before each barrier in {name}",
        text,
        {
            "reads_per_barrier": per_barrier, "reads_under_way": one.in_flight, "latency_cycles": one.latency_cycles,
            "request_bytes": one.request_bytes,
        },
        {
            "kernel": name,
            "reads_per_barrier": count,
            "circular_buffers": [{"index": index, "pages": pages} for index, pages in deeper.items()],
        },
        Experiment(
            f"reads_per_barrier_{count}_{name}",
            f"{count} reads before each barrier in {name}",
            rewrite=what_if.deeper_buffers(factors) if factors else None,
            barrier_periods={name: round(count / per_barrier)},
        ),
        kernels=kernels_of(case, {slot}),
    )  # fmt: skip


def _name(facts: LaunchFacts, rows: NDArray[np.bool_]) -> str:
    """Of the kernel of some threads, which have one."""
    kernel = facts.kernel(int(rows.nonzero()[0][0]))
    assert kernel is not None
    return kernel["name"]


def few_writes_under_way(case: Case) -> list[Advice]:
    """Writers that wait for the arrival of every write, or few, before they go on."""
    facts, work = case.facts, case.facts.work
    waits = np.zeros(len(work.threads), np.int64)
    arrivals = work.stall_reasons == st.WAIT_WRITE_BARRIER
    np.add.at(waits, work.stall_rows[arrivals], work.stall_cycles[arrivals])
    result = []
    for base in sorted(set(work.line_base[np.isin(work.slots, MOVERS)].tolist())):
        rows = work.line_base == base
        barriers = int(work.traffic[rows]["write_barriers"].sum())
        writes = sum(one.transfers for kind, one in facts.transfers(rows).items() if kind.endswith("writes"))
        share = int(waits[rows].sum()) / (facts.cycles * rows.sum())
        if barriers >= 4 * rows.sum() and share >= 0.1 and writes <= FEW_UNDER_WAY * barriers:
            result.append(_flushes(case, rows, writes / barriers, share))
    return result


def _flushes(case: Case, rows: NDArray[np.bool_], per_barrier: float, share: float) -> Advice:
    name = _name(case.facts, rows)
    return Advice(
        "barrier_per_write",
        f"Wait only until writes have left before a page is used again, in {name}",
        f"{name} waits {100 * share:.0f} % of the time until its writes have arrived, {per_barrier:.1f} at a time. Its page is "
        "free when they have left the core: noc_async_writes_flushed() in place of noc_async_write_barrier(), which is needed once "
        "at the end, and before another core is told that data have arrived.",
        {"writes_per_barrier": per_barrier, "waiting_share": float(share)},
        {"kernel": name, "write_barriers": "flushes"},
        Experiment(
            f"flush_{name}", f"flushes in place of write barriers in {name}", barrier_periods={name: st.ONLY_FLUSHED}
        ),
        kernels=kernels_of(case, {int(case.facts.work.slots[rows][0])}),
    )
