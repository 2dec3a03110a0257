"""Light Metal files of meshes: routers start again, and every chip's program takes the cycles that it took."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import tensim as tt
from tensim.device import current_system
from tensim.examples.mesh_collectives import all_gather, reduce_scatter
from tensim.light_metal.replay import ReplayOptions
from tensim.running.replay import LightMetalReplay
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.errors import TensimWarning, UsageError
from tensim.sim.host import commands as c

MESHES = {
    "ring": {"board": "p150_x4", "links": 2, "ring": True},
    "part of a board": {"board": "t3k", "shape": (2, 2), "ring": True, "packet_bytes": 2048},
}


def replayed(binary):
    """(cycles, digest of the memory, what links carried) of a replay's chips."""
    replay = LightMetalReplay(binary)
    try:
        replay.execute()
        return _state(replay.chips, replay.fabric.link_utilization())
    finally:
        replay.close()


def _state(chips, links):
    return [program_cycles(chip) for chip in chips], [chip.memory.image_sha256() for chip in chips], links


@pytest.mark.parametrize("collective", [all_gather, reduce_scatter])
@pytest.mark.parametrize("opened", MESHES.values(), ids=MESHES)
def test_a_collective_operation_is_replayed(collective, opened):
    parts = [np.full((4 * 32, 64), chip, np.float32) for chip in range(4)]
    tt.light_metal_begin_capture()
    with tt.open_mesh_device(**opened) as mesh:
        collective(mesh, parts)
        binary = tt.light_metal_end_capture()
        live = _state([device.chip for device in mesh.devices], mesh.link_utilization())
    assert replayed(binary) == live
    assert any(row["packets"] for row in live[2])


def test_a_capture_may_begin_when_the_mesh_is_open():
    with tt.open_mesh_device("p150_x4", links=1, ring=True) as mesh:
        with tt.light_metal_capture() as captured:
            all_gather(mesh, [np.zeros((32, 32), np.float32)] * 4)
        live = _state([device.chip for device in mesh.devices], mesh.link_utilization())
    assert replayed(captured.binary) == live


def test_a_mesh_is_replayed_with_other_parameters_but_not_on_other_chips():
    with tt.open_mesh_device("p150_x2", links=1), tt.light_metal_capture() as captured:
        pass
    replay = LightMetalReplay(captured.binary, options=ReplayOptions(overrides={"ethernet.line_latency": 2000}))
    assert replay.run() and replay.warnings == []
    assert [item["parameter"] for item in replay.differs] == ["ethernet.line_latency"]
    replay = LightMetalReplay(captured.binary, options=ReplayOptions(arch="wormhole_b0"))
    assert not replay.run()
    assert "kernels know where its routers lie" in replay.error.message


def test_a_mesh_is_not_replayed_on_one_device():
    with tt.open_mesh_device("p150_x2", links=1), tt.light_metal_capture() as captured:
        pass
    with tt.create_device(0, arch="blackhole") as device:
        replay = LightMetalReplay(captured.binary, device)
        with pytest.warns(TensimWarning, match="captured on 2 devices"):
            assert not replay.run()
        assert isinstance(replay.error, UsageError)
        assert "captured on a mesh of 1x2 chips" in replay.error.message


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"shape": (2**32 - 1, 1)}, "a mesh of 4294967295x1 chips on a board of 1x2"),
        ({"shape": (0, 2)}, "a mesh of 0x2 chips"),
        ({"board": (1, 2, 2**32 - 1), "links": 2**32 - 1}, "4294967295 links between neighbours"),
        ({"configuration": ""}, "none of 1d, 2d"),
        ({"packet_bytes": 2**32 - 1}, "do not fit"),
        ({"ring": True}, "at least three chips"),
        ({"board": (2, 2, 4), "shape": (2, 2)}, "device 2 is not open"),
        ({"board": (1, 2, 16), "links": 16}, "a chip has 14 Ethernet tiles"),
    ],
)
def test_what_no_file_may_ask_for(changes, match):
    """And the devices can be closed, or get routers behind it, once."""
    start = c.StartFabric((1, 2), "1d", (1, 2, 4), 1, False, False, False, None, True)
    with tt.open_mesh_device("p150_x2", fabric=None), pytest.raises(UsageError, match=match):
        current_system().executor.submit(replace(start, **changes))
    with tt.open_mesh_device("p150_x2", links=1), pytest.raises(UsageError, match="run already"):
        current_system().executor.submit(start)


PROGRAM = '''
import numpy as np
from tensim.examples.mesh_collectives import all_gather
from tensim.examples.result import ExampleResult

MESH = {"board": "p150_x4", "links": 1, "ring": True}


def run(mesh, *, shape, dtype, fidelity, grid, rng):
    """Everybody gets all shards."""
    shards = [np.full((32, 32), chip, np.float32) for chip in range(4)]
    found = np.stack(all_gather(mesh, shards).values)
    return ExampleResult(np.stack([np.concatenate(shards)] * 4), found, 0.0, 0, found.nbytes, "all-gather")
'''


def test_a_program_of_a_mesh_is_captured_by_the_command(tmp_path):
    (tmp_path / "gather.py").write_text(PROGRAM)

    def tensim(*words):
        done = subprocess.run([sys.executable, "-m", "tensim", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    live = tensim("capture", "gather.py", "-o", "gather.lmb", "--json")
    again = tensim("replay", "gather.lmb", "--json")
    assert again["cycles"] == live["cycles"] == again["captured_cycles"]
    assert again["fabric"] == live["fabric"] and again["image_sha256"] == live["image_sha256"]
