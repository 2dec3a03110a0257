"""One DRAM channel: a data bus shared by both directions, internal banks with open rows, refresh.

Requests are served in the order of their arrival.  A row that is not open costs precharge and activate, which overlap
the data of earlier requests; the bus pays a turnaround when its direction changes; refresh closes it for tRFC every
tREFI.  Device timings are JEDEC-class assumptions, the fixed latency makes a lone access cost what is measured
(section 3.2 of the timing reference).  Times inside are 1/256 cycles.
"""

import numba as nb
import numpy as np

TICKS = 256
CHANNEL_DTYPE = np.dtype(
    [(name, np.int64) for name in (
        "bus_free writing read_bytes write_bytes row_hits row_misses refreshes busy"
    ).split()],
    align=True,
)  # fmt: skip
BANK_DTYPE = np.dtype([(name, np.int64) for name in "row ready".split()], align=True)
DRAM_PARAMS_DTYPE = np.dtype(
    [(name, np.int64) for name in (
        "internal_banks row_bytes ticks_per_kib activate precharge row_active refresh_interval refresh_time turnaround "
        "read_latency write_latency partial_bytes partial_ticks link_ticks_per_kib"
    ).split()],
    align=True,
)  # fmt: skip


def build_channels(arch):
    """One idle channel per DRAM bank of the architecture."""
    return np.zeros(arch.dram_banks, CHANNEL_DTYPE)


def build_banks(arch):
    """Internal banks of all channels, every row closed."""
    banks = np.zeros(arch.dram_banks * arch["dram.internal_banks"], BANK_DTYPE)
    banks["row"] = -1
    return banks


def build_dram_params(arch):
    """The model's parameters as one record, times in ticks."""
    params = np.zeros(1, DRAM_PARAMS_DTYPE)
    p, per_ns = params[0], arch.clock_mhz / 1000 * TICKS
    p["internal_banks"], p["row_bytes"] = arch["dram.internal_banks"], arch["dram.row_bytes"]
    p["ticks_per_kib"] = round(1024 * TICKS / arch["dram.bank_bytes_per_cycle"])
    p["link_ticks_per_kib"] = round(1024 * TICKS / arch["noc.flit_bytes"])
    for field, key in (
        ("activate", "t_rcd_ns"), ("precharge", "t_rp_ns"), ("row_active", "t_ras_ns"),
        ("refresh_interval", "t_refi_ns"), ("refresh_time", "t_rfc_ns"), ("turnaround", "turnaround_ns"),
    ):  # fmt: skip
        p[field] = round(arch[f"dram.{key}"] * per_ns)
    p["read_latency"] = max(arch["dram.read_latency"] * TICKS - p["activate"], 0)
    p["write_latency"] = arch["dram.write_latency"] * TICKS
    p["partial_bytes"] = arch["dram.partial_write_bytes"]
    p["partial_ticks"] = arch["dram.partial_write_cycles"] * TICKS
    return params


@nb.njit(cache=True)
def open_row(channel, banks, p, first_bank, address, ticks):
    """Open the row of `address` for a request that arrived at `ticks`; returns when its data can move."""
    row_number = address // p.row_bytes
    bank = banks[first_bank + row_number % p.internal_banks]
    row = row_number // p.internal_banks
    if bank.row == row:
        channel.row_hits += 1
        return max(ticks, bank.ready)
    channel.row_misses += 1
    begin = max(ticks, bank.ready)
    if bank.row >= 0:
        begin += p.precharge
    bank.row = row
    bank.ready = begin + p.activate
    return bank.ready


@nb.njit(cache=True)
def use_bus(channel, p, ready, ticks, is_write):
    """Occupy the data bus for `ticks` from `ready` on; returns (first, last) tick of the data."""
    start = max(ready, channel.bus_free + (p.turnaround if channel.writing != is_write else 0))
    inside = start % p.refresh_interval
    if inside < p.refresh_time:
        start += p.refresh_time - inside
        channel.refreshes += 1
    end = start + ticks
    if start // p.refresh_interval != end // p.refresh_interval:
        end += p.refresh_time
        channel.refreshes += 1
    channel.bus_free, channel.writing = end, is_write
    channel.busy += ticks
    return start, end


@nb.njit(cache=True)
def dram_access(channels, banks, p, index, address, size, is_write, time):
    """Serve `size` bytes at `address` of channel `index`, asked for at cycle `time`.

    Returns the cycle at which read data can start to leave the channel at the NoC's rate without a gap, or at which a
    write is acknowledged.
    """
    channel = channels[index]
    writing = 1 if is_write else 0
    arrival = time * TICKS
    first, end, done = -1, arrival, 0
    while done < size:
        count = min(size - done, p.row_bytes - (address + done) % p.row_bytes)
        ready = open_row(channel, banks, p, index * p.internal_banks, address + done, arrival)
        ticks = count * p.ticks_per_kib >> 10
        if is_write and size <= p.partial_bytes:
            ticks = max(ticks, p.partial_ticks)
        start, end = use_bus(channel, p, ready, ticks, writing)
        if first < 0:
            first = start
        done += count
    if is_write:
        channel.write_bytes += size
        return max(arrival + p.write_latency, end) // TICKS
    channel.read_bytes += size
    leave = max(first, end - (size * p.link_ticks_per_kib >> 10))
    return (leave + p.read_latency) // TICKS
