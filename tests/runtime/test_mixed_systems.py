"""Host and chips in one program, two systems in one process: does a tensor belong where it is used?"""

import numpy as np
import pytest

import tensim as tt
from tensim.runtime import (
    Affinity,
    Event,
    Layout,
    MemSpace,
    Promise,
    System,
    Tensor,
    evaluate,
    pin,
    submit,
    to_layout,
    to_layout_into,
    transfer,
    wait,
)
from tensim.sim.errors import UsageError
from tests.runtime.programs import DESC, DRAM, adder, ideal, vector

SUM = vector(0) + vector(1)
TILES = Layout(MemSpace.DRAM, "tile")


@pytest.fixture
def system():
    with ideal() as system:
        yield system


@pytest.fixture
def chip(system):
    return system.open("sim://wormhole_b0")


@pytest.fixture
def cpu(system):
    return system.open("local")


@pytest.fixture
def output(cpu):
    """What a program on the host leaves."""
    pair = [Tensor.from_numpy(vector(seed), system=cpu.system) for seed in range(2)]
    return submit(cpu, adder(), 0, pair).outputs[0]


# --- host and chips


def test_tensors_of_a_host_device_are_those_of_host_memory(cpu, output):
    assert output.device is None and output.layout.space is MemSpace.HOST
    assert Tensor.empty(DESC, DRAM, cpu).layout.space is MemSpace.HOST
    assert pin(output, Affinity(cpu)).placement.device is cpu


USES = {
    "numpy": lambda out, chip, cpu: out,
    "to_host": lambda out, chip, cpu: out.to_host(),
    "to_layout on the host": lambda out, chip, cpu: to_layout(out, Layout(MemSpace.HOST, "tile")),
    "to_layout on the host device": lambda out, chip, cpu: to_layout(out, TILES, cpu),
    "to_layout on a chip": lambda out, chip, cpu: to_layout(out, TILES, chip),
    "transfer to a chip": lambda out, chip, cpu: transfer(out, chip),
    "transfer there and back": lambda out, chip, cpu: transfer(transfer(out, chip), cpu),
    "with a layout": lambda out, chip, cpu: transfer(out, chip, layout=TILES),
}


@pytest.mark.parametrize("use", USES)
def test_outputs_of_host_programs_go_everywhere(chip, cpu, output, use):
    result = USES[use](output, chip, cpu)
    assert result.device is (chip if use.endswith(("chip", "layout")) else None)
    np.testing.assert_array_equal(result.numpy(), SUM)


@pytest.mark.parametrize("where", ["chip", "cpu"])
def test_programs_take_tensors_of_both(chip, cpu, output, where):
    there = to_layout(Tensor.from_numpy(vector(2)), DRAM, chip)
    device = chip if where == "chip" else cpu
    done = submit(device, adder(), 0, [output, there], layouts="convert")
    np.testing.assert_array_equal(done.outputs[0].numpy(), SUM + vector(2))


def test_host_outputs_are_converted_into(chip, output):
    there = to_layout(Tensor.from_numpy(vector(2)), DRAM, chip)
    wait(to_layout_into(output, there))
    np.testing.assert_array_equal(output.numpy(), vector(2))
    wait(to_layout_into(there, output))


# --- two systems


@pytest.fixture
def foreign():
    """A tensor on a chip of another system, made before."""
    with ideal() as other:
        yield to_layout(Tensor.from_numpy(vector(0), system=other), DRAM, other.open("sim://wormhole_b0"))


MIXTURES = {
    "a submit": lambda chip, own, foreign: submit(chip, adder(), 0, [own, foreign]),
    "a converting submit": lambda chip, own, foreign: submit(chip, adder(), 0, [own, foreign], layouts="convert"),
    "an output": lambda chip, own, foreign: submit(chip, adder(), 0, [own, own], outputs=[foreign]),
    "to_layout": lambda chip, own, foreign: to_layout(foreign, TILES, chip),
    "to_layout_into": lambda chip, own, foreign: to_layout_into(own, foreign),
    "a transfer": lambda chip, own, foreign: transfer(foreign, chip),
    "wait=": lambda chip, own, foreign: submit(chip, adder(), 0, [own, own], wait=[foreign.event]),
    "a queue": lambda chip, own, foreign: chip.queues[0].wait_for(foreign.event),
    "wait": lambda chip, own, foreign: wait([own, foreign]),
    "all_of": lambda chip, own, foreign: Event.all_of(own.event, foreign.event),
    "evaluate": lambda chip, own, foreign: evaluate((adder().bind(chip), 0), [own, foreign]),
}


@pytest.mark.parametrize("mixture", MIXTURES)
def test_tensors_and_events_of_two_systems_do_not_mix(foreign, chip, mixture):
    own = to_layout(Tensor.from_numpy(vector(1), system=chip.system), DRAM, chip)
    with pytest.raises(UsageError, match="belongs to another System") as refused:
        MIXTURES[mixture](chip, own, foreign)
    assert "system=device.system" in refused.value.hint


def test_a_host_tensor_is_charged_to_its_own_system():
    with System("n150") as first, System("n150") as second:
        chip = first.open("#0")
        with pytest.raises(UsageError, match="belongs to another System"):
            to_layout(Tensor.from_numpy(vector(0)), TILES, chip)  # of the newer one
        begun = second.host_ns
        wait(to_layout(Tensor.from_numpy(vector(0), system=first), TILES, chip))
        assert second.host_ns == begun


# --- what only looks like a device or a tensor

NAMES = {
    "transfer to a name": lambda chip, x: transfer(x, "chip"),
    "transfer to a placed name": lambda chip, x: transfer(x, Affinity("chip")),
    "transfer to a promise": lambda chip, x: transfer(x, Promise("chip")),
    "transfer by a name": lambda chip, x: transfer(x, chip, execute_on="chip"),
    "pin to a name": lambda chip, x: pin(x, Affinity("chip")),
    "pin to a promise": lambda chip, x: pin(x, Promise("chip")),
    "pin to a device": lambda chip, x: pin(x, chip),
    "submit to a name": lambda chip, x: submit("chip", adder(), 0, [x, x]),
    "submit to a promise": lambda chip, x: submit(Promise("chip"), adder(), 0, [x, x]),
    "submit to nothing": lambda chip, x: submit(None, adder(), 0, [x, x]),
    "bind to a name": lambda chip, x: adder().bind("chip"),
    "to_layout on a name": lambda chip, x: to_layout(x, TILES, "chip"),
    "empty on a name": lambda chip, x: Tensor.empty(DESC, DRAM, "chip"),
    "arrays as inputs": lambda chip, x: submit(chip, adder(), 0, [vector(0), x]),
    "lists as inputs": lambda chip, x: submit(chip, adder(), 0, [[1, 2], x]),
    "a tensor as inputs": lambda chip, x: submit(chip, adder(), 0, x),
    "an array as output": lambda chip, x: submit(chip, adder(), 0, [x, x], outputs=[vector(0)]),
    "to_layout of an array": lambda chip, x: to_layout(vector(0), TILES, chip),
    "to_layout_into an array": lambda chip, x: to_layout_into(vector(0), x),
    "transfer of an array": lambda chip, x: transfer(vector(0), chip),
    "pin of an array": lambda chip, x: pin(vector(0), Affinity(chip)),
    "waiting for text": lambda chip, x: wait("everything"),
}


@pytest.mark.parametrize("mistake", NAMES)
def test_what_only_looks_right_is_refused_with_a_hint(chip, mistake):
    x = to_layout(Tensor.from_numpy(vector(0), system=chip.system), DRAM, chip)
    with pytest.raises(UsageError) as refused:
        NAMES[mistake](chip, x)
    assert refused.value.hint


def test_behind_a_closed_system_the_host_api_has_all_its_devices():
    System("n150").close()
    with tt.create_device(7) as device:
        assert device.id == 7
