"""The command-level model of one channel: a memory controller that schedules bursts first-ready, first-come (FR-FCFS).

Reads and writes wait in queues of their own.  Writes are drained in batches, between a high and a low mark.  Of the
commands that the waiting bursts need next, the one that can be issued first goes; at equal times a column command before
an activate before a precharge, then the oldest burst.  A row is kept open while a waiting burst wants it.  A burst that
has waited for `dram.patience_ck` clocks goes first.  Times are clocks of the command bus, which takes one command a clock.

Address mapping, low to high: byte of the burst, one of the interleaved bank groups, column, set of banks (hashed with the
row), row: a stream changes the bank group with every burst.
"""

import numpy as np

from tensim.sim.dram.timing import ACT, MAX_BANKS, MAX_GROUPS, MAX_QUEUE, PRE, PREA, RD, REF, REFB, WR, hashed_set
from tensim.sim.engine.compiled import compiled

NEVER = 1 << 60
LAST_KEY = 4 * NEVER
COLUMN, ACTIVATE, PRECHARGE = 0, 1, 2  # kinds of commands, in the order of preference
# What a burst needs next: twice the kind of command, a write one more
NEED_READ, NEED_WRITE, NEED_ACTIVATE, NEED_PRECHARGE, N_NEEDS = 0, 1, 2, 4, 5
CONTROLLER_DTYPE = np.dtype(
    [(name, np.int64) for name in (
        "now writing act read write refresh_due refresh_bank refreshed activates refreshes commands"
    ).split()]
    + [(name, np.int64, MAX_BANKS) for name in "row act_at column_at precharge_at".split()]
    + [(name, np.int64, (N_NEEDS, MAX_GROUPS)) for name in "group_at allowed".split()]
    + [("window", np.int64, 4), ("waiting", np.int64, 2), ("free", np.int64, 2), ("patience", np.int64, 2)]
    + [(name, np.int64, (2, MAX_BANKS)) for name in "first last chosen hit need need_key request".split()]
    + [(name, np.int64, (2, MAX_QUEUE)) for name in "q_request q_bank q_row q_since q_next".split()],
    align=True,
)  # fmt: skip
# group_at: by need and bank group, the clock from which the group allows it; allowed: the key (see `select`) from which group
# and channel do, for one command; need, need_key: of the burst chosen in each bank, and the key from which the bank allows it;
# request: number of that burst times MAX_BANKS, plus the bank; patience: no burst starves before
COMMAND_DTYPE = np.dtype([(name, np.int64) for name in "time command bank row".split()], align=True)


def build_controller(timing):
    """An idle controller, every row closed."""
    controller = np.zeros(1, CONTROLLER_DTYPE)
    c = controller[0]
    c["row"], c["window"], c["refresh_bank"] = -1, -NEVER, -1
    c["first"], c["last"], c["chosen"], c["need_key"] = -1, -1, -1, LAST_KEY
    c["q_next"] = np.arange(1, MAX_QUEUE + 1)  # the free slots, in a list
    c["refresh_due"] = timing["t_refi"] // (timing["banks"] if timing["refresh_per_bank"] else 1)
    return c


# --- queues: the waiting bursts of a kind (0 reads, 1 writes) and bank form a list, oldest first


@compiled()
def locate(p, burst):
    """(bank, row) of a burst number of the channel; the banks of group g follow each other from g << group_shift."""
    number = burst >> p.bits_interleave >> p.bits_column
    row = number >> p.bits_set
    bank_set = hashed_set(number, row, (1 << p.bits_set) - 1)
    groups = p.groups >> p.bits_interleave  # that a set number tells apart
    group = (burst & ((1 << p.bits_interleave) - 1)) | (bank_set & (groups - 1)) << p.bits_interleave
    return (group << p.group_shift) + bank_set // groups, row


@compiled()
def choose(c, kind, bank):
    """Choose the burst of a bank that goes next: the oldest that wants the open row, else the oldest."""
    slot = c.first[kind, bank]
    while slot >= 0 and c.q_row[kind, slot] != c.row[bank]:
        slot = c.q_next[kind, slot]
    c.hit[kind, bank] = slot >= 0
    c.chosen[kind, bank] = slot if slot >= 0 else c.first[kind, bank]
    find_need(c, kind, bank)


@compiled()
def find_need(c, kind, bank):
    """Note what the chosen burst of a bank needs next."""
    slot = c.chosen[kind, bank]
    if slot < 0:
        c.need_key[kind, bank] = LAST_KEY
        return
    c.request[kind, bank] = c.q_request[kind, slot] * MAX_BANKS + bank
    c.need[kind, bank], c.need_key[kind, bank] = need_of(c, kind, bank, slot)


@compiled(inline="always")
def need_of(c, kind, bank, slot):
    """(what a burst needs next, key from which its bank allows it)."""
    if c.row[bank] == c.q_row[kind, slot]:
        return NEED_READ + kind, 4 * c.column_at[bank] + COLUMN
    if c.row[bank] < 0:
        return NEED_ACTIVATE, 4 * c.act_at[bank] + ACTIVATE
    return NEED_PRECHARGE, 4 * c.precharge_at[bank] + PRECHARGE


@compiled()
def has_room(c, p, kind):
    return c.waiting[kind] < (p.write_queue if kind else p.read_queue)


@compiled()
def admit(c, p, request, burst, kind):
    """Put a burst into its queue, which has room."""
    bank, row = locate(p, burst)
    slot = c.free[kind]
    c.free[kind] = c.q_next[kind, slot]
    c.q_request[kind, slot], c.q_bank[kind, slot], c.q_row[kind, slot] = request, bank, row
    c.q_since[kind, slot], c.q_next[kind, slot] = c.now, -1
    if c.first[kind, bank] < 0:
        c.first[kind, bank] = slot
    else:
        c.q_next[kind, c.last[kind, bank]] = slot
    c.last[kind, bank] = slot
    c.waiting[kind] += 1
    if c.hit[kind, bank] == 0:
        choose(c, kind, bank)


@compiled()
def remove(c, kind, slot):
    """Take a burst out of its queue."""
    bank = c.q_bank[kind, slot]
    before, other = -1, c.first[kind, bank]
    while other != slot:
        before, other = other, c.q_next[kind, other]
    if before < 0:
        c.first[kind, bank] = c.q_next[kind, slot]
    else:
        c.q_next[kind, before] = c.q_next[kind, slot]
    if c.last[kind, bank] == slot:
        c.last[kind, bank] = before
    c.q_next[kind, slot] = c.free[kind]
    c.free[kind] = slot
    c.waiting[kind] -= 1
    choose(c, kind, bank)


# --- choosing a command


@compiled()
def choose_direction(c, p):
    """Whether reads or writes are served now."""
    if c.writing:
        if c.waiting[1] == 0 or (c.waiting[1] <= p.write_low and c.waiting[0] > 0):
            c.writing = 0
    elif c.waiting[1] >= p.write_high or (c.waiting[0] == 0 and c.waiting[1] > 0):
        c.writing = 1


@compiled()
def refresh_command(c):
    """What the bank that is to be refreshed needs next, in the same form; a refresh counts as an activate."""
    bank = c.refresh_bank
    if c.row[bank] >= 0:
        return max(c.now, c.precharge_at[bank]) * 4 + PRECHARGE
    return max(c.now, c.act_at[bank]) * 4 + ACTIVATE


@compiled(inline="always")
def allow(c, need, time):
    """Note from which key on the channel and each group allow what is needed; the channel from `time`."""
    for group in range(MAX_GROUPS):
        c.allowed[need, group] = 4 * max(c.now, time, c.group_at[need, group]) + (need >> 1)


@compiled()
def starved(c, p, kind):
    """The bank with the oldest burst, when that waits too long, else -1; the bank that is to be refreshed left out."""
    oldest, since, bank_of_oldest = NEVER, c.now, -1  # bursts to come are younger
    for bank in range(p.banks):
        slot = c.first[kind, bank]
        if slot >= 0:
            since = min(since, c.q_since[kind, slot])
            if bank != c.refresh_bank and c.q_request[kind, slot] < oldest:
                oldest, bank_of_oldest = c.q_request[kind, slot], bank
    c.patience[kind] = since + p.patience
    if bank_of_oldest >= 0 and c.now - c.q_since[kind, c.first[kind, bank_of_oldest]] > p.patience:
        return bank_of_oldest
    return -1


@compiled()
def select(c, p):
    """(key, bank, slot) of the command to issue; slot -1: for the refresh of a bank.

    A key is 4 * time + kind of command.  The loops over the banks have no branches, so that they become vector instructions.
    """
    kind = c.writing
    allow(c, NEED_READ + kind, c.write if kind else c.read)
    allow(c, NEED_ACTIVATE, max(c.act, c.window[c.activates & 3] + p.t_faw))
    allow(c, NEED_PRECHARGE, c.now)
    if c.now > c.patience[kind]:
        bank = starved(c, p, kind)
        if bank >= 0:
            slot = c.first[kind, bank]
            need, key = need_of(c, kind, bank, slot)
            return max(key, c.allowed[need, bank >> p.group_shift]), bank, slot
    best, request = LAST_KEY, NEVER
    for bank in range(p.banks):
        key = max(c.need_key[kind, bank], c.allowed[c.need[kind, bank], bank >> p.group_shift])
        best = min(best, key if bank != c.refresh_bank else LAST_KEY)
    if c.refresh_bank >= 0 and refresh_command(c) < best:
        return refresh_command(c), c.refresh_bank, -1
    for bank in range(p.banks):
        key = max(c.need_key[kind, bank], c.allowed[c.need[kind, bank], bank >> p.group_shift])
        request = min(request, c.request[kind, bank] if key == best and bank != c.refresh_bank else NEVER)
    bank = request % MAX_BANKS
    return best, bank, c.chosen[kind, bank]


# --- issuing commands


@compiled()
def log(c, commands, time, command, bank, row):
    """Enter a command into the list, when there is one."""
    if c.commands < len(commands):
        entry = commands[c.commands]
        entry.time, entry.command, entry.bank, entry.row = time, command, bank, row
    c.commands += 1
    c.now = time + 1


@compiled()
def activate(c, p, commands, time, bank, row):
    group = bank >> p.group_shift
    c.row[bank] = row
    c.column_at[bank], c.precharge_at[bank], c.act_at[bank] = time + p.t_rcd, time + p.t_ras, time + p.t_ras + p.t_rp
    c.group_at[NEED_ACTIVATE, group], c.act = time + p.t_rrd_l, time + p.t_rrd_s
    c.window[c.activates % 4] = time
    c.activates += 1
    choose(c, 0, bank)
    choose(c, 1, bank)
    log(c, commands, time, ACT, bank, row)


@compiled()
def precharge(c, p, commands, time, bank):
    log(c, commands, time, PRE, bank, c.row[bank])
    close(c, p, time, bank)


@compiled()
def close(c, p, time, bank):
    """The row of a bank is precharged from `time` on."""
    c.row[bank] = -1
    c.act_at[bank] = max(c.act_at[bank], time + p.t_rp)
    for kind in range(2):
        c.hit[kind, bank], c.chosen[kind, bank] = 0, c.first[kind, bank]
        find_need(c, kind, bank)


@compiled()
def column(c, p, commands, time, bank, is_write):
    """Issue a column command for a burst, which the caller removes; returns the clock at which its data has passed."""
    group = bank >> p.group_shift
    log(c, commands, time, WR if is_write else RD, bank, c.row[bank])
    if is_write:
        end = time + p.t_cwl + p.burst
        c.precharge_at[bank] = max(c.precharge_at[bank], end + p.t_wr)
        c.group_at[NEED_WRITE, group], c.write = time + p.t_ccd_l, time + p.t_ccd_s
        c.group_at[NEED_READ, group] = max(c.group_at[NEED_READ, group], end + p.t_wtr_l)
        c.read = max(c.read, end + p.t_wtr_s)
        find_need(c, 0, bank)
        return end
    end = time + p.t_cl + p.burst
    c.precharge_at[bank] = max(c.precharge_at[bank], time + p.t_rtp)
    c.group_at[NEED_READ, group], c.read = time + p.t_ccd_l, time + p.t_ccd_s
    c.write = max(c.write, end + p.turnaround - p.t_cwl)
    find_need(c, 1, bank)
    return end


@compiled()
def block(c, bank, time):
    """A bank is refreshed until `time`."""
    c.act_at[bank] = time
    for kind in range(2):
        find_need(c, kind, bank)


@compiled()
def refresh_all(c, p, commands):
    """Close every row and refresh all banks."""
    time, is_open = c.now, False
    for bank in range(p.banks):
        if c.row[bank] >= 0:
            time, is_open = max(time, c.precharge_at[bank]), True
    if is_open:
        log(c, commands, time, PREA, -1, -1)
        for bank in range(p.banks):
            if c.row[bank] >= 0:
                close(c, p, time, bank)
    start = c.now
    for bank in range(p.banks):
        start = max(start, c.act_at[bank])
    log(c, commands, start, REF, -1, -1)
    for bank in range(p.banks):
        block(c, bank, start + p.t_rfc)
    c.refreshes += 1
    c.refresh_due += p.t_refi


@compiled()
def plan_refresh(c, p):
    """Choose the bank to refresh: not yet in this round, and free of waiting bursts unless as many as may be are owed."""
    forced = c.now >= c.refresh_due + p.postponed_refreshes * (p.t_refi // p.banks)
    for bank in range(p.banks):
        if c.refreshed >> bank & 1 == 0:
            if forced or (c.first[0, bank] < 0 and c.first[1, bank] < 0):
                c.refresh_bank = bank
                return


@compiled()
def refresh_one(c, p, commands, time, bank):
    """Refresh the chosen bank."""
    log(c, commands, time, REFB, bank, -1)
    block(c, bank, time + p.t_rfc)
    c.refresh_bank = -1
    c.refreshed |= 1 << bank
    if c.refreshed == (1 << (p.banks - 1) << 1) - 1:  # 64 banks fill the word
        c.refreshed = 0
    c.refreshes += 1
    c.refresh_due += p.t_refi // p.banks


@compiled()
def issue(c, p, commands, key, bank, slot, done):
    """Issue a selected command; returns the number of bursts it finishes."""
    kind, time, rank = c.writing, key >> 2, key & 3
    if rank == PRECHARGE:
        precharge(c, p, commands, time, bank)
    elif slot < 0:
        refresh_one(c, p, commands, time, bank)
    elif rank == ACTIVATE:
        activate(c, p, commands, time, bank, c.q_row[kind, slot])
    else:
        done[c.q_request[kind, slot]] = column(c, p, commands, time, bank, kind)
        remove(c, kind, slot)
        return 1
    return 0


@compiled()
def serve(c, p, arrivals, bursts, is_write, done, commands):
    """Serve all bursts of a channel.

    `arrivals`: clocks, ascending; `bursts`: burst numbers; `is_write`: 0 or 1; `done`: gets the clock at which the data
    of each has passed; `commands`: array of COMMAND_DTYPE that takes the first commands (may be empty).  A burst waits in
    front of the controller while its queue is full, and so do those behind it.
    """
    n, following, left = len(arrivals), 0, len(arrivals)
    while left > 0:
        while following < n and arrivals[following] <= c.now and has_room(c, p, is_write[following]):
            admit(c, p, following, bursts[following], is_write[following])
            following += 1
        if c.now >= c.refresh_due and c.refresh_bank < 0:
            if p.refresh_per_bank == 0:
                refresh_all(c, p, commands)
                continue
            plan_refresh(c, p)
        choose_direction(c, p)
        key, bank, slot = select(c, p)
        wake = c.refresh_due if c.now < c.refresh_due else NEVER
        if following < n and c.now < arrivals[following] and has_room(c, p, is_write[following]):
            wake = min(wake, arrivals[following])
        if wake <= key >> 2:
            c.now = wake
        else:
            left -= issue(c, p, commands, key, bank, slot, done)
