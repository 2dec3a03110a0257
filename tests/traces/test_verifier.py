"""The verifier refuses damaged files, saying where and why, and never anything worse."""

import os
import subprocess
import sys

import numpy as np
import pytest

import host_api as tt
from examples import Options, get_example, run_example
from sim.errors import BinaryError
from traces.flat import Node, Writer
from traces.flat_schema import light_metal_schema
from traces.fuzz import DEFECT, fuzz
from traces.light_metal_read import Binary
from traces.light_metal_verify import open_verified, problems_of
from traces.light_metal_write import sealed
from traces.verifier import detect_numbering, slot_offset, verify_content, verify_structure


def captured(name, shape):
    device = tt.create_device(0)
    try:
        with tt.light_metal_capture() as capture:
            run_example(get_example(name), device, Options(shape=shape))
    finally:
        tt.close_device(device)
    return bytes(capture.binary.get_data())


@pytest.fixture(scope="module")
def sound():
    return captured("add_integers", "16")


def written(*commands, **root):
    """A file of command nodes."""
    writer = Writer(light_metal_schema())
    offsets = [writer.node(Node("Command", {"cmd": command})) for command in commands]
    return bytes(writer.finish(writer.node(Node("LightMetalBinary", {"commands": writer.tables(offsets), **root}))))


def buffer(number):
    return Node("BufferCreateCommand", {"global_id": number, "size": 64, "page_size": 64})


def program(number):
    return Node("ProgramConstructorCommand", {"global_id": number})


COORD = Node("CoreCoord", {"x": 0, "y": 0})


def kernel(number, owner):
    config = Node("DataMovementConfig", {})
    fields = {"global_id": number, "program_global_id": owner, "core_spec": COORD, "kernel_config": config}
    return Node("CreateKernelCommand", {**fields, "file_name": "k.py"})


def args(owner, number):
    fields = {"program_global_id": owner, "kernel_global_id": number, "core_spec": COORD}
    return Node("SetRuntimeArgsUint32Command", fields)


# --- structure


def test_sound_files_pass(sound):
    assert verify_structure(sound) is None and verify_content(sound) == []
    assert problems_of(sound) == [] and detect_numbering(sound) == "e2"


@pytest.mark.parametrize("length", [0, 3, 7, 8, 40, 200])
def test_cut_files_are_refused(sound, length):
    assert verify_structure(sound[:length]) is not None
    with pytest.raises(BinaryError):
        open_verified(sound[:length])


@pytest.mark.parametrize(
    ("offset", "value", "words"),
    [
        (0, 0xFFFFFFF0, "outside the file"),
        (0, 0x7FFFFFFC, "outside the file"),
        (0, 13, "not aligned"),
        (0, 0, "vtable"),
    ],
)
def test_a_wrong_root(sound, offset, value, words):
    data = bytearray(sound)
    data[offset : offset + 4] = value.to_bytes(4, "little")
    problem = verify_structure(bytes(data))
    assert words in problem.why and problem.field.startswith("LightMetalBinary")


def test_a_vector_longer_than_the_file_names_its_field(sound):
    writer = Writer(light_metal_schema())
    words = writer.shared([1, 2, 3], "key")
    write = Node("EnqueueWriteBufferCommand", {"src": words})
    commands = writer.tables([writer.node(Node("Command", {"cmd": write}))])
    data = bytearray(writer.finish(writer.node(Node("LightMetalBinary", {"commands": commands}))))
    place = data.index(b"\3\0\0\0\1\0\0\0")
    data[place : place + 4] = (1 << 30).to_bytes(4, "little")
    problem = verify_structure(bytes(data))
    assert problem.field == "EnqueueWriteBufferCommand.src" and "vector of 1073741824 elements" in problem.why


def test_a_file_without_commands_is_refused():
    writer = Writer(light_metal_schema())
    data = bytes(writer.finish(writer.node(Node("LightMetalBinary", {"schema_version": 1}))))
    problem = verify_structure(data)
    assert problem.field == "LightMetalBinary.commands" and "missing" in problem.why


def test_union_members_that_do_not_exist():
    data = bytearray(written(program(0)))
    command = Binary(bytes(data))._position(0)
    place = command + int(slot_offset(np.frombuffer(data, np.uint8), command, 4))
    data[place] = 200
    problem = verify_structure(bytes(data))
    assert problem.field == "Command.cmd" and "no member 200" in problem.why and problem.offset == place
    data[place] = 0
    assert "value without a type" in verify_structure(bytes(data)).why


def test_parts_that_are_shared_too_often_are_refused():
    """A thousand commands that share one table visit more tables than their bytes allow."""
    writer = Writer(light_metal_schema())
    coord = writer.node(COORD)
    inner = writer.tables([coord] * 2000)
    vectors = [
        writer.node(Node("Command", {"cmd": Node("SetRuntimeArgsUint32VecPerCoreCommand", {"core_spec": inner})}))
    ]
    commands = writer.tables(vectors * 2000)
    data = bytes(writer.finish(writer.node(Node("LightMetalBinary", {"commands": commands}))))
    assert "shared too often" in verify_structure(data).why


# --- content


@pytest.mark.parametrize(
    ("commands", "field", "words"),
    [
        ((Node("BufferDeleteCommand", {"global_id": 0}),), "commands[0].BufferDeleteCommand.global_id", "never created"),
        ((buffer(5),), "commands[0].BufferCreateCommand.global_id", "never created"),
        ((buffer(0), buffer(0)), "commands[1].BufferCreateCommand.global_id", "created twice"),
        ((program(0), Node("BufferDeleteCommand", {"global_id": 0})), "BufferDeleteCommand.global_id", "id 0 is a program"),
        ((buffer(0), *[Node("BufferDeleteCommand", {"global_id": 0})] * 2), "commands[2]", "deleted before"),
        ((program(0), kernel(1, 0), program(2), args(2, 1)), "kernel_global_id", "belongs to another program"),
        ((buffer(0), Node("EnqueueReadBufferCommand", {"cq_global_id": 9})), "cq_global_id", "command queue 9"),
        ((buffer(0), Node("EnqueueWriteBufferCommand", {"payload": 3})), "payload", "payload 3; the file has 0"),
        ((program(0), Node("CreateKernelCommand", {"global_id": 1})), "core_spec", "missing"),
        (
            (program(0), kernel(1, 0), Node("SetRuntimeArgsUint32Command", {
                "program_global_id": 0, "kernel_global_id": 1, "core_spec": COORD, "args": [1], "references": [(0, 0, 1, 0)],
            })), "references", "id 1 is a kernel",
        ),
        (
            (program(0), kernel(1, 0), Node("SetRuntimeArgsCommand", {
                "kernel_global_id": 1, "core_spec": COORD,
                "args": [Node("RuntimeArg", {"value": Node("BufferGlobalId", {"id": 9})})],
            })), "args", "id 9 was never created",
        ),
    ],
)  # fmt: skip
def test_commands_that_do_not_hold_together(commands, field, words):
    data = written(*commands)
    assert verify_structure(data) is None
    (problem,) = verify_content(data)
    assert field in problem.field and words in problem.why and 0 < problem.offset < len(data)
    with pytest.raises(BinaryError, match="byte ") as refused:
        open_verified(data)
    assert refused.value.where == {"offset": problem.offset, "field": problem.field} and refused.value.exit_code == 2


def test_a_newer_schema_and_a_changed_content_are_refused(sound):
    with pytest.raises(BinaryError, match="schema version 99"):
        open_verified(written(program(0), schema_version=99))
    changed = bytearray(sound)
    changed[-1] ^= 1
    with pytest.raises(BinaryError, match="hash"):
        open_verified(bytes(changed))


# --- fuzzing


def test_mutated_files_raise_nothing_but_refusals(sound):
    outcomes, _, slowest = fuzz([sound], 15_000, 120, seed=1)
    assert not [name for name in outcomes if DEFECT in name], outcomes
    assert outcomes["refused"] > 5_000 and outcomes["executed"] == 120 and outcomes["executed: ran"] > 20
    assert slowest < 5


def test_no_byte_outside_the_file_is_read(sound, tmp_path):
    """The verifier's own code, not compiled, over bytes that refuse to be read beyond their ends."""
    path = tmp_path / "sound.bin"
    path.write_bytes(sound)
    command = [sys.executable, "-m", "traces.fuzz", str(path), "--count", "1500", "--execute", "0", "--seed", "3"]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert "refused" in done.stdout


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
