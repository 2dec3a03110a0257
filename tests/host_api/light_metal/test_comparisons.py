"""Light Metal: comparisons, other ways to replay, and wrong use."""

# ruff: noqa: F403, F405
import gc

import numpy as np
import pytest

import tensim as tt
from tensim.device import current_system
from tensim.kernel_api import *
from tensim.light_metal.comparison import compare
from tensim.light_metal.replay import ReplayOptions
from tensim.running.replay import LightMetalReplay
from tensim.runtime import System
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tests.host_api.light_metal.capture import WORDS, check_replay, copy_program, dram, l1


def test_a_comparison_that_fails_tells_where(device):
    queue = device.command_queue(0)
    with tt.light_metal_capture() as captured:
        buffer = dram(device, 64, 64)
        tt.enqueue_write_buffer(queue, buffer, WORDS)
        golden = WORDS.copy()
        golden[[3, 9]] = 77
        tt.light_metal_compare_to_golden(queue, buffer, golden, name="words")
    replay = LightMetalReplay(captured.binary)
    assert replay.run() is False and replay.error is None
    (found,) = replay.compares
    assert found["name"] == "words" and found["mismatches"] == 2 and found["total"] == 16
    assert found["first"] == [[3, 77, 3], [9, 77, 9]]
    assert LightMetalReplay(captured.binary, options=ReplayOptions(check=False)).run()


def test_checking_can_be_switched_off_by_the_environment(device, monkeypatch):
    with tt.light_metal_capture() as captured:
        buffer = dram(device, 64, 64)
        tt.light_metal_compare_to_golden(device.command_queue(0), buffer, b"\1" * 64)
    assert LightMetalReplay(captured.binary).run() is False
    monkeypatch.setenv("TT_LIGHT_METAL_DISABLE_CHECKING", "1")
    assert LightMetalReplay(captured.binary).run() is True


def test_tolerances_and_figures_of_a_comparison():
    want = np.linspace(1, 2, 1024, dtype=np.float32)
    got = want.copy()
    got[5] += 0.5
    got[6] = np.nextafter(got[6], np.float32(9))
    record = c.CompareBuffer(0, 0, 0, want.tobytes(), "t", 0.01, 0.0, int(tt.DataFormat.Float32))
    found = compare(record, got.tobytes())
    assert found["mismatches"] == 1 and found["max_abs_error"] == pytest.approx(0.5)
    assert found["ulp_histogram"]["0"] == 1022 and found["ulp_histogram"]["1"] == 1 and 0.9 < found["pcc"] < 1


@pytest.mark.parametrize(
    "size, settings, says",
    [
        (4096, {"data_format": tt.DataFormat.Float32, "rtol": -1}, "rtol is -1"),
        (4096, {"data_format": tt.DataFormat.Float32, "rtol": float("nan")}, "rtol is nan"),
        (4096, {"data_format": tt.DataFormat.Float32, "atol": float("inf")}, "atol is inf"),
        (4096, {"rtol": 0.1}, "needs a data_format"),
        (3072, {"data_format": tt.DataFormat.Float16_b, "rtol": 0.1}, "3072 B are not whole tiles of Float16_b"),
    ],
)
def test_a_comparison_that_could_not_be_made_is_refused_in_the_capture(device, size, settings, says):
    with tt.light_metal_capture():
        buffer = dram(device, size, 1024)
        with pytest.raises(UsageError, match=says):
            tt.light_metal_compare_to_golden(device.command_queue(0), buffer, bytes(size), **settings)


def test_calls_for_a_buffer_reach_its_own_system(device):
    """A system of the runtime that opens meanwhile is the current one; the buffer stays where it is."""
    with tt.light_metal_capture() as captured:
        with System() as other:
            other.open("#0")
        buffer = dram(device, 64, 64)
        tt.write_to_buffer(buffer, WORDS)
        assert tt.read_from_buffer(buffer) == WORDS.tobytes()
        assert tt.light_metal_compare_to_capture(device.command_queue(0), buffer) == WORDS.tobytes()
    replay = LightMetalReplay(captured.binary)
    assert replay.run() and [found["passed"] for found in replay.compares] == [True]


def test_what_dies_of_an_older_system_is_not_captured():
    """Its host may be far ahead; Python lets go of its buffers whenever it likes."""
    older = tt.create_device(0)
    kept = dram(older, 64, 64)
    current_system().host.work(10**12)
    tt.finish(older.command_queue())
    tt.close_device(older)
    device = tt.create_device(0)
    try:
        queue = device.command_queue()
        with tt.light_metal_capture() as captured:
            source, target, scratch = dram(device, 64, 64), dram(device, 64, 64), l1(device, 64, 64)
            del kept
            gc.collect()
            program = copy_program(device, source.address, target.address, scratch.address)
            tt.enqueue_write_buffer(queue, source, WORDS)
            tt.enqueue_program(queue, program)
            tt.finish(queue)
        check_replay(device, captured.binary)
    finally:
        tt.close_device(device)


def test_a_binary_is_not_saved_as_a_folder(device, tmp_path):
    with tt.light_metal_capture() as captured:
        dram(device, 64, 64)
    for folder in (tmp_path, "."):
        with pytest.raises(UsageError, match="it is a directory"):
            captured.binary.save_to_file(folder)


def test_every_number_that_is_an_address_follows_its_buffer(device):
    """Replayed where other memory lies below, the buffers have other addresses and the result is the same."""
    queue = device.command_queue(0)
    with tt.light_metal_capture() as captured:
        source, target, scratch = dram(device, 64, 64), dram(device, 64, 64), l1(device, 64, 64)
        program = copy_program(device, source.address, target.address, scratch.address)
        tt.enqueue_write_buffer(queue, source, WORDS)
        tt.enqueue_program(queue, program)
        tt.light_metal_compare_to_golden(queue, target, WORDS)
    replay = LightMetalReplay(captured.binary, options=ReplayOptions(arch="blackhole"))
    assert replay.run(), replay.error
    assert {row["parameter"] for row in replay.differs} >= {"name", "clock.aiclk_mhz"}


def test_a_raw_address_is_refused_on_another_chip(device):
    queue = device.command_queue(0)
    with tt.light_metal_capture() as captured:
        source, target, scratch = dram(device, 64, 64), dram(device, 64, 64), l1(device, 64, 64)
        program = copy_program(device, int(source.address), target, scratch)
        tt.enqueue_program(queue, program)
    assert LightMetalReplay(captured.binary).run()
    replay = LightMetalReplay(captured.binary, options=ReplayOptions(arch="blackhole"))
    assert replay.run() is False
    assert "raw address 0x20 of buffer 0" in str(replay.error)


def test_other_inputs_and_kept_outputs(device, tmp_path):
    queue = device.command_queue(0)
    with tt.light_metal_capture() as captured:
        source, target, scratch = dram(device, 64, 64), dram(device, 64, 64), l1(device, 64, 64)
        tt.light_metal_name_buffer(target, "result")
        with pytest.raises(UsageError, match="cannot be a buffer's name"):
            tt.light_metal_name_buffer(source, "result")
        program = copy_program(device, source, target, scratch)
        tt.enqueue_write_buffer(queue, source, WORDS)
        tt.enqueue_program(queue, program)
        tt.finish(queue)
        del source, target, scratch, program
    out = tmp_path / "out.npy"
    options = ReplayOptions(bind={"0": (WORDS + 50).tobytes()}, save=(("result", str(out)),))
    replay = LightMetalReplay(captured.binary, options=options)
    replay.execute()
    replay.save_buffers()
    replay.close()
    assert np.array_equal(np.load(out).view(np.uint32), WORDS + 50)
    wrong = LightMetalReplay(captured.binary, options=ReplayOptions(bind={"0": b"abc"}))
    assert wrong.run() is False and "takes 64 B" in str(wrong.error)


def test_two_binaries_side_by_side(device):
    binaries = []
    for value in (3, 4):
        with tt.light_metal_capture() as captured:
            buffer = dram(device, 64, 64)
            tt.enqueue_write_buffer(device.command_queue(0), buffer, WORDS * value)
            tt.light_metal_compare_to_capture(device.command_queue(0), buffer)
            tt.deallocate_buffer(buffer)
        binaries.append(captured.binary)
    replays = [LightMetalReplay(binary) for binary in binaries]
    for replay in replays:
        replay.execute()
    assert [item["passed"] for replay in replays for item in replay.compares] == [True, True]
    for replay in replays:
        replay.close()


def test_begin_twice_end_without_begin_and_foreign_objects(device):
    early = dram(device, 64, 64)
    with pytest.raises(UsageError, match="no Light Metal capture"):
        tt.light_metal_end_capture()
    tt.light_metal_begin_capture()
    with pytest.raises(UsageError, match="already in progress"):
        tt.light_metal_begin_capture()
    with pytest.raises(UsageError, match="created before the capture began"):
        tt.enqueue_write_buffer(device.command_queue(0), early, bytes(64))
    assert tt.light_metal_end_capture().size() > 0


def test_an_error_in_the_block_ends_the_capture(device):
    with pytest.raises(ZeroDivisionError), tt.light_metal_capture():
        raise ZeroDivisionError
    tt.light_metal_begin_capture()
    tt.light_metal_end_capture()


def test_files(device, tmp_path):
    with tt.light_metal_capture() as captured:
        dram(device, 64, 64)
    path = tmp_path / "one.bin"
    captured.binary.save_to_file(path)
    assert LightMetalReplay(str(path)).run()
    empty = tmp_path / "empty.bin"
    empty.write_bytes(b"")
    for wrong in (empty, tmp_path / "missing.bin"):
        with pytest.raises(UsageError):
            LightMetalReplay(str(wrong))
    with pytest.raises(UsageError, match="empty"):
        tt.LightMetalBinary().save_to_file(path)


def test_a_buffer_that_lies_elsewhere_is_noticed(device, monkeypatch):
    with tt.light_metal_capture() as captured:
        dram(device, 64, 64)
    monkeypatch.setattr(LightMetalReplay, "_open_devices", _with_a_buffer_first(LightMetalReplay._open_devices))
    replay = LightMetalReplay(captured.binary)
    assert replay.run() is False
    assert replay.error.kind == "placement" and "when it was captured it lay at" in str(replay.error)


def _with_a_buffer_first(open_devices):
    def opened(replay):
        open_devices(replay)
        replay.system.executor.submit(c.CreateBuffer(0, 10**9, 64, 64, 0, 0))

    return opened
