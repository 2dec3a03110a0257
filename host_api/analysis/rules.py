"""Rules: mistakes of data-movement and compute programs that figures show, each with its evidence and the experiment that
says what mending it brings.

docs/verdicts.md says what every rule means and what to change.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from tensim.analysis import what_if
from tensim.analysis.facts import MOVERS, LaunchFacts
from tensim.analysis.what_if import Experiment
from tensim.sim import state as st
from tensim.sim.cores import context as ctx
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.cores.slots import PACK_SLOT, THREAD_NAMES, UNPACK_SLOT
from tensim.types import MathFidelity

MANY_TIMES = 1.5  # a byte read that often is read too often
SMALL_REQUEST = 1024  # bytes of a DRAM request below which its own costs weigh
SKEW = 2.0  # of the busiest DRAM channel against the mean
BUSY_BANK = 0.25  # share of the time for which it must move data to matter
FEW_UNDER_WAY = 2.5  # reads at a time
CROWDED = 1.4  # times its even share that one DRAM channel gets of the requests of a moment
USED_LINK = 0.3  # share of the time for which the busiest link carries flits, from which its NoC matters
TILES_PER_PAGE = 1.5  # packed, for each that leaves: partial results
PACKER_COUNTS, CLOSE_PACK = 0.25, 0.5  # share of the time at work of the packers from which these rules look at them
MOST_UNDER_WAY = 8  # reads at a time that advice asks for
BLOCK_TILES = 4  # of a block of products that advice asks for
MANTISSA_PHASES = {  # fidelity that brings every mantissa bit of a format into the product (docs/hardware/numerics.md)
    DataFormat.Bfp2_b: MathFidelity.LoFi,
    DataFormat.Bfp4_b: MathFidelity.LoFi,
    DataFormat.Bfp8_b: MathFidelity.HiFi2,
}


@dataclass(frozen=True)
class Advice:
    """A change worth trying.

    `rule`: a stable key; `title`, `text`: for people; `evidence`: {name: figure}; `change`: what exactly the estimate is of;
    `estimated_gain`: share of the run's time that it saves, None as long as nobody has measured; `experiment`: what measures
    it, None where `estimated_gain` comes from the figures; `kernels`: [{"name", "file"}] it concerns.
    """

    rule: str
    title: str
    text: str
    evidence: dict
    change: dict
    experiment: Experiment | None = None
    estimated_gain: float | None = None
    kernels: list = field(default_factory=list)

    def to_dict(self):
        """As JSON has it; the gain in percent."""
        gain = self.estimated_gain
        return {
            "rule": self.rule, "title": self.title, "text": self.text, "evidence": self.evidence, "change": self.change,
            "estimated_gain_pct": None if gain is None else 100 * gain, "kernels": self.kernels,
            "experiment": None if self.experiment is None else self.experiment.name,
        }  # fmt: skip

    def measured(self, gain):
        """The same with what its experiment found."""
        return replace(self, estimated_gain=gain)


@dataclass(frozen=True)
class Case:
    """What the rules look at: the facts of the launch that counts, and of the run.

    `patterns`: `tensim.analysis.access_patterns.AccessPatterns`, None where calls were not recorded; `launches`: how many;
    `idle_share`: of the run's span, without a program.
    """

    facts: LaunchFacts
    patterns: object = None
    launches: int = 1
    idle_share: float = 0.0

    @property
    def arch(self):
        return self.facts.arch

    @property
    def buffers(self):
        return self.facts.work.buffers


def advice(case):
    """All `Advice` that the figures give reason for, none of it measured, in the order of the rules."""
    found = (rule(case) for rule in RULES)
    return [one for item in found for one in (item if isinstance(item, list) else [item]) if one is not None]


def by_relevance(found, verdict):
    """Advice as long as nobody has measured it: first what the verdict speaks of."""
    first = FIRST_RULES.get(verdict.kind if verdict.kind != "bandwidth" else verdict.resource, ())
    return sorted(found, key=lambda one: first.index(one.rule) if one.rule in first else len(first))


# --- circular buffers and barriers


def single_buffered(case):
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
        kernels=_kernels(case, {slot for one in found for slot in (*one.producers, *one.consumers)}),
    )


def _is_single(buffer):
    return buffer.pushed > buffer.pages and not buffer.levels[1 : ctx.CB_LEVELS - 1].any()


def _is_waited_for(case, buffer):
    """Whether the threads of a buffer wait for it, both ends together, for more than 2 % of their time."""
    waits = buffer.waits["front"] + buffer.waits["back"]
    return waits > 0.02 * case.facts.cycles * max(len(buffer.cores), 1)


def few_reads_under_way(case):
    """Readers that wait for every transfer by itself."""
    facts, work = case.facts, case.facts.work
    result = []
    for base in sorted(set(work.line_base[np.isin(work.slots, MOVERS)].tolist())):
        rows = work.line_base == base
        one = _reads_of_kernel(facts, rows)
        if one is not None:
            result.append(_several_reads(case, rows, one))
    return result


def _reads_of_kernel(facts, rows):
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


def _several_reads(case, rows, one):
    facts, slot = case.facts, int(case.facts.work.slots[rows][0])
    mine = [buffer for buffer in case.buffers if slot in buffer.producers]
    per_barrier = one.transfers / max(int(facts.work.traffic[rows]["read_barriers"].sum()), 1)
    # half the room, so that one half is filled while the other is consumed; where there is no room, with more of it
    count = min(max((buffer.pages // 2 for buffer in mine), default=MOST_UNDER_WAY), MOST_UNDER_WAY)
    factors = {}
    if count < 4:
        count = 4
        factors = {buffer.index: -(-2 * count // buffer.pages) for buffer in mine}
    name = facts.kernel(int(rows.nonzero()[0][0]))["name"]
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
        kernels=_kernels(case, {slot}),
    )  # fmt: skip


def few_writes_under_way(case):
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


def _flushes(case, rows, per_barrier, share):
    name = case.facts.kernel(int(rows.nonzero()[0][0]))["name"]
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
        kernels=_kernels(case, {int(case.facts.work.slots[rows][0])}),
    )


# --- traffic


def traffic_amplification(case):
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
        kernels=_kernels(case, MOVERS),
    )  # fmt: skip


def unicast_for_multicast(case):
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
        kernels=_kernels(case, MOVERS),
    )


def both_on_one_noc(case):
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
        Experiment("both_nocs", "reader and writer on different NoCs", {}, what_if.on_both_nocs),
        kernels=_kernels(case, MOVERS),
    )


def hot_bank(case):
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
        kernels=_kernels(case, MOVERS),
    )


def banks_in_step(case):
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
        kernels=_kernels(case, MOVERS),
    )


def exchanged_nocs(case):
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
        Experiment("nocs_exchanged", "NoCs of the kernels exchanged", {}, what_if.exchanged_nocs),
        kernels=_kernels(case, MOVERS),
    )


def row_misses(case):
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
        kernels=_kernels(case, MOVERS),
    )


def small_requests(case):
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
        kernels=_kernels(case, MOVERS),
    )


def hot_link(case):
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
        kernels=_kernels(case, MOVERS),
    )


# --- compute


def high_fidelity(case):
    """More fidelity phases than the mantissas have bits for."""
    launch = case.facts.work.launch
    kernels = [] if launch is None else [one for one in launch.kernels if one.compute is not None]
    operands = [one for one in case.buffers if UNPACK_SLOT in one.consumers and set(one.producers) <= set(MOVERS)]
    formats = {DataFormat(one.data_format) for one in operands}
    if (
        not kernels
        or not formats
        or not formats <= set(MANTISSA_PHASES)
        or not case.facts.work.core_counters["products"].any()
    ):
        return None
    enough = max((MANTISSA_PHASES[one] for one in formats), key=int)
    used = max(one.compute.math_fidelity for one in kernels)
    if used <= int(enough):
        return None
    names = ", ".join(sorted(one.name for one in formats))
    return Advice(
        "high_fidelity",
        f"Use {enough.name}: {MathFidelity(used).name} brings nothing more for {names}",
        f"All mantissa bits of {names} are in the product with {enough.name}; each phase more costs as much matrix time again.",
        {"fidelity": MathFidelity(used).name, "formats": sorted(one.name for one in formats)},
        {"math_fidelity": enough.name},
        Experiment(f"fidelity_{enough.name}", f"math fidelity {enough.name}", {}, what_if.with_fidelity(int(enough))),
        kernels=_kernels(case, (2, 3, 4)),
    )


def small_blocks(case):
    """Products of single tiles, which bring both operands for each."""
    counters = case.facts.work.core_counters
    products, calls = int(counters["products"].sum()), int(counters["product_calls"].sum())
    if calls == 0 or products >= 2 * calls:
        return None
    return Advice(
        "small_blocks",
        f"Multiply blocks of {BLOCK_TILES} tiles: now {products / calls:.1f} a call",
        "A call on single tiles unpacks both operands for every product. matmul_block keeps one operand in its source register "
        "while the other streams, and is called once a block.",
        {"products": products, "calls": calls},
        {"block_tiles": BLOCK_TILES},
        Experiment(
            f"blocks_of_{BLOCK_TILES}", f"blocks of {BLOCK_TILES} tiles", what_if.larger_blocks(case.arch, BLOCK_TILES)
        ),
        kernels=_kernels(case, (2, 3, 4)),
    )


def partial_results(case):
    """Tiles packed several times before they leave the core: accumulated in L1, or spilled and loaded again by products."""
    if case.facts.units()["pack"] < PACKER_COUNTS:
        return None
    products = case.facts.work.core_counters["products"].any()
    leaving = [one for one in case.buffers if one.packed and (not products or UNPACK_SLOT not in one.consumers)]
    packed = sum(one.packed for one in case.buffers) if products else sum(one.packed for one in leaving)
    needed = sum(min(one.packed, one.pushed * _tiles_per_page(one)) for one in leaving)
    if needed == 0 or packed < TILES_PER_PAGE * needed:
        return None
    worst, factor = max((one for one in case.buffers if one.packed), key=lambda one: one.packed), packed / needed
    return Advice(
        "partial_results",
        f"Accumulate in Dst: {factor:.1f} tiles are packed for each that leaves the core",
        f"{packed:,} tiles are packed, {worst.packed:,} of them into circular buffer {worst.index}, for {needed:,} that leave the "
        "core: partial results go through L1. Keep them in the Dst registers until they are complete, and pack once.",
        {"circular_buffer": worst.index, "tiles_packed": packed, "tiles_needed": needed},
        {"packs_per_tile": 1},
        Experiment("packs_once", f"{factor:.1f} times fewer packs", what_if.fewer_packs(case.arch, factor)),
        kernels=_kernels(case, (PACK_SLOT,)),
    )


def wide_results(case):
    """32-bit tiles that keep the packer busy."""
    wide = [one for one in case.buffers if one.packed and DataFormat(one.data_format) == DataFormat.Float32]
    if case.facts.units()["pack"] < CLOSE_PACK or not wide:
        return None
    tiles = sum(one.packed for one in wide)
    return Advice(
        "wide_results",
        "Pack 16-bit results: the packer writes twice the bytes for Float32",
        f"{tiles:,} tiles of 4 KiB are packed, at 64 B a cycle and packer. As Float16_b they take half the time, and half the room "
        "and traffic after that; whether the result may have 8 bits of mantissa, only you know.",
        {"circular_buffers": [one.index for one in wide], "tiles": tiles},
        {"format": "Float16_b"},
        Experiment("half_packed", "half the bytes packed", what_if.narrower_results(case.arch)),
        kernels=_kernels(case, (PACK_SLOT,)),
    )


def _tiles_per_page(buffer):
    return max(buffer.page_size // tile_size(DataFormat(buffer.data_format)), 1)


# --- work and cores


def imbalance(case):
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


def idle_cores(case):
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


def _bounded(case, gain):
    """A gain of more parallel work, as far as DRAM has room for it."""
    return min(gain, 1 - float(case.facts.channel_shares().mean()))


def many_launches(case):
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


def _kernels(case, slots):
    """[{"name", "file"}] of the launch on the slots."""
    processors = {THREAD_NAMES[slot] for slot in slots}
    return [
        {"name": one["name"], "file": one["file"]}
        for one in case.facts.kernels()
        if processors & set(one["processors"])
    ]


RULES = (
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
