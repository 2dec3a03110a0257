"""What the Tensix engine is to do to data: a queue of operations on Dst for each core (`tensim.sim.cores.tensix.queues`)."""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import CACHE_LINE
from tensim.sim.engine.tables import table

DST_TILES = 16  # of a core
QUEUE_SIZE = 16  # operations of a core that may wait; a power of two
# Places of each source register: one for each operation that waits, one for the token that waits, one to fill
SOURCE_PLACES = QUEUE_SIZE + 3
MAX_THREADS = 64  # that take part, the one with the event loop among them
NOT_FINITE = 256  # in the format of a source place: its numbers may be infinite or NaN
LINE_WORDS = CACHE_LINE // 8
# What `tensim.sim.loop.event_loop.run` does in place of events, as its `limit`: another thread's work; `queues.drain` of a core
SERVE, DRAIN = -(1 << 62), -(1 << 62) + 1

# `clear`: fill the tile with zeros first; `a`, `b`: positions of the operands in `src_a`, `src_b`, with their formats;
# `fresh`: the tile was cleared when its section was acquired, and not used since; `p0` to `p4`: what the operation takes
OPERATION = np.dtype(
    [(name, np.int64) for name in (
        "code tile clear fresh a b format_a format_b fidelity_phases fp32_dest p0 p1 p2 p3 p4 unused"
    ).split()],
    align=True,
)  # fmt: skip
# A core's queue, a cache line for each that writes.  The event loop's thread: operations `posted` so far, and how many of them were
# done, `settled`, when all were; everybody: `state`;
# whoever has taken the queue: operations `done` so far, what the words of Dst are (`tensix_exact.dst_kind`), and the settings of
# the operation at hand
QUEUE = np.dtype(
    [("posted", np.int64), ("settled", np.int64), ("unused", np.int64, LINE_WORDS - 2)]
    + [("state", np.int64), ("unused_too", np.int64, LINE_WORDS - 1)]
    + [(name, np.int64) for name in (
        "done dst_kinds format_a format_b fidelity_phases fp32_dest scratch_at unused_last"
    ).split()],
    align=True,
)  # fmt: skip
QUEUE_BYTES, STATE, DONE = QUEUE.itemsize, QUEUE.fields["state"][1], QUEUE.fields["done"][1]
# Threads that take operations: the `machine` (host address) whose event loop runs, 0 if none does; how many are `inside` its
# queues; how many there are, `serving`; whether they shall end, `stop`
TEAM = np.dtype(
    [field for name in "machine inside serving stop".split()
     for field in ((name, np.int64), (f"unused_{name}", np.int64, LINE_WORDS - 1))],
    align=True,
)  # fmt: skip
MACHINE, INSIDE, SERVING, STOP = (TEAM.fields[name][1] for name in "machine inside serving stop".split())

operation_table, queue_table, word_table = table(OPERATION), table(QUEUE), table(np.dtype(np.int64))


@compiled(inline="always")
def operations_of(m):
    return operation_table(m.operations_at)


@compiled(inline="always")
def queues_of(m):
    return queue_table(m.queues_at)


@compiled(inline="always")
def source_formats_of(m):
    """Format of each source place, (core, operand, place)."""
    return word_table(m.source_formats_at)


@compiled(inline="always")
def source_uses_of(m):
    """For each source place: operations that must be done before it is free, a count as `posted`."""
    return word_table(m.source_uses_at)


@compiled(inline="always")
def source_place(core, operand, place):
    return (2 * core + operand) * SOURCE_PLACES + place


@compiled(inline="always")
def posted_at(m, core):
    return m.queues_at + QUEUE_BYTES * core


@compiled(inline="always")
def state_at(m, core):
    return m.queues_at + QUEUE_BYTES * core + STATE


@compiled(inline="always")
def done_at(m, core):
    return m.queues_at + QUEUE_BYTES * core + DONE
