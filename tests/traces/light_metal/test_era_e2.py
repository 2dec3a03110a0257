"""A reader and a writer that know only the era-E2 tables (docs/hardware/light_metal.md#light-metal-in-tt-metal): generic
FlatBuffers by slot numbers.

They share nothing with `traces`: what they read from our files, and that files they write replay here, shows that the
inherited part of the format is as tabulated.
"""

import struct

import flatbuffers
import numpy as np
import pytest

import tensim as tt
from tensim.running.options import Options
from tensim.running.replay import LightMetalReplay
from tensim.running.runnable import find_program

# union number -> (name, {field: (slot, format)}); formats: struct codes, "s" text, "I*" words, "t" table, "u" union
E2 = {
    1: ("ReplayTrace", {"cq_id": (4, "i"), "tid": (6, "i"), "blocking": (8, "?")}),
    3: ("LoadTrace", {"tid": (4, "i"), "cq_id": (6, "i")}),
    5: ("BufferCreate", {"global_id": (4, "I"), "device_id": (6, "i"), "size": (10, "i"), "page_size": (12, "i"),
                         "buffer_type": (14, "H"), "buffer_layout": (16, "H")}),
    6: ("BufferDeallocate", {"global_id": (4, "I")}),
    7: ("BufferDelete", {"global_id": (4, "I")}),
    8: ("EnqueueWriteBuffer", {"cq": (4, "I"), "buffer": (6, "I"), "src": (8, "I*"), "blocking": (10, "?")}),
    9: ("EnqueueReadBuffer", {"cq": (4, "I"), "buffer": (6, "I"), "blocking": (8, "?")}),
    10: ("Finish", {"cq": (4, "I"), "sub_device_ids": (6, "B*")}),
    11: ("ProgramConstructor", {"global_id": (4, "I")}),
    12: ("EnqueueProgram", {"cq": (4, "I"), "program": (6, "I"), "blocking": (8, "?")}),
    13: ("CreateKernel", {"global_id": (4, "I"), "program": (6, "I"), "file_name": (8, "s"), "core_spec_type": (10, "B"),
                          "config_type": (14, "B")}),
    14: ("SetRuntimeArgsUint32", {"program": (4, "I"), "kernel": (6, "I"), "core_spec_type": (8, "B"), "args": (12, "I*")}),
    15: ("SetRuntimeArgsUint32VecPerCore", {"program": (4, "I"), "kernel": (6, "I")}),
    17: ("CreateCircularBuffer", {"global_id": (4, "I"), "program": (6, "I"), "core_spec_type": (8, "B")}),
    18: ("LightMetalCompare", {"cq": (4, "I"), "buffer": (6, "I"), "golden": (8, "I*"), "is_user_data": (10, "?")}),
}  # fmt: skip
LAST = 18


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def slot(data, table, number):
    """Position of the field in a vtable slot, or None."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    offset = (
        struct.unpack_from("<H", data, vtable + number)[0] if number < struct.unpack_from("<H", data, vtable)[0] else 0
    )
    return table + offset if offset else None


def field(data, table, number, code):
    at = slot(data, table, number)
    if at is None:
        return {"s": None, "I*": [], "B*": []}.get(code, 0)
    if code == "s":
        at += u32(data, at)
        return data[at + 4 : at + 4 + u32(data, at)].decode()
    if code.endswith("*"):
        at += u32(data, at)
        return list(struct.unpack_from(f"<{u32(data, at)}{code[0]}", data, at + 4))
    return struct.unpack_from(f"<{code}", data, at)[0]


def e2_commands(data):
    """[(name, fields)] of the commands that era E2 knows; None for others."""
    root = u32(data, 0)
    vector = slot(data, root, 4)
    vector += u32(data, vector)
    for i in range(u32(data, vector)):
        place = vector + 4 + 4 * i
        command = place + u32(data, place)
        kind = field(data, command, 4, "B")
        if kind > LAST:
            yield None
            continue
        value = slot(data, command, 6)
        name, fields = E2[kind]
        table = value + u32(data, value)
        yield name, {key: field(data, table, number, code) for key, (number, code) in fields.items()}


def test_our_files_are_read_by_the_tables_of_era_e2():
    device = tt.create_device(0)
    try:
        with tt.light_metal_capture() as captured:
            result = find_program("eltwise_add").run_on(device, Options(shape="64x64"))
    finally:
        tt.close_device(device)
    commands = [command for command in e2_commands(bytes(captured.binary.get_data())) if command is not None]
    names = [name for name, _ in commands]
    assert result.verified and names.count("BufferCreate") == 3 and names.count("CreateKernel") == 3
    buffers = [fields for name, fields in commands if name == "BufferCreate"]
    assert [(b["global_id"], b["size"], b["page_size"]) for b in buffers] == [(i, 8192, 2048) for i in range(3)]
    writes = [fields for name, fields in commands if name == "EnqueueWriteBuffer"]
    assert [(w["buffer"], len(w["src"])) for w in writes] == [(0, 2048), (1, 2048)]
    kernels = [fields["file_name"] for name, fields in commands if name == "CreateKernel"]
    assert set(kernels) == {"eltwise_add.py", "tile_kernels.py"}
    program = next(fields["global_id"] for name, fields in commands if name == "ProgramConstructor")
    assert [f["program"] for name, f in commands if name == "EnqueueProgram"] == [program]
    assert [len(f["args"]) > 0 for name, f in commands if name == "SetRuntimeArgsUint32"] == [True] * 3


# --- the other way: a writer that knows the E2 tables only


def table(builder, fields, n_fields):
    """A table of {number: (value, "offset" or a scalar's bytes and flags)}."""
    builder.StartObject(n_fields)
    for number, (kind, value) in fields.items():
        if kind == "offset":
            builder.PrependUOffsetTRelativeSlot(number, value, 0)
        else:
            getattr(builder, f"Prepend{kind}Slot")(number, value, 0)
    return builder.EndObject()


def command(builder, kind, value):
    return table(builder, {0: ("Uint8", kind), 1: ("offset", value)}, 2)


def words(builder, values):
    return builder.CreateNumpyVector(np.asarray(values, np.uint32))


def core_coord(builder, x, y):
    return table(builder, {0: ("Int32", x), 1: ("Int32", y)}, 2)


def e2_file(kernel_file, launches=True, compile_args=()):
    """A file of era E2: two buffers, a program that copies one to the other.

    `launches`: also data, the launch and a comparison; without them the buffers are deleted, as in the vendor's captures.
    """
    builder, data = flatbuffers.Builder(1024), list(range(16))
    commands = []
    for number in (0, 1):
        size = {0: ("Uint32", number), 3: ("Int32", 64), 4: ("Int32", 64)}
        commands.append(command(builder, 5, table(builder, size, 10)))
    commands.append(command(builder, 11, table(builder, {0: ("Uint32", 2)}, 1)))
    name, spec = builder.CreateString(kernel_file), core_coord(builder, 0, 0)
    given = {3: ("offset", words(builder, compile_args))} if compile_args else {}
    config = table(builder, {0: ("Int8", 1), 1: ("Int8", 1), **given}, 5)
    kernel = {0: ("Uint32", 3), 1: ("Uint32", 2), 2: ("offset", name), 3: ("Uint8", 1), 4: ("offset", spec),
              5: ("Uint8", 1), 6: ("offset", config)}  # fmt: skip
    commands.append(command(builder, 13, table(builder, kernel, 7)))
    ids = []
    for buffer in (0, 1):
        builder.Prep(4, 4)
        builder.PrependUint32(buffer)
        ids.append(table(builder, {0: ("Uint8", 2), 1: ("offset", builder.Offset())}, 2))
    builder.StartVector(4, 2, 4)
    for item in reversed(ids):
        builder.PrependUOffsetTRelative(item)
    args, spec = builder.EndVector(), core_coord(builder, 0, 0)
    fields = {0: ("Uint32", 3), 1: ("Uint8", 1), 2: ("offset", spec), 3: ("offset", args)}
    commands.append(command(builder, 16, table(builder, fields, 4)))
    if launches:
        source = words(builder, data)
        commands.append(command(builder, 8, table(builder, {2: ("offset", source)}, 4)))
        commands.append(command(builder, 12, table(builder, {1: ("Uint32", 2)}, 3)))
        golden = words(builder, data)
        commands.append(command(builder, 18, table(builder, {1: ("Uint32", 1), 2: ("offset", golden)}, 4)))
    commands.append(command(builder, 10, table(builder, {}, 2)))
    if not launches:
        commands += [command(builder, 7, table(builder, {0: ("Uint32", number)}, 1)) for number in (0, 1)]
    builder.StartVector(4, len(commands), 4)
    for item in reversed(commands):
        builder.PrependUOffsetTRelative(item)
    builder.Finish(table(builder, {0: ("offset", builder.EndVector())}, 2))
    return bytes(builder.Output())


KERNEL = """
@kernel
def copy(source, target):
    noc_async_read(get_noc_addr_from_bank_id(0, source, dram=True), 600000, 64)
    noc_async_read_barrier()
    noc_async_write(600000, get_noc_addr_from_bank_id(0, target, dram=True), 64)
    noc_async_write_barrier()
"""


@pytest.fixture
def kernel_folder(tmp_path):
    (tmp_path / "copy.py").write_text(KERNEL)
    return tmp_path


@pytest.mark.parametrize("name", ["copy.py", "some/folder/copy.cpp"])
def test_files_of_era_e2_replay_here(kernel_folder, name):
    data = e2_file(name)
    options = tt.ReplayOptions(kernel_path=(str(kernel_folder),))
    replay = LightMetalReplay(data, options=options)
    assert replay.run(), replay.error
    assert replay.binary.numbering == "e2" and [item["passed"] for item in replay.compares] == [True]


def test_launches_and_inputs_can_come_from_the_user(kernel_folder):
    """What the vendor's captures need: they hold programs, but neither launches nor data."""
    data, out = e2_file("copy.py", launches=False), kernel_folder / "out.npy"
    words = np.arange(16, dtype=np.uint32) + 7
    options = tt.ReplayOptions(
        kernel_path=(str(kernel_folder),), launch=("2",), bind={"0": words.tobytes()}, save=(("1", str(out)),)
    )
    replay = LightMetalReplay(data, options=options)
    try:
        replay.execute()
        replay.save_buffers()
    finally:
        replay.close()
    assert np.array_equal(np.load(out).view(np.uint32), words)


def test_a_missing_kernel_file_lists_what_was_tried(kernel_folder):
    replay = LightMetalReplay(e2_file("nowhere.cpp"), options=tt.ReplayOptions(kernel_path=(str(kernel_folder),)))
    assert replay.run() is False
    assert "nowhere.cpp" in str(replay.error) and str(kernel_folder) in str(replay.error)
