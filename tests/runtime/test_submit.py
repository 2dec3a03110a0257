"""Binaries, tensors and submits: T5-T7, T14-T16, T24, T30, T35, T38, T41, T42 of docs/hardware/runtime.md#functional-tests."""

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensim.runtime import (
    Binary,
    DType,
    Layout,
    MemSpace,
    Promise,
    System,
    Tensor,
    TensorDesc,
    Variant,
    allocate_input_tensor,
    allocate_output_tensor,
    submit,
    to_layout,
    wait,
)
from tensim.runtime.errors import (
    CommandFailed,
    EmbeddedTransfer,
    LayoutMismatch,
    NoVariant,
    OutOfDeviceMemory,
    PrivateProgram,
    RetainedTensor,
    TraceStale,
    UnresolvedPromise,
    UseAfterDonate,
    UseAfterFree,
)
from tensim.sim.errors import UsageError
from tests.runtime.programs import COUNT, DESC, DRAM, adder, ideal, info, pair_program, subtracter, vector


@pytest.fixture
def system():
    with ideal() as system:
        yield system


@pytest.fixture
def device(system):
    return system.open("sim://wormhole_b0?cqs=2&trace_region=1048576")


def on_device(device, values):
    return to_layout(Tensor.from_numpy(values, system=device.system), DRAM, device)


def test_two_binaries_stitched_on_the_device(system, device):  # T5
    a, b, c = (vector(seed) for seed in range(3))
    x, y, z = (on_device(device, values) for values in (a, b, c))
    first = submit(device, adder(), "add", [x, y])
    before = len(system.spans)
    second = submit(device, subtracter(), "sub", [first.outputs[0], z])
    assert [span.kind for span in system.spans[before:]] == ["program"], "nothing goes through the host"
    np.testing.assert_array_equal(second.outputs[0].numpy(), a + b - c)
    assert second.event.t_start >= first.event.t_end


def test_a_layout_that_does_not_fit(system, device):  # T6
    l1 = on_device(device, vector(0))
    l1 = to_layout(l1, Layout(MemSpace.L1))
    y = on_device(device, vector(1))
    with pytest.raises(LayoutMismatch, match="space: expected MemSpace.DRAM, found MemSpace.L1") as refused:
        submit(device, adder(), 0, [l1, y])
    assert "to_layout(tensor, binary.layout(program, 0), device)" in refused.value.hint
    done = submit(device, adder(), 0, [l1, y], layouts="convert")
    ((name, plan),) = done.plan.conversions
    assert name == "a" and len(plan.steps) == 1 and plan.steps[0].op == "copy"
    np.testing.assert_array_equal(done.outputs[0].numpy(), vector(0) + vector(1))


@pytest.mark.parametrize(
    ("values", "message"),
    [(np.zeros(COUNT + 1, np.uint32), "shape"), (np.zeros(COUNT, np.int32), "dtype"), (vector(0), "device")],
)
def test_every_field_is_compared(device, values, message):  # T6
    given = Tensor.from_numpy(values) if message == "device" else on_device(device, values)
    with pytest.raises(LayoutMismatch, match=message):
        submit(device, adder(), 0, [given, on_device(device, vector(1))])


def test_tensors_as_a_program_describes_them(device):  # T7
    binary = adder()
    tensor = allocate_input_tensor(binary, "add", 1, device=device)
    assert (tensor.desc, tensor.layout, tensor.device) == (DESC, DRAM.resolved(DESC), device)
    assert allocate_output_tensor(binary.bind(device), 0, 0).device is device
    big = Binary([pair_program(inputs=(info("a", TensorDesc((1 << 20,), DType.U32), Layout(MemSpace.L1)), info("b")))])
    held = []
    with pytest.raises(OutOfDeviceMemory, match="largest free block") as full:
        while True:
            held.append(allocate_input_tensor(big, 0, 0, device=device))
    assert full.value.where["pool"]["largest_free"] < (1 << 22) and full.value.where["holders"]
    with pytest.raises(UsageError, match="give device="):
        allocate_input_tensor(binary, 0, 0)


def test_an_index_equal_to_the_count_is_refused(device):  # T36
    for index in (1, -1, "sub", True):
        with pytest.raises(UsageError, match="no program"):
            adder().layout(index, 0)
    with pytest.raises(UsageError, match="no input 2"):
        adder().layout(0, 2)


def test_a_failure_reaches_its_dependents_and_no_others(system, device):  # T14
    x, y = on_device(device, vector(0)), on_device(device, vector(1))
    system.drain()
    now = system.host_ns
    bad = submit(device, adder(cycles=5000), 0, [x, y], queue=1, label="bad")
    dependent = submit(device, subtracter(), 0, [bad.outputs[0], y], queue=2, label="dependent")
    last = submit(device, adder(), 0, [dependent.outputs[0], y], queue=1, label="last")
    device.inject_fault("the vector unit", now + 2000)
    fine = submit(device, adder(), 0, [x, y], queue=2, label="fine")
    with pytest.raises(CommandFailed, match="the vector unit failed") as failure:
        wait(last)
    assert failure.value.where["chain"] == ["bad", "dependent", "last"]
    assert dependent.event.error.where["root"] == failure.value.where["root"]
    wait(fine)
    np.testing.assert_array_equal(fine.outputs[0].numpy(), vector(0) + vector(1))
    with pytest.raises(CommandFailed):
        wait(bad)


def test_donated_and_retained_tensors(device):  # T15
    x, y = on_device(device, vector(0)), on_device(device, vector(1))
    done = submit(device, adder(), 0, [x, y], donate=[0])
    with pytest.raises(UseAfterDonate, match="donated to program add"):
        submit(device, adder(), 0, [x, y])
    np.testing.assert_array_equal(done.outputs[0].numpy(), vector(0) + vector(1))
    np.testing.assert_array_equal(y.numpy(), vector(1))
    y.retain = True
    with pytest.raises(RetainedTensor):
        y.deallocate()
    y.deallocate(force=True)
    with pytest.raises(UseAfterFree, match="was freed at"):
        y.deallocate()
    host = Tensor.from_numpy(vector(3))
    host.deallocate()
    with pytest.raises(UseAfterFree):
        host.numpy()


def test_a_donated_input_becomes_the_output(device):  # T15
    binary = Binary([pair_program(inputs=(info("a", aliases_output=0), info("b")))])
    x, y = on_device(device, vector(0)), on_device(device, vector(1))
    address = x.storage.buffer.address
    done = submit(device, binary, 0, [x, y], donate=[0])
    assert done.outputs[0].storage.buffer.address == address
    np.testing.assert_array_equal(done.outputs[0].numpy(), vector(0) + vector(1))
    with pytest.raises(UseAfterDonate):
        x.numpy()


def test_a_borrowed_array_lives_as_long_as_the_tensor(device):  # T16
    tensor = Tensor.from_numpy(np.arange(COUNT, dtype=np.uint32) * 3, copy=False)
    gc.collect()
    done = submit(device, adder(), 0, [to_layout(tensor, DRAM, device), on_device(device, vector(1))])
    np.testing.assert_array_equal(done.outputs[0].numpy(), np.arange(COUNT, dtype=np.uint32) * 3 + vector(1))


def test_foreign_types_are_cast_only_when_allowed():
    with pytest.raises(UsageError, match="float64"):
        Tensor.from_numpy(np.zeros(4))
    assert Tensor.from_numpy(np.arange(4.0), allow_cast=True).dtype is DType.F32


def test_private_programs_and_wrong_counts(device):
    x = on_device(device, vector(0))
    with pytest.raises(PrivateProgram):
        submit(device, Binary([pair_program(private=True)]), 0, [x, x])
    with pytest.raises(LayoutMismatch, match="takes 2 inputs, 1 were given"):
        submit(device, adder(), 0, [x])
    assert len(device.system.tensors) == 1, "nothing is left allocated"


def test_the_same_binary_on_host_and_chip():  # T24
    with ideal() as system:
        binary, a, b = adder(), vector(4), vector(5)
        chip, host = system.open("sim://wormhole_b0"), system.open("host://local")
        on_chip = submit(chip, binary, 0, [on_device(chip, a), on_device(chip, b)]).outputs[0].numpy()
        pair = [Tensor.from_numpy(values) for values in (a, b)]
        done = submit(host, binary, 0, pair)
        np.testing.assert_array_equal(done.outputs[0].numpy(), on_chip)
        assert done.event.t_end - done.event.t_start == 500


def test_a_missing_variant_and_an_absent_device():  # T23
    with ideal() as system:
        chip_only = Binary([pair_program(variants=(Variant("sim://blackhole"),))])
        with pytest.raises(NoVariant, match="it has: sim://blackhole"):
            chip_only.bind(system.open("sim://wormhole_b0"))
        devices = system.open_all("accel?=sim://blackhole,none; cpu=host://local", default="cpu")
        assert devices["accel"] is None
        with pytest.raises(NoVariant, match="accel, which is optional and absent"):
            Binary([pair_program(placement=Promise("accel"))]).bind(devices)


def test_functional_timing_runs_the_host_variant_in_its_time():
    with ideal() as system:
        device = system.open("sim://wormhole_b0?timing=functional")
        done = submit(device, adder(host_ns=7000.0), 0, [on_device(device, vector(0)), on_device(device, vector(1))])
        np.testing.assert_array_equal(done.outputs[0].numpy(), vector(0) + vector(1))
        assert done.event.t_end - done.event.t_start == 7000


def test_a_promise_runs_where_it_is_bound():  # T21
    with ideal("wormhole_b0,wormhole_b0") as system:
        binary = Binary([pair_program(placement=Promise("dev_b", [1]))])
        devices = system.open_all("dev_a=sim://wormhole_b0; dev_b=sim://wormhole_b0[1]")
        b = devices["dev_b"]
        done = submit(devices, binary, 0, [on_device(b, vector(0)), on_device(b, vector(1))])
        wait(done)
        span = system.spans[-1]
        assert (span.device, span.queue, done.plan.queue) == (b.name, 1, 1)
        with pytest.raises(UnresolvedPromise, match="dev_b"):
            binary.bind(system.open_all("dev_c=sim://wormhole_b0"))


def test_constants_are_uploaded_once_per_value_and_layout(system, device):  # T30
    binary = Binary([pair_program(inputs=(info("a"), info("b", const=True)))])
    weights, x = Tensor.from_numpy(vector(9)), on_device(device, vector(0))
    uploads = [len(submit(device, binary, 0, [x, weights]).plan.uploads) for _ in range(4)]
    assert uploads == [1, 0, 0, 0]
    weights.poke(vector(10).view(np.uint8))
    weights.written()
    done = [submit(device, binary, 0, [x, weights]) for _ in range(2)]
    assert [len(item.plan.uploads) for item in done] == [1, 0]
    np.testing.assert_array_equal(done[1].outputs[0].numpy(), vector(0) + vector(10))
    system.residency.get(weights, device, Layout(MemSpace.L1))
    assert system.stats["residency.misses"] == 3  # I14: per version and layout


def test_pinned_constants_are_not_evicted(system, device):  # T30
    system.residency.capacity = 2
    tensors = [Tensor.from_numpy(vector(seed)) for seed in range(4)]
    system.residency.pin(tensors[0])
    for tensor in tensors:
        system.residency.get(tensor, device, DRAM)
    misses = system.stats["residency.misses"]
    system.residency.get(tensors[0], device, DRAM)
    assert system.stats["residency.misses"] == misses
    system.residency.get(tensors[1], device, DRAM)
    assert system.stats["residency.misses"] == misses + 1


def test_an_embedded_image_gives_the_same_outputs_without_transfers():  # T35
    a, b = vector(1), vector(2)
    binary = Binary([pair_program(goldens={"a": a, "b": b})])
    with ideal() as system:
        target = system.open("embedded://wormhole_b0?boot_ns=2500")
        booted = target.flash(binary)
        done = target.run("add", wait=[booted])
        np.testing.assert_array_equal(target.result("out"), a + b)
        assert done.t_start >= 2500
        assert not {"upload", "download"} & {span.kind for span in system.spans}  # I19
        with pytest.raises(EmbeddedTransfer):
            to_layout(Tensor.from_numpy(a), DRAM, target)
        with pytest.raises(UsageError, match="its results: out"):
            target.result("sum")


def test_a_trace_replays_programs_and_goes_stale(system, device):  # T38
    x, y = on_device(device, vector(0)), on_device(device, vector(1))
    bound = adder().bind(device)
    out = bound.submit(0, [x, y]).outputs[0]
    system.drain()
    with device.capture() as trace:
        bound.submit(0, [x, y], outputs=[out])
        with pytest.raises(UsageError, match="transfer"):
            y.to_host(queue=1)
    out.poke(np.zeros(4 * COUNT, np.uint8))
    issued = system.host_ns
    wait(trace.replay())
    np.testing.assert_array_equal(out.numpy(), vector(0) + vector(1))
    assert system.host_ns > issued
    x.deallocate()
    trace.replay()
    taker = on_device(device, vector(7))
    with pytest.raises(TraceStale, match="which was freed"):
        trace.replay()
    assert taker.is_allocated


def test_submits_in_flight_are_limited(device):  # T41
    x, y = on_device(device, vector(0)), on_device(device, vector(1))
    device.system.drain()

    def spans(limit):
        bound = adder(cycles=3000).bind(device, max_in_flight=limit)
        return [bound.submit(0, [x, y], queue=1 << n % 2).event for n in range(3)]

    one = spans(1)
    wait(one)
    assert one[1].t_submit >= one[0].t_end and one[2].t_submit >= one[1].t_end
    two = spans(2)
    wait(two)
    assert two[1].t_submit < two[0].t_end and two[2].t_submit >= two[0].t_end


@given(sizes=st.lists(st.integers(1, 5000), min_size=1, max_size=12), order=st.randoms(use_true_random=False))
def test_memory_adds_up(sizes, order):  # T42
    with System() as system:
        device = system.open("sim://wormhole_b0")
        tensors = [Tensor.empty(TensorDesc((size,), DType.U32), DRAM, device) for size in sizes]
        order.shuffle(tensors)
        for tensor in tensors[: len(tensors) // 2]:
            tensor.deallocate()
        view = device.memory_view()["DRAM"]
        assert view["allocated"] + view["free"] == view["total"]
        assert sum(size for _, size in view["blocks"]) == view["allocated"]
        for tensor in tensors[len(tensors) // 2 :]:
            tensor.deallocate()
        assert device.memory_view()["DRAM"]["allocated"] == 0


def test_allocating_does_not_wait_for_a_running_program(system, device):  # I20
    x, y = on_device(device, vector(0)), on_device(device, vector(1))
    system.drain()
    running = submit(device, adder(cycles=100_000), 0, [x, y])
    before = system.host_ns
    Tensor.empty(DESC, DRAM, device)
    assert system.host_ns == before
    wait(running)
    assert running.event.t_end - before >= 100_000


def test_closing_refuses_while_tensors_live_and_then_frees_them():
    with ideal() as system:
        device = system.open("sim://wormhole_b0")
        tensor = Tensor.empty(DESC, DRAM, device)
        with pytest.raises(UsageError, match="still holds 1 tensors"):
            device.close()
        device.close(force=True)
        with pytest.raises(UseAfterFree, match="was closed"):
            tensor.numpy()
        assert system.open("sim://wormhole_b0") is not device
