"""`to_layout` on a simulated chip: T1-T3 of docs/hardware/runtime.md#functional-tests, through real buffers."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensim as tt
from tensim.runtime import (
    DType,
    Interleaved,
    Layout,
    MemSpace,
    Sharded,
    Tensor,
    plan_layout,
    to_layout,
    to_layout_into,
    wait,
)
from tensim.runtime.errors import CommandFailed, LayoutUnsupported
from tensim.runtime.planner import HOST
from tests.runtime.programs import ideal

GRID = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(1, 1))
SPACES = [MemSpace.DRAM, MemSpace.L1]
VALUES = np.arange(64 * 96, dtype=np.float32).reshape(64, 96) / 7
LAYOUTS = [
    *(Layout(space, tiling) for space in SPACES for tiling in ("row", "tile")),
    *(Layout(space, "tile", dtype=DType.BF16) for space in SPACES),
    Layout(MemSpace.DRAM, "tile", dtype=DType.BFP8),
    Layout(MemSpace.L1, "tile", distribution=Sharded("height", GRID, (32, 96))),
    Layout(MemSpace.L1, "tile", distribution=Sharded("width", GRID, (64, 32))),
    Layout(MemSpace.L1, "tile", distribution=Sharded("block", GRID, (32, 64))),
    Layout(MemSpace.L1, "row", distribution=Sharded("height", GRID, (16, 96))),
    Layout(MemSpace.L1, "tile", distribution=Sharded("nd", GRID, (32, 32))),
    Layout(MemSpace.HOST),
    Layout(MemSpace.HOST, "tile"),
]


@pytest.fixture(scope="module")
def device():
    with ideal() as system:
        yield system.open("sim://wormhole_b0")


def expected(first, second):
    """The values behind both stored types."""
    values = VALUES
    for layout in (first, second):
        if layout.dtype is DType.BF16:
            values = values.astype(ml_dtypes.bfloat16).astype(np.float32)
    return values


@settings(max_examples=60)
@given(first=st.sampled_from(LAYOUTS), second=st.sampled_from(LAYOUTS))
def test_every_pair_converts_on_real_buffers(device, first, second):  # T1, T2
    there = to_layout(Tensor.from_numpy(VALUES, system=device.system), first, device)
    then = to_layout(there, second, device)
    got = then.numpy().astype(np.float32)
    if DType.BFP8 in (first.dtype, second.dtype):
        step = np.abs(VALUES).max() / 64  # a block of 16 shares an exponent, 7 bits of magnitude
        assert np.abs(got - VALUES).max() <= step
    else:
        np.testing.assert_array_equal(got, expected(first, second))
    assert then.layout == second.resolved(then.desc)


@pytest.mark.parametrize("layout", LAYOUTS[:8], ids=str)
def test_the_same_layout_is_the_same_tensor(device, layout):  # T3
    there = to_layout(Tensor.from_numpy(VALUES, system=device.system), layout, device)
    wait(there)
    now = device.system.host_ns
    assert to_layout(there, layout, device) is there and plan_layout(there, layout).steps == ()
    assert device.system.host_ns == now


def test_a_bounce_may_be_forbidden(device):  # T2
    nd = replace(LAYOUTS[11], distribution=Sharded("nd", GRID, (32, 32)))
    there = to_layout(Tensor.from_numpy(VALUES.astype(ml_dtypes.bfloat16), system=device.system), nd, device)
    small = Layout(MemSpace.L1, "tile", tile=(16, 16))
    plan = plan_layout(there, small)
    assert plan.bounces and HOST in plan.route
    np.testing.assert_array_equal(to_layout(there, small).numpy(), VALUES.astype(ml_dtypes.bfloat16))
    before = device.memory_view()["L1"]["allocated"]
    with pytest.raises(LayoutUnsupported, match="needs the host"):
        to_layout(there, small, allow_host_bounce=False)
    assert device.memory_view()["L1"]["allocated"] == before


def test_padding_never_reaches_the_user(device):
    values = np.arange(33 * 31, dtype=np.float32).reshape(33, 31)
    for oob in ("undef", "zero", "one", "-inf"):
        tiles = to_layout(
            Tensor.from_numpy(values, system=device.system), Layout(MemSpace.DRAM, "tile", oob=oob), device
        )
        np.testing.assert_array_equal(tiles.numpy(), values)
    assert Interleaved() == tiles.layout.distribution


def test_retain_false_frees_the_source(device):
    first = to_layout(Tensor.from_numpy(VALUES, system=device.system), Layout(MemSpace.DRAM), device)
    second = to_layout(first, Layout(MemSpace.L1), retain=False)
    assert not first.is_allocated
    np.testing.assert_array_equal(second.numpy(), VALUES)


ODD = np.arange(33 * 70, dtype=np.uint32).reshape(33, 70)
UNEVEN = [  # memories that pad (33, 70) differently
    Layout(MemSpace.DRAM),
    Layout(MemSpace.DRAM, "tile"),
    Layout(MemSpace.L1, "tile", distribution=Sharded("height", GRID, (32, 96))),
    Layout(MemSpace.L1, "row", distribution=Sharded("width", GRID, (33, 32))),
    Layout(MemSpace.L1, "row", distribution=Sharded("block", GRID, (17, 40)), oob="one"),
    Layout(MemSpace.L1, "row", distribution=Sharded("nd", GRID, (11, 24))),
    Layout(MemSpace.DRAM, "row", dtype=DType.U16),
    Layout(MemSpace.HOST),
]


@pytest.fixture(scope="module")
def chips():
    with ideal("n300") as system:
        yield [system.open(f"sim://wormhole_b0[{n}]") for n in range(2)]


@pytest.mark.parametrize("second", UNEVEN, ids=str)
@pytest.mark.parametrize("first", UNEVEN, ids=str)
def test_every_pair_converts_between_chips(chips, first, second):
    there = to_layout(Tensor.from_numpy(ODD, system=chips[0].system), first, chips[1])
    then = to_layout(there, second, chips[0])
    assert then.device is (None if second.space.on_host else chips[0])
    np.testing.assert_array_equal(then.numpy(), ODD)
    np.testing.assert_array_equal(then.to_host().numpy(), ODD)
    if first.space == MemSpace.L1:
        into = Tensor.empty(then.desc, second, chips[0])
        to_layout_into(into, there)
        np.testing.assert_array_equal(into.numpy(), ODD)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
@pytest.mark.parametrize(
    ("shape", "kind", "shard"),
    [((31,), "width", (1, 4)), ((4, 30), "width", (4, 4)), ((2, 30), "block", (1, 4)), ((4, 30), "nd", (4, 4))],
)
def test_rows_that_shards_pad_come_back_without_padding(device, shape, kind, shard, dtype):
    values = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
    grid = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(7, 1))
    layout = Layout(MemSpace.L1, distribution=Sharded(kind, grid, shard))
    there = to_layout(Tensor.from_numpy(values, system=device.system), layout, device)
    np.testing.assert_array_equal(there.numpy(), values)
    np.testing.assert_array_equal(there.to_host().numpy(), values)


@pytest.mark.parametrize("stored", [DType.F32, DType.BF16, DType.BFP8])
@pytest.mark.parametrize("hazards", ["auto", "manual"])
def test_to_host_returns_at_once(stored, hazards):
    """Also where the host untilizes: the queue that reads does that, in the time of the host."""
    values, layout = np.ones((40, 40), np.float32), Layout(MemSpace.DRAM, "tile", dtype=stored)
    with ideal(hazards=hazards) as system:
        device = system.open("sim://wormhole_b0?cqs=2&timing=functional")
        there = to_layout(Tensor.from_numpy(values, system=system), layout, device, queue=1)
        slow = device.queues[0].host_call(lambda call: None, wait=[there])
        system.drain()
        go = system.new_timeline()
        begun = system.host_ns
        here = there.to_host(wait=[slow, go.at(1)])
        assert system.host_ns == begun and not here.event.done
        go.signal(1)
        np.testing.assert_array_equal(here.numpy(), values)


def test_a_failure_reaches_what_the_host_makes_of_a_download(device):
    there = to_layout(Tensor.from_numpy(VALUES, system=device.system), LAYOUTS[4], device)
    broken = device.queues[0].host_call(lambda call: 1 / 0)
    with pytest.raises(CommandFailed, match="ZeroDivisionError"):
        there.to_host(wait=[broken]).numpy()
