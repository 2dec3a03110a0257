"""What a capture holds: everything that happened in it, nothing from before it, or an error where that cannot be."""

import subprocess
import sys

import numpy as np
import pytest

import tensim as tt
from tensim.light_metal.binary import verified
from tensim.running.replay import LightMetalReplay
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.errors import ProgramError, UsageError
from tensim.traces.flatbuffers.tables import used_bytes
from tests.light_metal.programs import WORDS, copied, copier, dram, l1, opened, traced


def state(device):
    return program_cycles(device.chip), device.chip.cycle, device.chip.memory.image_sha256()


def check_identical(device, binary):
    replay = LightMetalReplay(binary)
    try:
        replay.execute()
        assert state(replay.devices[0]) == state(device)
        assert all(found["passed"] for found in replay.compares)
    finally:
        replay.close()


def test_programs_behind_a_trace_that_failed_are_in_the_file():
    """The trace region is too small; what the program does instead replays to the cycle."""
    with opened(trace_region_size=0) as device:
        queue = device.command_queue(0)
        with tt.light_metal_capture() as captured:
            source, target, program = copied(device)
            with pytest.raises(ProgramError, match="trace"):
                traced(device, program)
            tt.enqueue_write_buffer(queue, source, WORDS + 1)
            tt.enqueue_program(queue, program)
            assert tt.light_metal_compare_to_capture(queue, target) == (WORDS + 1).tobytes()
            tt.finish(queue)
        check_identical(device, captured.binary)


def test_programs_behind_a_device_that_was_closed_while_tracing_are_in_the_file():
    device = tt.create_device(0, trace_region_size=65536)
    with tt.light_metal_capture() as captured:
        _, _, program = copied(device)
        tt.begin_trace_capture(device, 0)
        tt.enqueue_program(device.command_queue(0), program)
        tt.close_device(device)
        with opened() as device:
            queue, source, target = device.command_queue(0), dram(device), dram(device)
            tt.enqueue_write_buffer(queue, source, WORDS)
            tt.enqueue_program(queue, copier(source, target))
            assert tt.light_metal_compare_to_capture(queue, target) == WORDS.tobytes()
    replay = LightMetalReplay(captured.binary)
    assert replay.run(), replay.error or replay.compares


def test_calls_that_fail_leave_their_time():
    with opened() as device:
        queue = device.command_queue(0)
        with tt.light_metal_capture() as captured:
            source, _, program = copied(device)
            for _ in range(3):
                with pytest.raises(UsageError):
                    tt.enqueue_write_buffer(queue, source, bytes(99999))
                with pytest.raises(ProgramError):
                    dram(device, 1 << 40)
            tt.enqueue_program(queue, program)
            tt.finish(queue)
        check_identical(device, captured.binary)


def test_recorded_cycles_are_those_of_the_capture():
    with opened() as device:
        copied(device)
        before = program_cycles(device.chip)
        with tt.light_metal_capture() as captured:
            copied(device)
        assert verified(captured.binary).root.cycles == program_cycles(device.chip) - before


def test_cycles_of_devices_that_were_closed_count():
    with opened(0) as first, tt.light_metal_capture() as captured:
        with opened(1) as second:
            copied(second)
            cycles = program_cycles(second.chip)
        copied(first)
    assert verified(captured.binary).root.cycles == cycles + program_cycles(first.chip) > cycles


def test_a_capture_that_begins_before_the_first_device_follows_it():
    """The process has run another device before, so its system is replaced."""
    with opened() as device:
        copied(device)
    with tt.light_metal_capture() as captured:
        device = tt.create_device(0)
        kept = copied(device)
    assert verified(captured.binary).root.cycles == program_cycles(device.chip) > 0
    check_identical(device, captured.binary)
    del kept
    tt.close_device(device)


@pytest.fixture
def older():
    """(device, source, target, program, trace, semaphore) of before the capture."""
    with opened(trace_region_size=65536, l1_small_size=1024) as device:
        source, target, program = copied(device)
        semaphore = tt.create_global_semaphore(device, tt.CoreRange((0, 0), (1, 1)), 1)
        yield device, source, target, program, traced(device, program), semaphore


USES = {
    "write": lambda d, s, t, p, tr, g: tt.enqueue_write_buffer(d.command_queue(0), s, WORDS),
    "read": lambda d, s, t, p, tr, g: tt.enqueue_read_buffer(d.command_queue(0), s),
    "program": lambda d, s, t, p, tr, g: tt.enqueue_program(d.command_queue(0), p),
    "arguments": lambda d, s, t, p, tr, g: tt.set_runtime_args(p, p.handle, tt.CoreCoord(0, 0), [s, t, 1]),
    "argument": lambda d, s, t, p, tr, g: tt.set_runtime_args(
        (q := copier(0, 0)), q.handle, tt.CoreCoord(0, 0), [s, t, 1]
    ),
    "deallocation": lambda d, s, t, p, tr, g: tt.deallocate_buffer(s),
    "semaphore": lambda d, s, t, p, tr, g: g.reset_semaphore_value(3),
    "comparison": lambda d, s, t, p, tr, g: tt.light_metal_compare_to_capture(d.command_queue(0), t),
    "golden comparison": lambda d, s, t, p, tr, g: tt.light_metal_compare_to_golden(d.command_queue(0), t, WORDS),
    "name": lambda d, s, t, p, tr, g: tt.light_metal_name_buffer(t, "target"),
    "trace": lambda d, s, t, p, tr, g: tt.replay_trace(d, 0, tr, True),
}


@pytest.mark.parametrize("use", USES)
def test_what_is_older_is_refused_where_it_is_used(older, use):
    device = older[0]
    time, allocated = device.system.host.now_fs, older[1].is_allocated
    with (
        tt.light_metal_capture(),
        pytest.raises(UsageError, match="created before the capture began|was captured before"),
    ):
        USES[use](*older)
    if use != "argument":  # the call itself was not carried out
        assert device.system.host.now_fs == time
    assert older[1].is_allocated == allocated


@pytest.mark.parametrize("make", [dram, lambda d: tt.create_global_semaphore(d, tt.CoreRange((0, 0), (1, 1)), 1)])
def test_an_allocation_beside_what_is_older_is_refused(older, make):
    """Where it lies depends on memory that the file does not know."""
    device = older[0]
    with tt.light_metal_capture(), pytest.raises(UsageError, match="still holds .*, allocated before the capture"):
        make(device)


def test_memory_that_was_freed_or_is_of_another_kind_does_not_matter():
    with opened() as device:
        kept, freed = dram(device), l1(device)
        del freed
        with tt.light_metal_capture() as captured:
            copy = l1(device)
            tt.enqueue_write_buffer(device.command_queue(0), copy, WORDS)
        assert LightMetalReplay(captured.binary).run()
        del kept, copy


PROGRAM = """
import hashlib
import tensim as tt
from tests.light_metal.programs import *
device = tt.create_device(0, trace_region_size=65536)
with tt.light_metal_capture() as captured:
    source, target, program = copied(device)
    tt.create_semaphore(program, tt.CoreRangeSet([tt.CoreRange((0, 0), (1, 1)), tt.CoreRange((4, 4), (5, 5))]), 1)
    config = tt.CircularBufferConfig(2048, {i: tt.DataFormat.UInt32 for i in (7, 3, 5)})
    for i in (7, 3, 5):
        config.set_page_size(i, 2048)
    tt.create_circular_buffer(program, tt.CoreRange((0, 0), (2, 2)), config)
    settings = tt.WriterDataMovementConfig(defines={"B": "1", "A": "2"}, named_compile_args={"z": 1, "y": 2})
    handle = tt.create_kernel(program, copy_pages, tt.CoreCoord(0, 0), settings)
    tt.set_runtime_args(program, handle, tt.CoreCoord(0, 0), [source, target, 0])
    tt.enqueue_program(device.command_queue(0), program)
    traced(device, program)
    halves = [tt.SubDevice(tt.CoreRange((0, 0), (3, 7))), tt.SubDevice(tt.CoreRange((4, 0), (7, 7)))]
    device.create_sub_device_manager(halves)
print(hashlib.sha256(captured.binary.get_data()).hexdigest())
"""


def test_the_bytes_do_not_depend_on_the_hash_seed(monkeypatch):
    found = set()
    for seed in ("1", "2", "3"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


def test_switched_off_nothing_happens(monkeypatch, tmp_path):
    monkeypatch.setenv("TENSIM_LIGHT_METAL", "0")
    path = tmp_path / "capture.bin"
    with opened() as device:
        with pytest.warns(UserWarning, match="switched off"), tt.light_metal_capture() as captured:
            buffer = dram(device)
            tt.light_metal_name_buffer(buffer, "name")
            tt.light_metal_compare_to_golden(device.command_queue(0), buffer, WORDS)
        with pytest.warns(UserWarning, match="is not written"):
            captured.binary.save_to_file(path)
    assert not path.exists()


def test_no_memory_of_the_process_gets_into_a_file():
    """Between the fields of structs lie zeros: kinds of references and tile flags are single bytes."""
    with opened() as device, tt.light_metal_capture() as captured:
        source, target, program = copied(device)
        for _ in range(20):
            tt.set_runtime_args(program, program.handle, tt.CoreCoord(0, 0), [source, target, 8])
        tiled = tt.CircularBufferConfig(2048, {7: tt.DataFormat.Float16_b}).set_page_size(7, 1024)
        tt.create_circular_buffer(program, tt.CoreCoord(0, 0), tiled.set_tile_dims(7, tt.Tile((32, 16))))
        del source, target, program
    nodes = list(verified(captured.binary).nodes())
    vectors = [node.references for node in nodes if node.table == "SetRuntimeArgsUint32Command"]
    vectors += [node.config.tiles for node in nodes if node.table == "CreateCircularBufferCommand"]
    vectors = [vector for vector in vectors if vector is not None and len(vector)]
    assert len(vectors) > 20
    for vector in vectors:
        rows = vector.view(f"V{vector.dtype.itemsize}")
        for row in rows:
            raw = np.frombuffer(row.tobytes(), np.uint8)
            assert not raw[~used_bytes(vector.dtype)].any()
