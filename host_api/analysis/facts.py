"""A launch in figures: utilisation per core and unit, memory traffic, and who waits for whom.

Shares are of the launch's whole time, from its start to the end of its last thread, idle cores and threads included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip import statistics
from tensim.sim.cores.slots import BRISC, MATH_SLOT, NCRISC, PACK_SLOT, THREAD_NAMES, UNPACK_SLOT
from tensim.sim.dram.channel import TICKS
from tensim.sim.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensim.sim.chip.chip import Chip
    from tensim.sim.chip.interval import Done
    from tensim.sim.chip.launch_work import LaunchWork

MOVERS = (BRISC, NCRISC)
KINDS = ("dram_reads", "l1_reads", "dram_writes", "l1_writes")  # columns of `state.TRAFFIC`
PARTNER = {  # reason of a wait inside a core's coprocessor -> slot of the thread that ends it
    st.WAIT_DST_FREE: PACK_SLOT,
    st.WAIT_DST_READY: MATH_SLOT,
    st.WAIT_SOURCE_FREE: MATH_SLOT,
    st.WAIT_SOURCE_READY: UNPACK_SLOT,
    st.WAIT_MAILBOX: UNPACK_SLOT,  # of the calls of the API, which tell what the unpack thread has read
}
BUSY = -1  # "reason" of time at work


@dataclass(frozen=True)
class Step:
    """A thread on the critical chain, and what most of its time went to: `reason` is a stall reason or BUSY.

    `share`: of the launch's time, together with other waits for the same thread; `waits_for`: row of that thread, or None.
    """

    row: int
    reason: int
    share: float
    waits_for: int | None


@dataclass(frozen=True)
class Transfers:
    """Transfers of one kind by some threads: how many, their bytes, mean cycles from issue to completion, the cycles that one
    takes on an idle chip, and how many were under way at a time while any was (None of writes)."""

    kind: str
    transfers: int
    bytes: int
    latency_cycles: float
    idle_latency_cycles: float
    in_flight: float | None

    @property
    def request_bytes(self) -> float:
        """Bytes of one."""
        return self.bytes / max(self.transfers, 1)

    @property
    def queued_share(self) -> float:
        """Share of its latency for which a transfer waits for others, in links and in memory."""
        return max(0.0, 1 - self.idle_latency_cycles / max(self.latency_cycles, 1))


class LaunchFacts:
    """The figures of one launch; `work`: its `tensim.sim.chip.launch_work.LaunchWork`."""

    def __init__(self, chip: Chip | Done, work: LaunchWork) -> None:
        self.chip, self.arch, self.work = chip, chip.arch, work
        self._programs = chip.line_programs
        self.cycles = max(work.cycles, 1)
        self.rows = {
            (int(core), int(slot)): row for row, (core, slot) in enumerate(zip(work.cores, work.slots, strict=True))
        }
        starts = self._starts_of_cores()
        self.cores = np.sort(work.cores)[starts]
        self.core_ends = np.maximum.reduceat(work.ends[np.argsort(work.cores, kind="stable")], starts)
        self.active = (self.core_ends - work.started) / self.cycles
        self.slowest = int(self.cores[np.argmax(self.core_ends)])

    def _starts_of_cores(self) -> NDArray[np.int64]:
        ordered = np.sort(self.work.cores)
        return np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])

    # --- names

    def core_name(self, core: int) -> str:
        """Logical coordinates of a worker, "(x,y)"."""
        y, x = divmod(int(core), self.arch.grid[0])
        return f"({x},{y})"

    def thread_name(self, row: int) -> str:
        """Core, processor and kernel of a thread."""
        kernel = self.kernel(row)
        place = f"core {self.core_name(self.work.cores[row])} {THREAD_NAMES[self.work.slots[row]]}"
        return f"{place} ({kernel['name']})" if kernel else place

    def kernel(self, row: int) -> dict[str, str] | None:
        """{"name", "file"} of the kernel that a thread ran, or None."""
        program = self._programs.get(int(self.work.line_base[row]))
        return None if program is None else {"name": program.name, "file": program.file}

    def kernels(self) -> list[dict[str, Any]]:
        """[{"name", "file", "processors", "cores", "noc", "level"}] of the launch.

        `noc`: the default one, None of a compute kernel; `level`: "instruction" where it executes instructions, else "operation".
        """
        launch = self.work.launch
        if launch is None:
            return []
        return [
            {
                "name": one.compiled.name, "file": one.compiled.file, "cores": len(one.cores),
                "processors": [THREAD_NAMES[slot] for slot in ((one.slot,) if one.slot is not None else (2, 3, 4))],
                "noc": None if one.slot is None else one.noc,
                "level": "instruction" if getattr(one.compiled, "executes", False) else "operation",
            }
            for one in launch.kernels
        ]  # fmt: skip

    # --- utilisation

    def unit_shares(self) -> dict[str, NDArray[np.float64]]:
        """{unit: array over the cores with compute kernels}: shares of the launch's time for which each was busy.

        `issue`: the compute thread whose RISC-V core keeps its coprocessor waiting the longest.
        """
        work, cores = self.work, self.work.compute_cores.tolist()
        rows = np.array(
            [[self.rows[core, slot] for core in cores] for slot in (UNPACK_SLOT, MATH_SLOT, PACK_SLOT)], int
        )
        rows = rows.reshape(3, -1)
        unpack, math, pack = ((work.busy - work.issue)[part] for part in rows)
        sfpu = work.core_counters["sfpu_busy"]
        cycles = {
            "fpu": math - sfpu, "sfpu": sfpu, "unpack": unpack, "pack": pack,
            "issue": work.issue[rows].max(axis=0) if len(cores) else sfpu,
        }  # fmt: skip
        return {name: value / self.cycles for name, value in cycles.items()}

    def units(self) -> dict[str, float]:
        """{unit: share}: the mean over cores of each compute unit, the data-movement core at work longest, the busiest DRAM
        channel, the busiest link."""
        shares = {name: float(values.mean()) if len(values) else 0.0 for name, values in self.unit_shares().items()}
        movers = np.isin(self.work.slots, MOVERS)
        mover = float(self.work.busy[movers].max()) / self.cycles if movers.any() else 0.0
        return shares | {
            "mover": mover,
            "dram": float(self.channel_shares().max()),
            "noc": float(self.link_shares().max()),
        }

    def channel_shares(self) -> NDArray[np.float64]:
        """Share of the time for which each DRAM channel moved data."""
        return self.work.channels["busy"] / TICKS / self.cycles

    def link_shares(self) -> NDArray[np.float64]:
        """Share of the time for which each link moved flits."""
        return self.work.link_flits / self.cycles

    def busy_shares(self) -> NDArray[np.float64]:
        """(cores, 5): share of the launch's time at work of each thread of `cores`; 0 where none ran."""
        result = np.zeros((len(self.cores), len(THREAD_NAMES)))
        result[np.searchsorted(self.cores, self.work.cores), self.work.slots] = self.work.busy / self.cycles
        return result

    @property
    def imbalance(self) -> float:
        """Share of the launch's time for which its cores, on average, had ended already."""
        return 1 - float(self.active.mean())

    @property
    def work_imbalance(self) -> float:
        """What cores have less of work than the one with most, on average, as a share of it: a core's work is that of its
        busiest thread.  Cores of equal work that end at different times are served unevenly."""
        work = self.busy_shares().max(axis=1)
        return 1 - float(work.mean() / max(work.max(), 1e-9))

    # --- traffic

    def transfers(self, rows: NDArray[np.bool_] | None = None) -> dict[str, Transfers]:
        """{kind: Transfers} of some threads, of all by default; only kinds that occur."""
        traffic = self.work.traffic if rows is None else self.work.traffic[rows]
        reads = int(traffic["cycles"][:, :2].sum())
        in_flight = reads / max(int(traffic["reading"].sum()), 1)
        result = {}
        for column, kind in enumerate(KINDS):
            count, size = int(traffic["transfers"][:, column].sum()), int(traffic["bytes"][:, column].sum())
            if count:
                latency = int(traffic["cycles"][:, column].sum()) / count
                idle = self.idle_latency(kind, size / count)
                result[kind] = Transfers(kind, count, size, latency, idle, in_flight if column < 2 else None)
        return result

    def idle_latency(self, kind: str, size: float) -> float:
        """Cycles that a transfer of `size` bytes takes from its issue to its completion when nothing else is under way.

        Request and response together go round both rings of a torus.
        """
        arch, (width, height) = self.arch, self.arch.noc_size
        ends = 2 * (arch["noc.niu_to_router_cycles"] + arch["noc.router_to_niu_cycles"])
        way = (width + height) * arch["noc.hop_cycles"] + ends
        data = size / arch["noc.flit_bytes"]
        if kind == "dram_reads":
            return (
                arch["riscv.issue.read"]
                + way
                + arch["dram.read_latency"]
                + min(size, arch["dram.read_chunk_bytes"]) / arch["noc.flit_bytes"]
                + max(data, size / arch["dram.bank_bytes_per_cycle"])
            )
        if kind == "dram_writes":
            short = size <= arch["dram.short_write_bytes"]
            return (
                arch["riscv.issue.write"]
                + way
                + arch["dram.short_write_latency" if short else "dram.write_latency"]
                + max(data, size / min(arch["dram.bank_bytes_per_cycle"], arch["dram.write_port_bytes_per_cycle"]))
            )
        memory = arch["l1.noc_access_latency" if kind == "l1_reads" else "l1.noc_write_latency"]
        return arch["riscv.issue.read" if kind == "l1_reads" else "riscv.issue.write"] + way + memory + data

    @property
    def dram_read_bytes(self) -> int:
        """Bytes that the launch read from DRAM."""
        return int(self.work.traffic["bytes"][:, st.DRAM_READS].sum())

    @property
    def amplification(self) -> float:
        """How often, on average, each byte that was read from DRAM was read."""
        return self.dram_read_bytes / self.work.first_read_bytes if self.work.first_read_bytes else 1.0

    # --- who waits for whom

    def stalls(self, row: int) -> dict[int, int]:
        """{stall reason: cycles} of a thread."""
        mine = self.work.stall_rows == row
        return dict(zip(self.work.stall_reasons[mine].tolist(), self.work.stall_cycles[mine].tolist(), strict=True))

    def partner(self, row: int, reason: int) -> int | None:
        """Row of the thread that ends a wait of a thread, or None: memory does, or a thread of another program."""
        core = int(self.work.cores[row])
        if reason < st.WAIT_READ_BARRIER:
            is_front = reason < st.WAIT_CB_BACK
            index = reason if is_front else reason - st.WAIT_CB_BACK
            buffer = next((one for one in self.work.buffers if one.index == index), None)
            slots = () if buffer is None else buffer.producers if is_front else buffer.consumers
            return next((self.rows[core, slot] for slot in slots if (core, slot) in self.rows), None)
        if reason == st.WAIT_SEMAPHORE:
            by = int(self.work.traffic["woken_by"][row]) - 1
            found = np.flatnonzero(self.work.threads == by)
            return int(found[0]) if len(found) else None
        slot = PARTNER.get(reason)
        return None if slot is None else self.rows.get((core, slot))

    def chain(self) -> list[Step]:
        """[Step] from the thread that ends last to what it all waits for; the last step waits for no thread of the launch,
        or for one that stands in the chain already: then these wait for each other in turn."""
        mine = np.flatnonzero(self.work.cores == self.slowest)
        row: int | None = int(mine[np.argmax(self.work.ends[mine])])
        steps: list[Step] = []
        seen: set[int] = set()
        while row is not None and row not in seen:
            seen.add(row)
            steps.append(self._step(row))
            row = steps[-1].waits_for
        return steps

    def _step(self, row: int) -> Step:
        """What most of a thread's time goes to: work, waits for one thread, waits for memory."""
        groups: dict[tuple[int | None, int | None], list[int]] = {}
        groups[BUSY, None] = [int(self.work.busy[row]), BUSY, int(self.work.busy[row])]
        for reason, cycles in self.stalls(row).items():
            partner = self.partner(row, reason)
            key: tuple[int | None, int | None] = (None, partner) if partner is not None else (reason, None)
            total = groups.setdefault(key, [0, reason, 0])
            total[0] += cycles
            if cycles > total[2]:
                total[1], total[2] = reason, cycles
        (_, partner), (cycles, reason, _) = max(groups.items(), key=lambda item: item[1][0])
        return Step(row, reason, cycles / self.cycles, partner)


def launches(chip: Chip | Done) -> list[LaunchWork]:
    """The `LaunchWork` of every launch of a chip that has ended, in order."""
    return [launch["work"] for launch in chip.launches.values() if launch.get("work") is not None]


def span_cycles(chip: Chip | Done) -> int:
    """Cycles from the first start to the last end of any program: what a user waits for."""
    return statistics.active_span(chip)
