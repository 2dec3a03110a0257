"""The state of a chip between two events as plain data, for people who debug kernels: what each thread waits for, circular
buffers, semaphores, Dst, registers, transactions on their way.  Nothing here changes a chip.
"""

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.deadlock import what_it_waits_for
from tensim.sim.chip.places import core_name, thread_place
from tensim.sim.cores import context as ctx
from tensim.sim.cores.disassembly.instruction_text import REGISTERS, text_of
from tensim.sim.cores.niu.transactions import IN_TARGET, TO_SOURCE, TO_TARGET
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.numerics.tile import FACE_SIDE, TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.operations import Op
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE
from tensim.sim.cores.tensix.queue_state import DST_TILES
from tensim.sim.cores.threads import OPERATION_END, OPERATION_EXECUTE, OPERATION_START
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS, N_SEMAPHORES, SEMAPHORE_STRIDE
from tensim.sim.errors import UsageError

STATES = {st.IDLE: "idle", st.RUNNING: "running", st.PARKED: "waiting", st.ENDED: "ended"}
NOT_POSTED = {OPERATION_START: "start", OPERATION_END: "end", OPERATION_EXECUTE: "instructions"}
KINDS = ("read", "write", "atomic", "inline write")  # st.READ to st.INLINE
STAGES = {TO_TARGET: "request", IN_TARGET: "at the target", TO_SOURCE: "response"}


def threads(chip, core=None):
    """[`thread`] of all threads that run or have run a kernel, of one worker core or of all."""
    states = chip.arrays["threads"]["state"]
    known = [int(thread) for thread in np.flatnonzero(states != st.IDLE)]
    return [thread(chip, one) for one in known if core is None or one // THREADS_PER_CORE == core]


def thread(chip, index):
    """Where a thread stands: {"core", "thread", "state", "kernel", "file", "line", "source", "operation", "arguments", "waits_for",
    "since"}."""
    t = chip.arrays["threads"][index]
    place = {name: value for name, value in thread_place(chip, index).items() if name not in ("cycle", "pc")}
    operation = int(t["operation"])
    if operation == OPERATION_START and (program := chip.line_programs.get(int(t["line_base"]))) is not None:
        place |= program.entry
    told = place | {"state": STATES.get(int(t["state"]), "?"), "operation": operation_name(operation), "arguments": []}
    if operation > Op.SPEND:
        told["arguments"] = chip.arrays["contexts"][index][ctx.ARG0 : ctx.ARG0 + ctx.MAX_ARGS].tolist()
    if t["riscv"] != 0 and t["executes"] == 0:
        told["pc"] = pc_of(chip, index)
    is_parked = t["state"] == st.PARKED
    told["waits_for"] = what_it_waits_for(chip, index) if is_parked else None
    told["since"] = int(t["wait_since"]) if is_parked else None
    return told


def operation_name(operation):
    """Of what a thread has posted."""
    return NOT_POSTED[operation] if operation in NOT_POSTED else Op(operation).name.lower()


def circular_buffers(chip, core):
    """[{"index", "pages", "page_bytes", "format", "used" (pages), "received", "acked", "address", "write_pointer", "read_pointer",
    "producer", "consumer"}] of a core; pointers are those of the pack and the unpack thread, or of who moves data."""
    rows = chip.arrays["circular_buffers"][core]
    return [_circular_buffer(index, rows[index]) for index in range(N_CIRCULAR_BUFFERS) if rows[index][ctx.CB_PAGES]]


def _circular_buffer(index, row):
    producer, consumer = (_slot_name(int(row[column])) for column in (ctx.CB_PRODUCER, ctx.CB_CONSUMER))
    return {
        "index": index, "pages": int(row[ctx.CB_PAGES]), "page_bytes": int(row[ctx.CB_PAGE_SIZE]),
        "format": DataFormat(int(row[ctx.CB_FORMAT])).name, "used": int(row[ctx.CB_RECEIVED] - row[ctx.CB_ACKED]),
        "received": int(row[ctx.CB_RECEIVED]), "acked": int(row[ctx.CB_ACKED]), "address": int(row[ctx.CB_BASE]),
        "write_pointer": _pointer(row, producer, ctx.CB_WRITE_PTR), "read_pointer": _pointer(row, consumer, ctx.CB_READ_PTR),
        "producer": producer, "consumer": consumer,
    }  # fmt: skip


def _slot_name(number):
    return THREAD_NAMES[(number - 1) % THREADS_PER_CORE] if number else None


def _pointer(row, name, shared):
    """A pointer as the thread that moves it knows it: those that move data have their own."""
    slot = THREAD_NAMES.index(name) if name else THREADS_PER_CORE
    column = ctx.CB_OWN_POINTERS + 2 * slot + shared - ctx.CB_WRITE_PTR if slot < 2 else shared
    return int(row[column])


def semaphores(chip, core):
    """[{"index", "address", "value"}] of a core: those that somebody has written or that are not 0."""
    base, writers = chip.arrays.semaphore_base, chip.arrays["semaphore_writers"][core]
    words = chip.l1[core, base : base + N_SEMAPHORES * SEMAPHORE_STRIDE].view(np.uint32)[:: SEMAPHORE_STRIDE // 4]
    return [
        {"index": index, "address": base + SEMAPHORE_STRIDE * index, "value": int(words[index])}
        for index in range(N_SEMAPHORES)
        if words[index] or writers[index].any()
    ]


def dst_tile(chip, core, tile):
    """float32 (32, 32): what lies in a tile of Dst.  UsageError without data, or for a core whose kernel executes instructions."""
    if chip.numerics == "off":
        raise UsageError("no data move with numerics=off", hint="use numerics fast or exact")
    if not 0 <= tile < DST_TILES:
        raise UsageError(f"Dst has no tile {tile}; it has 0 to {DST_TILES - 1}")
    first = core * THREADS_PER_CORE
    if chip.arrays["threads"]["executes"][first : first + THREADS_PER_CORE].any():
        raise UsageError("Dst of a kernel at the instruction level cannot be shown")
    start = (core * DST_TILES + tile) * TILE_DATUMS
    faces = chip.arrays["dst"][start : start + TILE_DATUMS].reshape(2, 2, FACE_SIDE, FACE_SIDE)
    return faces.transpose(0, 2, 1, 3).reshape(TILE_SIDE, TILE_SIDE).copy()


def dst_sections(chip, core):
    """{"tiles", "sections", "acquired", "committed", "released"} of a core's Dst; the last three count sections."""
    row = chip.arrays["cores"][core]
    counts = {name: int(row[f"dst_{name}"]) for name in ("acquired", "committed", "released")}
    return {"tiles": int(row["capacity"] * row["sections"]), "sections": int(row["sections"])} | counts


def registers(chip, index):
    """{"pc" and each register's name: its value, unsigned} of a RISC-V core.  UsageError for a thread that is none."""
    t = chip.arrays["threads"][index]
    if t["riscv"] == 0 or t["executes"] != 0:
        place = thread_place(chip, index)
        kind = "executes Tensix instructions" if t["executes"] else "runs no C++ kernel"
        raise UsageError(f"{place['thread']} of core {place['core']} {kind}: it has no registers to show")
    values = chip.loader.riscv.registers[index][: len(REGISTERS)] & 0xFFFFFFFF
    return {"pc": pc_of(chip, index)} | dict(zip(REGISTERS, values.tolist(), strict=True))


def pc_of(chip, index):
    """Address of the instruction at which a RISC-V core stands: of the operation that it has posted, if there is one."""
    t = chip.arrays["threads"][index]
    if t["operation"] > Op.SPEND or t["state"] == st.PARKED:
        return INSTRUCTION_BYTES * int(t["line"])
    return int(chip.loader.riscv.cores[index]["pc"])


def instruction(program, plain, pc):
    """{"pc", "word", "text", "file", "line", "source"} of an instruction of a `ThreadProgram`; `plain`: its records."""
    row = pc // INSTRUCTION_BYTES
    place = program.place(row)
    word = int.from_bytes(program.image.text[pc : pc + INSTRUCTION_BYTES], "little")
    told = {"pc": pc, "word": word, "text": text_of(program.decoded, row, int(plain[row]))}
    return told | {name: place[name] for name in ("file", "line", "source")}


def transactions(chip, core=None):
    """[{"kind", "core", "thread", "noc", "bytes", "address", "local", "target", "stage", "issued", "trid"}] on their way.

    "address": at the target; "target": its tile's NoC-0 coordinates, DRAM bank or worker core; "stage": request, at the target,
    response.
    """
    table, found = chip.arrays["transactions"], []
    is_free = np.zeros(len(table), bool)
    index = int(chip.machine["free_transaction"])
    while index >= 0:
        is_free[index] = True
        index = int(table["next_open"][index])
    for index in np.flatnonzero(~is_free):
        x = table[index]
        owner = int(x["thread"])
        if core is None or owner // THREADS_PER_CORE == core:
            found.append(_transaction(chip, x, owner))
    return sorted(found, key=lambda one: one["issued"])


def _transaction(chip, x, owner):
    kind, tile = int(x["kind"]), int(x["target"])
    y, column = divmod(tile, int(chip.machine["grid_width"]))
    place = thread_place(chip, owner)
    return {
        "kind": KINDS[kind], "core": place["core"], "thread": place["thread"], "noc": int(x["noc"]), "bytes": int(x["size"]),
        "target": f"{column}-{y} {_tile_name(chip, tile)}".rstrip(), "address": int(x["address"]), "local": int(x["local"]),
        "stage": STAGES.get(int(x["stage"]), "?"), "issued": int(x["issued"]),
        "trid": int(x["trid"]) if x["trid"] >= 0 else None,
    }  # fmt: skip


def _tile_name(chip, tile):
    """What a tile is, in words."""
    entry = chip.arrays["tiles"][tile]
    if entry["kind"] == st.TILE_WORKER:
        return f"core {core_name(chip, int(entry['index']))}"
    return "DRAM" if entry["kind"] == st.TILE_DRAM else ""
