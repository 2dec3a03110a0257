"""Rules of traffic: what is moved too often, too small, or along the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensim.analysis import what_if
from tensim.analysis.case import Advice, kernels_of
from tensim.analysis.facts import MOVERS
from tensim.analysis.what_if import Experiment

if TYPE_CHECKING:
    from tensim.analysis.case import Case

MANY_TIMES = 1.5  # a byte read that often is read too often
SMALL_REQUEST = 1024  # bytes of a DRAM request below which its own costs weigh
SKEW = 2.0  # of the busiest DRAM channel against the mean
BUSY_BANK = 0.25  # share of the time for which it must move data to matter
CROWDED = 1.4  # times its even share that one DRAM channel gets of the requests of a moment
USED_LINK = 0.3  # share of the time for which the busiest link carries flits, from which its NoC matters


def traffic_amplification(case: Case) -> Advice | None:
    """Bytes of DRAM that are read several times."""
    facts = case.facts
    factor = facts.amplification
    transfers = facts.transfers().get("dram_reads")
    if transfers is None or factor < MANY_TIMES:
        return None
    reads = case.patterns.dram if case.patterns else None
    shared = reads is not None and reads.readers >= reads.repeats
    how = "Let one core read a tile and multicast it to the others" if shared or reads is None else (
        "Keep what a core reads again in L1, or compute a block of outputs from it"
    )  # fmt: skip
    detail = "" if reads is None else f" ({reads.readers:.1f} cores read a byte, each {reads.repeats:.1f} times)"
    return Advice(
        "traffic_amplification",
        f"Read each byte of DRAM once: now {factor:.1f} times",
        f"{transfers.bytes / 1e6:.2f} MB are read from DRAM, of which {facts.work.first_read_bytes / 1e6:.2f} MB differ{detail}. "
        f"{how}.",
        {
            "dram_read_bytes": transfers.bytes, "unique_bytes": facts.work.first_read_bytes,
            "amplification": factor,
            "readers_per_byte": None if reads is None else reads.readers,
            "repeats_per_core": None if reads is None else reads.repeats,
        },
        {"dram_read_bytes": facts.work.first_read_bytes, "multicast": shared},
        Experiment("traffic_once", f"traffic {factor:.1f} times less", what_if.less_traffic(case.arch, factor)),
        kernels=kernels_of(case, MOVERS),
    )  # fmt: skip


def unicast_for_multicast(case: Case) -> Advice | None:
    """The same bytes written to core after core."""
    patterns = case.patterns
    if (
        patterns is None
        or patterns.equal_unicast_bytes < 0.25 * max(patterns.unicast_bytes, 1)
        or patterns.receivers < 3
    ):
        return None
    count = patterns.receivers
    share = patterns.equal_unicast_bytes / patterns.unicast_bytes
    calls = {
        key: max(round(case.arch[key] / count), 1) for key in ("riscv.issue.write", "riscv.issue.write_one_packet")
    }
    return Advice(
        "unicast_for_multicast",
        f"Multicast what goes to {count:.0f} cores one by one",
        f"{100 * share:.0f} % of the bytes written to cores are the bytes of the call before, for another core.",
        {
            "unicast_bytes": patterns.unicast_bytes,
            "equal_unicast_bytes": patterns.equal_unicast_bytes,
            "receivers": count,
        },
        {"multicast": True, "receivers": count},
        Experiment("multicast", "multicast in place of unicasts", what_if.less_traffic(case.arch, count) | calls),
        kernels=kernels_of(case, MOVERS),
    )


def both_on_one_noc(case: Case) -> Advice | None:
    """Both data-movement kernels of a core with the same default NoC."""
    launch = case.facts.work.launch
    if launch is None:
        return None
    nocs = {}
    for kernel in launch.kernels:
        if kernel.slot is not None:
            for core in kernel.cores:
                nocs.setdefault(core, []).append((kernel.noc, kernel.slot))
    shared = [core for core, used in nocs.items() if len(used) == 2 and used[0][0] == used[1][0]]
    if not shared:
        return None
    noc = nocs[shared[0]][0][0]
    return Advice(
        "both_on_one_noc",
        f"Put reader and writer on different NoCs: both are on NoC {noc}",
        f"On {len(shared)} cores both data-movement kernels use NoC {noc}, while the other one is idle. tt-metal's defaults have "
        "the reader (NCRISC) on NoC 0 and the writer (BRISC) on NoC 1.",
        {"cores": len(shared), "noc": noc},
        {"noc_of": {"NCRISC": 0, "BRISC": 1}},
        Experiment("both_nocs", "reader and writer on different NoCs", {}, what_if.on_both_nocs, turned_corners=True),
        kernels=kernels_of(case, MOVERS),
    )


def hot_bank(case: Case) -> Advice | None:
    """A DRAM bank with far more of the traffic than others."""
    moved = case.facts.work.channels["read_bytes"] + case.facts.work.channels["write_bytes"]
    mean = float(moved.mean())
    share = case.facts.channel_shares()
    if mean == 0 or moved.max() < SKEW * mean or share.max() < BUSY_BANK:
        return None
    bank, factor = int(moved.argmax()), float(moved.max()) / mean
    return Advice(
        "hot_bank",
        f"Spread the traffic over the DRAM banks: bank {bank} has {factor:.1f} times the mean",
        f"Bank {bank} moves {moved.max() / 1e6:.2f} MB, the banks on average {mean / 1e6:.2f} MB: a page size or an order of "
        f"pages that leads to one bank. Smaller pages of an interleaved buffer, or another order, use all {len(moved)} banks.",
        {
            "bank": bank,
            "bank_bytes": int(moved.max()),
            "mean_bytes": mean,
            "bank_busy_share": float(share[bank]),
            "skew": factor,
        },
        {"banks": len(moved)},
        Experiment("banks_evenly", "traffic over all banks evenly", what_if.less_traffic(case.arch, factor)),
        kernels=kernels_of(case, MOVERS),
    )


def banks_in_step(case: Case) -> Advice | None:
    """Banks that get even shares over the run, and all requests of a moment one after the other."""
    share, patterns = case.facts.channel_shares(), case.patterns
    if patterns is None or patterns.crowding < CROWDED or share.max() < BUSY_BANK or share.max() >= SKEW * share.mean():
        return None
    if (
        patterns.dram is not None and patterns.dram.readers >= MANY_TIMES
    ):  # many cores at one page are at one bank in any order
        return None
    return Advice(
        "banks_in_step",
        f"Let each core begin at another DRAM bank: at a time, one channel gets {patterns.crowding:.1f} times its share",
        f"Over the run the channels are busy {100 * float(share.mean()):.0f} % of the time, but the cores go through the banks in "
        "step and queue at one while the others are idle. Let core i begin with its page i, and wrap around.",
        {"crowding": patterns.crowding, "mean_busy_share": float(share.mean())},
        {"first_page": "rotated by core"},
        Experiment("banks_rotated", "each core begins at another DRAM bank", rotated_banks=True),
        kernels=kernels_of(case, MOVERS),
    )


def exchanged_nocs(case: Case) -> Advice | None:
    """Kernels on the two NoCs whose ways would be shorter, or freer, on the other one each."""
    launch, busiest = case.facts.work.launch, float(case.facts.link_shares().max())
    if case.patterns is None or launch is None or busiest < USED_LINK:
        return None
    if {kernel.noc for kernel in launch.kernels if kernel.slot is not None} != {0, 1}:
        return None
    return Advice(
        "exchanged_nocs",
        "Exchange the NoCs of the data-movement kernels",
        f"The busiest link carries flits {100 * busiest:.0f} % of the time. NoC 0 goes right and down, NoC 1 left and up: from the "
        "same cores to the same banks their ways differ in length and in what they share. With multicasts, exchange the corners "
        "of the rectangles, too.",
        {"busiest_link_share": busiest},
        {"nocs": "exchanged"},
        Experiment("nocs_exchanged", "NoCs of the kernels exchanged", {}, what_if.exchanged_nocs, turned_corners=True),
        kernels=kernels_of(case, MOVERS),
    )


def row_misses(case: Case) -> Advice | None:
    """DRAM accesses that open a row each."""
    channels = case.facts.work.channels
    hits, misses = int(channels["row_hits"].sum()), int(channels["row_misses"].sum())
    if misses < hits or hits + misses < 100:
        return None
    keys = ("t_rcd_ns", "t_rp_ns", "t_ras_ns", "t_rrd_s_ns", "t_rrd_l_ns", "t_faw_ns")
    return Advice(
        "row_misses",
        f"Access DRAM in longer runs: {100 * misses / (hits + misses):.0f} % of the accesses open a row",
        f"A row holds {case.arch['dram.row_bytes']} B of a bank. Larger pages, or neighbouring pages one after the other, find it "
        "open.",
        {"row_hits": hits, "row_misses": misses},
        {"row_hits": True},
        Experiment("rows_open", "every row open", {f"dram.{key}": 0 for key in keys}),
        kernels=kernels_of(case, MOVERS),
    )


def small_requests(case: Case) -> Advice | None:
    """DRAM requests that are so small that their own costs weigh."""
    found = [one for kind, one in case.facts.transfers().items() if kind.startswith("dram")]
    one = max(found, key=lambda item: item.transfers, default=None)
    if one is None or one.request_bytes >= SMALL_REQUEST or one.bytes < 64 * one.request_bytes:
        return None
    factor = 2048 / one.request_bytes
    return Advice(
        "small_pages",
        f"Use larger pages: a DRAM request has {one.request_bytes:,.0f} B",
        f"{one.transfers:,} requests of {one.request_bytes:,.0f} B pay for issue, way and acceptance each. Pages of 2 KiB pay "
        f"{factor:.0f} times less often.",
        {"requests": one.transfers, "request_bytes": one.request_bytes},
        {"request_bytes": 2048},
        Experiment("larger_requests", "requests of 2 KiB", what_if.larger_requests(case.arch, factor)),
        kernels=kernels_of(case, MOVERS),
    )


def hot_link(case: Case) -> Advice | None:
    """A link that carries far more than others."""
    shares = case.facts.link_shares()
    used = shares[shares > 0]
    if len(used) == 0 or shares.max() < 0.5 or shares.max() < 4 * used.mean():
        return None
    return Advice(
        "hot_link",
        f"Relieve the busiest link: it carries flits {100 * shares.max():.0f} % of the time",
        f"The links that are used carry flits {100 * used.mean():.0f} % of the time on average. Let part of the traffic take the "
        "other NoC, place readers nearer to their data, or multicast.",
        {"busiest_share": float(shares.max()), "mean_share": float(used.mean())},
        {"noc": True},
        Experiment("links_free", "links free", what_if.less_traffic(case.arch, 1) | {"noc.flit_bytes": 256}),
        kernels=kernels_of(case, MOVERS),
    )
