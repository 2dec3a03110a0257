"""Barriers: which of a thread's transfers are outstanding, and resuming the thread when they have completed.

Source: docs/hardware/kernel_api.md#barriers.
"""

from tensim.sim.cores.domains import known, mask_of, within
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.operations import Barrier
from tensim.sim.cores.threads import OPERATION_END, argument, charge, charge_stall, fail, park, wake, wake_to_retry
from tensim.sim.cores.transfer_checks import forget_open_reads, valid_noc
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import call_model
from tensim.sim.state import (
    ONLY_FLUSHED,
    PARKED,
    ROUTING,
    WAIT_ATOMIC_BARRIER,
    WAIT_FLUSH,
    WAIT_READ_BARRIER,
    WAIT_WRITE_BARRIER,
    cores_of,
    noc_counters_of,
    threads_of,
    traffic_of,
)

BARRIERS = mask_of(Barrier)
OF_ONE_ID = mask_of((Barrier.READ_TRID, Barrier.WRITE_TRID, Barrier.WRITE_FLUSHED_TRID))


@compiled()
def barrier_open(m, thread, kind, noc, trid):
    """What the barrier still waits for (0: all of it is known): transactions, or writes that have not left yet."""
    counters = noc_counters_of(m, thread, noc)
    if kind == Barrier.READ:
        return counters.reads_out
    if kind == Barrier.WRITE:
        return counters.writes_out
    if kind == Barrier.ATOMIC:
        return counters.atomics_out
    if kind == Barrier.FULL:
        return counters.reads_out + counters.writes_out + counters.atomics_out + counters.posted_unsent
    if kind == Barrier.READ_TRID:
        return counters.trid_reads[trid]
    if kind == Barrier.WRITE_TRID:
        return counters.trid_writes[trid]
    if kind == Barrier.WRITES_FLUSHED:
        return counters.writes_unsent
    if kind == Barrier.POSTED_WRITES_FLUSHED:
        return counters.posted_unsent
    return counters.trid_unsent[trid]


@compiled()
def finish_barrier(m, thread, kind, noc, trid):
    if kind == Barrier.READ or kind == Barrier.FULL:
        forget_open_reads(m, thread, noc, -1)
    elif kind == Barrier.READ_TRID:
        forget_open_reads(m, thread, noc, trid)


@compiled()
def barrier(m, thread, now):
    """noc_async_*_barrier and *_flushed."""
    t = threads_of(m)[thread]
    kind, noc, trid = argument(t, 0), argument(t, 1), argument(t, 2)
    if not (known(m, thread, 0, BARRIERS) and valid_noc(m, thread, noc, trid)):
        return -1
    if trid < 0 and within(OF_ONE_ID, kind):
        fail(m, thread, Fault.TRID_RANGE, trid, 0, 0)
        return -1
    traffic = traffic_of(m)[thread]
    if kind == Barrier.READ or kind == Barrier.READ_TRID:
        traffic.read_barriers += 1
        if traffic.barrier_period > 1 and traffic.read_barriers % traffic.barrier_period != 0:
            finish_barrier(m, thread, kind, noc, trid)
            return now + 1
    else:
        traffic.write_barriers += 1
        if kind == Barrier.WRITE and traffic.barrier_period == ONLY_FLUSHED:
            kind = Barrier.WRITES_FLUSHED
    counters = noc_counters_of(m, thread, noc)
    until = now
    if kind == Barrier.WRITES_FLUSHED or kind == Barrier.FULL:
        until = max(until, counters.write_flush_at)
    if kind == Barrier.POSTED_WRITES_FLUSHED or kind == Barrier.FULL:
        until = max(until, counters.posted_flush_at)
    if kind == Barrier.WRITE_FLUSHED_TRID:
        until = max(until, counters.trid_flush_at[trid])
    if barrier_open(m, thread, kind, noc, trid) > 0:
        reason = WAIT_WRITE_BARRIER
        if kind == Barrier.READ or kind == Barrier.READ_TRID or kind == Barrier.FULL:
            reason = WAIT_READ_BARRIER
        elif kind == Barrier.ATOMIC:
            reason = WAIT_ATOMIC_BARRIER
        elif (
            kind == Barrier.WRITES_FLUSHED
            or kind == Barrier.POSTED_WRITES_FLUSHED
            or kind == Barrier.WRITE_FLUSHED_TRID
        ):
            reason = WAIT_FLUSH
        return park(m, thread, now, reason, kind, noc, trid)
    finish_barrier(m, thread, kind, noc, trid)
    charge_stall(m, thread, WAIT_FLUSH, now, until)
    charge(m, thread, until, m.barrier_poll)
    return until + m.barrier_poll


@compiled()
def reads_ended(m, thread):
    """ncrisc_noc_read_with_transaction_id_flushed: 0 or 1 (never blocks), or -1 after a fault."""
    t = threads_of(m)[thread]
    noc, trid = argument(t, 0), argument(t, 1)
    if not valid_noc(m, thread, noc, trid):
        return -1
    if trid < 0:
        fail(m, thread, Fault.TRID_RANGE, trid, 0, 0)
        return -1
    if barrier_open(m, thread, Barrier.READ_TRID, noc, trid) > 0:
        return 0
    finish_barrier(m, thread, Barrier.READ_TRID, noc, trid)
    return 1


@compiled()
def transaction_returned(m, thread, now):
    """A count of the thread went down: end its barrier if that was the last one."""
    t = threads_of(m)[thread]
    if t.state == ROUTING:
        call_model(m.fabric_model_at, m.self_at, cores_of(m)[t.core].router_event, now)
        return
    if t.state == PARKED and WAIT_READ_BARRIER <= t.wait <= WAIT_ATOMIC_BARRIER:
        if barrier_open(m, thread, t.wait_a, t.wait_b, t.wait_c) == 0:
            if t.operation == OPERATION_END or t.wait == WAIT_FLUSH:  # the tail that has been waited for leaves later
                wake_to_retry(m, thread, now)
                return
            finish_barrier(m, thread, t.wait_a, t.wait_b, t.wait_c)
            wake(m, thread, now, m.barrier_poll)
