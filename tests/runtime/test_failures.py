"""Failed commands: does everything that depends on them fail, and nothing else? (I1, I15 of docs/hardware/runtime.md#invariants)"""

import numpy as np
import pytest

from tensim.runtime import Binary, ProgramInfo, System, Tensor, Variant, submit, to_layout, to_layout_into, wait
from tensim.runtime.errors import CommandFailed, Deadlock
from tests.runtime.programs import DRAM, adder, ideal, info, vector

BUSY = 4000  # cycles, ns on Wormhole


@pytest.fixture
def system():
    with ideal() as system:
        yield system


@pytest.fixture
def device(system):
    return system.open("sim://wormhole_b0?cqs=2")


@pytest.fixture
def pair(device):
    pair = [to_layout(Tensor.from_numpy(vector(seed)), DRAM, device) for seed in range(2)]
    device.system.drain()
    return pair


def numpy_program(function, ns=1000.0):
    """A program of one input and one output that is a numpy function."""
    return Binary([ProgramInfo("host", (info("x"),), (info("y"),), (Variant("host", function=function, cost_ns=ns),))])


def failing(device, pair, **settings):
    """A program that a fault strikes while it runs, on queue 0."""
    done = submit(device, adder(cycles=BUSY), 0, pair, queue=1, label="bad", **settings)
    device.inject_fault("the vector unit", device.system.host_ns + BUSY // 2)
    return done


def outcome(x):
    try:
        wait(x)
    except CommandFailed as error:
        return error.where["root"]
    return None


@pytest.mark.parametrize("queue", [1, 2])
@pytest.mark.parametrize("how", ["data", "wait"])
def test_dependents_fail_on_every_queue(device, pair, how, queue):
    bad = failing(device, pair)
    inputs = [bad.outputs[0], pair[1]] if how == "data" else pair
    dependent = submit(device, adder(), 0, inputs, queue=queue, wait=[bad] if how == "wait" else ())
    independent = submit(device, adder(), 0, pair, queue=queue)
    assert outcome(bad) and outcome(dependent) == outcome(bad)
    assert dependent.event.t_start == dependent.event.t_end, "it did not run"
    assert outcome(independent) is None


@pytest.mark.parametrize("hazards", ["auto", "manual", "check"])
def test_data_of_a_failed_command_cannot_be_read(hazards):
    with ideal(hazards=hazards) as system:
        device = system.open("sim://wormhole_b0?cqs=2")
        pair = [to_layout(Tensor.from_numpy(vector(seed)), DRAM, device, queue=1) for seed in range(2)]
        system.drain()
        bad = failing(device, pair)
        assert "the vector unit failed" in outcome(bad)
        with pytest.raises(CommandFailed):
            bad.outputs[0].numpy()


def test_overwriting_what_a_failed_command_wrote_mends_it(device, pair):
    bad = failing(device, pair)
    wait(to_layout_into(bad.outputs[0], Tensor.from_numpy(vector(7)), queue=2))
    np.testing.assert_array_equal(bad.outputs[0].numpy(), vector(7))


@pytest.mark.parametrize("queue", [1, 2])
def test_memory_of_a_failed_command_serves_others(device, pair, queue):
    bad = failing(device, pair)
    event, address = bad.event, bad.outputs[0].storage.buffer.address
    bad.outputs[0].deallocate()
    taker = to_layout(Tensor.from_numpy(vector(5)), DRAM, device, queue=queue)
    assert taker.storage.buffer.address == address
    np.testing.assert_array_equal(taker.numpy(), vector(5))
    assert event.error is not None and taker.event.t_start >= event.t_end


def test_a_queue_that_waits_for_a_failure_fails_its_next_command_only(device, pair):
    bad = failing(device, pair)
    device.queues[1].wait_for(bad.event)
    first, second = (submit(device, adder(), 0, pair, queue=2) for _ in range(2))
    assert outcome(first) == outcome(bad) and outcome(second) is None


def test_a_fault_strikes_what_uses_the_device_not_what_waits_or_records():
    with System("n150") as system:
        device = system.open("sim://wormhole_b0?cqs=2")
        pair = [to_layout(Tensor.from_numpy(vector(seed)), DRAM, device, queue=1) for seed in range(2)]
        system.drain()
        event = device.queues[0].record()
        device.inject_fault("the dispatcher", system.host_ns + 100)  # nothing but the recording is on its way
        device.queues[1].wait_for(event)
        for queue in (1, 2):
            done = submit(device, adder(), 0, pair, queue=queue)
            np.testing.assert_array_equal(done.outputs[0].numpy(), pair[0].numpy() + pair[1].numpy())


RAISING = {
    "raises ZeroDivisionError": lambda x: 1 / 0,
    r"arrays of shapes \[\(3,\)\], the outputs have \[\(64,\)\]": lambda x: x[:3],
    r"arrays of shapes \[\(64,\), \(64,\)\]": lambda x: (x, x),
    r"arrays of shapes \[\(\)\]": lambda x: None,
}


@pytest.mark.parametrize("message", RAISING)
@pytest.mark.parametrize("spec", ["local", "sim://wormhole_b0?timing=functional"])
def test_a_numpy_variant_that_raises_fails_its_program_alone(system, spec, message):
    device, x = system.open(spec), Tensor.from_numpy(vector(0))
    x = x if device.scheme == "host" else to_layout(x, DRAM, device)
    bad = submit(device, numpy_program(RAISING[message]), 0, [x])
    with pytest.raises(CommandFailed, match=message.replace("raises", "raised")):
        wait(bad)
    good = submit(device, numpy_program(lambda x: x + 1), 0, [x])
    np.testing.assert_array_equal(good.outputs[0].numpy(), vector(0) + 1)


def test_host_memory_lives_as_long_as_commands_use_it(system):
    cpu, x = system.open("local"), Tensor.from_numpy(vector(0))
    done = submit(cpu, numpy_program(lambda x: x + 1), 0, [x])
    x.deallocate()
    np.testing.assert_array_equal(done.outputs[0].numpy(), vector(0) + 1)


def in_order(system):
    return system.env.now <= system.host.now_fs  # I1


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([5000.0, RuntimeError("boom")], "raised RuntimeError: boom"),
        ([-5], "cannot work for -5 ns"),
        ([float("nan")], "cannot work for nan ns"),
        (["abc"], "cannot wait for str"),
    ],
)
def test_what_a_spawned_process_raises_fails_its_event(system, device, steps, message):
    def process():
        for step in steps:
            if isinstance(step, Exception):
                raise step
            yield step

    with pytest.raises(CommandFailed, match=message):
        wait(system.spawn(process(), label="helper"))
    assert in_order(system)
    again = to_layout(Tensor.from_numpy(vector(3)), DRAM, device)
    np.testing.assert_array_equal(again.numpy(), vector(3))
    wait(system.spawn(ns for ns in [10.0]))


def test_a_spawned_process_gets_the_failure_it_waits_for(system, device, pair):
    caught = []

    def process(catch):
        try:
            yield failing(device, pair)
        except CommandFailed as error:
            caught.append(error.where["root"])
            if not catch:
                raise

    wait(system.spawn(process(catch=True)))
    assert outcome(system.spawn(process(catch=False))) == caught[1]
    assert "the vector unit" in caught[0]


def test_a_deadlock_leaves_the_clocks_together_and_the_block_as_it_is():
    with pytest.raises(Deadlock, match="queue 0 of device 0"), System("n150") as system:
        queue = system.open("#0").queues[0]
        queue.wait_for(system.new_timeline("never").at(1))
        try:
            wait(queue.record())
        finally:
            assert in_order(system)
    assert not system.open_devices()
