"""Tensors of a program that live on another device than it (`TensorInfo.placement`): do they come to it and go home?"""

from dataclasses import replace

import numpy as np
import pytest

from tensim.runtime import Affinity, Binary, Promise, Tensor, allocate_output_tensor, evaluate, submit, to_layout, wait
from tensim.runtime.errors import LayoutMismatch
from tests.runtime.programs import DRAM, ideal, info, pair_program, vector

SUM = vector(0) + vector(1)


@pytest.fixture
def devices():
    with ideal("n300") as system:
        yield system.open_all("near=sim://wormhole_b0[0]?cqs=2; far=sim://wormhole_b0[1]; cpu=local")


def binary(a=None, out=None, alias=None, **settings):
    """`add`, whose tensors live on the devices of these names; `alias`: the output that `a` may become."""
    a, out = (None if home is None else Promise(home) for home in (a, out))
    inputs = info("a", placement=a, aliases_output=alias), info("b")
    return Binary([replace(pair_program(inputs=inputs, **settings), outputs=(info("out", placement=out),))])


def tensor(values, device):
    here = Tensor.from_numpy(values, system=device.system)
    return here if device.scheme == "host" else to_layout(here, DRAM, device)


@pytest.mark.parametrize("home", ["far", "cpu"])
def test_an_input_comes_from_its_home(devices, home):
    a, b = tensor(vector(0), devices[home]), tensor(vector(1), devices["near"])
    done = submit(devices, binary(a=home), 0, [a, b])
    np.testing.assert_array_equal(done.outputs[0].numpy(), SUM)
    assert [name for name, _ in done.plan.transfers] == ["a"] and not done.plan.conversions
    np.testing.assert_array_equal(a.numpy(), vector(0))


def test_strict_wants_an_input_at_its_home_and_convert_brings_it_there(devices):
    pair = [tensor(vector(seed), devices["near"]) for seed in range(2)]
    with pytest.raises(LayoutMismatch, match=r"device: expected sim://wormhole_b0\[1\], found sim://wormhole_b0\[0\]"):
        submit(devices, binary(a="far"), 0, pair)
    done = submit(devices, binary(a="far"), 0, pair, layouts="convert")
    np.testing.assert_array_equal(done.outputs[0].numpy(), SUM)
    assert [name for name, _ in done.plan.conversions] == [name for name, _ in done.plan.transfers] == ["a"]


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("home", ["far", "cpu"])
def test_an_output_goes_to_its_home(devices, home, given):
    pair = [tensor(vector(seed), devices["near"]) for seed in range(2)]
    bound = binary(out=home).bind(devices)
    outputs = [allocate_output_tensor(bound, 0, 0)] if given else None
    done = submit(None, bound, 0, pair, outputs=outputs)
    wait(done)
    assert done.outputs[0].event.done, "the submission is over when its outputs are at home"
    assert done.outputs[0].device is (None if home == "cpu" else devices[home])
    np.testing.assert_array_equal(done.outputs[0].numpy(), SUM)
    assert not given or done.outputs[0] is outputs[0]


def test_outputs_of_a_host_program_go_to_a_chip(devices):
    pair = [tensor(vector(seed), devices["cpu"]) for seed in range(2)]
    done = submit(devices, binary(out="far", placement=Promise("cpu")), 0, pair)
    assert done.outputs[0].device is devices["far"]
    np.testing.assert_array_equal(done.outputs[0].numpy(), SUM)


def test_a_donated_input_becomes_an_output_only_where_both_live(devices):
    for home in ("near", "far"):
        pair = [tensor(vector(seed), devices["near"]) for seed in range(2)]
        memory = pair[0].storage
        done = submit(devices, binary(out=home, alias=0), 0, pair, donate=[0])
        assert done.outputs[0].device is devices[home] and not pair[0].is_allocated
        assert (done.outputs[0].storage is memory) == (home == "near")
        np.testing.assert_array_equal(done.outputs[0].numpy(), SUM)


def test_evaluate_measures_on_the_promised_device(devices):
    bound = binary(placement=Promise("far")).bind(devices)
    result = evaluate((bound, 0), [vector(0), vector(1)], validate=np.add)
    assert result.code == 0 and result.cycles[0] > 0
    assert {span.device for span in bound.system.spans if span.kind == "program"} == {devices["far"].name}


def test_an_affinity_names_the_device_itself(devices):
    a, b = tensor(vector(0), devices["far"]), tensor(vector(1), devices["near"])
    program = pair_program(inputs=(info("a", placement=Affinity(devices["far"])), info("b")))
    np.testing.assert_array_equal(submit(devices["near"], Binary([program]), 0, [a, b]).outputs[0].numpy(), SUM)
