"""Files that ask for something that cannot be: a documented error, with the place in the file, and nothing else happens."""

import os
import tracemalloc
import zlib

import numpy as np
import pytest

import tensim as tt
from tensim.running.replay import LightMetalReplay
from tensim.sim.errors import BinaryError, TensimError, TensimWarning, UsageError
from tensim.traces.flatbuffers.schema import light_metal_schema
from tensim.traces.flatbuffers.tables import Node, Writer
from tensim.traces.light_metal.inspect import describe, draw_program
from tensim.traces.light_metal.kernels import kernel_fields_of_text
from tensim.traces.light_metal.verify import open_verified, problems_of
from tensim.traces.light_metal.write import sealed
from tests.light_metal.files import (
    NOTHING,
    args,
    buffer,
    circular_buffer,
    command,
    error_of,
    finish,
    kernel,
    launch,
    optional,
    program,
    written,
)

FILL = {"cq_id": 0, "name": "tensim.fill", "buffer_global_ids": [0]}
CIRCULAR = {"program_global_id": 0, "circular_buffer_global_id": 2}
BUSY = "@kernel\ndef k(a):\n    pass\n"
CASES = {
    "a reference to a core that is not there": (
        [program(), kernel(BUSY), args(1, references=[(0, 0, 100, 1)])], "core \\(100,0\\) is outside",
    ),
    "an update of the page size without a size": (
        [program(), circular_buffer(), command("UpdateCircularBuffer", index=optional(0), **CIRCULAR)],
        "a page size belongs to an index",
    ),
    "an event that is signalled twice": (
        [command("CreateEvent", global_id=0, of=[]), *[command("SignalEvent", event_global_id=0)] * 2], "signalled once",
    ),
    "a host function without a parameter": (
        [buffer(0), command("EnqueueFunction", parameters='{"nbytes":64}', **FILL), finish()], "cannot be read: 'value'",
    ),
    "a host function with a parameter of another type": (
        [buffer(0), command("EnqueueFunction", parameters='{"nbytes":64.0,"value":1}', **FILL), finish()], "cannot be read",
    ),
    "a host function with nested parameters": (
        [buffer(0), command("EnqueueFunction", parameters="[" * 50_000, **FILL), finish()], "cannot be read",
    ),
    "tiles of 2**31 rows": (
        [program(), circular_buffer(tiles=[(0, ((1 << 31, 1 << 31), False))]), kernel(), launch()], "tiles of 2147483648x",
    ),
    "a sub-device without cores": (
        [command("CreateSubDeviceManager", global_id=0, sub_devices=[Node("CoreRangeSet", {})])], "at least one core",
    ),
    "transposed tiles": (
        [program(), circular_buffer(tiles=[(0, ((32, 32), True))])], "transposed",
    ),
    "a circular buffer at an address without its buffer": (
        [program(), circular_buffer(globally_allocated_address=optional(1_400_000), dynamic_cb=True)],
        "fixed address 0x155cc0, but the file does not name the buffer",
    ),
    "a circular buffer that spans cores": ([program(), circular_buffer(remote_buffer_indices=[31])], "span cores"),
    "a kernel whose text is not that of its hash": (
        [program(), kernel(NOTHING, source_hash=np.zeros(32, np.uint8)), launch()], "does not match its hash",
    ),
    "a reference behind the compile-time arguments": (
        [buffer(5), program(), kernel(NOTHING, references=[(0, 3, 5, 0)])], "does not point to a compile-time argument",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("commands", "why"), CASES.values(), ids=CASES)
def test_a_replay_ends_in_an_error_with_its_place(commands, why):
    error = error_of(written(*commands))
    assert isinstance(error, UsageError) and error.where["offset"] > 0 and error.where["field"]
    with pytest.raises(TensimError, match=why):
        raise error


def test_a_link_has_no_more_lanes_than_links_have():
    link = {
        "src": "host",
        "dst": "chip0",
        "kind": "pcie",
        "bytes_per_ns": 1.0,
        "latency_ns": 1.0,
        "lanes": (1 << 32) - 1,
    }
    chips = [Node("ChipDescription", {"arch": "wormhole_b0"})]
    error = error_of(written(program(), chips=chips, links=[Node("LinkDescription", link)]))
    assert "lanes" in str(error)


@pytest.mark.parametrize(
    "config", [{"remote_buffer_indices": [31]}, {"globally_allocated_address": optional(1_400_000)}]
)
def test_ignored_settings_are_found_by_verify(config):
    fields = [problem["field"] for problem in problems_of(written(program(), circular_buffer(**config)))]
    assert fields == ["commands[1].config"]


def test_a_wrong_source_hash_is_found_by_verify():
    (problem,) = problems_of(written(program(), kernel(NOTHING, source_hash=np.zeros(32, np.uint8))))
    assert problem["field"] == "commands[1].source_hash"


def test_a_wrong_identifier_is_refused():
    """The hash is right again, so that only the identifier is wrong."""
    data = bytearray(written(program()))
    data[4:8] = b"XXXX"
    with pytest.raises(BinaryError, match="file identifier is b'XXXX'") as refused:
        open_verified(bytes(sealed(data)))
    assert refused.value.where == {"offset": 4, "field": "file identifier"}


def test_a_kernel_without_name_and_file_is_drawn():
    described = describe(open_verified(written(program(), kernel())), "file")
    assert draw_program(described["programs"][0]) == ["A", "A: kernel 1"]


# --- cores


def one_range(x0, y0, x1, y1):
    start, end = (Node("CoreCoord", {"x": x, "y": y}) for x, y in ((x0, y0), (x1, y1)))
    return Node("CoreRange", {"start": start, "end": end})


RANGES = {
    "one range 10,000 times": ([(0, 0, 7, 7)] * 10_000, "core \\(0,0\\) is in two ranges"),
    "two ranges that overlap": ([(0, 0, 3, 3), (3, 3, 5, 5)], "core \\(3,3\\) is in two ranges"),
    "a range that goes back": ([(3, 3, 2, 3)], "ends at 2, before its start at 3"),
}


@pytest.mark.parametrize("field", ["kernel", "circular buffer", "semaphore", "arguments", "sub-devices"])
@pytest.mark.parametrize(("ranges", "why"), RANGES.values(), ids=RANGES)
def test_ranges_of_cores_go_forward_and_do_not_overlap(field, ranges, why):
    cores = Node("CoreRangeSet", {"ranges": [one_range(*corners) for corners in ranges]})
    commands = {
        "kernel": kernel(core_spec=cores),
        "circular buffer": command(
            "CreateCircularBuffer", global_id=1, program_global_id=0, core_spec=cores, config=Node("CircularBufferConfig", {}),
        ),
        "semaphore": command("CreateSemaphore", global_id=1, program_global_id=0, ranges=cores),
        "arguments": args(1, core_spec=cores),
        "sub-devices": command("CreateSubDeviceManager", global_id=1, sub_devices=[cores]),
    }  # fmt: skip
    before = [kernel()] if field == "arguments" else []
    with pytest.raises(BinaryError, match=why):
        open_verified(written(program(), *before, commands[field]))


# --- names of files


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret.cpp", "a/../../secret.cpp", "a\0.cpp", ""])
def test_names_lead_out_of_no_folder(tmp_path, name, monkeypatch):
    """A kernel that the file names by its file: only below the folders that the user gives."""
    (tmp_path / "secret.py").write_text("PASSWORD = 'hunter2'\n")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    for folders in ((), (str(tmp_path / "folder"),)):
        options = tt.ReplayOptions(kernel_path=folders)
        error = error_of(written(program(), kernel(None, file_name=name)), options=options)
        assert "does not contain the source of kernel" in str(error) and "hunter2" not in str(error)


def test_the_working_folder_is_no_kernel_path(tmp_path, monkeypatch):
    (tmp_path / "k.py").write_text(NOTHING)
    monkeypatch.chdir(tmp_path)
    data = written(program(), kernel(None, file_name="k.cpp"), launch(), finish())
    assert "--kernel-path" in error_of(data).hint
    replay = LightMetalReplay(data, options=tt.ReplayOptions(kernel_path=(str(tmp_path),)))
    assert replay.run(), replay.error


def test_a_link_that_leads_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "outside.py").write_text(NOTHING)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "k.py").symlink_to(tmp_path / "outside.py")
    options = tt.ReplayOptions(kernel_path=(str(tmp_path / "folder"),))
    data = written(program(), kernel(None, file_name="k.cpp"))
    assert "does not contain the source" in str(error_of(data, options=options))


@pytest.mark.parametrize("name", ["fifo.yaml", "a\0.yaml", "/etc/passwd.yaml"])
def test_the_name_of_an_architecture_opens_no_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "fifo.yaml")  # whoever opens it hangs
    device = Node("DeviceDescription", {"arch_name": name, "num_hw_cqs": 1})
    data = written(program(), devices=[device])
    (problem,) = problems_of(data)
    assert "describes a chip that cannot be" in problem["why"] and problem["field"] == "devices.parameters"
    assert "describes a chip that cannot be" in str(error_of(data))


# --- C++ kernels


def test_a_foreign_kernel_includes_no_files_of_the_user(tmp_path):
    """Neither directly nor by way of a macro; and no line of it is quoted."""
    pytest.importorskip("ziglang")
    (tmp_path / "secret.h").write_text("password hunter2;\n")
    for text in (f'#include "{tmp_path}/secret.h"\n', f'#define FILE "{tmp_path}/secret.h"\n#include FILE\n'):
        error = error_of(written(program(), kernel(text + "void kernel_main() {}\n"), launch(), finish()))
        assert "lies outside the include folders" in str(error) and "hunter2" not in str(error)


def test_a_foreign_kernel_assembles_no_files_of_the_user(tmp_path):
    """The kernel's text has an assembler include the file; or the file's macros have a kernel of the user's do so."""
    pytest.importorskip("ziglang")
    secret = tmp_path / "secret.txt"
    secret.write_text("password hunter2")
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "k.cpp").write_text("void kernel_main() { EXTRA; }\n")
    own = kernel(f'void kernel_main() {{ asm(".incbin \\"{secret}\\""); }}\n')
    define = Node("DefineEntry", {"key": "EXTRA", "value": f'asm(".incbin \\"{secret}\\"")'})
    users = kernel(None, file_name="k.cpp", kernel_config=Node("DataMovementConfig", {"defines": [define]}))
    options = tt.ReplayOptions(kernel_path=(str(folder),))
    for one in (own, users):
        error = str(error_of(written(program(), one, launch(), finish()), options=options))
        assert ("lies outside the include folders" in error or "may open files" in error) and "hunter2" not in error
    harmless = Node("DefineEntry", {"key": "EXTRA", "value": "riscv_wait(3)"})
    users = kernel(None, file_name="k.cpp", kernel_config=Node("DataMovementConfig", {"defines": [harmless]}))
    replay = LightMetalReplay(written(program(), users, launch(), finish()), options=options)
    assert replay.run(), replay.error


# --- memory


def test_reads_beyond_a_limit_are_not_kept():
    large = buffer(0, size=0, page_size=0, large_size=2 << 30, large_page_size=2 << 20)
    read = command("EnqueueReadBuffer", cq_global_id=0, buffer_global_id=0, blocking=True)
    small = [buffer(1), command("EnqueueReadBuffer", cq_global_id=0, buffer_global_id=1, blocking=True)]
    replay = LightMetalReplay(written(*small, large, *[read] * 5))
    with pytest.warns(TensimWarning, match="are not kept"):
        assert replay.run(), replay.error
    assert [item.result is None for item in replay.reads] == [False] + [True] * 5


def megabytes_at_most(run):
    """Memory that Python and numpy hold at most while something runs, beyond what they hold before."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] >> 20
    finally:
        tracemalloc.stop()


LARGE = 192 << 20


@pytest.fixture(scope="module")
def bare():
    """MB of a replay that moves next to nothing: those of its chip."""
    write = command("EnqueueWriteBuffer", cq_global_id=0, buffer_global_id=0, src=[0] * 16, blocking=True)
    return megabytes_at_most(LightMetalReplay(written(buffer(0), write)).run)


def large_buffer(page_size):
    return buffer(0, size=0, page_size=0, large_size=LARGE, large_page_size=page_size)


def test_a_read_of_small_pages_takes_little_more_memory_than_its_bytes(bare):
    """Not an index or a copy of every page: 6 million of them are read."""
    read = command("EnqueueReadBuffer", cq_global_id=0, buffer_global_id=0, blocking=True)
    replay = LightMetalReplay(written(large_buffer(32), read))
    assert megabytes_at_most(replay.run) < bare + (1.8 * LARGE) / (1 << 20)
    assert replay.reads[0].result == bytes(LARGE)


def test_shards_that_would_fill_the_hosts_memory_are_refused(bare):
    cores = [Node("CoreCoord", {"x": x, "y": 0}) for x in range(8)]
    pages = (8 << 30) // 32
    spec = {"tensor_shape_in_pages": [pages], "shard_shape_in_pages": [1], "cores": cores}
    sharded = buffer(
        0, size=0, page_size=0, large_size=32 * pages, large_page_size=32, buffer_layout=2,
        buffer_distribution_spec=Node("BufferDistributionSpec", spec),
    )  # fmt: skip
    replay = LightMetalReplay(written(sharded))
    assert megabytes_at_most(replay.run) < bare + 32
    assert f"the buffer has {pages:,} shards; at most 8,388,608" in str(replay.error)
    assert replay.error.where["field"] == "commands[0]"


def test_a_packed_payload_is_unpacked_once_and_not_before_it_is_written(bare):
    """Its bytes and those of the chip; a payload that no command names, not at all."""
    packed = np.frombuffer(zlib.compress(bytes(LARGE)), np.uint8)
    payloads = [Node("Payload", {"data": packed, "codec": "zlib", "size": LARGE})] * 2
    write = command("EnqueueWriteBuffer", cq_global_id=0, buffer_global_id=0, payload=1, blocking=True)
    replay = LightMetalReplay(written(large_buffer(1 << 20), write, payloads=payloads))
    assert megabytes_at_most(replay.run) < bare + (2.5 * LARGE) / (1 << 20)
    assert replay.error is None


@pytest.mark.parametrize("states", [LARGE - 1, LARGE + 1, 64])
def test_a_payload_that_unpacks_to_other_bytes_than_it_states_is_refused(states, bare):
    packed = np.frombuffer(zlib.compress(bytes(LARGE)), np.uint8)
    large = buffer(0, size=0, page_size=0, large_size=states, large_page_size=states)
    write = command("EnqueueWriteBuffer", cq_global_id=0, buffer_global_id=0, payload=1, blocking=True)
    data = written(large, write, payloads=[Node("Payload", {"data": packed, "codec": "zlib", "size": states})])
    replay = LightMetalReplay(data)
    assert megabytes_at_most(replay.run) < bare + (min(1.3 * LARGE, states + (48 << 20))) / (1 << 20)
    assert f"does not unpack to the {states} B it states" in str(replay.error)


def test_a_payload_that_is_larger_than_its_buffer_is_not_unpacked():
    packed = np.frombuffer(zlib.compress(bytes(LARGE)), np.uint8)
    write = command("EnqueueWriteBuffer", cq_global_id=0, buffer_global_id=0, payload=1, blocking=True)
    data = written(buffer(0), write, payloads=[Node("Payload", {"data": packed, "codec": "zlib", "size": LARGE})])
    with pytest.raises(BinaryError, match=f"the transfer ends at byte {LARGE} of a buffer of 64 B") as refused:
        open_verified(data)
    assert refused.value.where["field"] == "commands[1].cmd.payload"


# --- tables that are named again and again


def trace_of_one_kernel(count):
    """The bytes of a file with a trace of one kernel that is named `count` times."""
    writer = Writer(light_metal_schema())
    config = Node("DataMovementConfig", {})
    kernels = [writer.node(Node("TracedKernel", {**kernel_fields_of_text(NOTHING), "kernel_config": config}))] * count
    traced = Node("TracedProgram", {"kernels": writer.tables(kernels)})
    trace = Node("TraceDescriptor", {"programs": [traced], "trace_bytes": 4096})
    fields = {
        "commands": [], "trace_descriptors": [Node("TraceDescriptorByTraceId", {"trace_id": 1, "desc": trace})],
        "payloads": [Node("Payload", {"data": np.zeros(8 * count, np.uint8)})],  # tables are counted by the file's size
    }  # fmt: skip
    return writer.finish(writer.node(Node("LightMetalBinary", fields)))


def test_a_table_that_a_trace_names_again_and_again_is_read_once():
    data = bytes(trace_of_one_kernel(200_000))
    binary = open_verified(data)
    assert megabytes_at_most(lambda: open_verified(data)) < 4
    (traced,) = binary.trace(1).programs
    assert len(traced.kernels) == 200_000 and all(kernel is traced.kernels[0] for kernel in traced.kernels)


# --- what terminals show


def test_control_characters_reach_no_terminal(tmp_path, capsys):
    from tensim.cli.main import main

    path = tmp_path / "ansi.bin"
    names = {"file_name": "\x1b[31mred\x1b]0;title\x07", "kernel_name": "k\x1b[2J"}
    path.write_bytes(written(program(), kernel(NOTHING, **names), launch()))
    for arguments in (["inspect", str(path)], ["inspect", "--kernels", str(path)], ["replay", str(path)]):
        with pytest.raises(SystemExit):
            main(arguments)
        shown = "".join(capsys.readouterr())
        assert (
            shown
            and "\x1b[31m" not in shown.replace("\x1b[31merror", "")
            and "\x07" not in shown
            and "\x1b[2J" not in shown
        )
