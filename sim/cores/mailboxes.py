"""Mailboxes between the compute threads of a core: FIFOs of words, one for each sender and receiver
(docs/hardware/riscv.md#cost-of-data-movement-calls).  They keep what nobody has read, also from one program to the next.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.domains import known, mask_of
from tensim.sim.cores.local_memory import go_on
from tensim.sim.cores.operations import DOMAINS, Mailbox, Op
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, THREADS_PER_CORE
from tensim.sim.cores.threads import argument, park, wake
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import store_64
from tensim.sim.state import MAILBOX_ENTRIES, PARKED, TO_READ, TO_WRITE, WAIT_MAILBOX, mailboxes_of, threads_of

N_MAILBOXES = len(Mailbox)
OWNERS = mask_of(DOMAINS[Op.MAILBOX_WRITE][0])


@compiled()
def mailbox_of(m, core, receiver, sender):
    return mailboxes_of(m)[(core * N_MAILBOXES + receiver) * N_MAILBOXES + sender]


@compiled()
def put(box, value):
    box.words[(box.head + box.count) % MAILBOX_ENTRIES] = value & 0xFFFFFFFF
    box.count += 1


@compiled()
def take(box):
    value = box.words[box.head]
    box.head = (box.head + 1) % MAILBOX_ENTRIES
    box.count -= 1
    return value


@compiled()
def waits(m, t, other, why):
    """Index of the core's thread `other` if it waits for a mailbox that it shares with thread record `t`, else -1."""
    thread = t.core * THREADS_PER_CORE + FIRST_COMPUTE_SLOT + other
    o = threads_of(m)[thread]
    mine = t.slot - FIRST_COMPUTE_SLOT
    return thread if o.state == PARKED and o.wait == WAIT_MAILBOX and o.wait_a == why and o.wait_b == mine else -1


@compiled()
def let_go(m, thread, now, cost):
    """The core itself has waited for a mailbox: it goes on `cost` cycles from now."""
    t = threads_of(m)[thread]
    t.issued = max(t.issued, now + cost)
    wake(m, thread, now, cost)


@compiled()
def mailbox_write(m, thread, now):
    """mailbox_write: a store that waits for room; returns the cycle of the core's next instruction, or -1."""
    if not known(m, thread, 0, OWNERS):
        return -1
    t = threads_of(m)[thread]
    receiver, value = argument(t, 0), argument(t, 1)
    box = mailbox_of(m, t.core, receiver, t.slot - FIRST_COMPUTE_SLOT)
    if box.count == MAILBOX_ENTRIES:
        return park(m, thread, now, WAIT_MAILBOX, TO_WRITE, receiver, 0)
    put(box, value)
    reader = waits(m, t, receiver, TO_READ)
    if reader >= 0:
        store_64(threads_of(m)[reader].context + 8 * ctx.RESULT, take(box))
        let_go(m, reader, now + m.alu, m.mailbox_load)
    return go_on(m, thread, now, now + m.alu)


@compiled()
def mailbox_read(m, thread, now):
    """mailbox_read: a load that waits for a word; returns the cycle of the core's next instruction, or -1."""
    if not known(m, thread, 0, OWNERS):
        return -1
    t = threads_of(m)[thread]
    sender = argument(t, 0)
    box = mailbox_of(m, t.core, t.slot - FIRST_COMPUTE_SLOT, sender)
    if box.count == 0:
        return park(m, thread, now, WAIT_MAILBOX, TO_READ, sender, 0)
    store_64(t.context + 8 * ctx.RESULT, take(box))
    writer = waits(m, t, sender, TO_WRITE)
    if writer >= 0:
        put(box, argument(threads_of(m)[writer], 1))
        let_go(m, writer, now + 1, m.alu)
    return go_on(m, thread, now, now + m.mailbox_load)
