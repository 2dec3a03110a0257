"""What a run's NoC calls have in common: bytes that several cores read, bytes that a core reads again, equal unicasts in a row,
requests of many cores that go to one DRAM channel at one moment.

Taken from the record of calls (`tensim.sim.chip.recordings`), which `tensim advise` switches on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.sim.cores import context as ctx
from tensim.sim.cores.noc_record import CALLED
from tensim.sim.cores.operations import Op
from tensim.sim.cores.slots import THREADS_PER_CORE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensim.sim.chip.chip import Chip

OFFSET_BITS, COORDINATE_BITS = 36, 6  # of a NoC address
SOURCE, LOCAL, SIZE = 0, 1, 2  # arguments of a read; of a write: local address, destination, size
WINDOW = 1024  # cycles of a moment
FULL = 4  # requests to each channel, on average, from which a moment counts
FEWEST_RECEIVERS = 3  # equal unicasts in a row from which one multicast is the better call


@dataclass(frozen=True)
class Reads:
    """Reads from DRAM or from other cores' L1.

    `readers`: cores that read a byte, on average; `repeats`: how often a core reads a byte it reads, on average.
    """

    bytes: int
    unique_bytes: int
    readers: float
    repeats: float


@dataclass(frozen=True)
class AccessPatterns:
    """`dram`, `l1`: `Reads`, None without any; `equal_unicast_bytes`: written by calls that repeat the call before them for
    another core, `unicast_bytes`: by all unicast writes to cores, `receivers`: of such a row of calls, on average; `crowding`:
    how many times its even share of the DRAM requests of a moment the channel with most of them gets, on average."""

    dram: Reads | None
    l1: Reads | None
    unicast_bytes: int
    equal_unicast_bytes: int
    receivers: float
    crowding: float = 1.0


def access_patterns(chip: Chip) -> AccessPatterns:
    """The `AccessPatterns` of everything a chip with a record of its NoC calls has run."""
    calls = chip.recordings.noc_calls()
    calls = calls[calls["moment"] == CALLED]
    banks = {x | y << COORDINATE_BITS: first for (x, y), first in chip.arch.dram_tiles.items()}
    reads = calls[calls["operation"] == int(Op.NOC_READ)]
    source = reads["arguments"][:, SOURCE]
    in_dram = np.isin(source >> OFFSET_BITS, list(banks))
    writes = calls[calls["operation"] == int(Op.NOC_WRITE)]
    to_cores = writes[~np.isin(writes["arguments"][:, 1] >> OFFSET_BITS, list(banks))]
    of_dram = _by_bank(source[in_dram], banks)
    target = writes["arguments"][:, 1]
    written = np.isin(target >> OFFSET_BITS, list(banks))
    channels = np.r_[of_dram, _by_bank(target[written], banks)] >> OFFSET_BITS
    times = np.r_[reads["time"][in_dram], writes["time"][written]]
    return AccessPatterns(
        _reads(reads[in_dram], of_dram),
        _reads(reads[~in_dram], source[~in_dram]),
        *_unicasts(to_cores),
        _crowding(times, channels, len(set(banks.values()))),
    )


def _crowding(times: NDArray[np.int64], channels: NDArray[np.int64], count: int) -> float:
    """How many times its even share the busiest of `count` channels gets of the requests of a moment, on average.

    Moments with few requests, which cannot be even, are left out; 1 where these are most.
    """
    moments, totals = np.unique(times // WINDOW, return_counts=True)
    many = moments[totals >= FULL * count]
    kept = np.isin(times // WINDOW, many)
    if 2 * kept.sum() < len(times) or len(times) == 0:
        return 1.0
    pairs, requests = np.unique(np.stack((times[kept] // WINDOW, channels[kept])), axis=1, return_counts=True)
    most = np.zeros(len(many), np.int64)
    np.maximum.at(most, np.searchsorted(many, pairs[0]), requests)
    return float(most.sum() * count / kept.sum())


def _by_bank(addresses: NDArray[np.int64], banks: dict[int, int]) -> NDArray[np.int64]:
    """Addresses with the number of their tile's first bank in place of its coordinates: several tiles reach one bank."""
    first = np.zeros(1 << 2 * COORDINATE_BITS, np.int64)
    first[list(banks)] = list(banks.values())
    return first[addresses >> OFFSET_BITS] << OFFSET_BITS | addresses & ctx.NOC_OFFSET_MASK


def _reads(calls: NDArray[Any], source: NDArray[np.int64]) -> Reads | None:
    """`Reads` of some calls from these addresses, None without any."""
    if len(calls) == 0:
        return None
    size = calls["arguments"][:, SIZE]
    core = calls["thread"] // THREADS_PER_CORE
    order = np.lexsort((core, source))
    source, size, core = source[order], size[order], core[order]
    new_source = np.r_[True, source[1:] != source[:-1]]
    new_reader = new_source | np.r_[True, core[1:] != core[:-1]]
    total, unique, by_core = int(size.sum()), int(size[new_source].sum()), int(size[new_reader].sum())
    return Reads(total, unique, by_core / max(unique, 1), total / max(by_core, 1))


def _unicasts(calls: NDArray[Any]) -> tuple[int, int, float]:
    """(bytes, bytes of calls that repeat the one before for another core, different receivers of such rows of calls)."""
    if len(calls) == 0:
        return 0, 0, 1.0
    order = np.argsort(calls["thread"], kind="stable")
    calls = calls[order]
    local, target, size = (calls["arguments"][:, i] for i in (0, 1, 2))
    thread, place, offset = calls["thread"], target >> OFFSET_BITS, target & ctx.NOC_OFFSET_MASK
    columns = (thread, local, size, offset)
    again = np.logical_and.reduce([values[1:] == values[:-1] for values in columns]) & (place[1:] != place[:-1])
    row = np.cumsum(np.r_[True, ~again]) - 1
    receivers = np.bincount(np.unique(np.stack((row, place)), axis=1)[0])
    many = receivers >= FEWEST_RECEIVERS
    mean = float(receivers[many].mean()) if many.any() else 1.0
    return int(size.sum()), int(size[many[row]].sum()), mean
