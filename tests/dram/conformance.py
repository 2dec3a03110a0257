"""A checker of command sequences: every rule of the memory's table, pair by pair, from nanoseconds.

It knows nothing of the scheduler: it reads the list of commands and the parameters of the YAML.
"""

import math
from itertools import pairwise

from tensim.sim.dram.timing import COMMANDS


class Rules:
    """Minimum distances in clocks, by (command, command, scope)."""

    def __init__(self, arch):
        ns = arch["dram.transfers_per_clock"] / arch["dram.data_rate_gts"]

        def clocks(name):
            return math.ceil(round(arch[f"dram.t_{name}_ns"] / ns, 6))

        self.banks, self.groups = arch["dram.internal_banks"], arch["dram.bank_groups"]
        self.faw = clocks("faw")
        self.cl, self.cwl = clocks("cl"), clocks("cwl")
        self.burst = arch["dram.burst_length"] // arch["dram.transfers_per_clock"]
        self.gap = math.ceil(round(arch["dram.turnaround_ns"] / ns, 6))
        self.refi = arch["dram.t_refi_ns"] / ns
        self.per_bank = arch["dram.refresh_per_bank"]
        written = self.cwl + self.burst
        s, g = arch["dram.t_ccd_s_ck"], arch["dram.t_ccd_l_ck"]
        rp, rfc, rcd = clocks("rp"), clocks("rfc"), clocks("rcd")
        self.same_bank = {
            ("ACT", "RD"): rcd, ("ACT", "WR"): rcd, ("ACT", "PRE"): clocks("ras"), ("ACT", "ACT"): clocks("ras") + rp,
            ("PRE", "ACT"): rp, ("PRE", "REFB"): rp, ("REFB", "ACT"): rfc, ("REFB", "REFB"): rfc,
            ("RD", "PRE"): clocks("rtp"), ("WR", "PRE"): written + clocks("wr"),
        }  # fmt: skip
        self.same_group = {
            ("ACT", "ACT"): clocks("rrd_l"), ("RD", "RD"): g, ("WR", "WR"): g, ("WR", "RD"): written + clocks("wtr_l"),
        }  # fmt: skip
        self.channel = {
            ("ACT", "ACT"): clocks("rrd_s"), ("RD", "RD"): s, ("WR", "WR"): s, ("WR", "RD"): written + clocks("wtr_s"),
            ("RD", "WR"): self.cl + self.burst + self.gap - self.cwl, ("PREA", "REF"): rp, ("PREA", "ACT"): rp,
            ("REF", "ACT"): rfc, ("REF", "REF"): rfc, ("PRE", "REF"): rp,
            ("ACT", "PREA"): clocks("ras"), ("RD", "PREA"): clocks("rtp"), ("WR", "PREA"): written + clocks("wr"),
        }  # fmt: skip

    def group(self, bank):
        return bank // (self.banks // self.groups)


def violations(arch, commands):
    """Texts of every rule that a list of commands (time, command, bank, row) breaks."""
    rules, found = Rules(arch), []
    named = [(int(t), COMMANDS[int(c)], int(b), int(r)) for t, c, b, r in commands]
    if any(a[0] >= b[0] for a, b in pairwise(named)):
        found.append("two commands in one clock, or out of order")
    window = max(*rules.same_bank.values(), *rules.same_group.values(), *rules.channel.values())
    for j, (time, name, bank, _) in enumerate(named):
        for i in range(j - 1, -1, -1):
            before, earlier, other, _ = named[i]
            if time - before >= window:
                break
            pair = (earlier, name)
            least = rules.channel.get(pair, 0)
            if bank >= 0 and other >= 0 and rules.group(bank) == rules.group(other):
                least = max(least, rules.same_group.get(pair, 0))
                if bank == other:
                    least = max(least, rules.same_bank.get(pair, 0))
            if time - before < least:
                found.append(f"{earlier} {other} at {before}, {name} {bank} at {time}: less than {least}")
    return found + state_violations(rules, named) + bus_violations(rules, named)


def state_violations(rules, named):
    """Commands that the row state of their bank forbids; activates above four in a window; late refreshes."""
    found, open_rows, activates = [], {}, []
    refreshed = dict.fromkeys(range(rules.banks), 0)
    for time, name, bank, row in named:
        if name in ("RD", "WR") and open_rows.get(bank) != row:
            found.append(f"{name} {bank} at {time}: row {row} is not open")
        if name == "ACT":
            if bank in open_rows:
                found.append(f"ACT {bank} at {time}: it is open")
            open_rows[bank] = row
            activates = [*activates[-4:], time]
            if len(activates) == 5 and time - activates[0] < rules.faw:
                found.append(f"ACT {bank} at {time}: the fifth in a window")
        if name == "PRE":
            open_rows.pop(bank, None)
        if name == "PREA":
            open_rows.clear()
        if (name == "REF" and open_rows) or (name == "REFB" and bank in open_rows):
            found.append(f"{name} at {time}: rows are open")
        if name in ("REF", "REFB"):
            for item in refreshed if name == "REF" else [bank]:
                if time - refreshed[item] > 9.5 * rules.refi:
                    found.append(f"bank {item} was not refreshed for {time - refreshed[item]} clocks")
                refreshed[item] = time
    return found


def bus_violations(rules, named):
    """Overlapping data."""
    data = [(t + (rules.cl if name == "RD" else rules.cwl), name) for t, name, _, _ in named if name in ("RD", "WR")]
    found = []
    for (start, name), (following, other) in pairwise(sorted(data)):
        if following - start < rules.burst:
            found.append(f"data of {name} at {start} and {other} at {following} overlap")
    return found
