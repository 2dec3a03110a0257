"""A mesh of chips as a device: programs that run on every chip, queues, opening it again."""

import numpy as np
import pytest

from tensim.runtime import (
    Binary,
    Layout,
    MemSpace,
    Promise,
    Replicate,
    Shard,
    ShardedTensor,
    Tensor,
    TensorDesc,
    distribute,
    evaluate,
    gather,
    submit,
    to_layout,
    wait,
)
from tensim.runtime.errors import BinaryIncompatible, LayoutMismatch
from tensim.sim.errors import UsageError
from tests.runtime.programs import COUNT, DESC, DRAM, adder, ideal, info, pair_program, vector

A, B = (np.concatenate([vector(2 * n), vector(2 * n + 1)]) for n in range(2))
HALVES = [Replicate(), Shard(0)]


@pytest.fixture
def system():
    with ideal("n300") as system:
        yield system


@pytest.fixture
def mesh(system):
    return system.open("n300")


def spread(mesh, values, placements=HALVES):
    return distribute(Tensor.from_numpy(values, system=mesh.system), mesh, placements)


def test_a_program_runs_on_every_chip_on_its_parts(mesh):
    done = submit(mesh, adder(), 0, [spread(mesh, A), spread(mesh, B)])
    wait(done)
    (out,) = done.outputs
    assert (out.desc.shape, out.placements) == ((2 * COUNT,), tuple(HALVES))
    assert [shard.device for shard in out.shards] == mesh.devices
    np.testing.assert_array_equal(out.numpy(), A + B)
    assert [plan.device for plan in done.plan] == mesh.devices


def test_whole_tensors_go_to_every_chip_when_asked_for(mesh):
    whole = Tensor.from_numpy(vector(0), system=mesh.system)
    with pytest.raises(LayoutMismatch, match="input a: expected a tensor spread over mesh 1x2") as refused:
        submit(mesh, adder(), 0, [whole, whole])
    assert "distribute(tensor, mesh, placements)" in refused.value.hint
    out = submit(mesh, adder(), 0, [whole, whole], layouts="convert").outputs[0]
    assert out.placements == (Replicate(), Replicate())
    for shard in out.shards:
        np.testing.assert_array_equal(shard.numpy(), 2 * vector(0))


def test_outputs_are_written_in_place(mesh):
    shards = [Tensor.empty(DESC, DRAM, device) for device in mesh.devices]
    out = ShardedTensor(TensorDesc((2 * COUNT,), DESC.dtype), mesh, HALVES, shards)
    assert submit(mesh, adder(), 0, [spread(mesh, A), spread(mesh, B)], outputs=[out]).outputs == [out]
    np.testing.assert_array_equal(gather(out).numpy(), A + B)


def test_a_promise_may_be_a_mesh(system, mesh):
    devices = system.open_all("both=n300")
    assert devices["both"] is mesh
    binary = Binary([pair_program(placement=Promise("both"), inputs=(info("a", placement=Promise("both")), info("b")))])
    np.testing.assert_array_equal(
        submit(devices, binary, 0, [spread(mesh, A), spread(mesh, B)]).outputs[0].numpy(), A + B
    )


def test_binaries_stay_loaded(mesh):
    binary = adder()
    assert mesh.load(binary) is mesh.load(binary)
    mesh.unload(binary)
    with pytest.raises(UsageError, match="is not loaded"):
        mesh.unload(binary)


def test_queues_of_a_mesh_are_those_of_its_chips(mesh):
    x = spread(mesh, A)
    first, second = mesh.queues
    event = first.record()
    second.wait_for(event)
    wait([event, second.barrier(), mesh.record_event(1)])
    mesh.synchronize()
    assert all(shard.event.done for shard in x.shards)
    assert list(mesh.memory_view()) == [device.name for device in mesh.devices]


def test_one_spec_opens_one_mesh_again(system, mesh):
    assert system.open("n300") is mesh and system.open("sim://wormhole_b0?mesh=1x2&cqs=2") is mesh
    assert [system.open(f"sim://wormhole_b0[{n}]") for n in range(2)] == mesh.devices
    mesh.close()
    again = system.open("n300")
    assert again is not mesh and not set(again.devices) & set(mesh.devices)


@pytest.mark.parametrize("shape", [(2, 4), (1, 2)])
def test_a_program_for_another_mesh_is_refused(mesh, shape):
    binary = Binary([pair_program(mesh_shape=shape)])
    devices = [mesh.devices[0]] if shape == (1, 2) else [mesh, mesh.devices[0]]
    for device in devices:
        with pytest.raises(BinaryIncompatible, match=f"for a mesh of {shape[0]}x{shape[1]} chips"):
            binary.bind(device)


def test_a_mesh_holds_no_tensor_as_a_whole(mesh):
    x = Tensor.from_numpy(vector(0), system=mesh.system)
    for attempt in (lambda: to_layout(x, DRAM, mesh), lambda: Tensor.empty(DESC, Layout(MemSpace.L1), mesh)):
        with pytest.raises(UsageError, match="holds tensors in parts only") as refused:
            attempt()
        assert "distribute" in refused.value.hint
    with pytest.raises(UsageError, match="on one device"):
        evaluate((adder().bind(mesh), 0), [vector(0), vector(1)])
