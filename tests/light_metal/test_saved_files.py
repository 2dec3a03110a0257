"""Files on disk: what was read and verified is what runs, whatever happens to the file; names that the user gives exist."""

import contextlib
import os

import numpy as np
import pytest

import tensim as tt
from tensim.light_metal.replay import ReplayOptions
from tensim.running.differences import differences
from tensim.running.replay import LightMetalReplay
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.errors import UsageError
from tensim.traces.light_metal.verify import open_verified
from tests.light_metal.programs import WORDS, copied, dram, opened


def captured(**settings):
    with opened() as device, tt.light_metal_capture(**settings) as capture:
        source, target, program = copied(device)
        tt.light_metal_name_buffer(target, "out")
        tt.light_metal_compare_to_capture(device.command_queue(0), target)
        del source, target, program
    return capture.binary


@pytest.fixture(scope="module")
def binary():
    return captured()


def test_a_file_is_saved_over_itself(binary, tmp_path):
    path = tmp_path / "x.bin"
    binary.save_to_file(path)
    tt.LightMetalBinary.load_from_file(path).save_to_file(path)
    assert path.read_bytes() == bytes(binary.get_data()) and os.listdir(tmp_path) == ["x.bin"]
    assert LightMetalReplay(path).run()


@pytest.mark.parametrize("harm", ["cut", "emptied", "overwritten", "removed"])
def test_what_happens_to_a_file_after_it_was_read_does_not_matter(binary, tmp_path, harm):
    path = tmp_path / "x.bin"
    binary.save_to_file(path)
    replay = LightMetalReplay(path)
    if harm == "removed":
        path.unlink()
    else:
        os.truncate(path, {"cut": 100, "emptied": 0, "overwritten": 0}[harm])
        path.write_bytes(b"\xff" * 5000 if harm == "overwritten" else path.read_bytes())
    assert replay.run() and len(replay.compares) == 1


def test_a_file_that_cannot_be_written_leaves_the_old_one(binary, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(UsageError, match="cannot write"):
        binary.save_to_file(folder)
    assert os.listdir(tmp_path) == ["folder"]


def test_bytes_that_change_after_they_were_verified_do_not_matter(binary):
    data = bytearray(binary.get_data())
    replay = LightMetalReplay(data)
    data[:] = bytes(len(data))
    assert replay.run()


@pytest.mark.parametrize("nothing", [None, 5, [1, 2, 3]])
def test_what_is_no_binary_is_refused(nothing):
    with pytest.raises(UsageError, match="is not a Light Metal binary"):
        LightMetalReplay(nothing)


def test_words_are_bytes_too(binary):
    data = bytes(binary.get_data())
    words = np.frombuffer(data + bytes(-len(data) % 4), np.uint32)
    assert len(words) and LightMetalReplay(np.frombuffer(data, np.uint8)).run()
    with pytest.raises(UsageError, match="hash") if len(data) % 4 else contextlib.nullcontext():
        assert LightMetalReplay(words).run()


def test_only_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, "a\0"):
        with pytest.raises(UsageError, match="cannot read"):
            tt.LightMetalBinary.load_from_file(path)


@pytest.mark.parametrize(
    "settings", [{"bind": {"nonsense": b"1"}}, {"save": (("nonsense", "x.npy"),)}, {"bind": {"77": b"1"}}]
)
def test_names_that_are_not_there_are_refused_before_anything_runs(binary, settings):
    replay = LightMetalReplay(binary, options=ReplayOptions(**settings))
    assert replay.run() is False and not replay.devices
    assert "the binary has no buffer" in str(replay.error) and "out" in replay.error.hint


def test_an_array_is_bound_as_its_bytes(binary, tmp_path):
    file = tmp_path / "out.npy"
    options = ReplayOptions(bind={"0": WORDS * 3}, save=(("out", str(file)),), check=False)
    replay = LightMetalReplay(binary, options=options)
    replay.execute()
    replay.save_buffers()
    replay.close()
    assert np.array_equal(np.load(file).view(np.uint32), WORDS * 3)


def test_packed_and_plain_data_are_equal(binary):
    found = differences(open_verified(binary.get_data()), open_verified(captured(compress=True).get_data()))
    assert found["differences"] == [] and found["cycles"][0] == found["cycles"][1]


def test_other_data_is_a_difference(binary):
    with opened() as device, tt.light_metal_capture(compress=True) as capture:
        buffer = dram(device)
        for factor in (1, 2):
            tt.enqueue_write_buffer(device.command_queue(0), buffer, WORDS * factor)
        del buffer
    first = open_verified(capture.binary.get_data())
    with opened() as device, tt.light_metal_capture() as capture:
        buffer = dram(device)
        for factor in (1, 3):
            tt.enqueue_write_buffer(device.command_queue(0), buffer, WORDS * factor)
        del buffer
    (row,) = differences(first, open_verified(capture.binary.get_data()))["differences"]
    assert row["index"] == 2 and row["field"] == "src"


def test_golden_comparisons_take_no_time():
    """Between programs that follow each other at once; the buffer is looked at when those before have ended."""
    results = []
    for golden in (False, True):
        with opened() as device:
            queue = device.command_queue(0)
            with tt.light_metal_capture() as capture:
                source, target, program = copied(device)
                for factor in (2, 3, 4):
                    tt.enqueue_write_buffer(queue, source, WORDS * factor)
                    tt.enqueue_program(queue, program)
                    if golden:
                        tt.light_metal_compare_to_golden(queue, target, WORDS * factor, name=f"{factor}")
                    tt.enqueue_program(queue, program)
                tt.finish(queue)
            live = program_cycles(device.chip), device.chip.cycle, device.chip.memory.image_sha256()
            replay = LightMetalReplay(capture.binary)
            replay.execute()
            chip = replay.devices[0].chip
            results.append((program_cycles(chip), chip.cycle, chip.memory.image_sha256()))
            assert results[-1] == live
            assert [found["passed"] for found in replay.compares] == [True] * (3 * golden)
            replay.close()
            del source, target, program
    assert results[0] == results[1]
