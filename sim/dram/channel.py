"""One DRAM channel of the compiled engine, at the granularity of requests: endpoint, rows, data bus, refresh.

It follows from the command-level model (`tensim.sim.dram.controller`), whose parameters it takes, by these simplifications:
- rows are opened as early as a request is known, so that activates overlap the data of earlier requests; requests of a
  direction use the data bus in the order of their arrival, but while one waits for its row, later ones of its direction
  fill the gap as far as they fit (the newest gap of the bus is kept), as under FR-FCFS;
- a write goes before the reads that wait for the bus, and later reads follow by its time: a controller whose write queue is
  full drains it first, however many reads are queued;
- the banks over which a stream interleaves are opened together: a row here is `row_bytes` times `interleaved_groups`;
- the limits on activates (tRRD, tFAW) are one spacing between them, in the order of requests; a change of direction is one
  turnaround, in which the rows of the other stream are opened, too (`direction_change_ns`, fitted), and writes shorter than
  what a controller drains at a time, from one mark of its queue to the other, pay their share of it;
- refresh of all banks closes the bus for precharge, tRFC and activate every tREFI, spread over the channels, whose
  controllers know nothing of each other; refresh per bank closes one set of banks after the other, while the bus takes data of
  other sets: a stream that stays in one set waits for each of its banks, but for the time of the bursts that the queue holds for
  the others (ONE_FROM_ONE and ONE_TO_ONE on Blackhole, up to 8 KiB: 40 to 42 of 47 B/cycle);
- the data of a read come, and a write is acknowledged, no sooner than if they had to open their row: it is opened while the
  request is on its way through the controller (requests of one bank, one after the other, take as long as the first;
  ONE_FROM_ONE and ONE_TO_ONE of 4 to 256, trid_double_issue).
Writes whose flits come mixed with those of other writes open a row with every burst.  A read-modify-write (64 B on Wormhole)
occupies the bank, but is acknowledged like other writes: alone it ends as soon as one of 128 B, four take three bank times more
(ONE_TO_ONE).  Data of a read leave a Blackhole tile chunk by chunk, late by the time that one takes on a link.  In front of it the
endpoint accepts one read request per NoC every `request_cycles`, longer ones less often: it hands them on in pieces
(`request_cycles_per_kib`).  A lone access costs what is measured
(docs/hardware/dram.md#bandwidth-and-latency).  Times inside are 1/256 cycles.
"""

import numpy as np

from tensim.sim.dram.timing import hashed_set
from tensim.sim.engine.compiled import compiled

TICKS = 256
CHANNEL_DTYPE = np.dtype(
    [(name, np.int64) for name in (
        "bus_free write_free gap_begin gap_end writing written activate_at "
        "read_bytes write_bytes row_hits row_misses busy waited longest waiter supplied drained phase"
    ).split()]
    + [("accept_at", np.int64, 2)],
    align=True,
)  # fmt: skip
# busy: ticks of data on the bus; waited: ticks from the arrival of requests to the first of their data, `longest` the most of
# any, which thread `waiter` had sent; supplied: the cycle by which all data of the last read have left it; phase: ticks by which
# its refreshes come earlier than at multiples of tREFI; drained: tick from which a write finds the channel's queue empty
BANK_DTYPE = np.dtype([(name, np.int64) for name in "row ready precharge_at free used due".split()], align=True)
# Of a set, where banks are refreshed one by one: due: tick of the last refresh that it has had or got ahead; used: end of its
# data; free: tick from which it serves what has waited for a refresh
DRAM_PARAMS_DTYPE = np.dtype(
    [(name, np.int64) for name in (
        "internal_banks groups row_bytes burst_bytes queue_ticks ticks_per_kib activate precharge row_active activate_spacing "
        "write_recovery refresh_interval refresh_time set_refresh_interval set_refresh_time turnaround drain_ticks read_latency "
        "write_latency short_bytes short_latency chunk_bytes partial_bytes partial_ticks link_ticks_per_kib request_ticks "
        "request_ticks_per_kib device_acknowledges"
    ).split()],
    align=True,
)  # fmt: skip


def build_channels(arch):
    """One idle channel per DRAM bank of the architecture."""
    channels = np.zeros(arch.dram_banks, CHANNEL_DTYPE)
    interval = int(build_dram_params(arch)["refresh_interval"][0])
    channels["phase"] = np.arange(arch.dram_banks) * interval // arch.dram_banks
    return channels


def build_banks(arch):
    """Internal banks of all channels, every row closed."""
    banks = np.zeros(arch.dram_banks * arch["dram.internal_banks"] // arch["dram.interleaved_groups"], BANK_DTYPE)
    banks["row"] = -1
    return banks


def build_dram_params(arch):
    """The model's parameters as one record, times in ticks."""
    high, low = arch["dram.write_high"], arch["dram.write_low"]
    params = np.zeros(1, DRAM_PARAMS_DTYPE)
    p, per_ns, groups = params[0], arch.clock_mhz / 1000 * TICKS, arch["dram.interleaved_groups"]
    p["internal_banks"], p["row_bytes"] = arch["dram.internal_banks"] // groups, arch["dram.row_bytes"] * groups
    p["groups"] = groups
    p["burst_bytes"] = arch["dram.burst_length"] * arch["dram.channel_bits"] // 8
    p["queue_ticks"] = round(arch["dram.write_queue"] * p["burst_bytes"] * TICKS / arch["dram.bank_bytes_per_cycle"])
    p["ticks_per_kib"] = round(1024 * TICKS / arch["dram.bank_bytes_per_cycle"])
    p["link_ticks_per_kib"] = round(1024 * TICKS / arch["noc.flit_bytes"])
    for field, key in (
        ("activate", "t_rcd_ns"), ("precharge", "t_rp_ns"), ("row_active", "t_ras_ns"), ("write_recovery", "t_wr_ns"),
        ("refresh_interval", "t_refi_ns"),
    ):  # fmt: skip
        p[field] = round(arch[f"dram.{key}"] * per_ns)
    p["activate_spacing"] = round(max(arch["dram.t_rrd_s_ns"], arch["dram.t_faw_ns"] / 4) * per_ns)
    p["turnaround"] = round(arch["dram.direction_change_ns"] * per_ns)
    p["drain_ticks"] = (high - low) * p["burst_bytes"] * p["ticks_per_kib"] >> 10
    refresh = round(arch["dram.t_rfc_ns"] * per_ns) + p["precharge"] + p["activate"]
    if arch["dram.refresh_per_bank"]:
        # bursts that the queue holds for the other banks of a set go on meanwhile
        others = arch["dram.read_queue"] * (groups - 1) // groups * p["burst_bytes"] * p["ticks_per_kib"] >> 10
        p["set_refresh_interval"], p["set_refresh_time"] = p["refresh_interval"] // groups, refresh - others
    else:
        p["refresh_time"] = refresh
    p["read_latency"] = max(arch["dram.read_latency"] * TICKS - p["activate"], 0)
    p["write_latency"] = arch["dram.write_latency"] * TICKS
    p["short_bytes"], p["short_latency"] = arch["dram.short_write_bytes"], arch["dram.short_write_latency"] * TICKS
    p["chunk_bytes"] = arch["dram.read_chunk_bytes"]
    p["device_acknowledges"] = arch["dram.device_acknowledges"]
    p["partial_bytes"] = arch["dram.partial_write_bytes"]
    p["partial_ticks"] = arch["dram.partial_write_cycles"] * TICKS
    p["request_ticks"] = round(arch["dram.request_cycles"] * TICKS)
    p["request_ticks_per_kib"] = round(arch["dram.request_cycles_per_kib"] * TICKS)
    return params


@compiled()
def locate(p, address):
    """(set of banks, row) of an address of the channel, as in the controller."""
    number = address // p.row_bytes
    row = number // p.internal_banks
    return hashed_set(number, row, p.internal_banks - 1), row


@compiled()
def open_row(channel, bank, p, row, bursts, ticks):
    """Open a row for a request of some bursts that arrived at `ticks`; returns the first tick of its data."""
    if bank.row == row:
        channel.row_hits += 1
        return max(ticks, bank.ready)
    channel.row_misses += 1
    begin = max(ticks, channel.activate_at)  # a bank that is not ready to close keeps no other one from opening
    channel.activate_at = begin + p.activate_spacing * bursts
    if bank.row >= 0:
        begin = max(begin, max(ticks, bank.precharge_at) + p.precharge)
    bank.row = row
    bank.ready = begin + p.activate
    bank.precharge_at = begin + p.row_active
    return bank.ready


@compiled(inline="always")
def in_one_interval(channel, p, begin, end):
    """Whether no refresh begins between two ticks."""
    return (begin + channel.phase) // p.refresh_interval == (end + channel.phase) // p.refresh_interval


@compiled()
def occupy(channel, p, free, ready, ticks, closed):
    """(first, last) tick of `ticks` of data from `ready` on, on a bus that is free from `free` on and closed by refreshes."""
    start = max(ready, free)
    behind = (start + channel.phase) % p.refresh_interval
    if behind < closed:
        start += closed - behind
    end = start + ticks
    if closed > 0 and not in_one_interval(channel, p, start, end):
        end += closed
    return start, end


@compiled()
def fill_gap(channel, ready, ticks, is_write):
    """Use what is left of the newest gap of the bus for data from `ready` on; returns (first tick or -1, ticks used)."""
    begin = max(ready, channel.gap_begin)
    used = min(ticks, channel.gap_end - begin)
    if channel.writing != is_write or used <= 0:
        return -1, 0
    channel.gap_begin = begin + used
    return begin, used


@compiled(inline="always")
def change_ticks(channel, p, ticks, is_write):
    """What the bus loses before `ticks` of data; a controller changes once for all writes that it drains together."""
    if channel.writing == is_write:
        return 0
    written = ticks if is_write else channel.written
    return p.turnaround * min(written, p.drain_ticks) // p.drain_ticks


@compiled()
def pass_refresh(channel, bank, p, number, slot, end, ticks, is_write):
    """(first, last) tick of data for which the bus has time from `slot` to `end`, past the refreshes of their set of banks.

    A set that is idle for long enough is refreshed ahead, another one when that is due.  What waits for a set follows one after
    the other when it is refreshed and its row is open again.
    """
    closed = p.set_refresh_time + (p.write_recovery if is_write else 0)
    phase = channel.phase + number * p.set_refresh_interval // p.internal_banks
    due = (slot + phase) // p.set_refresh_interval * p.set_refresh_interval - phase
    if slot - bank.used >= closed - p.activate:  # a request opens its row anyway
        due += p.set_refresh_interval
    elif due > bank.due:
        bank.free = max(due, bank.used) + closed
    bank.due = max(due, bank.due)
    start = max(slot, bank.free)
    end = max(end, start + ticks)
    if end >= bank.due + p.set_refresh_interval:
        bank.due += p.set_refresh_interval
        bank.free = end = end + closed
    elif start > slot:
        bank.free = end
    bank.used = max(bank.used, end)
    return start, end


@compiled()
def use_bus(channel, p, ready, ticks, is_write):
    """Occupy the data bus for `ticks` from `ready` on; returns (first, last) tick of the data.

    What fits into the gap that a request before it leaves, waiting for its row, goes there.  Writes go before the reads
    that wait for the bus, which follow later by their time: a queue of writes that is full is drained first.
    """
    channel.busy += ticks
    first, used = fill_gap(channel, ready, ticks, is_write)
    if used == ticks:
        return first, first + used
    change = change_ticks(channel, p, ticks, is_write)
    closed = p.refresh_time + (p.write_recovery if is_write and p.refresh_time > 0 else 0)
    free = (channel.write_free if is_write else channel.bus_free) + change
    start, end = occupy(channel, p, free, ready, ticks - used, closed)
    if (
        ready > free
        and in_one_interval(channel, p, free, start)
        and (free + channel.phase) % p.refresh_interval >= closed
    ):
        channel.gap_begin, channel.gap_end = free, ready
    elif change > 0 or start > free:
        channel.gap_end = 0
    if is_write:
        channel.written = ticks + channel.writing * channel.written
        channel.write_free = end
        _, behind = occupy(channel, p, channel.bus_free + change, start, ticks - used, closed)
        channel.bus_free = max(behind, end)
    else:
        channel.bus_free = end
    channel.writing = is_write
    return start if first < 0 else first, end


@compiled()
def accept(channel, p, noc, arrival, size):
    """Pass a read request of `size` bytes through the endpoint; returns the tick at which it reaches the controller."""
    at = max(arrival, channel.accept_at[noc])
    channel.accept_at[noc] = at + p.request_ticks + (size * p.request_ticks_per_kib >> 10)
    return at


@compiled(inline="always")
def bus_ticks(p, size, partial):
    """Ticks that `size` bytes take of the data bus; `partial`: as a read-modify-write."""
    ticks = size * p.ticks_per_kib >> 10
    return max(ticks, p.partial_ticks) if partial else ticks


@compiled(inline="always")
def queue_ticks(p, size):
    """(ticks for which a write of `size` bytes keeps a channel, ticks of as many such writes as its queue holds).

    The queue holds data: the slower they are written, the longer it takes them without holding up the network.
    """
    data = max(1, bus_ticks(p, max(size, p.burst_bytes), False))  # 0 if bandwidth is set free
    ticks = bus_ticks(p, size, size <= p.partial_bytes)
    return ticks, p.queue_ticks * ticks // data


@compiled(inline="always")
def fragments_ticks(p, size):
    """Ticks that `size` bytes take when bursts of several writers alternate, so that each opens a row."""
    return (size + p.burst_bytes - 1) // p.burst_bytes * p.activate_spacing


@compiled()
def dram_access(channels, banks, p, index, address, size, is_write, time, noc, mixed, thread):
    """Serve `size` bytes at `address` of channel `index`; at cycle `time` the request is there, with all data of a write.

    `mixed`: 1 when the flits of a write come mixed with those of other writes; `thread`: the sender's.

    Returns the cycle at which the first chunk of the data read leaves the tile, or at which a write is acknowledged.  A write
    starts on the channel as soon as its first data are there.
    """
    channel = channels[index]
    arrival = (
        time * TICKS - (size * p.link_ticks_per_kib >> 10) if is_write else accept(channel, p, noc, time * TICKS, size)
    )
    first, end, behind = -1, arrival, 0
    at, last = address // p.burst_bytes * p.burst_bytes, address + size
    while at < last:
        stop = min((at // p.row_bytes + 1) * p.row_bytes, -(-last // p.burst_bytes) * p.burst_bytes)
        bursts = (stop - at) // p.burst_bytes
        number, row = locate(p, at)
        bank = banks[index * p.internal_banks + number]
        ready = open_row(channel, bank, p, row, min(bursts, p.groups), arrival)
        if not is_write:
            ready = max(ready, arrival + p.activate)
        ticks = bus_ticks(p, stop - at, is_write and size <= p.partial_bytes)
        behind = ticks - bus_ticks(p, stop - at, False)  # what the controller still does when it has the data
        if mixed != 0:
            ticks = max(ticks, fragments_ticks(p, stop - at))
        start, end = use_bus(channel, p, ready, ticks, 1 if is_write else 0)
        if p.set_refresh_time > 0:
            start, end = pass_refresh(channel, bank, p, number, start, end, ticks, is_write)
        bank.precharge_at = max(bank.precharge_at, end + (p.write_recovery if is_write else 0))
        if first < 0:
            first = start
        at = stop
    waited = first - time * TICKS
    if waited > 0:
        channel.waited += waited
        if waited > channel.longest:
            channel.longest, channel.waiter = waited, thread
    if is_write:
        channel.write_bytes += size
        # Data that wait for one set leave room for others until they fill the queue
        channel.drained = max(channel.write_free, end - p.queue_ticks)
        done = time * TICKS
        if p.device_acknowledges != 0:
            done = max(done, end - behind, arrival + p.activate + bus_ticks(p, size, False))
        return (done + (p.short_latency if size <= p.short_bytes else p.write_latency)) // TICKS
    channel.read_bytes += size
    chunk = min(size, p.chunk_bytes)
    channel.supplied = (end + p.read_latency + (chunk * p.link_ticks_per_kib >> 10)) // TICKS
    return (first + p.read_latency + bus_ticks(p, chunk, False)) // TICKS
