"""A tile's coprocessor and the RISC-V cores of its three threads together, in the order of cycles.

Each core runs ahead to its next action; the coprocessor follows up to the earliest of them, which is then carried out.  A core
that has to wait is looked at again whenever the coprocessor has done something; one that polls a circular buffer, when somebody
has moved its pages (`compute_threads`).  The cluster leaves with a reason: what the outside world must see, what is not due yet,
a fault, or that nothing more happens by itself.
"""

import numpy as np

from tensim.sim.cores.coprocessor.baby_core import (
    ACTING,
    BLOCKED,
    ENDED,
    FAULTED,
    LOAD,
    POLLING,
    PUSH,
    RUNNING,
    baby_table,
    run_ahead,
)
from tensim.sim.cores.coprocessor.frontend import NO_TIME, has_room, is_empty, look_at_gates, push
from tensim.sim.cores.coprocessor.machine import step
from tensim.sim.cores.coprocessor.memory_map import (
    DONE_CHECK,
    PRINT_KIND,
    TILE_REGISTERS,
    TILE_REGISTERS_END,
    WATCHES_L1,
    WATCHES_SEMAPHORE,
    has_been_taken,
    is_watched,
    pc_buffer_of,
    perform,
    polls,
    still_waits,
)
from tensim.sim.cores.coprocessor.state import BRISC, N_THREADS, NOTHING_ASKED, blackhole_table, wormhole_table
from tensim.sim.cores.coprocessor.units import has_room_for_spans, units_table
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_u32
from tensim.sim.engine.tables import table

# Why `run_cluster` leaves: all threads have ended; nothing happens any more; a core's action is not due yet; a counter of a
# circular buffer was written; L1 was stored to; a fault; out of fuel; a core polls, and others may change what it reads; a core
# asks for what who runs the tile has to do (`asked` of the coprocessor's record); a core prints
ALL_DONE, RESTING, OUTSIDE, COUNTER, STORED, FAULT, FUEL_SPENT, PAUSED, ASKED, PRINTED = range(10)
RAISED = -1  # in place of a cycle, with FAULT: compiled code has raised an error
STUCK = -1  # what `run_coprocessor` gives in place of fuel
INSTRUCTIONS_PER_FUEL = 8  # of a RISC-V core: they take about as long as a cycle of the coprocessor


# The tile's coprocessor and cores, the cycles to simulate at most, and why `run_cluster` left, with the cycle.  On a chip also the
# address of `run_tile`, and how many of the threads have begun their program; `words`: of thread `words_thread`, uint32 at
# `words_at`, to be pushed without cores where that is not 0, and `words_taken`, how many were
CLUSTER = np.dtype(
    [(name, np.int64) for name in (
        "coprocessor_at cores_at fuel reason at run_at started words_at words words_thread words_taken"
    ).split()]
)  # fmt: skip
cluster_table = table(CLUSTER)


@compiled()
def acts_outside(c, core):
    """Does a core's action touch what others than its own tile's threads see?"""
    if core.address == PRINT_KIND:
        return c.debug_at == 0
    return core.address < c.l1_size or TILE_REGISTERS <= core.address < TILE_REGISTERS_END


@compiled()
def done_at(c, thread):
    """Cycle from which a thread has nothing left in the coprocessor, NO_TIME while its frontend holds words."""
    if not is_empty(c, thread):
        return NO_TIME
    return max(c.cycle, units_table(c.units_at)[0].left[thread])


@compiled()
def survey(c, cores_at):
    """What the cores do: (the one that acts or goes on the earliest; its cycle, NO_TIME when no core does; bit set of all states;
    whether one waits for something that nobody tells of (`cores_look`): the end of what its thread has pushed, a message).
    """
    first, at, states, wait_untold = -1, NO_TIME, 0, False
    for thread in range(c.n_cores):
        core = baby_table(cores_at)[thread]
        state = core.state
        states |= 1 << state
        if state == ACTING or state == RUNNING:
            if core.clock < at:
                first, at = thread, core.clock
        elif state == BLOCKED and core.action != PUSH and core.watches != WATCHES_SEMAPHORE:
            wait_untold = True
    return first, at, states, wait_untold


@compiled()
def blocked_until(c, cores_at):
    """Cycle at which time alone lets a blocked core go on, NO_TIME when none."""
    at = NO_TIME
    for thread in range(c.n_cores):
        core = baby_table(cores_at)[thread]
        if core.state != BLOCKED or core.action != LOAD:
            continue
        buffer = pc_buffer_of(c, thread, core.address)
        if thread == BRISC and buffer >= 0:
            if has_been_taken(c, buffer, NO_TIME):
                at = min(at, done_at(c, buffer))
        elif core.address == DONE_CHECK:
            at = min(at, done_at(c, thread))
    return at


@compiled()
def retry_blocked(c, cores_at):
    """Look at blocked cores again at the coprocessor's cycle; True when one goes on."""
    any_goes_on = False
    for thread in range(c.n_cores):
        core = baby_table(cores_at)[thread]
        at = max(core.clock, c.cycle)
        if core.state == BLOCKED and not still_waits(c, core, thread, at) and perform(c, cores_at, thread, at):
            core.stall += at - core.blocked_since
            run_ahead(c, cores_at, thread)
            any_goes_on = True
    return any_goes_on


@compiled()
def tell_of_l1(c, cores_at, at):
    """L1 was written to at a cycle: cores that wait for that go on, one that reads something else."""
    for thread in range(c.n_cores):
        core = baby_table(cores_at)[thread]
        if core.state == BLOCKED and core.watches == WATCHES_L1:
            woken = max(core.clock, at)
            if perform(c, cores_at, thread, woken):
                core.stall += woken - core.blocked_since
                run_ahead(c, cores_at, thread)


@compiled()
def at_end(c, cores_at):
    """(reason, cycle) when neither a core nor the coprocessor can go on: all are done, a core has failed, or they wait."""
    end = c.cycle
    for thread in range(c.n_cores):
        core = baby_table(cores_at)[thread]
        if core.state == FAULTED:
            return FAULT, core.clock
        done = done_at(c, thread) if thread < N_THREADS else core.clock
        if core.state != ENDED or done == NO_TIME:
            return RESTING, c.cycle
        end = max(end, max(done, core.clock))
    return ALL_DONE, end


@compiled(inline="always")
def tells(c):
    """Has the coprocessor stopped, or something that who runs the tile is to know?"""
    return c.fault | c.asked | c.counter_written | c.printed | c.l1_stored != 0


@compiled()
def run_coprocessor(c, cores_at, at, until, states, wait_untold, fuel):
    """Simulate the coprocessor, cycle by cycle in which something happens, up to `at` or the first one behind `until`.

    `states`, `wait_untold`: of the cores (`survey`).  It comes back before that when a core goes on or there is something to tell.
    Returns the fuel that is left, STUCK when nothing more happens by itself and `at` is NO_TIME.
    """
    some_wait, c.cores_look = states >> BLOCKED & 1 != 0, 1
    while fuel > 0 and c.cycle < at and c.cycle <= until and has_room_for_spans(c):
        fuel -= 1
        c.stepped = c.cycle
        following = min(step(c, c.cycle), at)
        if wait_untold:
            following = min(following, blocked_until(c, cores_at))
        if following == NO_TIME:
            return STUCK
        c.cycle = max(following, c.cycle + 1)
        if some_wait and (wait_untold or c.cores_look != 0) and c.fault == 0:
            c.cores_look = 0
            if retry_blocked(c, cores_at):
                break
        if tells(c):
            break
    return fuel


@compiled()
def act(c, cores_at, thread, at):
    """Let a core's action happen at a cycle, or note that it waits or polls."""
    core = baby_table(cores_at)[thread]
    core.acted_at = at
    if polls(c, core, at):
        core.state, core.blocked_since = POLLING, core.poll_since
        if is_watched(c, core.address):
            core.state, core.watches, core.blocked_since = BLOCKED, WATCHES_L1, at
        elif core.address < TILE_REGISTERS or core.address >= TILE_REGISTERS_END:  # a semaphore of the coprocessor
            core.state, core.watches = BLOCKED, WATCHES_SEMAPHORE
    elif perform(c, cores_at, thread, at):
        if c.asked == NOTHING_ASKED:  # else it goes on when that is done: it may have to ask for something more
            run_ahead(c, cores_at, thread)
    else:
        core.state, core.blocked_since = BLOCKED, at


@compiled()
def run_cluster(c, cores_at, now, until, fuel):
    """Run the cluster: (reason, cycle).

    Actions on the outside world are carried out up to cycle `now`.  While a core polls, the coprocessor goes no further than
    cycle `until`, the first at which others can make it go on.
    """
    if c.written_at >= 0:
        tell_of_l1(c, cores_at, c.written_at)
        c.written_at = -1
    while fuel > 0 and has_room_for_spans(c):
        fuel -= 1
        first, at, states, wait_untold = survey(c, cores_at)
        if states >> FAULTED & 1 != 0:
            return FAULT, c.cycle
        happened = at
        if c.cycle < at:
            limit = until if states >> POLLING & 1 != 0 else NO_TIME
            if c.cycle > limit:
                return PAUSED, until
            fuel = run_coprocessor(c, cores_at, at, limit, states, wait_untold, fuel + 1)
            if fuel == STUCK:
                return (FAULT, c.cycle) if c.fault != 0 else at_end(c, cores_at)
            happened = c.stepped
        elif baby_table(cores_at)[first].state == RUNNING:  # it has just begun, or has run out of its own fuel
            core = baby_table(cores_at)[first]
            retired = core.retired
            run_ahead(c, cores_at, first)
            fuel -= (core.retired - retired) // INSTRUCTIONS_PER_FUEL
        else:
            core = baby_table(cores_at)[first]
            if core.action != PUSH and acts_outside(c, core) and at > now:
                return OUTSIDE, at
            act(c, cores_at, first, at)
        if not tells(c):
            continue
        if c.l1_stored != 0 and c.debug_at != 0 and (c.fault | c.asked) != 0:
            c.l1_stored, c.written_at = 0, happened  # what waits for it is told when it comes back
        if c.fault != 0:
            return FAULT, c.cycle
        if c.asked != NOTHING_ASKED:
            return ASKED, happened
        if c.counter_written != 0:
            return COUNTER, happened
        if c.printed != 0:
            return PRINTED, happened
        if c.l1_stored != 0:
            if c.debug_at == 0:
                return STORED, happened
            c.l1_stored = 0
            tell_of_l1(c, cores_at, happened)
    return FUEL_SPENT, c.cycle


@compiled()
def push_words(c, cluster):
    """Push words of a thread, one a cycle where there is room, and run until all are through, for `fuel` cycles at most.

    Leaves the number of words that were taken, and as `at` the cycle at the end, -1 when they are stuck.
    """
    thread, begin = cluster.words_thread, c.cycle
    cluster.words_taken = 0
    while c.cycle - begin < cluster.fuel and c.fault == 0:
        if cluster.words_taken < cluster.words and has_room(c, thread):
            push(c, thread, load_u32(cluster.words_at + 4 * cluster.words_taken), c.cycle)
            cluster.words_taken += 1
        following = step(c, c.cycle)
        if cluster.words_taken < cluster.words and has_room(c, thread):
            following = c.cycle + 1
        if following == NO_TIME:
            break
        c.cycle = max(following, c.cycle + 1)
    done = done_at(c, thread)
    cluster.at = -1 if cluster.words_taken < cluster.words or done == NO_TIME else done


@compiled()
def run_tile(c, cluster, now, until):
    """`run_cluster`, or `push_words`, of a CLUSTER record; leaves reason and cycle there."""
    cluster.reason, cluster.at = FAULT, RAISED  # unless it comes back from here
    look_at_gates(c)
    if cluster.words_at != 0:
        push_words(c, cluster)
        cluster.reason = ALL_DONE
    else:
        cluster.reason, cluster.at = run_cluster(c, cluster.cores_at, now, until, cluster.fuel)


@compiled()
def run_wormhole_tile(cluster_at, now, until):
    """`run_tile` for who has the address of the record, as machine code for Wormhole."""
    cluster = cluster_table(cluster_at)[0]
    run_tile(wormhole_table(cluster.coprocessor_at)[0], cluster, now, until)
    return 0


@compiled()
def run_blackhole_tile(cluster_at, now, until):
    """The same for Blackhole."""
    cluster = cluster_table(cluster_at)[0]
    run_tile(blackhole_table(cluster.coprocessor_at)[0], cluster, now, until)
    return 0
