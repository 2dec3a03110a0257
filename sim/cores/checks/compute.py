"""States of data on their way through the compute threads: operands, tiles of Dst, packed tiles.

A tile of Dst or of a circular buffer has one state; see `tensim.sim.cores.checks.memory`.
"""

from tensim.sim.cores.checks.circular_buffers import configured
from tensim.sim.cores.checks.memory import l1_states, mark, origin, state_of
from tensim.sim.cores.checks.shadow import DST_TILE, L1_BYTES, UNWRITTEN, WRITTEN, core_of
from tensim.sim.cores.circular_buffer import row_of
from tensim.sim.cores.numerics.sfpu_functions import SfpuUnary
from tensim.sim.cores.numerics.tile import TILE_SIDE
from tensim.sim.cores.operations import FUNCTION_BITS, Bcast, Binary, Op
from tensim.sim.cores.tensix.source_banks import bank_free, bank_ready
from tensim.sim.cores.tensix.unpack import matmul_position
from tensim.sim.cores.threads import argument
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lies_within, load_u8, store_8
from tensim.sim.state import circular_buffers_of, cores_of, threads_of

ALL, FIRST_ROW, FIRST_COLUMN, FIRST_DATUM, FACE_ROWS = range(5)  # of a tile: what an operation looks at
FACES = 4
FILLS = tuple(int(function) for name, function in SfpuUnary.__members__.items() if name.startswith("FILL"))


@compiled()
def part_of(bcast):
    """What a broadcast looks at of its second operand."""
    if bcast == Bcast.ROW:
        return FIRST_ROW
    if bcast == Bcast.COL:
        return FIRST_COLUMN
    return FIRST_DATUM if bcast == Bcast.SCALAR else ALL


@compiled(inline="always")
def l1_state(m, states, start, size):
    """State of bytes of L1; what lies outside the operation itself refuses."""
    return state_of(states, start, size) if lies_within(start, size, m.l1_size) else WRITTEN


@compiled()
def tile_state(m, s, thread, index, tile, width, part):
    """State of a tile of a circular buffer that is unpacked now."""
    core = threads_of(m)[thread].core
    cb, row, states = circular_buffers_of(m), row_of(core, index), l1_states(m, s, core)
    size, base = cb[row].tile_size, cb[row].read_ptr
    state = WRITTEN
    if width > 0:
        row_bytes = size // TILE_SIDE
        first = base + tile // width * TILE_SIDE * row_bytes * width + tile % width * row_bytes
        for i in range(TILE_SIDE):
            found = l1_state(m, states, first + i * row_bytes * width, row_bytes)
            state = UNWRITTEN if min(found, state) == UNWRITTEN else max(found, state)
    else:
        first = base + tile * cb[row].page_size
        face = size // FACES
        if part == ALL or part == FIRST_COLUMN:
            state = l1_state(m, states, first, size)
        elif part == FIRST_DATUM:
            state = l1_state(m, states, first, 1)
        else:
            for i in range(FACES if part == FACE_ROWS else FACES // 2):
                found = l1_state(m, states, first + i * face, face // 16)
                state = UNWRITTEN if min(found, state) == UNWRITTEN else max(found, state)
    if state == UNWRITTEN:
        state = origin(m, s, thread, threads_of(m)[thread].line, L1_BYTES, first)
    return state


@compiled()
def start_operands(m, s, thread):
    """An event of an unpack operation: when it begins a token, note the states of its operands."""
    t = threads_of(m)[thread]
    step, op = t.step + t.phase, t.operation
    core = cores_of(m)[t.core]
    if not bank_free(core) or not configured(m, t.core, argument(t, 0)):
        return
    mine = core_of(s, t.core)
    if op == Op.UNPACK_MATMUL:
        ct, rt, kt = argument(t, 4), argument(t, 5), argument(t, 6)
        if step >= ct * rt or not configured(m, t.core, argument(t, 1)):
            return
        row, column, both = matmul_position(step, ct, rt)
        if both or ct < rt:
            mine.a = tile_state(m, s, thread, argument(t, 0), argument(t, 2) + row * kt, 0, ALL)
        if both or ct >= rt:
            mine.b = tile_state(m, s, thread, argument(t, 1), argument(t, 3) + column, 0, ALL)
    elif op == Op.UNPACK_AB:
        if step > 0 or not configured(m, t.core, argument(t, 1)):
            return
        mine.a = tile_state(m, s, thread, argument(t, 0), argument(t, 2), 0, ALL)
        # A scaler looks like a second operand: of both no more is judged than the first row of each face
        part = part_of(argument(t, 4)) if argument(t, 4) != Bcast.NONE else FACE_ROWS
        mine.b = tile_state(m, s, thread, argument(t, 1), argument(t, 3), 0, part)
    else:
        count = argument(t, 4) if op == Op.UNPACK_A else 1
        if step >= count:
            return
        width = argument(t, 3) if op == Op.UNPACK_A else 0
        mine.a = tile_state(m, s, thread, argument(t, 0), argument(t, 1) + step, width, ALL)
    if core.src_started & 1 == 0:
        mine.token0_a, mine.token0_b = mine.a, mine.b
    else:
        mine.token1_a, mine.token1_b = mine.a, mine.b


@compiled()
def dst_at(m, s, core, tile):
    """(host address of the state of a tile in the math thread's section, whether nobody has written it yet); 0: no tile."""
    record = cores_of(m)[core]
    if tile < 0 or tile >= record.capacity or record.dst_acquired <= record.dst_committed:
        return 0, False
    place = ((record.dst_acquired - 1) % record.sections) * record.capacity + tile
    return s.dst_at + core * 16 + place, (record.fresh >> place) & 1 != 0


@compiled()
def read_dst(m, s, thread, tile):
    """State of a tile of Dst that an operation takes as it is."""
    at, fresh = dst_at(m, s, threads_of(m)[thread].core, tile)
    if at == 0:
        return WRITTEN
    return origin(m, s, thread, threads_of(m)[thread].line, DST_TILE, tile) if fresh else load_u8(at)


@compiled()
def write_dst(m, s, thread, tile, state, adds):
    """An operation writes a tile of Dst; `adds`: to what is there, zeros at first."""
    at, fresh = dst_at(m, s, threads_of(m)[thread].core, tile)
    if at == 0:
        return
    if adds and not fresh:
        state = max(state, load_u8(at))
    store_8(at, state)


@compiled()
def start_result(m, s, thread):
    """An event of a math operation on operands: when it takes a token, note the state of its result."""
    t = threads_of(m)[thread]
    step, op = t.step + t.phase, t.operation
    core, mine = cores_of(m)[t.core], core_of(s, t.core)
    if not bank_ready(core):
        return
    a, b = mine.token0_a, mine.token0_b
    if core.src_taken & 1 != 0:
        a, b = mine.token1_a, mine.token1_b
    if op == Op.MATH_MATMUL:
        if step < argument(t, 1) * argument(t, 2):
            row, column, _ = matmul_position(step, argument(t, 1), argument(t, 2))
            write_dst(m, s, thread, argument(t, 0) + row * argument(t, 1) + column, max(a, b), True)
    elif step > 0:
        return
    elif op == Op.MATH_COPY:
        write_dst(m, s, thread, argument(t, 0), a, False)
    elif op == Op.MATH_REDUCE:
        write_dst(m, s, thread, argument(t, 2), max(a, b), True)
    elif argument(t, 4) != 0:
        write_dst(m, s, thread, argument(t, 1), max(a, read_dst(m, s, thread, argument(t, 1))), False)
    else:
        adds = argument(t, 3) != 0 or argument(t, 0) == Binary.MUL
        write_dst(m, s, thread, argument(t, 1), max(a, b), adds)


@compiled()
def in_dst(m, s, thread):
    """A math operation on tiles of Dst."""
    t = threads_of(m)[thread]
    op = t.operation
    if op == Op.SFPU_UNARY:
        state = (
            WRITTEN if argument(t, 0) & ((1 << FUNCTION_BITS) - 1) in FILLS else read_dst(m, s, thread, argument(t, 1))
        )
        write_dst(m, s, thread, argument(t, 1), state, False)
    elif op == Op.SFPU_BINARY:
        state = max(read_dst(m, s, thread, argument(t, 1)), read_dst(m, s, thread, argument(t, 2)))
        write_dst(m, s, thread, argument(t, 3), state, False)
    elif op == Op.SFPU_TERNARY:
        state = max(read_dst(m, s, thread, argument(t, 1)), read_dst(m, s, thread, argument(t, 2)))
        write_dst(m, s, thread, argument(t, 4), max(state, read_dst(m, s, thread, argument(t, 3))), False)
    elif op == Op.MATH_COPY_DST:
        write_dst(m, s, thread, argument(t, 1), read_dst(m, s, thread, argument(t, 0)), False)


@compiled()
def packed(m, s, thread):
    """A thread packs tiles into a circular buffer, or into rows of `untilize` tiles."""
    t = threads_of(m)[thread]
    first, index, out, tiles, untilize = (
        argument(t, 0),
        argument(t, 1),
        argument(t, 2),
        argument(t, 3),
        argument(t, 4),
    )
    record = cores_of(m)[t.core]
    if not configured(m, t.core, index) or record.dst_committed <= record.dst_released:
        return
    if not lies_within(first, tiles, record.capacity):
        return
    cb, row, states = circular_buffers_of(m), row_of(t.core, index), l1_states(m, s, t.core)
    page = out if out >= 0 else cb[row].packed
    size, base = cb[row].tile_size, cb[row].write_ptr
    section = (record.dst_released % record.sections) * record.capacity
    for i in range(tiles):
        place = section + first + i
        state = load_u8(s.dst_at + t.core * 16 + place)
        if (record.fresh >> place) & 1 != 0:
            state = origin(m, s, thread, t.line, DST_TILE, first + i)
        if untilize > 0:
            row_bytes = size // TILE_SIDE
            at = base + (page + i) // untilize * TILE_SIDE * row_bytes * untilize + (page + i) % untilize * row_bytes
            for line in range(TILE_SIDE):
                if lies_within(at + line * row_bytes * untilize, row_bytes, m.l1_size):
                    mark(states, at + line * row_bytes * untilize, row_bytes, state)
        else:
            at = base + (page + i) * cb[row].page_size
            if record.l1_accumulate != 0:
                state = max(state, l1_state(m, states, at, size))
            if lies_within(at, size, m.l1_size):
                mark(states, at, size, state)
