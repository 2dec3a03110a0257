"""Do arguments and cores of the commands of a file fit each other?"""

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.traces.flatbuffers.structure import field_at, follow, u32
from tensim.traces.light_metal.content_state import (
    ARG_KIND,
    ARG_VALUE,
    BACKWARDS,
    BAD_CORE,
    BAD_INDEX,
    BUFFER,
    COORD_X,
    COORD_Y,
    CORES,
    GLOBAL_SEMAPHORE,
    LENGTHS_DIFFER,
    LIMIT_CORES,
    MANY_RANGES,
    ONE_RANGE,
    OPTIONAL_VALUE,
    OVERLAP,
    RANGE_END,
    RANGE_START,
    RANGES,
    REFERENCE_BYTES,
    REFERENCE_CORE_NUMBER,
    REFERENCE_ID,
    REFERENCE_ID_NUMBER,
    REFERENCE_INDEX,
    REFERENCE_INDEX_NUMBER,
    REFERENCE_KIND,
    REFERS_BUFFER,
    REFERS_GLOBAL_SEMAPHORE,
    RUNTIME_ARG_BUFFER,
    SETS,
    SHARD_GRID,
    SHARD_SPEC,
    TOO_MANY_CORES,
    WORDS,
    A,
    B,
    C,
    add_problem,
    scalar,
    vector,
)
from tensim.traces.light_metal.content_things import known_thing, optional_table, spend


@compiled()
def _args_of_core(c, table, rule, core):
    """Number of arguments of a core: of field B, a list of words, or with field C a list of lists."""
    count, first = vector(c.data, table, rule[B])
    if rule[C] < 0:
        return count
    words, _ = vector(c.data, follow(c.data, first + 4 * core), WORDS)
    return words


@compiled()
def check_references(c, rule, command, table):
    """Arguments that stand for something: `core` and `index` inside the lists, `id` a thing that was created."""
    count, first = vector(c.data, table, rule[A])
    if not spend(c, count, command, table, rule[A]):
        return
    cores = 1
    if rule[C] >= 0:
        cores, _ = vector(c.data, table, rule[B])
    for i in range(count):
        at = first + REFERENCE_BYTES * i
        core, index, key = u32(c.data, at), u32(c.data, at + REFERENCE_INDEX), u32(c.data, at + REFERENCE_ID)
        kind = c.data[at + REFERENCE_KIND]
        if core >= cores:
            add_problem(c, BAD_CORE, command, table, rule[A], core, cores, i, REFERENCE_CORE_NUMBER, at)
            continue
        args = _args_of_core(c, table, rule, core)
        if index >= args:
            place = at + REFERENCE_INDEX
            add_problem(c, BAD_INDEX, command, table, rule[A], index, args, i, REFERENCE_INDEX_NUMBER, place)
        if kind == REFERS_BUFFER or kind == REFERS_GLOBAL_SEMAPHORE:
            space = BUFFER if kind == REFERS_BUFFER else GLOBAL_SEMAPHORE
            place = at + REFERENCE_ID
            known_thing(c, key, space, False, command, table, rule[A], i, REFERENCE_ID_NUMBER, place)


@compiled()
def check_per_core(c, rule, command, table):
    cores, _ = vector(c.data, table, rule[A])
    lists, _ = vector(c.data, table, rule[B])
    if cores != lists:
        add_problem(c, LENGTHS_DIFFER, command, table, rule[B], lists, cores)


@compiled()
def check_runtime_args(c, rule, command, table):
    """Arguments that are buffers (member BufferGlobalId of RuntimeArgValue)."""
    count, first = vector(c.data, table, rule[A])
    if not spend(c, count, command, table, rule[A]):
        return
    for i in range(count):
        arg = follow(c.data, first + 4 * i)
        if scalar(c.data, arg, ARG_KIND, 1) == RUNTIME_ARG_BUFFER:
            place = follow(c.data, field_at(c.data, arg, ARG_VALUE))
            known_thing(c, u32(c.data, place), BUFFER, False, command, table, rule[A], i, ARG_VALUE, place)


@compiled()
def check_index(c, rule, command, table):
    inner = optional_table(c, table, rule[A])
    index = scalar(c.data, inner, OPTIONAL_VALUE, 4) if inner else 0
    if index >= N_CIRCULAR_BUFFERS:
        place = field_at(c.data, inner, OPTIONAL_VALUE)
        add_problem(c, BAD_INDEX, command, table, rule[A], index, N_CIRCULAR_BUFFERS, -1, -1, place)


@compiled()
def _coordinate(c, core_range, end, axis):
    return scalar(c.data, follow(c.data, field_at(c.data, core_range, end)), axis, 4)


@compiled()
def _add_range(c, at, command, table, field):
    """Whether the range at `at` goes forward and holds no core that the current set of ranges has already."""
    x0, y0 = _coordinate(c, at, RANGE_START, COORD_X), _coordinate(c, at, RANGE_START, COORD_Y)
    x1, y1 = _coordinate(c, at, RANGE_END, COORD_X), _coordinate(c, at, RANGE_END, COORD_Y)
    if x1 < x0 or y1 < y0:
        add_problem(c, BACKWARDS, command, table, field, x1 if x1 < x0 else y1, x0 if x1 < x0 else y0, offset=at)
        return False
    for y in range(y0, y1 + 1):
        for x in range(x0, x1 + 1):
            if c.grid[y, x] == c.totals[SETS]:
                add_problem(c, OVERLAP, command, table, field, x, y, offset=at)
                return False
            c.grid[y, x] = c.totals[SETS]
    before = c.totals[CORES]
    c.totals[CORES] = before + (x1 - x0 + 1) * (y1 - y0 + 1)
    if before <= c.limits[LIMIT_CORES] < c.totals[CORES]:
        add_problem(c, TOO_MANY_CORES, command, table, field, c.totals[CORES], c.limits[LIMIT_CORES], offset=at)
    return c.totals[CORES] <= c.limits[LIMIT_CORES]


@compiled()
def check_range_set(c, at, command, table, field):
    """Ranges of one set do not overlap, so that they hold no more cores than a grid has."""
    c.totals[SETS] += 1
    count, first = vector(c.data, at, RANGES)
    for i in range(count):
        if not _add_range(c, follow(c.data, first + 4 * i), command, table, field):
            return


@compiled()
def check_core_spec(c, rule, command, table):
    """The cores of a command: a core, a range or a set of ranges."""
    kind = scalar(c.data, table, rule[A] - 1, 1)
    at = optional_table(c, table, rule[A])
    if at == 0:
        return
    if kind == MANY_RANGES:
        check_range_set(c, at, command, table, rule[A])
    elif kind == ONE_RANGE:
        c.totals[SETS] += 1
        _add_range(c, at, command, table, rule[A])


@compiled()
def check_range_sets(c, rule, command, table):
    count, first = vector(c.data, table, rule[A])
    for i in range(count):
        check_range_set(c, follow(c.data, first + 4 * i), command, table, rule[A])


@compiled()
def check_shards(c, rule, command, table):
    """The grid of a sharded buffer."""
    shards = optional_table(c, table, rule[A])
    if shards:
        grid = optional_table(c, optional_table(c, shards, SHARD_SPEC), SHARD_GRID)
        check_range_set(c, grid, command, table, rule[A])
