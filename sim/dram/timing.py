"""Command timing of a memory channel as one record, in clocks of the command bus.

Commands: activate (ACT), precharge of one bank (PRE) or of all (PREA), column read (RD) and write (WR), refresh of all
banks (REF) or of one (REFB).  A channel of several devices runs them in lockstep.  The values are those of the device
classes, `dram.t_*` of sim/arch/*.yaml.
"""

import math

import numpy as np

from tensim.sim.engine.compiled import compiled

ACT, PRE, PREA, RD, WR, REF, REFB = range(7)
COMMANDS = ("ACT", "PRE", "PREA", "RD", "WR", "REF", "REFB")
MAX_BANKS, MAX_GROUPS, MAX_QUEUE = 64, 16, 4096  # queues of as many bursts as parameters may name (units.json)
ROUNDED_UP = (
    "t_cl", "t_cwl", "t_rcd", "t_rp", "t_ras", "t_rtp", "t_wr", "t_rrd_s", "t_rrd_l", "t_faw", "t_wtr_s", "t_wtr_l",
    "turnaround", "t_rfc",
)  # fmt: skip
TIMING_DTYPE = np.dtype(
    [(name, np.int64) for name in (
        "banks groups group_shift bits_interleave bits_column bits_set burst_bytes burst t_ccd_s t_ccd_l t_refi refresh_per_bank "
        "read_queue write_queue write_high write_low patience postponed_refreshes"
    ).split()]
    + [(name, np.int64) for name in ROUNDED_UP],
    align=True,
)  # fmt: skip


def clock_ns(arch):
    """Period of the command clock in ns."""
    return arch["dram.transfers_per_clock"] / arch["dram.data_rate_gts"]


def bits(arch, key, unit=1):
    """log2 of a parameter in units of `unit`; both are powers of two."""
    return (arch[key] // int(unit)).bit_length() - 1


def build_timing(arch):
    """The timing record of an architecture's memory; nanoseconds become whole clocks, never fewer."""
    timing = np.zeros(1, TIMING_DTYPE)
    p, period = timing[0], clock_ns(arch)
    p["banks"], p["groups"] = arch["dram.internal_banks"], arch["dram.bank_groups"]
    p["burst"] = arch["dram.burst_length"] // arch["dram.transfers_per_clock"]
    p["burst_bytes"] = arch["dram.burst_length"] * arch["dram.channel_bits"] // 8
    p["group_shift"] = bits(arch, "dram.internal_banks", p["groups"])
    p["bits_interleave"] = bits(arch, "dram.interleaved_groups")
    p["bits_column"] = bits(arch, "dram.row_bytes", p["burst_bytes"])
    p["bits_set"] = bits(arch, "dram.internal_banks", arch["dram.interleaved_groups"])
    p["t_ccd_s"], p["t_ccd_l"] = arch["dram.t_ccd_s_ck"], arch["dram.t_ccd_l_ck"]
    for name in ROUNDED_UP:
        p[name] = math.ceil(round(arch[f"dram.{name}_ns"] / period, 6))
    p["t_refi"] = math.floor(arch["dram.t_refi_ns"] / period)
    for name in ("refresh_per_bank", "read_queue", "write_queue", "write_high", "write_low", "postponed_refreshes"):
        p[name] = arch[f"dram.{name}"]
    p["patience"] = arch["dram.patience_ck"]
    return p


@compiled(inline="always")
def hashed_set(number, row, mask):
    """The set of banks of row-sized piece `number` of a channel: its low bits XOR all bits of the row, folded by three.

    Streams that lie a power of two apart spread over the sets.
    """
    row ^= row >> 12
    row ^= row >> 6
    row ^= row >> 3
    return (number ^ row) & mask
