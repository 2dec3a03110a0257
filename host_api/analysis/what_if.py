"""Experiments: the same program again on a chip with one resource free, or with one thing of the program changed.

An experiment is data: architecture overrides, and a rewriting of the command records that build the program.  A resource is
made free by the parameters that give it a cost, as far as their ranges go; what cannot be 0 becomes so small that it vanishes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from tensim.sim.arch.loader import operations
from tensim.sim.host import commands as c
from tensim.sim.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tensim.sim.arch import Arch

Overrides: TypeAlias = dict[str, float]  # of parameters, by their dotted keys
Rewrite: TypeAlias = Callable[[c.Command], c.Command]
WIDEST_FLIT = 1024  # bytes, the most of noc.flit_bytes
LARGEST_RATE = 65536  # of B/cycle and datums/cycle
MANY = 10_000  # places in a queue or buffer
LARGEST_BUFFER = 1 << 20  # bytes, the most of ethernet.router.buffer_bytes
# units of parameters that are costs of compute units
UNIT_COSTS = ("cycles", "cycles/tile", "cycles/call", "cycles/pair")


@dataclass(frozen=True)
class Experiment:
    """`name`: a stable key; `description`: "DRAM free"; `overrides`: {parameter: value}; `rewrite`: record -> record;
    `barrier_periods`: {kernel: of how many of its read barriers one waits} (`tensim.sim.chip.experiments.wait_seldom`);
    `rotated_banks`: whether each core begins at another DRAM bank (`rotate_banks`); `turned_corners`: whether multicasts have
    their corners as the NoC wants them (`turn_corners`).
    """

    name: str
    description: str
    overrides: Overrides = field(default_factory=dict)
    rewrite: Rewrite | None = None
    barrier_periods: dict[str, int] = field(default_factory=dict)
    rotated_banks: bool = False
    turned_corners: bool = False


# --- resources without cost


def _dram_bandwidth() -> Overrides:
    rows = dict.fromkeys(
        ("t_rcd_ns", "t_rp_ns", "t_ras_ns", "t_rrd_s_ns", "t_rrd_l_ns", "t_faw_ns", "t_wr_ns", "direction_change_ns", "t_rfc_ns"),
        0,
    )  # fmt: skip
    rows |= {
        "bank_bytes_per_cycle": LARGEST_RATE,
        "write_port_bytes_per_cycle": LARGEST_RATE,
        "request_cycles": 0,
        "partial_write_cycles": 0,
        "endpoint_requests": MANY,
    }
    return {f"dram.{name}": value for name, value in rows.items()}


def _dram_latency() -> Overrides:
    return {"dram.read_latency": 0, "dram.read_chunk_bytes": 0, "dram.write_latency": 0, "dram.short_write_latency": 0}


def _noc_bandwidth(arch: Arch) -> Overrides:
    widest = math.gcd(WIDEST_FLIT, arch["noc.max_packet_bytes"])
    return {
        "noc.flit_bytes": widest, "l1.noc_port_bytes_per_cycle": LARGEST_RATE, "noc.niu_requests": MANY,
        "noc.reallocation_cycles": 0, "noc.buffer_flits": MANY, "noc.shared_buffer_flits": MANY,
        "noc.credit_round_trip_cycles": arch["noc.hop_cycles"] + 1,
    }  # fmt: skip


def _noc_latency() -> Overrides:
    """A packet still takes a cycle a link."""
    links: Overrides = {"noc.hop_cycles": 1, "noc.niu_to_router_cycles": 1, "noc.router_to_niu_cycles": 1}
    return links | {
        "l1.noc_access_latency": 0, "l1.noc_write_latency": 0, "noc.reserve_cycles_per_hop": 0,
        "noc.reserve_even_cycles": 0, "noc.reserve_odd_cycles": 0,
    }  # fmt: skip


def _costs(arch: Arch, section: str) -> Overrides:
    """Every cost in a section of the architecture, 0."""
    keys = (f"{section}.{rest}" for rest in arch.section(section))
    return {key: 0 for key in keys if arch.describe(key).get("unit") in UNIT_COSTS}


def _vector(arch: Arch) -> Overrides:
    return dict.fromkeys(operations(), 0) | _costs(arch, "tensix.sfpu_reduce")


def _math(arch: Arch) -> Overrides:
    return _costs(arch, "tensix.math") | {"tensix.math.mvmul_cycles": 0.001} | _vector(arch)


def _unpack(arch: Arch) -> Overrides:
    rates = {
        f"tensix.unpack.{name}": LARGEST_RATE for name in arch.section("tensix.unpack") if name.endswith("per_cycle")
    }
    return rates | _costs(arch, "tensix.unpack")


def _pack(arch: Arch) -> Overrides:
    return _costs(arch, "tensix.pack") | {"tensix.pack.bytes_per_cycle": LARGEST_RATE}


def _issue(arch: Arch) -> Overrides:
    calls = {f"riscv.issue.{name}": 0 if name.endswith("_overlap") else 1 for name in arch.section("riscv.issue")}
    return calls | _costs(arch, "tensix.issue") | {"riscv.alu": 0, "riscv.branch": 0, "riscv.mul": 0}


def _hand_over() -> Overrides:
    return {"tensix.sync": 1, "tensix.sync_lag": 0, "tensix.cb_visible": 0}


def _dispatch(arch: Arch) -> Overrides:
    keys = [f"{part}.{name}" for part in ("dispatch", "host") for name in arch.section(part) if name.endswith("_ns")]
    return {key: 0 for key in keys if not key.endswith("bytes_per_ns")}


def free_resources(arch: Arch) -> list[Experiment]:
    """The experiments that make one resource free each; bandwidth and latency of memory apart and together."""
    dram, noc = (_dram_bandwidth(), _dram_latency()), (_noc_bandwidth(arch), _noc_latency())
    return [
        Experiment("memory_bandwidth_free", "bandwidth of DRAM and NoC free", dram[0] | noc[0]),
        Experiment("memory_latency_free", "latency of DRAM and NoC free", dram[1] | noc[1]),
        Experiment("dram_free", "DRAM free", dram[0] | dram[1]),
        Experiment("noc_free", "NoC free", noc[0] | noc[1]),
        Experiment("math_free", "math free", _math(arch)),
        Experiment("unpack_free", "unpack free", _unpack(arch)),
        Experiment("pack_free", "pack free", _pack(arch)),
        Experiment("issue_free", "RISC-V issue free", _issue(arch)),
        Experiment("hand_over_free", "hand-over between threads free", _hand_over()),
        Experiment("dispatch_free", "dispatch and host calls free", _dispatch(arch)),
    ]


def free_links(arch: Arch) -> list[Experiment]:
    """The experiments that make the lines between chips, the routers at their ends and their slots free; a step still takes a
    cycle.
    """
    line: Overrides = {
        "ethernet.line_bytes_per_ns": 100 * arch["ethernet.line_bytes_per_ns"],
        "ethernet.frame_overhead": 0,
    }
    steps = (f"ethernet.router.{name}" for name in arch.section("ethernet.router"))
    routers: Overrides = {key: 1 for key in steps if arch.describe(key).get("unit") == "cycles"}
    slots: Overrides = {"ethernet.router.buffer_bytes": LARGEST_BUFFER}
    return [
        Experiment("links_free", "lines between chips free", line),
        Experiment("routers_free", "routers free", routers),
        Experiment("slots_free", "as many slots in routers as they can have", slots),
    ]


# --- changes of the chip that stand for a change of the program


def _flit_bytes(arch: Arch, factor: float) -> int:
    """A flit `factor` times as wide, as a power of two that divides packets."""
    wanted = 2 ** round(math.log2(arch["noc.flit_bytes"] * factor))
    return min(wanted, math.gcd(WIDEST_FLIT, arch["noc.max_packet_bytes"]))


def less_traffic(arch: Arch, factor: float) -> Overrides:
    """Memory moves `factor` times as much in a time: what remains when each byte is read that much less often."""
    return {
        "dram.bank_bytes_per_cycle": min(arch["dram.bank_bytes_per_cycle"] * factor, LARGEST_RATE),
        "dram.write_port_bytes_per_cycle": min(arch["dram.write_port_bytes_per_cycle"] * factor, LARGEST_RATE),
        "dram.request_cycles": arch["dram.request_cycles"] / factor,
        "noc.flit_bytes": _flit_bytes(arch, factor),
        "l1.noc_port_bytes_per_cycle": min(arch["l1.noc_port_bytes_per_cycle"] * factor, LARGEST_RATE),
        "dram.endpoint_requests": min(round(arch["dram.endpoint_requests"] * factor), MANY),
        "noc.niu_requests": min(round(arch["noc.niu_requests"] * factor), MANY),
    }


def _shorter_ways(arch: Arch, count: float) -> Overrides:
    """Latencies divided by `count`."""
    keys = (
        "dram.read_latency", "dram.write_latency", "dram.short_write_latency", "noc.hop_cycles", "noc.niu_to_router_cycles",
        "noc.router_to_niu_cycles", "l1.noc_access_latency", "l1.noc_write_latency",
    )  # fmt: skip
    overrides = {key: max(round(arch[key] / count), 1) for key in keys}
    overrides["riscv.issue.barrier_poll"] = max(round(arch["riscv.issue.barrier_poll"] / count), 1)
    return overrides


def larger_requests(arch: Arch, factor: float) -> Overrides:
    """Each transfer's own cost divided by `factor`: what remains when requests are that much larger."""
    calls = {key: max(round(arch[key] / factor), 1) for key in (f"riscv.issue.{name}" for name in ISSUE_OF_TRANSFERS)}
    calls |= {f"riscv.issue.{name}": 0 for name in arch.section("riscv.issue") if name.endswith("_overlap")}
    overlap = {"dram.request_cycles": arch["dram.request_cycles"] / factor}
    return _shorter_ways(arch, factor) | calls | overlap


ISSUE_OF_TRANSFERS = (
    "read", "read_dram", "read_stateful", "read_one_packet", "read_page",
    "write", "write_stateful", "write_one_packet", "write_page",
)  # fmt: skip


def fewer_packs(arch: Arch, factor: float) -> Overrides:
    """The packer `factor` times as fast: what remains when it packs that many times fewer tiles."""
    scaled = {key: arch[key] / factor for key in _costs(arch, "tensix.pack") if arch.describe(key)["unit"] != "cycles"}
    scaled["tensix.pack.bytes_per_cycle"] = min(round(arch["tensix.pack.bytes_per_cycle"] * factor), LARGEST_RATE)
    scaled["tensix.pack.mode_change"] = round(arch["tensix.pack.mode_change"] / factor)
    scaled["tensix.pack.minimum_cycles"] = round(arch["tensix.pack.minimum_cycles"] / factor)
    return scaled | {
        f"tensix.issue.{name}": round(arch[f"tensix.issue.{name}"] / factor) for name in ("pack", "pack_more")
    }


def narrower_results(arch: Arch) -> Overrides:
    """The packer's rate doubled: what remains when tiles have half the bytes."""
    return {"tensix.pack.bytes_per_cycle": min(2 * arch["tensix.pack.bytes_per_cycle"], LARGEST_RATE)}


def larger_blocks(arch: Arch, tiles: int) -> Overrides:
    """Products in blocks of 1 x `tiles` instead of single ones: one operand stays, a call is paid once a block."""
    joint = arch["tensix.unpack.joint_bytes_per_cycle"]
    stream = arch["tensix.unpack.matmul_bytes_per_cycle"]
    pair, single = max(2 / joint, 1 / stream), 1 / stream
    per_tile = (pair + (tiles - 1) * single) / tiles
    return {
        "tensix.unpack.joint_bytes_per_cycle": min(round(2 / per_tile), LARGEST_RATE),
        "tensix.unpack.src_b_bytes_per_cycle": LARGEST_RATE,
        "tensix.math.call_overhead": arch["tensix.math.block_overhead"] / tiles,
        "tensix.issue.unpack": round(arch["tensix.issue.unpack"] / tiles),
        "tensix.issue.math": round(arch["tensix.issue.math"] / tiles),
    }


# --- changes of the program


def deeper_buffers(pages_of: Mapping[int, int]) -> Rewrite:
    """Circular buffers with more room: `pages_of`: {index: factor}; one laid on an L1 buffer of the host stays as it is."""

    def rewrite(record: c.Command) -> c.Command:
        if not isinstance(record, c.CreateCircularBuffer) or record.buffer is not None:
            return record
        factor = max(pages_of.get(index, 1) for index, _ in record.formats)
        return dataclasses.replace(record, total_size=record.total_size * factor)

    return rewrite


def with_fidelity(fidelity: int) -> Rewrite:
    """Every compute kernel of a higher fidelity with this one (the code of `MathFidelity`)."""

    def rewrite(record: c.Command) -> c.Command:
        if not isinstance(record, c.CreateKernel) or not isinstance(record.config, c.ComputeParameters):
            return record
        lower = min(record.config.math_fidelity, fidelity)
        return dataclasses.replace(record, config=dataclasses.replace(record.config, math_fidelity=lower))

    return rewrite


def on_both_nocs(record: c.Command) -> c.Command:
    """The data-movement kernels of BRISC on NoC 0 and those of NCRISC on NoC 1, as tt-metal's defaults have reader and writer."""
    if not isinstance(record, c.CreateKernel) or not isinstance(record.config, c.DataMovementParameters):
        return record
    return dataclasses.replace(record, config=dataclasses.replace(record.config, noc=record.config.processor ^ 1))


def exchanged_nocs(record: c.Command) -> c.Command:
    """Each data-movement kernel on the NoC that it does not use."""
    if not isinstance(record, c.CreateKernel) or not isinstance(record.config, c.DataMovementParameters):
        return record
    return dataclasses.replace(record, config=dataclasses.replace(record.config, noc=record.config.noc ^ 1))
