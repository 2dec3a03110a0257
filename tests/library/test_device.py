"""The simulation device, the compiler's stand-in and the server, together: a stand-in of the library uses them from its process."""

import contextlib
import csv
import json
import os
import signal
import sqlite3
import textwrap
import time

import pytest

RELEASES = ["0.66.0", "0.81.1"]
COPY = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    const uint32_t l1 = get_write_ptr(0);
    noc_async_read(get_noc_addr_from_bank_id<true>(get_arg_val<uint32_t>(0), 0x200000), l1, 64);
    noc_async_read_barrier();
    volatile tt_l1_ptr uint32_t* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(l1);
    words[0] += get_compile_time_arg_val(1);
    words[1] += *reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(1));
    noc_async_write(l1, get_noc_addr_from_bank_id<true>(get_arg_val<uint32_t>(1), 0x200000 + get_arg_val<uint32_t>(2)), 64);
    noc_async_write_barrier();
}
"""
ENDLESS = "void kernel_main() { while (true) { riscv_wait(100); } }"
FAULT = "void kernel_main() { cb_pop_front(7, 1); }"
CHANNELS = {  # the coordinates of the first memories of two channels
    "wormhole_b0": [[(0, 0), (0, 1), (0, 11)], [(5, 3), (5, 4), (5, 8)]],
    "blackhole": [[(17, 12), (17, 13), (17, 14), (0, 0)], [(18, 23), (9, 5)]],
}
WRITES_AND_READS = """
import random

random.seed(0)
for core in device.cores[::9]:
    for address in (0x3000, 0x19000, 0x1B000, 0x20001):  # mailboxes, both sides of their end, tensors
        data = random.randbytes(5000)
        device.write(*core, address, data)
        assert device.read(*core, address, len(data)) == data, (core, hex(address))
for places in channels:
    data = random.randbytes(3 << 20)  # more than the device collects
    device.write(*places[0], 0x1000000 - 64, data)  # and over the end of a window
    for place in places:
        assert device.read(*place, 0x1000000 - 64, len(data)) == data, place
for place in (channels[0][0], device.cores[0]):
    assert device.read(*place, 0x70000, 4) == bytes(4), "memory begins as zeros"
device.write(30, 3, 0xFFB20000, b"register")
assert device.read(30, 3, 0xFFB20000, 8) == b"register"
"""


def launches(text, *, more=""):
    """A program that compiles a kernel and runs it on four cores, bank by bank."""
    return textwrap.dedent(f"""
        import struct, sys
        import ttnn
        from types import SimpleNamespace

        device = ttnn.open_device()
        channels = {CHANNELS}[ttnn.ARCH]
        bank, target = {{"wormhole_b0": ((0, 0), (0, 5)), "blackhole": ((17, 12), (17, 15))}}[ttnn.ARCH]
        to = 1 if ttnn.ARCH == "blackhole" else 2
        device.write(*bank, 0x200000, struct.pack("<16I", *range(100, 116)))
        text = ttnn.compiled({text!r}, arguments=(7, 1000))
        cores = device.cores[:2] + device.cores[-2:]

        def copy(*tensors):
            args = {{core: [0, to, 64 * number] for number, core in enumerate(cores)}}
            device.run(cores, {{0: text}}, {{0: args}}, buffers=[(2048, 2)], semaphores=[5, 6])

        operation = ttnn.decorators.FastOperation("ttnn.copy", copy)
        tensor = SimpleNamespace(shape=[32, 64], dtype="DataType.BFLOAT16", layout=1)
        {textwrap.indent(more or "operation(tensor, 3)", " " * 8).strip()}
        for number in range(4):
            words = struct.unpack("<16I", device.read(*target, 0x200000 + 64 * number, 64))
            assert words == (1100, 107, *range(102, 116)), words
        device.close()
    """)


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
@pytest.mark.parametrize("release", RELEASES)
def test_memory_and_a_launch(library, tmp_path, release, arch):
    """Tile by tile as the older release reaches its device, and through windows as the newer one does."""
    program = launches(COPY, more=WRITES_AND_READS + "operation(tensor, 3)")
    done = library.run(program, release=release, arch=arch, options=("--json", str(tmp_path / "out.json")))
    assert done.returncode == 0, done.stderr
    (one,) = json.loads((tmp_path / "out.json").read_text())["operations"]
    assert one["name"] == "ttnn.copy 32x64: kernel" and one["cores"] == 4 and one["cycles"] > 300


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
def test_a_launch_works_on_what_stands_in_memory_when_it_is_told(library, arch):
    """A host that does not wait for a launch writes later than that begins, into memory that is free by then."""
    lines = ["device.wait = lambda cores: None", "copy()", "device.write(*bank, 0x200000, bytes(64))"]
    done = library.run(launches(COPY, more="\n".join(lines)), arch=arch)
    assert done.returncode == 0, done.stderr


def test_a_launch_is_the_operations_that_told_the_cores(library, tmp_path):
    """The library looks for a launch's end when it has more to do: by then its next operation has begun."""
    later = """
    waits, device.wait = device.wait, lambda cores: None
    operation(tensor, 3)
    ttnn.decorators.FastOperation("ttnn.later", lambda *tensors: waits(cores))(tensor)
    """
    done = library.run(launches(COPY, more=textwrap.dedent(later)), options=("--json", str(tmp_path / "out.json")))
    assert done.returncode == 0, done.stderr
    (one,) = json.loads((tmp_path / "out.json").read_text())["operations"]
    assert one["name"] == "ttnn.copy 32x64: kernel" and one["library"]["name"] == "ttnn.copy"


PLACED = """
memory = SimpleNamespace(buffer_type="BufferType.DRAM", memory_layout="TensorMemoryLayout.INTERLEAVED", shard_spec=None)
placed = SimpleNamespace(
    shape=[30, 64], padded_shape=[32, 64], dtype="DataType.BFLOAT8_B", layout="Layout.TILE", memory_config=lambda: memory,
    buffer_address=lambda: 0x200000, storage_type=lambda: "StorageType.DEVICE",
)
ttnn.decorators.FastOperation("ttnn.copy", lambda *given, **named: [copy(), placed][1:])([placed], mode="all")
"""


def test_files_for_tools_have_what_the_library_says(library, tmp_path):
    done = library.run(launches(COPY, more=PLACED), options=("--tt-report", str(tmp_path / "report")))
    assert done.returncode == 0, done.stderr
    (table,) = (tmp_path / "report").glob("ops_perf_results_*.csv")
    (row,) = csv.DictReader(table.open())
    assert row["OP CODE"] == "CopyDeviceOperation" and row["ATTRIBUTES"] == "{'program': 'ttnn.copy'; 'mode': 'all'}"
    for side in ("INPUT_0", "OUTPUT_0"):
        told = [row[f"{side}_{name}"] for name in ("Y_PAD[LOGICAL]", "X_PAD[LOGICAL]", "LAYOUT", "DATATYPE", "MEMORY")]
        assert told == ["32[30]", "64[64]", "TILE", "BFLOAT8_B", "DEV_0_DRAM_INTERLEAVED"]
    with contextlib.closing(sqlite3.connect(tmp_path / "report/db.sqlite")) as database:
        assert database.execute("SELECT address, size FROM tensors").fetchall() == [(0x200000, 2 * 1088)]
        assert ("mode", "all") in database.execute("SELECT name, value FROM operation_arguments").fetchall()


def test_a_kernel_that_does_not_compile_is_the_compilers_error(library):
    done = library.run(launches("void kernel_main() { nothing_of_that_name(); }"))
    assert done.returncode == 1 and "RuntimeError" in done.stderr and "nothing_of_that_name" in done.stderr


def test_what_the_chip_lets_pass_is_told_and_goes_on(library, tmp_path):
    """Silicon checks nothing: the operation ends, and the report names core, thread, line and count."""
    file = tmp_path / "out.json"
    program = launches(COPY.replace("    noc_async_write(l1", "    cb_pop_front(0, 1);\n    noc_async_write(l1"))
    done = library.run(program, options=("--json", str(file)))
    assert done.returncode == 0, done.stderr
    (one,) = json.loads(file.read_text())["oddities"]
    assert (one["kind"], one["thread"], one["count"], one["cores"]) == ("cb_underrun", "BRISC", 4, 4) and one[
        "line"
    ] > 0
    assert "odd, but the chip goes on: circular buffer 0 under-run: pop of 1 pages with 0 available" in done.stderr


def test_common_arguments_may_stand_where_unique_ones_begin(library):
    """A kernel without unique arguments has its common ones at offset 0, which a message also says for none at all."""
    each = """
    for number in range(4):
        device.run(cores, {0: text}, {0: {core: [0, to, 64 * number] for core in cores}}, buffers=[(2048, 2)], semaphores=[5, 6])
    """
    program = launches(COPY.replace("get_arg_val", "get_common_arg_val"), more=textwrap.dedent(each))
    done = library.run(program)
    assert done.returncode == 0, done.stderr


def test_a_kernel_may_have_more_arguments_than_the_host_api_takes(library):
    """The library bounds them by its kernel-configuration space alone: a reshard of small sticks has 346."""
    each = """
    for number in range(4):
        args, behind_the_texts = [0, to, 64 * number, *range(100, 597), 7], [0x600] * 5
        device.run(cores, {0: text}, {0: args}, [(2048, 2)], [5, 6], behind_the_texts)
    """
    last = COPY.replace("words[0] +=", "words[0] += get_arg_val<uint32_t>(500) - 7 +")
    done = library.run(launches(last, more=textwrap.dedent(each)))
    assert done.returncode == 0, done.stderr


def test_cores_without_arguments_find_zeros(library):
    """The library runs kernels on cores that it gives none, beside others: an expert remap on all, with tokens for four."""
    kernel = """
    void kernel_main() {
        if (get_arg_val<uint32_t>(0) == 9 && *reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(0)) == 1)
            cb_pop_front(7, 1);
    }
    """
    each = """
    kernel = ttnn.compiled(KERNEL, name="bounded")
    device.run(cores, {0: kernel}, {0: [9]}, semaphores=[0])
    device.run(cores, {0: kernel}, {0: {cores[0]: [8]}}, semaphores=[1])
    operation(tensor, 3)
    """
    done = library.run(launches(COPY, more=textwrap.dedent(each).replace("KERNEL", repr(kernel))))
    assert done.returncode == 0, done.stderr


def test_a_fault_is_an_error_of_the_operation_and_the_device_can_be_closed(library):
    program = launches(FAULT).replace(
        "operation(tensor, 3)",
        "try:\n    operation(tensor)\nexcept RuntimeError as error:\n    print(error)\n    device.close()\n    sys.exit(4)",
    )
    done = library.run(program)
    assert done.returncode == 4 and "circular buffer 7 is not configured" in done.stdout, done.stderr
    assert "Traceback" not in done.stderr


# --- ends


def processes_of(session):
    """The processes of a session, by id."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(name))
    return found


def wait_for(file, process):
    """Wait until a program has written a file."""
    while not file.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def ended(process):
    """(exit status, standard error) of a command that is about to end, which must leave nothing behind."""
    _, errors = process.communicate(timeout=30)
    assert processes_of(process.pid) == []
    return process.returncode, errors


@pytest.mark.parametrize("doing", ["thinks", "runs"])
def test_interrupts(library, tmp_path, doing):
    """Ctrl-C while the library thinks, and while a kernel runs."""
    if doing == "thinks":
        program = "import pathlib, time, ttnn\nttnn.open_device()\npathlib.Path('there').touch()\ntime.sleep(60)"
    else:
        program = launches(ENDLESS, more="open('there', 'w')\noperation(tensor)")
    process = library.start(program)
    wait_for(tmp_path / "there", process)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    status, errors = ended(process)
    said = [line for line in errors.splitlines() if line.startswith(("tensim:", "error:"))]
    assert status == 130 and all(" operations" in line for line in said), errors


@pytest.mark.parametrize(
    "end, status, says",
    [("sys.exit(5)", 5, ""), ("os.kill(os.getpid(), 11)", 139, "SIGSEGV"), ("1 / 0", 1, "ZeroDivision")],
)
def test_the_status_of_the_librarys_process_is_kept(library, end, status, says):
    """It leaves in the middle of writes, with the device open."""
    process = library.start(
        f"import os, sys, ttnn\ndevice = ttnn.open_device()\ndevice.write(0, 0, 64, bytes(10**6))\n{end}"
    )
    found, errors = ended(process)
    assert found == status and says in errors
    assert errors.count("Traceback") == (end == "1 / 0"), errors


GOES_AWAY = """
import os, pathlib, signal, time

signal.signal(signal.SIGTERM, signal.SIG_IGN)  # by which the system would end this process
watched = os.fork()
if watched == 0:
    import ttnn

    device = ttnn.open_device()
    pathlib.Path("there").touch()
    while not pathlib.Path("go").exists():
        time.sleep(0.02)
    device.read(0, 0, 0, 4)
    os._exit(0)
status = os.waitstatus_to_exitcode(os.waitpid(watched, 0)[1])
pathlib.Path("part").write_text(str(status))
os.rename("part", "status")
"""


def test_the_library_ends_when_the_simulator_goes_away(library, tmp_path):
    """Its next access ends it, with a status of its own."""
    process = library.start(GOES_AWAY)
    wait_for(tmp_path / "there", process)
    process.kill()
    (tmp_path / "go").touch()
    end = time.monotonic() + 30
    while processes_of(process.pid):
        assert time.monotonic() < end, "the library still runs"
        time.sleep(0.02)
    process.communicate()
    assert (tmp_path / "status").read_text() == "70"


def test_a_wrong_address_ends_both_with_one_line(library):
    process = library.start(
        "import ttnn\ndevice = ttnn.open_device()\ndevice.write(18, 18, 0x16E000, bytes(4))\ndevice.close()"
    )
    status, errors = ended(process)
    assert status == 2 and errors.splitlines()[-1].startswith("error: L1 access out of range"), errors
    assert errors.count("error:") == 1 and "Traceback" not in errors
