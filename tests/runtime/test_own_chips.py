"""A chip of one's own YAML: a file that was made on it needs the YAML no more."""

import os

import numpy as np
import pytest
import yaml

import tensim as tt
from tensim.light_metal.binary import verified
from tensim.light_metal.replay import ReplayOptions
from tensim.running.replay import LightMetalReplay
from tensim.runtime import Binary, System, Tensor, Variant, replay, submit, to_layout
from tensim.sim.chip.statistics import program_cycles
from tensim.traces.light_metal.read import described_chip
from tests.runtime.programs import DRAM, adder, build, pair_program, set_buffers, vector

SMALL = {"columns": {"value": [1, 2, 3, 4]}, "rows": {"value": [1, 2, 3, 4]}}
CHIPS = {
    "extends one of ours": {"name": "mine", "extends": "wormhole_b0", "noc": {"hop_cycles": {"value": 14}}},
    "has a board of its own": {
        "name": "mine",
        "extends": "wormhole_b0",
        "boards": {"default": "small", "small": SMALL},
    },
    "is called as one of ours": {
        "name": "wormhole_b0",
        "extends": "wormhole_b0",
        "boards": {"default": "s", "s": SMALL},
    },
    "has no ethernet": {"name": "old", "extends": "grayskull", "noc": {"hop_cycles": {"value": 14}}},
}


@pytest.fixture(params=CHIPS)
def chip(request, tmp_path):
    """The path of a YAML file."""
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(CHIPS[request.param]))
    return str(path)


def run(device):
    """An addition on words; returns the buffers."""
    buffers = [tt.create_buffer(tt.InterleavedBufferConfig(device=device, size=256, page_size=256)) for _ in range(3)]
    for seed, buffer in enumerate(buffers[:2]):
        tt.write_to_buffer(buffer, vector(seed))
    program = build(subtract=False)(device, buffers[:2], buffers[2:])
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    return buffers


def test_a_capture_replays_without_the_yaml(chip, tmp_path):
    device = tt.create_device(0, arch=chip)
    with tt.light_metal_capture() as captured:
        buffers = run(device)
    captured.binary.save_to_file(tmp_path / "run.bin")
    expected, arch = (program_cycles(device.chip), device.chip.memory.image_sha256()), device.chip.arch
    del buffers
    tt.close_device(device)
    os.remove(chip)
    carried = described_chip(verified(tmp_path / "run.bin").root.devices[0]).load()
    assert (carried.name, carried.board, carried.digest) == (arch.name, arch.board, arch.digest)
    replayed = LightMetalReplay(tmp_path / "run.bin")
    try:
        replayed.execute()
        found = replayed.devices[0].chip
        assert (program_cycles(found), found.memory.image_sha256()) == expected
    finally:
        replayed.close()


def test_a_changed_parameter_still_changes_a_replay(chip, tmp_path):
    device = tt.create_device(0, arch=chip)
    with tt.light_metal_capture() as captured:
        run(device)
    captured.binary.save_to_file(tmp_path / "run.bin")
    tt.close_device(device)
    os.remove(chip)
    replayed = LightMetalReplay(tmp_path / "run.bin", options=ReplayOptions(overrides={"noc.hop_cycles": 99}))
    try:
        replayed.execute()
        assert replayed.devices[0].chip.arch["noc.hop_cycles"] == 99
        assert [item["parameter"] for item in replayed.differs] == ["noc.hop_cycles"]
    finally:
        replayed.close()


def test_a_recording_replays_without_the_yaml(chip, tmp_path):
    with System(chip) as system:
        with system.record(tmp_path / "run.rec"):
            device = system.open("#0")
            pair = [to_layout(Tensor.from_numpy(vector(seed)), DRAM, device) for seed in range(2)]
            result = submit(device, adder(), 0, pair).outputs[0].numpy()
        spans = [span.key()[0:1] + span.key()[2:] for span in system.timeline()]
    os.remove(chip)
    again = replay(tmp_path / "run.rec")
    assert [span.key()[0:1] + span.key()[2:] for span in again.timeline()] == spans
    np.testing.assert_array_equal(np.frombuffer(again.reads[-1], np.uint32), result)


def test_a_saved_binary_runs_on_its_chip(chip, tmp_path):
    host_less = Binary([pair_program("add", variants=(Variant("sim", build(False), set_buffers(False)),))])
    host_less.save(tmp_path / "add.bin", architectures=[chip])
    loaded = Binary.load(tmp_path / "add.bin")
    with System(chip) as system:
        device = system.open("#0")
        pair = [to_layout(Tensor.from_numpy(vector(seed)), DRAM, device) for seed in range(2)]
        assert loaded.check(device).ok
        np.testing.assert_array_equal(submit(device, loaded, 0, pair).outputs[0].numpy(), vector(0) + vector(1))
