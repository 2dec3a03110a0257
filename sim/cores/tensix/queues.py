"""Tile arithmetic off the event loop's thread: the operations on each core's Dst in a queue, which other threads may work through.

Nothing in time depends on what Dst holds until the packer writes it to L1.  So the event loop decodes operands and posts an
operation; whoever finds a queue with operations takes it, and executes them in their order.  A queue belongs to one thread at a
time, so results are those of a single thread, whatever their number.  Before Dst is read (`drain`), and when a queue is full, the
event loop's thread executes what is left itself, or helps with other queues while somebody is at this one.

Only operations that take much longer than their operands take from the caches of one processor to those of another are worth
it (`is_long`).  Another one is executed when it is posted, unless it has to wait for such; so is any without a team (`team_at` 0).

A queue's `state`: FREE, nobody has it, and nobody but the event loop's thread needs to look at it; WAITING, there is something to
do, and the core's bit in `ready` is set or about to be; TAKEN, somebody executes.
"""

from tensim.sim.cores.numerics.matrix_unit import INTEGER
from tensim.sim.cores.numerics.unpacker import format_kind
from tensim.sim.cores.tensix.queue_state import (
    INSIDE,
    MACHINE,
    NOT_FINITE,
    QUEUE_SIZE,
    SERVING,
    STOP,
    done_at,
    operations_of,
    posted_at,
    queues_of,
    source_formats_of,
    source_place,
    source_uses_of,
    state_at,
)
from tensim.sim.cores.tensix.tile_operations import MATMUL, REDUCE, execute
from tensim.sim.engine.atomics import (
    add_to_word,
    exchange,
    fence,
    keep_bits,
    load_word,
    nap,
    observe,
    publish,
    replace,
    set_bits,
    yield_processor,
)
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import CACHE_LINE, lowest_bit
from tensim.sim.state import EXACT, RUNNING_ON, STOP_TEAM, cores_of, machine_table

FREE, WAITING, TAKEN = range(3)
ALL = 1 << 62  # operations
EVENT_LOOP = 0  # number of the event loop's thread; those of the others follow
POLLS, SPINS = 64, 1024  # looks at a word before the processor is given to others; looks for work before a thread naps
NAP, DOUBLINGS, NAPS = 50, 5, 256  # microseconds of its first nap; naps that are longer each; naps until it ends


@compiled()
def is_settled(m, core):
    """Are all operations of a core that were posted done?"""
    queue = queues_of(m)[core]
    if queue.settled != queue.posted and observe(done_at(m, core)) == queue.posted:
        queue.settled = queue.posted
    return queue.settled == queue.posted


@compiled()
def free_place(m, core, operand, held):
    """A place of a source register that no operation needs any more, nor the token behind which it is filled, which has `held`.

    As long as nothing waits, these are two in turn, as on the chip.
    """
    if is_settled(m, core):
        return 0 if held != 0 else 1
    done, place, uses = observe(done_at(m, core)), 0, source_uses_of(m)
    while place == held or uses[source_place(core, operand, place)] > done:
        place += 1
    return place


@compiled()
def is_long(m, operation):
    """Does an operation take tens of microseconds of a processor, not one or two?"""
    if m.data_on == EXACT:
        return operation.code == MATMUL or operation.code == REDUCE
    formats = operation.format_a | operation.format_b
    return operation.code == MATMUL and (formats & NOT_FINITE != 0 or format_kind(operation.format_a) == INTEGER)


@compiled()
def next_operation(m, core, code, tile, clear, fresh, place_a, place_b):
    """Begin an operation on a Dst tile: its row in the table of operations, filled but for `p0` to `p4`; `post` ends it.

    `place_a`, `place_b`: of the operands in the source registers.
    """
    row = m.n_workers * QUEUE_SIZE  # of what is executed at once
    if m.team_at != 0:
        wait_for_room(m, core)
        row = core * QUEUE_SIZE + (queues_of(m)[core].posted & QUEUE_SIZE - 1)
    operation, record, formats = operations_of(m)[row], cores_of(m)[core], source_formats_of(m)
    operation.code, operation.tile, operation.clear, operation.fresh = code, tile, clear, fresh
    operation.a, operation.b = place_a, place_b
    operation.format_a = formats[source_place(core, 0, place_a)]
    operation.format_b = formats[source_place(core, 1, place_b)]
    operation.fidelity_phases, operation.fp32_dest = record.fidelity_phases, record.fp32_dest
    return row


@compiled()
def post(m, core, row):
    """The operation in a row is complete: execute it, or let others."""
    operation, uses = operations_of(m)[row], source_uses_of(m)
    long = is_long(m, operation)
    if m.team_at == 0 or (not long and is_settled(m, core)):
        if long:
            miss_team(m)
        execute(m, core, row, EVENT_LOOP)
        return
    posted = queues_of(m)[core].posted + 1
    uses[source_place(core, 0, operation.a)] = uses[source_place(core, 1, operation.b)] = posted
    publish(posted_at(m, core), posted)
    if long:
        fence()
        if load_word(state_at(m, core)) == FREE and replace(state_at(m, core), FREE, WAITING):
            make_ready(m, core)


@compiled()
def miss_team(m):
    """A long operation is executed without a team: after `patience` of them the engine stops, so that the host finds one."""
    m.patience -= 1
    if m.patience == 0 and m.stop == RUNNING_ON:
        m.stop = STOP_TEAM


@compiled(inline="always")
def ready_at(m, core):
    """Host address of the word with a core's bit; each has a cache line."""
    return m.ready_at + (core >> 6) * CACHE_LINE


@compiled(inline="always")
def make_ready(m, core):
    set_bits(ready_at(m, core), 1 << (core & 63))


@compiled()
def work_through(m, core, executor, most):
    """Execute up to `most` operations of a queue that the calling thread has taken, and give it back."""
    while True:
        done = observe(done_at(m, core))
        while done != observe(posted_at(m, core)):
            if most == 0:
                exchange(state_at(m, core), WAITING)
                make_ready(m, core)
                return
            execute(m, core, core * QUEUE_SIZE + (done & QUEUE_SIZE - 1), executor)
            done, most = done + 1, most - 1
            publish(done_at(m, core), done)
        exchange(state_at(m, core), FREE)
        if load_word(posted_at(m, core)) == done or not replace(state_at(m, core), FREE, TAKEN):
            return


@compiled()
def take_ready(m, first):
    """Take a queue that waits, if possible of core `first` or one behind it; returns the core, or -1."""
    words = (m.n_workers + 63) >> 6
    for i in range(words):
        base = ((first >> 6) + i) % words << 6
        bits = observe(ready_at(m, base))
        behind = bits & (-1 << (first & 63))
        if i == 0 and behind != 0:
            bits = behind
        while bits != 0:
            bit = bits & -bits
            core = base + lowest_bit(bits)
            if keep_bits(ready_at(m, base), ~bit) & bit != 0 and replace(state_at(m, core), WAITING, TAKEN):
                return core
            bits ^= bit
    return -1


@compiled()
def take_part(m, core, polls):
    """The event loop's thread waits for a core's queue: work through it, or execute an operation of another one.

    `polls`: how often it has waited before.
    """
    state = load_word(state_at(m, core))
    if state != TAKEN and replace(state_at(m, core), state, TAKEN):
        work_through(m, core, EVENT_LOOP, ALL)
        return
    other = take_ready(m, core)
    if other >= 0:
        work_through(m, other, EVENT_LOOP, 1)
    elif polls % POLLS == POLLS - 1:
        yield_processor()


@compiled()
def wait_for_room(m, core):
    """Wait until another operation can be posted."""
    queue, polls = queues_of(m)[core], 0
    while queue.posted - queue.settled >= m.queue_room and queue.posted - observe(done_at(m, core)) >= m.queue_room:
        take_part(m, core, polls)
        polls += 1


@compiled()
def drain(m, core):
    """Wait until all operations of a core that were posted are done: its Dst may be read."""
    polls = 0
    while not is_settled(m, core):
        take_part(m, core, polls)
        polls += 1


@compiled()
def begin_team(m):
    """The event loop of this machine begins: what it posts, others may execute."""
    exchange(m.team_at + MACHINE, m.self_at)


@compiled()
def end_team(m):
    """The event loop stops: all is done, and nobody looks at the machine any more."""
    for core in range(m.n_workers):
        drain(m, core)
    exchange(m.team_at + MACHINE, 0)
    polls = 0
    while load_word(m.team_at + INSIDE) != 0:
        polls += 1
        if polls % POLLS == 0:
            yield_processor()


@compiled()
def serve_once(team, executor, first):
    """Take a queue of the machine whose event loop runs, and work through it; returns its core, or -1."""
    if load_word(team + MACHINE) == 0:
        return -1
    add_to_word(team + INSIDE, 1)
    machine, core = load_word(team + MACHINE), -1
    if machine != 0:
        m = machine_table(machine)[0]
        core = take_ready(m, first)
        if core >= 0:
            work_through(m, core, executor, ALL)
    add_to_word(team + INSIDE, -1)
    return core


@compiled()
def serve(team, executor):
    """What another thread does: execute operations, until there have been none for long, or it shall end."""
    core, idle = 0, 0
    while idle < SPINS + NAPS and load_word(team + STOP) == 0:
        served = serve_once(team, executor, core)
        if served >= 0:
            core, idle = served + 1, 0
            continue
        idle += 1
        if idle >= SPINS:
            nap(NAP << min(idle - SPINS, DOUBLINGS))
    add_to_word(team + SERVING, -1)
