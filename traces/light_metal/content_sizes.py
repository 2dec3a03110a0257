"""Do sizes, data and times of the commands of a file fit each other?"""

from tensim.sim.engine.compiled import compiled
from tensim.traces.flatbuffers.structure import field_at, i32, u32
from tensim.traces.light_metal.content_state import (
    BAD_PAGE_SIZE,
    BAD_SIZE,
    BEYOND_BUFFER,
    BUFFER,
    BYTES,
    LIMIT_BUFFER_BYTES,
    LIMIT_FS,
    LIVE_BYTES,
    NO_DATA,
    NO_PAYLOAD,
    ROOT_START,
    SIMULATED,
    TOO_LATE,
    TOO_LONG,
    TOO_MUCH_MEMORY,
    TWO_SOURCES,
    A,
    B,
    C,
    D,
    E,
    add_problem,
    scalar,
    vector,
)
from tensim.traces.light_metal.content_things import find_id, known_thing


@compiled()
def _size(c, table, small, large):
    """A size in its 32-bit field, or in the 64-bit one when that is not 0; negative when it is none."""
    value = scalar(c.data, table, large, 8)
    place = field_at(c.data, table, small)
    return value if value or place == 0 else i32(c.data, place)


@compiled()
def buffer_sizes(c, rule, command, table):
    size, page = _size(c, table, rule[B], rule[C]), _size(c, table, rule[D], rule[E])
    if size < 0 or size > c.limits[LIMIT_BUFFER_BYTES]:
        add_problem(c, BAD_SIZE, command, table, rule[B], size, c.limits[LIMIT_BUFFER_BYTES])
        return
    if page < 0 or page > size or size and page == 0:
        add_problem(c, BAD_PAGE_SIZE, command, table, rule[D], page, size)
    c.totals[LIVE_BYTES] += size
    if c.totals[LIVE_BYTES] > c.limits[LIMIT_BUFFER_BYTES]:
        add_problem(c, TOO_MUCH_MEMORY, command, table, rule[B], c.totals[LIVE_BYTES], c.limits[LIMIT_BUFFER_BYTES])
    c.things[find_id(c.ids, scalar(c.data, table, rule[A], 4)), BYTES] = size


@compiled()
def check_write(c, rule, command, table):
    """Data of a transfer: words or a payload, within the buffer."""
    index = known_thing(c, scalar(c.data, table, rule[A], 4), BUFFER, True, command, table, rule[A])
    payload, words = scalar(c.data, table, rule[C], 4), 0
    field, data = rule[C], False
    if rule[B] >= 0:
        data = field_at(c.data, table, rule[B]) != 0
        words, _ = vector(c.data, table, rule[B])
        field = rule[C] if payload else rule[B]
    if payload > len(c.payloads):
        add_problem(c, NO_PAYLOAD, command, table, rule[C], payload, len(c.payloads))
        return
    if payload and data or not payload and not data:
        add_problem(c, TWO_SOURCES if data else NO_DATA, command, table, rule[C], payload, 0)
        return
    size = c.payloads[payload - 1] if payload else 4 * words
    offset = scalar(c.data, table, rule[D], 8) if rule[D] >= 0 else 0
    if index >= 0 and (offset < 0 or offset > c.things[index, BYTES] or size > c.things[index, BYTES] - offset):
        add_problem(
            c, BEYOND_BUFFER, command, table, rule[D] if offset else field, offset + size, c.things[index, BYTES]
        )


@compiled()
def check_read(c, rule, command, table):
    """The region of a read: B offset, C size, 0 for the whole buffer."""
    index = known_thing(c, scalar(c.data, table, rule[A], 4), BUFFER, True, command, table, rule[A])
    if index < 0 or rule[B] < 0:
        return
    offset, size = scalar(c.data, table, rule[B], 8), scalar(c.data, table, rule[C], 8)
    room = c.things[index, BYTES]
    if offset < 0 or offset > room:
        add_problem(c, BEYOND_BUFFER, command, table, rule[B], offset, room)
    elif size < 0 or size > room - offset:
        add_problem(c, BEYOND_BUFFER, command, table, rule[C], offset + size, room)


@compiled()
def check_time(c, rule, command, table):
    """Simulated time that the command asks for, alone and in sum."""
    fs, bound = scalar(c.data, table, rule[A], 8), c.limits[LIMIT_FS]
    if fs < 0 or fs > bound - c.totals[SIMULATED]:
        add_problem(c, TOO_LONG, command, table, rule[A], fs, bound)
        return
    c.totals[SIMULATED] += fs


@compiled()
def check_moment(c, field, command, table):
    """Simulated host time at which something happened: one that the clock can reach."""
    fs, bound = scalar(c.data, table, field, 8), c.limits[LIMIT_FS]
    if fs < 0 or fs > bound:
        add_problem(c, TOO_LATE, command, table, field, fs, bound)


@compiled()
def check_start(c):
    """The host time at which the recording began."""
    check_moment(c, ROOT_START, -1, u32(c.data, 0))
