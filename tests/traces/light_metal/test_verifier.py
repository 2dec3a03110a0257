"""The verifier refuses damaged and senseless files, naming the byte, the field and the reason."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensim as tt
from tensim.running.fuzz import Fuzzer, mutate
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.errors import BinaryError
from tensim.traces.flatbuffers.schema import light_metal_schema
from tensim.traces.flatbuffers.tables import Node, Writer
from tensim.traces.light_metal.verifier import Limits, detect_numbering, verify_content, verify_structure
from tensim.traces.light_metal.verify import open_verified, problems_of
from tensim.traces.light_metal.write import sealed

GOLDEN = os.environ.get("TENSIM_GOLDEN")
COORD = Node("CoreCoord", {"x": 1, "y": 2})


def command(name, /, **fields):
    return Node(f"{name}Command", fields)


def written(*commands, **root):
    """A file of these commands."""
    writer = Writer(light_metal_schema())
    offsets = [writer.node(Node("Command", {"cmd": command})) for command in commands]
    return bytes(writer.finish(writer.node(Node("LightMetalBinary", {"commands": writer.tables(offsets), **root}))))


def foreign(data):
    """A file without our identifier, as other writers make them."""
    return data[:4] + bytes(4) + data[8:]


def buffer(number, **fields):
    return command("BufferCreate", global_id=number, **{"size": 64, "page_size": 64, **fields})


def program(number):
    return command("ProgramConstructor", global_id=number)


def kernel(number, owner, **fields):
    config = Node("DataMovementConfig", {})
    return command(
        "CreateKernel", global_id=number, program_global_id=owner, core_spec=COORD, kernel_config=config, **fields
    )


def args(owner, number, **fields):
    return command("SetRuntimeArgsUint32", program_global_id=owner, kernel_global_id=number, core_spec=COORD, **fields)


def semaphore(end):
    ranges = Node("CoreRangeSet", {"ranges": [Node("CoreRange", {"start": COORD, **end})]})
    return command("CreateSemaphore", global_id=1, ranges=ranges)


def circular_buffer(**config):
    return command("CreateCircularBuffer", global_id=1, core_spec=COORD, config=Node("CircularBufferConfig", config))


def write(**fields):
    return command("EnqueueWriteBuffer", buffer_global_id=0, **fields)


def delete(number):
    return command("BufferDelete", global_id=number)


def u32(data, at):
    return int.from_bytes(data[at : at + 4], "little")


def patched(data, at, value, size=4):
    return data[:at] + (value % (1 << 8 * size)).to_bytes(size, "little") + data[at + size :]


def slot(data, table, number):
    """(place of the vtable entry, place of the field) of a field of a table."""
    entry = table - int.from_bytes(data[table : table + 4], "little", signed=True) + 4 + 2 * number
    return entry, table + int.from_bytes(data[entry : entry + 2], "little")


def command_table(data, i=0):
    """(Command table, table of its member)."""
    vector = slot(data, u32(data, 0), 0)[1]
    element = vector + u32(data, vector) + 4 + 4 * i
    outer = element + u32(data, element)
    value = slot(data, outer, 1)[1]
    return outer, value + u32(data, value)


# --- structure

SOUND = written(program(0), kernel(1, 0, file_name="reader.py"), args(0, 1, args=[7, 8]))


def refused(data, numbering="e2"):
    problem = verify_structure(data, numbering)
    return problem.offset, problem.field, problem.why


def test_a_sound_file_passes_and_is_e2():
    assert verify_structure(SOUND) is None and verify_content(SOUND) == [] and detect_numbering(SOUND) == "e2"


@pytest.mark.parametrize("data", [b"", bytes(11)])
def test_a_file_that_is_too_short(data):
    assert refused(data) == (0, "", f"the file has {len(data)} B; the smallest valid file has 12")


def test_a_file_of_another_kind_is_called_that():
    with pytest.raises(BinaryError, match="no Light Metal binary, or a damaged one: an offset points to byte"):
        detect_numbering(b"# A text that happens to be opened\n" * 10)


@pytest.mark.parametrize("length", [12, 40, len(SOUND) // 2, len(SOUND) - 8])
def test_no_cut_file_passes(length):
    assert verify_structure(SOUND[:length]) is not None


@pytest.mark.parametrize(
    ("root", "why"),
    [
        (0xFFFFFFF0, f"an offset points to byte 4294967280; the file has {len(SOUND)} B"),
        (13, "byte 13 is not aligned to 4 B"),
        (0, f"an offset points to byte 0; the file has {len(SOUND)} B"),
    ],
)
def test_a_wrong_root(root, why):
    assert refused(patched(SOUND, 0, root)) == (root, "", why)


def test_a_vtable_outside_the_file():
    _, table = command_table(SOUND, 1)
    at, field, why = refused(patched(SOUND, table, table + 4))
    assert (at, field) == (table, "commands[1].cmd") and why.startswith("its vtable would lie at byte -4")


def test_the_size_of_a_vtable_and_of_a_table():
    _, table = command_table(SOUND, 1)
    vtable = slot(SOUND, table, 0)[0] - 4
    assert refused(patched(SOUND, vtable, 7, 2))[:2] == (vtable, "commands[1].cmd")
    assert "a vtable of 7 B" in refused(patched(SOUND, vtable, 7, 2))[2]
    assert "a table of 65535 B" in refused(patched(SOUND, vtable + 2, 0xFFFF, 2))[2]


def test_a_field_outside_its_table():
    _, table = command_table(SOUND, 1)
    entry, _ = slot(SOUND, table, 2)
    assert refused(patched(SOUND, entry, 2, 2))[:2] == (entry, "commands[1].cmd")
    assert "a field at byte 2 of a table" in refused(patched(SOUND, entry, 2, 2))[2]


def test_offsets_of_a_string():
    place = slot(SOUND, command_table(SOUND, 1)[1], 2)[1]
    field = "commands[1].cmd.file_name"
    assert refused(patched(SOUND, place, 0)) == (place, field, "an offset of 0 points nowhere")
    assert refused(patched(SOUND, place, 1 << 31))[1:] == (
        field, f"an offset points to byte {place + (1 << 31)}; the file has {len(SOUND)} B",
    )  # fmt: skip


def test_the_bytes_of_a_string():
    text = SOUND.index(b"reader.py")
    field = "commands[1].cmd.file_name"
    assert refused(patched(SOUND, text - 4, 1 << 31))[:2] == (text - 4, field)
    assert refused(patched(SOUND, text + 9, 65, 1)) == (
        text + 9,
        field,
        "the zero byte after a string of 9 B is missing",
    )
    assert refused(patched(SOUND, text + 2, 0xFF, 1)) == (text + 2, field, "byte 0xff is not UTF-8")


@pytest.mark.parametrize(
    "text", [b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80", b"\xf0\x80\x80\x80"]
)
def test_utf8_as_python_reads_it(text):
    data = SOUND.replace(b"reader.py", text.ljust(9, b"x"))
    with pytest.raises(UnicodeDecodeError):
        text.ljust(9, b"x").decode()
    assert "is not UTF-8" in refused(data)[2]


def test_utf8_of_every_length_passes():
    data = written(kernel(1, 0, source="aé€😀" * 40))
    assert "aé€😀".encode() in data and verify_structure(data) is None


def test_a_vector_longer_than_the_file():
    words = SOUND.index(b"\2\0\0\0\7\0\0\0\x08\0\0\0")
    assert refused(patched(SOUND, words, 1 << 30)) == (
        words, "commands[2].cmd.args", f"1073741824 elements reach beyond the {len(SOUND)} B of the file",
    )  # fmt: skip


def test_a_misaligned_vector():
    place = slot(SOUND, command_table(SOUND, 2)[1], 4)[1]
    at, field, why = refused(patched(SOUND, place, u32(SOUND, place) + 2))
    assert field == "commands[2].cmd.args" and why == f"byte {at} is not aligned to 4 B"


def test_types_and_values_of_unions():
    outer, _ = command_table(SOUND, 1)
    kind = slot(SOUND, outer, 0)[1]
    value = slot(SOUND, outer, 1)[1]
    kind_of_cores = slot(SOUND, command_table(SOUND, 1)[1], 3)[1]
    entry_of_cores = slot(SOUND, command_table(SOUND, 2)[1], 3)[0]
    assert refused(patched(SOUND, kind, 200, 1)) == (kind, "commands[1].cmd", "the union has no member 200")
    assert refused(patched(SOUND, kind, 0, 1)) == (value, "commands[1].cmd", "the union has a value and no type")
    assert refused(patched(SOUND, kind_of_cores, 4, 1))[1:] == (
        "commands[1].cmd.core_spec",
        "the union has no member 4",
    )
    half = written(args(0, 1), command("SetRuntimeArgsUint32"))
    assert refused(half)[1:] == ("commands[1].cmd.core_spec", "the field is missing")
    assert refused(patched(SOUND, entry_of_cores, 0, 2))[1] == "commands[2].cmd.core_spec"


@pytest.mark.parametrize(
    ("one", "field", "why"),
    [
        (buffer(0, buffer_type=77), "commands[0].cmd.buffer_type", "BufferType has no value 77"),
        (semaphore({"end": Node("CoreCoord", {"x": 64})}), "commands[0].cmd.ranges.ranges[0].end.x",
         "64 is out of range; the largest is 63"),
        (semaphore({"end": Node("CoreCoord", {"y": -1})}), "commands[0].cmd.ranges.ranges[0].end.y",
         "-1 is out of range; the largest is 63"),
        (semaphore({}), "commands[0].cmd.ranges.ranges[0].end", "the field is missing"),
        (circular_buffer(page_sizes=[(0, 64), (32, 64)]), "commands[0].cmd.config.page_sizes",
         "32 is out of range; the largest is 31"),
        (circular_buffer(data_formats=[(0, 99)]), "commands[0].cmd.config.data_formats", "DataFormat has no value 99"),
        (circular_buffer(buffer_indices=[31, 32]), "commands[0].cmd.config.buffer_indices",
         "32 is out of range; the largest is 31"),
        (command("CreateKernel", core_spec=COORD), "commands[0].cmd.kernel_config", "the field is missing"),
    ],
)  # fmt: skip
def test_values_that_no_chip_has(one, field, why):
    data = written(one)
    offset, *rest = refused(data)
    assert rest == [field, why] and 8 <= offset < len(data)


def test_a_file_without_commands():
    writer = Writer(light_metal_schema())
    data = bytes(writer.finish(writer.node(Node("LightMetalBinary", {"schema_version": 1}))))
    assert refused(data)[1:] == ("commands", "the field is missing")


def test_parts_that_are_shared_too_often():
    writer = Writer(light_metal_schema())
    cores = writer.tables([writer.node(COORD)] * 2000)
    lists = writer.tables([writer.node(Node("UInt32Vector", {"values": [1]}))])
    one = command("SetRuntimeArgsUint32VecPerCore", core_spec=cores, args=lists)
    commands = writer.tables([writer.node(Node("Command", {"cmd": one}))] * 2000)
    data = bytes(writer.finish(writer.node(Node("LightMetalBinary", {"commands": commands}))))
    assert "too many of them are shared" in refused(data)[2]


def test_a_long_string_that_is_shared_too_often():
    """A thousand kernel texts of a megabyte each, which are one megabyte in the file."""
    data = written(*[kernel(i, 0, source="x" * (1 << 20)) for i in range(1000)])
    assert 1 << 20 < len(data) < 2 << 20 and "parts are shared so often" in refused(data)[2]


# --- numbering


@pytest.mark.skipif(not GOLDEN, reason="TENSIM_GOLDEN names no folder with genuine binaries")
def test_genuine_binaries_are_of_the_later_releases():
    files = sorted(Path(GOLDEN).glob("*.bin"))
    assert len(files) == 9
    for path in files:
        data = path.read_bytes()
        assert verify_structure(data, "late") is None and verify_content(data, "late") == [], path.name
        if "clone" in path.name or "matmul" in path.name or "softmax" in path.name:
            assert detect_numbering(data) == "late", path.name


def late(data, i):
    """The file with command `i` numbered as the later releases do."""
    kind = slot(data, command_table(data, i)[0], 0)[1]
    return patched(data, kind, data[kind] - 1, 1)


def test_a_later_kernel_is_no_launch_of_era_e2():
    """Number 12 is CreateKernel or EnqueueProgram; the tables of the former have more fields."""
    data = foreign(late(written(program(0), kernel(1, 0, file_name="k.cpp")), 1))
    entries = [slot(data, command_table(data, 1)[1], number)[0] for number in (0, 3)]
    data = patched(data, entries[1], u32(data, entries[0]), 2)  # the type of the cores is the lowest byte of the id, 1
    assert verify_structure(data, "e2") is None and verify_structure(data, "late") is None
    assert detect_numbering(data) == "late"
    launch = command("EnqueueProgram", program_global_id=0)
    assert detect_numbering(foreign(written(program(0), launch))) == "e2"


def test_both_numberings_refused_gives_the_reason_further_on():
    bad = foreign(written(program(0), kernel(1, 0), buffer(2, buffer_type=77)))
    with pytest.raises(BinaryError, match="BufferType has no value 77") as error:
        detect_numbering(bad)
    assert error.value.where["field"] == "commands[2].cmd.buffer_type" and error.value.exit_code == 2


def test_no_member_above_17_in_the_later_numbering():
    compare = command("LightMetalCompare", golden_data=[1])
    assert refused(written(compare), "late")[1:] == ("commands[0].cmd", "the union has no member 18")


# --- content


def event(number, **fields):
    return command("CreateEvent", global_id=number, **fields)


def function(**fields):
    return command("EnqueueFunction", **fields)


DEVICE = Node("DeviceDescription", {"device_id": 3, "num_hw_cqs": 1})
REFER = {"args": [1]}
CONTENT = [
    ("unknown id", (delete(0),), "commands[0].cmd.global_id", "no earlier command created buffer 0"),
    ("later id", (delete(0), buffer(0)), "commands[0].cmd.global_id", "no earlier command created buffer 0"),
    ("twice", (buffer(0), program(0)), "commands[1].cmd.global_id", "id 0 already names a buffer"),
    ("kind", (program(0), delete(0)), "commands[1].cmd.global_id", "id 0 names a program, not a buffer"),
    ("deleted", (buffer(0), delete(0), write(src=[1])), "commands[2].cmd.buffer_global_id", "buffer 0 was deleted before"),
    ("deallocated", (buffer(0), command("BufferDeallocate", global_id=0), write(src=[1])),
     "commands[2].cmd.buffer_global_id", "buffer 0 was deallocated before"),
    ("owner", (program(0), kernel(1, 0), program(2), args(2, 1)), "commands[3].cmd.kernel_global_id",
     "kernel 1 belongs to program 0"),
    ("queue", (buffer(0), write(src=[1], cq_global_id=2)), "commands[1].cmd.cq_global_id",
     "there is no command queue 2; the device has 2"),
    ("size", (buffer(0, size=-5),), "commands[0].cmd.size", f"a buffer of -5 B; at most {64 << 30}"),
    ("page", (buffer(0, page_size=0),), "commands[0].cmd.page_size", "pages of 0 B in a buffer of 64 B"),
    ("memory", (buffer(0, large_size=40 << 30, large_page_size=64), buffer(1, large_size=40 << 30, large_page_size=64)),
     "commands[1].cmd.size", f"the buffers alive at this point take {80 << 30} B; at most {64 << 30}"),
    ("payload", (buffer(0), write(payload=3)), "commands[1].cmd.payload", "there is no payload 3; the file has 0"),
    ("no data", (buffer(0), write()), "commands[1].cmd.payload", "the command holds no data"),
    ("write", (buffer(0), write(src=[0] * 17)), "commands[1].cmd.src", "the transfer ends at byte 68 of a buffer of 64 B"),
    ("region", (buffer(0), write(src=[0] * 8, offset=36)), "commands[1].cmd.offset",
     "the transfer ends at byte 68 of a buffer of 64 B"),
    ("read", (buffer(0), command("EnqueueReadBuffer", offset=32, size=33)), "commands[1].cmd.size",
     "the transfer ends at byte 65 of a buffer of 64 B"),
    ("argument", (program(0), kernel(1, 0), args(0, 1, references=[(0, 1, 0, 1)], **REFER)),
     "commands[2].cmd.references[0].index", "index 1; there are 1"),
    ("core", (program(0), kernel(1, 0), args(0, 1, references=[(1, 0, 0, 1)], **REFER)),
     "commands[2].cmd.references[0].core", "core number 1; there are 1"),
    ("reference", (program(0), kernel(1, 0), args(0, 1, references=[(0, 0, 1, 0)], **REFER)),
     "commands[2].cmd.references[0].id", "id 1 names a kernel, not a buffer"),
    ("argument buffer", (program(0), kernel(1, 0), command("SetRuntimeArgs", kernel_global_id=1, core_spec=COORD, args=[
        Node("RuntimeArg", {"value": Node("BufferGlobalId", {"id": 9})})])),
     "commands[2].cmd.args[0].value", "no earlier command created buffer 9"),
    ("lists", (program(0), kernel(1, 0), command("SetRuntimeArgsUint32VecPerCore", kernel_global_id=1,
        core_spec=[COORD, COORD], args=[Node("UInt32Vector", {"values": [1]})])),
     "commands[2].cmd.args", "1 lists of arguments for 2 cores"),
    ("shadow", (program(0), circular_buffer(shadow_buf_global_id=Node("Uint32Optional", {"value": 0}))),
     "commands[1].cmd.config.shadow_buf_global_id", "id 0 names a program, not a buffer"),
    ("trace", (command("LoadTrace", tid=4),), "commands[0].cmd.tid", "the file holds no trace 4"),
    ("replay", (command("ReplayTrace", tid=4),), "commands[0].cmd.tid", "trace 4 is not loaded"),
    ("signal", (command("SignalEvent", event_global_id=1),), "commands[0].cmd.event_global_id",
     "no earlier command created event 1"),
    ("event", (event(0), event(0)), "commands[1].cmd.global_id", "id 0 already names a event"),
    ("own part", (event(0, of=[0]),), "commands[0].cmd.of[0]", "no earlier command created event 0"),
    ("parts", (event(0), buffer(1), event(2, of=[0, 1])), "commands[2].cmd.of[1]", "id 1 names a buffer, not a event"),
    ("waits", (event(0), command("WaitEvents", event_global_ids=[0, 7])), "commands[1].cmd.event_global_ids[1]",
     "no earlier command created event 7"),
    ("function", (buffer(0), command("BufferDeallocate", global_id=0), function(buffer_global_ids=[0])),
     "commands[2].cmd.buffer_global_ids[0]", "buffer 0 was deallocated before"),
    ("transfer", (buffer(0), command("TransferBuffer", source_global_id=0, target_global_id=1)),
     "commands[1].cmd.target_global_id", "no earlier command created buffer 1"),
    ("time", (command("HostWork", duration_fs=1 << 62), function(duration_fs=1)), "commands[1].cmd.duration_fs",
     f"1 fs; all commands together may ask for {1 << 62}"),
    ("no time", (command("HostWork", duration_fs=(1 << 64) - 1),), "commands[0].cmd.duration_fs",
     f"-1 fs; all commands together may ask for {1 << 62}"),
    ("host queue", (command("CreateHostDevice", device_id=256, num_queues=2), function(device_id=256, cq_id=2)),
     "commands[1].cmd.cq_id", "there is no command queue 2; the device has 2"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("commands", "field", "why"), [item[1:] for item in CONTENT], ids=[item[0] for item in CONTENT]
)
def test_commands_that_do_not_hold_together(commands, field, why):
    data = written(*commands)
    assert verify_structure(data) is None
    (problem,) = verify_content(data)
    assert (problem.field, problem.why) == (field, why) and 8 <= problem.offset < len(data)
    assert problem.error().where == {"offset": problem.offset, "field": field}


@pytest.mark.parametrize("start", [(1 << 62) + 1, (1 << 64) - 1])
def test_a_recording_begins_at_a_time_that_the_clock_can_reach(start):
    (problem,) = verify_content(written(program(0), host_start_fs=start))
    assert problem.field == "host_start_fs" and "fs; at most 4611686018427387904" in problem.why


def test_a_trace_was_ready_at_a_time_that_the_clock_can_reach():
    problems = verify_content(written(command("LoadTrace", tid=5, host_at_fs=(1 << 62) + 1)))
    assert [(problem.field, problem.why) for problem in problems] == [
        ("commands[0].cmd.tid", "the file holds no trace 5"),
        ("commands[0].cmd.host_at_fs", f"host time {(1 << 62) + 1} fs; at most {1 << 62}"),
    ]


def test_devices_are_described_and_open():
    buffers = (
        buffer(0, device_id=3),
        command("CloseDevice", device_id=3),
        buffer(1, device_id=3),
        buffer(2, device_id=4),
    )
    found = [(item.field, item.why) for item in verify_content(written(*buffers, devices=[DEVICE]))]
    assert found == [
        ("commands[2].cmd.device_id", "device 3 was closed before"),
        ("commands[3].cmd.device_id", "the file describes no device 4"),
    ]


def test_host_devices_that_were_open():
    host = Node("CreateHostDeviceCommand", {"device_id": 256, "num_queues": 2})
    data = written(function(device_id=256, cq_id=1), function(device_id=256, cq_id=2), host_devices=[host])
    assert [item.why for item in verify_content(data)] == ["there is no command queue 2; the device has 2"]
    data = written(command("CreateHostDevice", device_id=256, num_queues=65))
    assert "the largest is 64" in verify_structure(data).why


def test_queues_of_a_described_device():
    data = written(buffer(0, device_id=3), write(src=[1], device_id=3, cq_global_id=1), devices=[DEVICE])
    assert [item.why for item in verify_content(data)] == ["there is no command queue 1; the device has 1"]


@pytest.mark.parametrize(
    ("payload", "field", "why"),
    [
        ({"codec": "none", "size": 9}, "payloads[0].size", "the payload states 9 B and holds 4 B"),
        ({"codec": "zlib", "size": 5000}, "payloads[0].size", "4 B cannot unpack to 5000 B"),
        ({"codec": "lzma", "size": 4}, "payloads[0].codec", "payloads are packed with one of: none, zlib"),
    ],
)
def test_payloads(payload, field, why):
    data = written(payloads=[Node("Payload", {"data": [1, 2, 3, 4], **payload})])
    assert [(item.field, item.why) for item in verify_content(data)] == [(field, why)]


def test_names_are_of_buffers():
    def names(*numbers):
        return [Node("BufferName", {"global_id": number, "name": "in"}) for number in numbers]

    assert verify_content(written(buffer(0), delete(0), buffer_names=names(0))) == []
    found = [(item.field, item.why) for item in verify_content(written(program(0), buffer_names=names(0, 9)))]
    assert found == [
        ("buffer_names[0].global_id", "id 0 names a program, not a buffer"),
        ("buffer_names[1].global_id", "no earlier command created buffer 9"),
    ]


def test_limits_of_commands_and_payloads():
    data = written(
        program(0), program(1), payloads=[Node("Payload", {"data": [1] * 100, "codec": "none", "size": 100})]
    )
    assert verify_content(data, limits=Limits(commands=1))[0].why == "2 commands; at most 1"
    assert "the payloads take more than 99 B in all" in verify_content(data, limits=Limits(payload_bytes=99))[0].why


def test_ids_need_not_be_dense():
    assert verify_content(written(buffer(4_000_000_000), buffer(5), delete(4_000_000_000), delete(5))) == []


def test_problems_are_listed_up_to_a_limit():
    data = written(*[delete(i) for i in range(50)])
    assert len(verify_content(data)) == 50 and len(verify_content(data, limits=Limits(problems=7))) == 7


# --- mutations

FILES = [written(*item[1], devices=[]) for item in CONTENT] + [SOUND]


def test_mutated_files_are_accepted_or_refused():
    rng, outcomes = random.Random(3), [0, 0]
    for i in range(20_000):
        data = FILES[i % len(FILES)]
        damaged = np.frombuffer(mutate(rng, data, range(len(data))), np.uint8)
        problem = verify_structure(damaged)
        outcomes[problem is None] += 1
        if problem is None:
            assert all(0 <= item.offset < len(damaged) for item in verify_content(damaged))
    assert min(outcomes) > 1000


def test_no_byte_outside_the_file_is_read(tmp_path):
    """The walks, not compiled, over bytes that refuse to be read beyond their ends, judge as the compiled ones do."""
    path = tmp_path / "sound.bin"
    path.write_bytes(SOUND)
    command = [
        sys.executable,
        "-m",
        "tensim.running.fuzz",
        str(path),
        "--count",
        "500",
        "--execute",
        *("0", "0", "0"),
        "--seed",
        "3",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, check=False
    )
    assert done.returncode == 0, done.stderr
    compiled = Fuzzer([SOUND], 3, {}).run(500).outcomes
    for name in ("bytes: accepted", "bytes: refused"):
        assert compiled[name] and f"{compiled[name]:10,} {name}" in done.stdout


# --- files of a capture


def captured(name, shape):
    device = tt.create_device(0)
    try:
        with tt.light_metal_capture() as capture:
            find_program(name).run_on(device, Options(shape=shape))
    finally:
        tt.close_device(device)
    return bytes(capture.binary.get_data())


@pytest.fixture(scope="module")
def sound():
    return captured("add_integers", "16")


@pytest.mark.parametrize("length", [0, 3, 7, 8, 40, 200])
def test_cut_files_are_not_opened(sound, length):
    assert verify_structure(sound[:length]) is not None
    with pytest.raises(BinaryError):
        open_verified(sound[:length])


def test_a_captured_file_passes(sound):
    assert verify_structure(sound) is None and verify_content(sound) == []
    assert problems_of(sound) == [] and detect_numbering(sound) == "e2"


def test_a_senseless_file_is_not_opened():
    with pytest.raises(BinaryError, match="byte ") as refused:
        open_verified(written(delete(0)))
    assert refused.value.where["field"] == "commands[0].cmd.global_id" and refused.value.exit_code == 2


def test_a_newer_schema_and_a_changed_content_are_refused(sound):
    with pytest.raises(BinaryError, match="schema version 99"):
        open_verified(written(program(0), schema_version=99))
    changed = bytearray(sound)
    changed[-1] ^= 1
    with pytest.raises(BinaryError, match="hash"):
        open_verified(bytes(changed))


# --- kernel texts are not Python


@pytest.mark.parametrize(
    "text",
    [
        "import os\n@kernel\ndef k():\n    os.system('true')\n",
        "@kernel\ndef k():\n    open('x', 'w')\n",
        "@kernel\ndef k():\n    ().__class__\n",
        "@kernel\ndef k():\n    x = __import__('os')\n",
        "print('at load')\n@kernel\ndef k():\n    pass\n",
        "@kernel\ndef k(a=print('default')):\n    pass\n",
        "@print\ndef k():\n    pass\n",
        "x = [i for i in range(10**9)]\n@kernel\ndef k():\n    pass\n",
    ],
)
def test_kernel_texts_cannot_reach_python(capsys, tmp_path, text):
    one = kernel(1, 0)
    one.fields |= {"source": text, "kernel_name": "k"}
    launch = Node("EnqueueProgramCommand", {"program_global_id": 0})
    data = sealed(written(program(0), one, launch))
    replay = tt.LightMetalReplay(bytes(data))
    assert replay.run() is False
    assert replay.error.kind in ("kernel_compile", "usage") and capsys.readouterr().out == ""
    assert not (tmp_path / "x").exists()
