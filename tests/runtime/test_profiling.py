"""`System.profile` (docs/hardware/runtime.md#hooks-timeline-recordings-and-command-line): T40."""

import numpy as np
import pytest

from tensim.runtime import Layout, MemSpace, System, Tensor, to_layout, wait
from tensim.sim.errors import UsageError

X = np.zeros((64, 64), np.float32)
DRAM = Layout(MemSpace.DRAM)


def work(system, device):
    """Host work, then on queue 0 an upload and a fill, on queue 1 a copy."""
    system.timeline_host.compute(500)
    x = to_layout(Tensor.from_numpy(X, name="x"), DRAM, device, queue=0b01)
    y = Tensor.empty(x.desc, DRAM, device, name="y")
    device.queues[0].fill(x, 7, label="fill x")
    wait(device.queues[1].copy(y, x, label="copy x y"))
    return x, y


@pytest.fixture
def device():
    with System() as system:
        yield system.open("sim://wormhole_b0?cqs=2")


def labels(spans):
    return [span.label for span in spans]


def test_families_are_filled_behind_the_block(device):
    system = device.system
    families = ("queue_events", "host", "dispatch", "memory", "counters")
    with system.profile(families=families) as profile:
        tensors = work(system, device)
    assert labels(profile.queue_events) == ["upload x", "fill x", "copy x y"]
    assert labels(profile.host) == ["host work"] and profile.host[0].end - profile.host[0].start == 500
    assert [row["label"] for row in profile.dispatch] == labels(profile.queue_events)
    assert all(row["wait_ns"] == row["start_ns"] - row["submit_ns"] >= 0 for row in profile.dispatch)
    pool = profile.memory[device.name]["DRAM"]
    assert pool["after"] - pool["before"] == device.memory_view()["DRAM"]["allocated"] - pool["before"] > 0
    assert profile.counters["sim.pcie.h2d_bytes"] == X.nbytes and profile.counters["host.prep_ns"] == 500
    assert profile.metadata["families"] == list(families) and len(tensors) == 2


def test_only_the_block_and_only_the_families_asked_for(device):
    work(device.system, device)
    with device.system.profile(families="dispatch") as profile:
        device.queues[0].barrier()
        device.synchronize()
    assert [row["label"] for row in profile.dispatch] == ["barrier", "record", "record"]
    assert (profile.queue_events, profile.host, profile.memory, profile.counters) == (None, None, None, None)


@pytest.mark.parametrize(
    "filters, kept",
    [
        ({"function": "*copy*"}, ["copy x y"]),
        ({"queue": 0}, ["upload x", "fill x"]),
        ({"queue": 1}, ["copy x y"]),
        ({"device": "sim://*"}, ["upload x", "fill x", "copy x y"]),
        ({"device": "host"}, ["host work"]),
        ({"function": "* x", "queue": 0}, ["upload x", "fill x"]),
        ({"function": "nothing"}, []),
    ],
)
def test_filters_reduce_spans_but_keep_metadata(device, filters, kept):  # T40
    with device.system.profile(filters=filters) as profile:
        work(device.system, device)
    spans = sorted([*profile.queue_events, *profile.host], key=lambda span: span.label != "host work")
    assert labels(spans) == kept
    assert profile.metadata["kept"] == len(kept) and profile.metadata["spans"] == 4
    assert profile.metadata["filters"] == filters and profile.metadata["devices"] == [device.name]


def test_a_device_filters_by_itself(device):
    with device.system.profile(filters={"device": device}) as profile:
        work(device.system, device)
    assert len(profile.queue_events) == 3 and profile.host == []


@pytest.mark.parametrize("arguments", [{"families": ("queue_events", "power")}, {"filters": {"colour": "red"}}])
def test_unsupported_arguments_are_refused(device, arguments):  # T40
    before = len(device.system.spans)
    with pytest.raises(UsageError, match="supported|no family|no filter"), device.system.profile(**arguments):
        pytest.fail("the block must not run")
    assert len(device.system.spans) == before


def test_a_profile_is_complete_when_the_block_fails(device):
    with pytest.raises(ZeroDivisionError), device.system.profile() as profile:
        work(device.system, device)
        1 / 0  # noqa: B018
    assert len(profile.queue_events) == 3
