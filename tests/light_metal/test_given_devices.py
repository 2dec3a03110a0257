"""Replays on a device that is open already: as often as wanted, beside what lies there, on the chip that it is."""

import gc

import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.running.replay import LightMetalReplay
from tensim.sim.errors import TensimWarning
from tests.light_metal.programs import WORDS, copied, dram, opened, traced

# ruff: noqa: F405
POKED = 600_000


@pytest.fixture(scope="module")
def binary():
    """Eager runs, a trace, a semaphore, sub-devices."""
    with opened(trace_region_size=65536) as device, tt.light_metal_capture() as captured:
        queue = device.command_queue(0)
        semaphore = tt.create_global_semaphore(device, tt.CoreRange((0, 0), (1, 1)), 1)
        halves = [tt.SubDevice(tt.CoreRange((0, 0), (3, 7))), tt.SubDevice(tt.CoreRange((4, 0), (7, 7)))]
        device.create_sub_device_manager(halves)
        source, target, program = copied(device)
        trace = traced(device, program)
        tt.enqueue_write_buffer(queue, source, WORDS + 5)
        tt.replay_trace(device, 0, trace)
        tt.light_metal_compare_to_capture(queue, target)
        kept = source, target, program, semaphore
    yield captured.binary
    del kept


def in_use(device):
    return [device.allocated_bytes_per_bank(kind) for kind in (tt.BufferType.DRAM, tt.BufferType.L1)]


def test_one_replay_runs_many_times_on_an_open_device(binary):
    with opened(3, trace_region_size=65536) as device:
        mine = dram(device)
        tt.enqueue_write_buffer(device.command_queue(0), mine, WORDS * 3)
        before, replay = in_use(device), LightMetalReplay(binary, device=device)
        for _ in range(3):
            assert replay.run(), replay.error
            assert len(replay.compares) == 1 and in_use(device) == before and not device._state.traces
        assert tt.enqueue_read_buffer(device.command_queue(0), mine) == (WORDS * 3).tobytes()


def test_one_replay_runs_many_times_on_devices_of_its_own(binary):
    replay = LightMetalReplay(binary)
    for _ in range(2):
        assert replay.run() and len(replay.compares) == 1 and len(replay.chips) == 1
    replay.execute()
    replay.execute()
    assert len(replay.system.executor.devices) == 1
    replay.close()


def test_a_replay_that_is_dropped_gives_its_memory_back(binary):
    with opened(trace_region_size=65536) as device:
        replay = LightMetalReplay(binary, device=device)
        replay.execute()
        assert any(in_use(device))
        del replay
        gc.collect()
        assert not any(in_use(device))


def test_another_chip_is_said(binary):
    with opened(3, trace_region_size=65536, arch="grayskull") as device:
        replay = LightMetalReplay(binary, device=device)
        with pytest.warns(TensimWarning, match="captured on wormhole_b0, device 3 is a grayskull"):
            assert replay.run(), replay.error
        assert {"parameter": "name", "captured": "wormhole_b0", "replayed": "grayskull"} in replay.differs
        assert len(replay.warnings) == 1


def test_the_chip_of_the_capture_is_no_other(binary, recwarn):
    with opened(3, trace_region_size=65536) as device:
        replay = LightMetalReplay(binary, device=device)
        assert replay.run() and not replay.differs and not replay.warnings
    assert not [warning for warning in recwarn if warning.category is TensimWarning]


MY_CHIP = "name: mychip\nextends: wormhole_b0\nnoc:\n  hop_cycles: {value: 7}\n"


def test_a_chip_of_ones_own_is_in_the_file(tmp_path):
    """The YAML is not needed any more, and nothing of that name is opened."""
    file = tmp_path / "mychip.yaml"
    file.write_text(MY_CHIP)
    with opened(arch=str(file)) as device:
        with tt.light_metal_capture() as captured:
            copied(device)
        digest, cycle = device.arch.digest, device.chip.cycle
    file.unlink()
    replay = LightMetalReplay(captured.binary)
    replay.execute()
    assert replay.devices[0].arch.digest == digest and replay.devices[0].chip.cycle == cycle
    assert replay.devices[0].arch["noc.hop_cycles"] == 7 and not replay.differs
    assert replay.binary.root.devices[0].arch == 255
    replay.close()
    assert LightMetalReplay(captured.binary, options=tt.ReplayOptions(arch="blackhole")).run()


@kernel
def poke(x, y):
    noc_inline_dw_write(get_noc_addr(x, y, POKED), 7)
    noc_async_write_barrier()


def test_a_core_is_named_as_on_the_device_that_was_given():
    """Another device is open, on another chip: its cores have other places."""
    with tt.create_device(0, arch="blackhole") as device, tt.light_metal_capture() as captured:
        program = tt.create_program()
        handle = tt.create_kernel(program, poke, tt.CoreCoord(0, 0), tt.WriterDataMovementConfig())
        place = device.worker_core_from_logical_core(tt.CoreCoord(5, 5))
        tt.set_runtime_args(program, handle, tt.CoreCoord(0, 0), [place.x, place.y])
        tt.enqueue_program(device.command_queue(0), program, blocking=True)
    with tt.create_device(0, arch="wormhole_b0"), tt.create_device(1, arch="blackhole") as device:
        replay = LightMetalReplay(captured.binary, device=device)
        assert replay.run(), replay.error
        poked = device._state.worker(tt.CoreCoord(5, 5))
        assert device.chip.memory.read_l1(poked, POKED, 1) == bytes([7])
