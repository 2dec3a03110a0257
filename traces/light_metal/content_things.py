"""Things that the commands of a file name by id: buffers, programs, traces; and devices with their queues."""

from tensim.sim.engine.compiled import compiled
from tensim.traces.flatbuffers.structure import field_at, follow, u32
from tensim.traces.light_metal.content_state import (
    ACTION,
    BUFFER,
    BYTES,
    CLOSED_DEVICE,
    CREATE,
    CREATED_TWICE,
    DEALLOCATE,
    DELETE,
    DELETED,
    DEVICE_COUNT,
    DEVICE_FIELD_ID,
    DEVICE_FIELD_MINIMAL,
    DEVICE_FIELD_QUEUES,
    DEVICE_ID,
    ELEMENTS,
    HALF,
    HOST_FIELD_ID,
    HOST_FIELD_QUEUES,
    LIMIT_ELEMENTS,
    LIMIT_QUEUES,
    LIVE,
    LIVE_BYTES,
    LOAD_TRACE,
    NEVER,
    NO_QUEUE,
    NO_TRACE_DATA,
    OPEN,
    OPTIONAL_VALUE,
    OWNER,
    QUEUES,
    RECORD,
    RELEASE_TRACE,
    SPACE,
    STATE,
    THING_SPACE,
    TOO_MANY_DEVICES,
    TOO_MANY_ELEMENTS,
    TRACE,
    TRACE_KEYS,
    TRACE_NOT_READY,
    UNKNOWN_DEVICE,
    UNKNOWN_ID,
    USE_LIVE,
    USE_OWNED,
    USED_AFTER_DEALLOCATION,
    USED_AFTER_DELETE,
    WRONG_KIND,
    WRONG_OWNER,
    A,
    B,
    C,
    add_problem,
    command_of,
    scalar,
    vector,
)


@compiled()
def _trace_key(c, rule, table):
    """The id of a trace among all ids: traces are numbered by device."""
    device = scalar(c.data, table, rule[B], 4) & 0xFFFF
    return TRACE_KEYS * (1 + device) + scalar(c.data, table, rule[A], 4)


@compiled()
def collect_ids(c, first, count, keys):
    """Put the ids that commands create into `keys` (one word for each command); returns how many."""
    n = 0
    for i in range(count):
        member, table = command_of(c, first, i)
        for r in range(c.first_rule[member], c.first_rule[member + 1]):
            rule = c.rules[r]
            if rule[ACTION] == CREATE or rule[ACTION] == RECORD:
                keys[n] = scalar(c.data, table, rule[A], 4)
                n += 1
                break
            if rule[ACTION] == LOAD_TRACE:
                keys[n] = _trace_key(c, rule, table)
                n += 1
                break
    return n


@compiled()
def find_id(ids, key):
    """Index of `key` in sorted `ids`, or -1.  Ids mostly count up without gaps."""
    if len(ids) == 0:
        return -1
    guess = key - ids[0]
    if 0 <= guess < len(ids) and ids[guess] == key:
        return guess
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if ids[middle] < key else (low, middle)
    return low if low < len(ids) and ids[low] == key else -1


@compiled()
def known_thing(c, key, space, live, command, table, field, element=-1, sub=-1, offset=0):
    """Index of a thing that an earlier command created and none deleted, or -1 with the problem noted."""
    index = find_id(c.ids, key)
    code = -1
    if index < 0 or c.things[index, STATE] == NEVER:
        code = UNKNOWN_ID
    elif c.things[index, THING_SPACE] != space:
        code = WRONG_KIND
    elif c.things[index, STATE] == DELETED:
        code = USED_AFTER_DELETE
    elif live and c.things[index, STATE] == HALF:
        code = USED_AFTER_DEALLOCATION
    if code < 0:
        return index
    actual = c.things[index, THING_SPACE] if code == WRONG_KIND else -1
    add_problem(c, code, command, table, field, key, actual, element, sub, offset, space)
    return -1


@compiled()
def create_thing(c, rule, command, table):
    key = scalar(c.data, table, rule[A], 4)
    thing = c.things[find_id(c.ids, key)]
    if thing[STATE] != NEVER:
        if rule[ACTION] == CREATE or thing[THING_SPACE] != rule[SPACE]:
            add_problem(c, CREATED_TWICE, command, table, rule[A], key, thing[THING_SPACE], space=rule[SPACE])
        return
    thing[THING_SPACE], thing[STATE] = rule[SPACE], LIVE
    if rule[B] >= 0:
        thing[OWNER] = scalar(c.data, table, rule[B], 4)


@compiled()
def use_thing(c, rule, command, table):
    action, key, field = rule[ACTION], scalar(c.data, table, rule[A], 4), rule[A]
    index = known_thing(c, key, rule[SPACE], action == USE_LIVE, command, table, field)
    if index < 0:
        return
    thing = c.things[index]
    if action == USE_OWNED:
        program = scalar(c.data, table, rule[B], 4)
        if thing[OWNER] != program:
            add_problem(c, WRONG_OWNER, command, table, field, key, thing[OWNER], space=rule[SPACE])
    elif action == DEALLOCATE or action == DELETE:
        if thing[STATE] == LIVE and rule[SPACE] == BUFFER:
            c.totals[LIVE_BYTES] -= thing[BYTES]
        thing[STATE] = HALF if action == DEALLOCATE else DELETED


@compiled()
def optional_table(c, table, field):
    """Position of the table that holds an optional number, or 0."""
    place = field_at(c.data, table, field)
    return follow(c.data, place) if place else 0


@compiled()
def use_optional(c, rule, command, table, inner, sub):
    """A thing named by an optional table at `inner`; `sub`: its field in the table at field A, -1 when A is it."""
    if inner:
        place = field_at(c.data, inner, OPTIONAL_VALUE)
        key = u32(c.data, place) if place else 0
        known_thing(c, key, rule[SPACE], False, command, table, rule[A], -1, sub, place if place else inner)


@compiled()
def _device(c, device):
    for i in range(c.totals[DEVICE_COUNT]):
        if c.devices[i, DEVICE_ID] == device:
            return i
    return -1


@compiled()
def open_device(c, command, table, description, field, element):
    """Enter a device by its description."""
    minimal = scalar(c.data, description, DEVICE_FIELD_MINIMAL, 1)
    queues = 0 if minimal else scalar(c.data, description, DEVICE_FIELD_QUEUES, 4)
    _enter(c, command, table, description, field, element, scalar(c.data, description, DEVICE_FIELD_ID, 4), queues)


@compiled()
def open_host(c, command, table, description, field, element):
    """Enter a host device by its command's table."""
    device, queues = scalar(c.data, description, HOST_FIELD_ID, 4), scalar(c.data, description, HOST_FIELD_QUEUES, 4)
    _enter(c, command, table, description, field, element, device, queues)


@compiled()
def _enter(c, command, table, description, field, element, device, queues):
    index = _device(c, device)
    if index < 0:
        index = c.totals[DEVICE_COUNT]
        if index == len(c.devices):
            add_problem(c, TOO_MANY_DEVICES, command, table, field, index, len(c.devices), element, -1, description)
            return
        c.totals[DEVICE_COUNT] = index + 1
    c.devices[index, DEVICE_ID], c.devices[index, QUEUES], c.devices[index, OPEN] = device, queues, 1


@compiled()
def open_device_index(c, command, table, field):
    """Index of the open device of a command, or -1 with the problem noted.  Files without devices mean one chip: index -2."""
    if c.totals[DEVICE_COUNT] == 0:
        return -2
    device = scalar(c.data, table, field, 4)
    index = _device(c, device)
    if index < 0:
        add_problem(c, UNKNOWN_DEVICE, command, table, field, device, 0)
    elif not c.devices[index, OPEN]:
        add_problem(c, CLOSED_DEVICE, command, table, field, device, 0)
        return -1
    return index


@compiled()
def check_queue(c, rule, command, table):
    index = open_device_index(c, command, table, rule[B])
    if index == -1 or rule[C] >= 0 and scalar(c.data, table, rule[C], 1):
        return
    queues = c.limits[LIMIT_QUEUES] if index < 0 else c.devices[index, QUEUES]
    queue = scalar(c.data, table, rule[A], 4)
    if queue >= queues:
        add_problem(c, NO_QUEUE, command, table, rule[A], queue, queues)


@compiled()
def close_device(c, rule, command, table):
    index = open_device_index(c, command, table, rule[A])
    if index >= 0:
        c.devices[index, OPEN] = 0


@compiled()
def spend(c, amount, command, table, field):
    """Whether `amount` more elements may be looked at; shared vectors could make a small file cost hours."""
    before = c.totals[ELEMENTS]
    c.totals[ELEMENTS] = before + amount
    within = c.totals[ELEMENTS] <= c.limits[LIMIT_ELEMENTS]
    if not within and before <= c.limits[LIMIT_ELEMENTS]:
        add_problem(c, TOO_MANY_ELEMENTS, command, table, field, c.totals[ELEMENTS], c.limits[LIMIT_ELEMENTS])
    return within


@compiled()
def use_all(c, rule, command, table):
    """Every element of a vector names a thing; buffers are still allocated."""
    count, first = vector(c.data, table, rule[A])
    if not spend(c, count, command, table, rule[A]):
        return
    for i in range(count):
        place = first + 4 * i
        known_thing(c, u32(c.data, place), rule[SPACE], rule[SPACE] == BUFFER, command, table, rule[A], i, -1, place)


@compiled()
def use_trace(c, rule, command, table):
    """A trace is loaded, used and released; then its id is free again."""
    action, name = rule[ACTION], scalar(c.data, table, rule[A], 4)
    index = find_id(c.ids, _trace_key(c, rule, table))
    live = index >= 0 and c.things[index, STATE] == LIVE
    if action == LOAD_TRACE:
        if live:
            add_problem(c, CREATED_TWICE, command, table, rule[A], name, TRACE, space=TRACE)
        elif find_id(c.traces, name) < 0:
            add_problem(c, NO_TRACE_DATA, command, table, rule[A], name, 0)
        c.things[index, THING_SPACE], c.things[index, STATE] = TRACE, LIVE
    elif not live:
        add_problem(c, TRACE_NOT_READY, command, table, rule[A], name, 0)
    elif action == RELEASE_TRACE:
        c.things[index, STATE] = DELETED
