"""Several chips: G7-G9, G11 and T17-T20, T22, T26-T29 of docs/hardware/runtime.md#schedules-and-tests, with real tensors."""

import numpy as np
import pytest

from tensim.runtime import (
    ANY,
    Affinity,
    Binary,
    DType,
    Layout,
    MemSpace,
    Optimal,
    System,
    SystemConfig,
    Tensor,
    TensorDesc,
    register_alias,
    submit,
    to_layout,
    wait,
)
from tensim.runtime.errors import (
    AffinityConflict,
    DeviceConfigConflict,
    DeviceNotFound,
    LayoutMismatch,
    NoRoute,
    SpecSyntax,
)
from tensim.runtime.meshes import Replicate, Shard, distribute, gather
from tensim.runtime.systems import ChipConfig
from tensim.runtime.transfers import pin, transfer
from tensim.sim.errors import UsageError
from tensim.sim.host.topology import HOST, Link
from tests.runtime.programs import DRAM, adder, ideal, info, pair_program, vector

US = 1000
N = 8
BYTES = 1 << 20
BIG = TensorDesc((BYTES // 4,), DType.U32)


def linked(chips, links, **settings):
    """`chips` Wormholes joined by the given (source, target, us for BYTES); kind eth between chips, pcie to the host."""
    built = tuple(
        Link(src, dst, "pcie" if HOST in (src, dst) else "eth", BYTES / (us * US), 0.0) for src, dst, us in links
    )
    config = SystemConfig((ChipConfig("wormhole_b0"),) * chips, ideal=True, links=built, **settings)
    return System(config)


def both_ways(*ends, us):
    return [(*ends, us), (*reversed(ends), us)]


PIPE = [*both_ways(HOST, "chip0", us=20), *both_ways(HOST, "chip1", us=30), *both_ways("chip0", "chip1", us=25)]


def stage(us):
    """A program that is known by its time."""
    from tensim.runtime import ProgramInfo, Variant

    face = info("x", BIG), info("y", BIG)
    return Binary([ProgramInfo("stage", face[:1], face[1:], (Variant("host", function=lambda x: x, cost_ns=us * US),))])


def pipeline(route, wait_each=False):
    """Stage A of 100 us on chip 0, a transfer, stage B of 80 us on chip 1, with two buffers; us for N of them."""
    with linked(2, PIPE) as system:
        a, b = (system.open(f"sim://wormhole_b0[{n}]?cqs=2&timing=functional") for n in range(2))
        first, second = stage(100).bind(a), stage(80).bind(b)
        xs = [Tensor.empty(BIG, DRAM, a) for _ in range(2)]
        mids = [Tensor.empty(BIG, DRAM, a) for _ in range(2)]
        system.drain()
        begun = system.host_ns
        for n in range(N):
            done = first.submit(0, [xs[n % 2]], outputs=[mids[n % 2]], queue=1)
            if wait_each:
                wait(done)
            moved = transfer(mids[n % 2], b, route=route, queue=2)
            if wait_each:
                wait(moved)
            last = second.submit(0, [moved], queue=1)
            if wait_each:
                wait(last)
        system.drain()
        return (system.host_ns - begun) / US


def test_two_chips_overlap_over_ethernet():  # G7
    assert pipeline("eth") == N * 100 + 25 + 80 == 905


def test_two_chips_exchange_through_host_memory():  # G8
    assert pipeline("host") == N * 100 + 50 + 80 == 930


def test_waiting_after_every_step():  # G9
    assert pipeline("eth", wait_each=True) == N * 205 == 1640


def fan_out(execute_on):
    links = [end for n in (1, 2, 3) for end in both_ways("chip0", f"chip{n}", us=25)] + both_ways(HOST, "chip0", us=20)
    with linked(4, links) as system:
        chips = [system.open(f"sim://wormhole_b0[{n}]?cqs=1") for n in range(1)]
        chips += [system.open(f"sim://wormhole_b0[{n}]?cqs=1") for n in (1, 2, 3)]
        source = Tensor.empty(BIG, DRAM, chips[0])
        begun = system.host_ns
        copies = [transfer(source, chip, execute_on=execute_on) for chip in chips[1:]]
        wait([copy.event for copy in copies])
        return (system.host_ns - begun) / US, {span.device for span in system.spans if span.kind == "transfer"}


def test_pulling_uses_three_links_pushing_one_queue():  # G11
    assert fan_out("producer") == (75, {"sim://wormhole_b0[0]"})
    pulled, where = fan_out("consumer")
    assert pulled == 25 and len(where) == 3  # T28


def test_n300_reaches_its_second_chip_over_pcie_and_ethernet():  # T27
    with System("n300") as system:
        near, far = system.open("sim://wormhole_b0[0]"), system.open("sim://wormhole_b0[1]")
        values = vector(3)
        tensor = to_layout(Tensor.from_numpy(values), DRAM, far)
        np.testing.assert_array_equal(tensor.numpy(), values)
        kinds = [span.link.kind for span in system.topology.spans]
        assert kinds[:2] == ["pcie", "eth"]
        np.testing.assert_array_equal(transfer(tensor, near).numpy(), values)


def test_isolated_chips_have_no_route():  # T27
    links = [end for n in (0, 1) for end in both_ways(HOST, f"chip{n}", us=20)]
    with linked(2, links) as system:
        a, b = system.open("sim://wormhole_b0[0]"), system.open("sim://wormhole_b0[1]")
        tensor = Tensor.empty(BIG, DRAM, a)
        with pytest.raises(NoRoute, match="chip0 to chip1 via eth"):
            transfer(tensor, b, route="eth")
        assert b.memory_view()["DRAM"]["allocated"] == 0, "nothing is left allocated"
        assert transfer(tensor, b).device is b  # staged through the host


def test_a_binary_that_runs_where_its_tensors_are():
    """I11: a program bound to one chip leaves no span on another, but for transfers."""
    with ideal("n300") as system:
        a, b = (system.open(f"sim://wormhole_b0[{n}]") for n in range(2))
        x, y = (to_layout(Tensor.from_numpy(vector(seed)), DRAM, a) for seed in range(2))
        done = submit(b, adder(), 0, [transfer(x, b), transfer(y, b)])
        np.testing.assert_array_equal(done.outputs[0].numpy(), vector(0) + vector(1))
        with pytest.raises(LayoutMismatch, match="device: expected"):
            submit(b, adder(), 0, [x, y])
        assert {s.device for s in system.spans if s.kind == "program"} == {b.name}


def test_pin():
    with ideal("wormhole_b0,wormhole_b0") as system:
        a, b = (system.open(f"sim://wormhole_b0[{n}]") for n in range(2))
        tensor = Tensor.empty(BIG, DRAM, a)
        assert pin(tensor, Affinity(a)).placement.device is a
        with pytest.raises(AffinityConflict):
            pin(tensor, Affinity(b))


def test_optimal_placements():  # T26
    with ideal("wormhole_b0,wormhole_b0") as system:
        a, b = (system.open(f"sim://wormhole_b0[{n}]?cqs=1") for n in range(2))
        tensors = {d: [to_layout(Tensor.from_numpy(vector(s)), DRAM, d) for s in range(2)] for d in (a, b)}
        system.drain()
        either = (Affinity(a), Affinity(b))

        def placed(policy, on):
            binary = Binary([pair_program(placement=Optimal(either, policy))])
            return binary.bind(a).submit(0, tensors[on]).plan.device

        assert placed("first", a) is a
        busy = adder(cycles=50_000).bind(a).submit(0, tensors[a])
        assert placed("least_loaded", b) is b
        assert placed(lambda choices: choices[1], b) is b
        wait(busy)
        with pytest.raises(LayoutMismatch):
            placed("lowest_cost", b)  # chip 0 is free again and declared first


def test_specs_reach_their_devices():  # T17, T20
    with ideal("wormhole_b0,blackhole,wormhole_b0") as system:
        assert system.open("sim://wormhole_b0[1]").info.id == 2  # T19: an index counts matches
        assert system.open("#1").info.arch == "blackhole"
        devices = system.open_all("gpu=sim://blackhole[1],sim://wormhole_b0[1]; cpu=@gpu")
        assert devices["gpu"] is devices["cpu"] and devices.default is devices["gpu"]  # T18
        with pytest.raises(DeviceNotFound) as missing:
            system.open("sim://blackhole[3],sim://grayskull")
        for part in ("sim://blackhole[3]", "sim://grayskull", "sim://wormhole_b0[0]"):
            assert part in str(missing.value)
        with pytest.raises(SpecSyntax, match="column"):
            system.open("sim:/wormhole_b0")
        for described in system.list_devices():
            assert system.explain(described.spec).default == "device0"


def test_an_alias_carries_parameters():  # T22
    register_alias("two_queues_of_one", "sim://wormhole_b0?cqs=2", overwrite=True)
    with ideal() as system:
        assert len(system.open("two_queues_of_one?cqs=1").queues) == 1
    with pytest.raises(UsageError, match="two_queues_of_one"):
        register_alias("two_queues_of_one", "sim://blackhole")


def test_what_cannot_be_configured_is_refused():
    with ideal() as system:
        with pytest.raises(UsageError, match="harvest=3 is not modelled"):
            system.open("sim://wormhole_b0?harvest=3")


def test_one_device_with_one_configuration():
    with ideal() as system:
        device = system.open("sim://wormhole_b0?cqs=1")
        assert system.open("sim://wormhole_b0") is device
        assert system.open("sim://wormhole_b0?cqs=1") is device
        with pytest.raises(DeviceConfigConflict, match="cqs=2"):
            system.open("sim://wormhole_b0?cqs=2")
        with pytest.raises(DeviceConfigConflict, match="embedded"):
            system.open("embedded://wormhole_b0")


@pytest.mark.parametrize(("board", "shape"), [("n300", (1, 2)), ("t3000", (2, 2))])
@pytest.mark.parametrize(
    "placements", [(Replicate(), Replicate()), (Shard(0), Replicate()), (Replicate(), Shard(1)), (Shard(0), Shard(1))]
)
def test_spreading_and_gathering(board, shape, placements):  # T29
    values = np.arange(8 * 12, dtype=np.float32).reshape(8, 12)
    with ideal(board) as system:
        with system.open(f"sim://wormhole_b0?mesh={shape[0]}x{shape[1]}") as mesh:
            spread = distribute(Tensor.from_numpy(values), mesh, placements)
            assert {shard.device for shard in spread.shards} == set(mesh.devices)
            np.testing.assert_array_equal(gather(spread).numpy(), values)
            assert mesh.axes()[1] in ("line", "ring")


def test_uneven_dimensions():  # T29
    values = np.arange(7 * 3, dtype=np.float32).reshape(7, 3)
    with ideal("n300") as system, system.open("sim://wormhole_b0?mesh=1x2") as mesh:
        with pytest.raises(LayoutMismatch, match="cannot be cut into 2"):
            distribute(Tensor.from_numpy(values), mesh, [Replicate(), Shard(0)])
        spread = distribute(Tensor.from_numpy(values), mesh, [Replicate(), Shard(0, pad=True)])
        np.testing.assert_array_equal(gather(spread).numpy(), values)
        with mesh.submesh((1, 1), (0, 1)) as part:
            assert part.devices == mesh.devices[1:]
            with pytest.raises(UsageError, match="living submeshes"):
                mesh.close()
        with pytest.raises(UsageError, match="outside the mesh"):
            mesh.submesh((2, 2))


def test_layouts_on_the_way():
    with ideal("n300") as system:
        a, b = (system.open(f"sim://wormhole_b0[{n}]") for n in range(2))
        values = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
        x = to_layout(Tensor.from_numpy(values), Layout(MemSpace.DRAM, "tile"), a)
        y = transfer(x, b, layout=Layout(MemSpace.L1, "tile", dtype=DType.BF16), queue=ANY)
        assert (y.device, y.layout.space, y.dtype) == (b, MemSpace.L1, DType.BF16)
        np.testing.assert_array_equal(y.numpy().astype(np.float32), values.astype(y.numpy().dtype).astype(np.float32))


def test_a_transfer_has_the_layout_that_was_asked_for_though_it_only_moves_bytes():
    with ideal("n300") as system:
        a, b = (system.open(f"sim://wormhole_b0[{n}]") for n in range(2))
        x = to_layout(Tensor.from_numpy(vector(0)[:31]), Layout(MemSpace.DRAM, "tile", oob="zero"), a)
        anything = Layout(MemSpace.DRAM, "tile", oob="undef")
        y = transfer(x, b, layout=anything)
        assert y.layout == anything.resolved(x.desc) and y.layout != x.layout
        np.testing.assert_array_equal(y.numpy(), vector(0)[:31])
