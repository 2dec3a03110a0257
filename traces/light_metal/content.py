"""The compiled walk over the commands of a sound file: do the ids, sizes, queues and devices in them fit each other?"""

from tensim.sim.engine.compiled import compiled
from tensim.traces.flatbuffers.structure import FIELD_COUNT, field_at, follow, i32, number, u32
from tensim.traces.light_metal.content_arguments import (
    check_core_spec,
    check_index,
    check_per_core,
    check_range_set,
    check_range_sets,
    check_references,
    check_runtime_args,
    check_shards,
)
from tensim.traces.light_metal.content_sizes import buffer_sizes, check_moment, check_read, check_time, check_write
from tensim.traces.light_metal.content_state import (
    ACTION,
    BAD_PAYLOAD_SIZE,
    BUFFER,
    BUFFER_SIZES,
    CLOSE_DEVICE,
    COMMAND_KIND,
    COMMAND_TABLE,
    CORE_SPEC,
    CREATE,
    DEALLOCATE,
    DELETE,
    DEVICE,
    HOST_FIELD_ID,
    INDEX,
    LIMIT_PAYLOAD_BYTES,
    LIMIT_RATIO,
    MOMENT,
    NAMED_ID,
    NEVER,
    NO_COMMAND,
    OPEN_DEVICE,
    OPEN_HOST,
    PACKED,
    PAYLOAD_BYTES,
    PAYLOAD_CODEC,
    PAYLOAD_DATA,
    PAYLOAD_SIZE,
    PER_CORE,
    PLAIN,
    PROBLEM_COUNT,
    QUEUE,
    RANGE_SET,
    RANGE_SETS,
    RATIO,
    READ,
    RECORD,
    REFERENCES,
    ROOT_DEVICES,
    ROOT_HOSTS,
    ROOT_NAMES,
    ROOT_PAYLOADS,
    ROOT_TRACES,
    RUNTIME_ARGS,
    SHADOW_BUFFER,
    SHADOW_FIELD,
    SHARDS,
    STATE,
    THING_SPACE,
    TIME,
    TOO_MUCH_PAYLOAD,
    TRACE_ID,
    TRACE_ORDER,
    UNKNOWN,
    UNKNOWN_CODEC,
    UNKNOWN_ID,
    USE,
    USE_ALL,
    USE_LIVE,
    USE_OPTIONAL,
    USE_OWNED,
    WRITE,
    WRONG_KIND,
    A,
    add_problem,
    command_of,
    scalar,
    vector,
)
from tensim.traces.light_metal.content_things import (
    check_queue,
    close_device,
    create_thing,
    find_id,
    open_device,
    open_device_index,
    open_host,
    optional_table,
    use_all,
    use_optional,
    use_thing,
    use_trace,
)


@compiled()
def _apply(c, rule, command, table):
    """Carry out one rule on the command whose table stands at `table`."""
    action = rule[ACTION]
    if action == CREATE or action == RECORD:
        create_thing(c, rule, command, table)
    elif action in (USE, USE_LIVE, USE_OWNED, DEALLOCATE, DELETE):
        use_thing(c, rule, command, table)
    elif action == USE_OPTIONAL:
        use_optional(c, rule, command, table, optional_table(c, table, rule[A]), -1)
    elif action == SHADOW_BUFFER:
        config = follow(c.data, field_at(c.data, table, rule[A]))
        use_optional(c, rule, command, table, optional_table(c, config, SHADOW_FIELD), SHADOW_FIELD)
    elif action == QUEUE:
        check_queue(c, rule, command, table)
    elif action == DEVICE:
        open_device_index(c, command, table, rule[A])
    elif action == OPEN_DEVICE:
        open_device(c, command, table, optional_table(c, table, rule[A]), rule[A], -1)
    elif action == CLOSE_DEVICE:
        close_device(c, rule, command, table)
    elif action == BUFFER_SIZES:
        buffer_sizes(c, rule, command, table)
    elif action == WRITE:
        check_write(c, rule, command, table)
    elif action == READ:
        check_read(c, rule, command, table)
    elif action == REFERENCES:
        check_references(c, rule, command, table)
    elif action == PER_CORE:
        check_per_core(c, rule, command, table)
    elif action == RUNTIME_ARGS:
        check_runtime_args(c, rule, command, table)
    elif action == INDEX:
        check_index(c, rule, command, table)
    elif action == OPEN_HOST:
        open_host(c, command, table, table, HOST_FIELD_ID, -1)
    elif action == USE_ALL:
        use_all(c, rule, command, table)
    elif action == TIME:
        check_time(c, rule, command, table)
    elif action == MOMENT:
        check_moment(c, rule[A], command, table)
    elif action == CORE_SPEC:
        check_core_spec(c, rule, command, table)
    elif action == RANGE_SET:
        check_range_set(c, optional_table(c, table, rule[A]), command, table, rule[A])
    elif action == RANGE_SETS:
        check_range_sets(c, rule, command, table)
    elif action == SHARDS:
        check_shards(c, rule, command, table)
    else:
        use_trace(c, rule, command, table)


@compiled()
def check_commands(c, first, count):
    """Apply the rules of every command in order."""
    for i in range(count):
        member, table = command_of(c, first, i)
        if member == 0:
            add_problem(c, NO_COMMAND, i, table, -1, 0, 0)
        for r in range(c.first_rule[member], c.first_rule[member + 1]):
            _apply(c, c.rules[r], i, table)
        if c.totals[PROBLEM_COUNT] == len(c.problems):
            return


@compiled()
def _packing(data, payload, codec_names):
    """PLAIN, PACKED or UNKNOWN.  `codec_names`: plain, packed; as words, for both have four letters."""
    place = field_at(data, payload, PAYLOAD_CODEC)
    if place == 0:
        return PLAIN
    at = follow(data, place)
    if u32(data, at) != 4:
        return UNKNOWN
    for which in range(2):
        if u32(data, at + 4) == codec_names[which]:
            return which
    return UNKNOWN


@compiled()
def check_payloads(c, first, codec_names):
    """Sizes of the payloads when unpacked, one by one and in sum; fills `payloads`."""
    for i in range(len(c.payloads)):
        table = follow(c.data, first + 4 * i)
        stored, _ = vector(c.data, table, PAYLOAD_DATA)
        size, packing = scalar(c.data, table, PAYLOAD_SIZE, 8), _packing(c.data, table, codec_names)
        size_place = field_at(c.data, table, PAYLOAD_SIZE)
        place = size_place if size_place else table
        if packing == UNKNOWN:
            place = follow(c.data, field_at(c.data, table, PAYLOAD_CODEC))
            add_problem(c, UNKNOWN_CODEC, -1, table, ROOT_PAYLOADS, 0, 0, i, PAYLOAD_CODEC, place)
        elif size < 0 or packing == PLAIN and size_place and size != stored:
            add_problem(c, BAD_PAYLOAD_SIZE, -1, table, ROOT_PAYLOADS, size, stored, i, PAYLOAD_SIZE, place)
        elif packing == PACKED and size > c.limits[LIMIT_RATIO] * stored:
            add_problem(c, RATIO, -1, table, ROOT_PAYLOADS, size, stored, i, PAYLOAD_SIZE, place)
        c.payloads[i] = stored if packing == PLAIN else max(size, 0)
        before, bound = c.totals[PAYLOAD_BYTES], c.limits[LIMIT_PAYLOAD_BYTES]
        c.totals[PAYLOAD_BYTES] = before + min(c.payloads[i], bound + 1)
        if before <= bound < c.totals[PAYLOAD_BYTES]:
            add_problem(c, TOO_MUCH_PAYLOAD, -1, table, ROOT_PAYLOADS, c.payloads[i], bound, i, PAYLOAD_SIZE, place)


@compiled()
def read_traces(c, first):
    """Ids of the trace descriptors, which stand in ascending order; fills `traces`."""
    for i in range(len(c.traces)):
        table = follow(c.data, first + 4 * i)
        c.traces[i] = scalar(c.data, table, TRACE_ID, 4)
        if i and c.traces[i] <= c.traces[i - 1]:
            place = field_at(c.data, table, TRACE_ID)
            place = place if place else table
            add_problem(c, TRACE_ORDER, -1, table, ROOT_TRACES, c.traces[i], c.traces[i - 1], i, TRACE_ID, place)


@compiled()
def check_names(c, first, count):
    """The named buffers were created; that one is gone by now takes nothing from its name."""
    for i in range(count):
        table = follow(c.data, first + 4 * i)
        key, place = scalar(c.data, table, NAMED_ID, 4), field_at(c.data, table, NAMED_ID)
        index = find_id(c.ids, key)
        space = c.things[index, THING_SPACE] if index >= 0 and c.things[index, STATE] != NEVER else -1
        if space != BUFFER:
            code = UNKNOWN_ID if space < 0 else WRONG_KIND
            add_problem(c, code, -1, table, ROOT_NAMES, key, space, i, NAMED_ID, place if place else table, BUFFER)


@compiled()
def open_devices(c, first, count):
    """Enter the devices that were open when the capture began."""
    for i in range(count):
        description = follow(c.data, first + 4 * i)
        open_device(c, -1, description, description, ROOT_DEVICES, i)


@compiled()
def open_hosts(c, first, count):
    """Enter the host devices that were open when the recording began."""
    for i in range(count):
        description = follow(c.data, first + 4 * i)
        open_host(c, -1, description, description, ROOT_HOSTS, i)


@compiled()
def tables_with_unknown_fields(data, members, objects, first, count):
    """How many commands have a field that the schema's table of their member has not.  `members`: number -> object."""
    wide = 0
    for i in range(count):
        outer = follow(data, first + 4 * i)
        kind = scalar(data, outer, COMMAND_KIND, 1)
        if kind == 0:
            continue
        table = follow(data, field_at(data, outer, COMMAND_TABLE))
        vtable = table - i32(data, table)
        fields = (number(data, vtable, 2, False) - 4) // 2
        for field in range(objects[members[kind], FIELD_COUNT], fields):
            if field_at(data, table, field):
                wide += 1
                break
    return wide
