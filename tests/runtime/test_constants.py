"""Constant inputs: are they what the program describes?"""

import numpy as np
import pytest

from tensim.runtime import Binary, Tensor, submit, to_layout
from tensim.runtime.errors import LayoutMismatch
from tests.runtime.programs import COUNT, DRAM, adder, ideal, info, pair_program, vector

ONES = np.ones(COUNT, np.float32)


@pytest.fixture
def device():
    with ideal() as system:
        yield system.open("sim://wormhole_b0")


@pytest.fixture
def x(device):
    return to_layout(Tensor.from_numpy(vector(0)), DRAM, device)


@pytest.fixture
def binary():
    return Binary([pair_program(inputs=(info("a"), info("b", const=True)))])


def test_another_type_is_refused_or_cast_never_read_as_bits(device, binary, x):
    with pytest.raises(LayoutMismatch, match="dtype: expected u32, found f32"):
        submit(device, binary, 0, [x, Tensor.from_numpy(ONES)])
    done = submit(device, binary, 0, [x, Tensor.from_numpy(ONES)], layouts="convert")
    np.testing.assert_array_equal(done.outputs[0].numpy(), vector(0) + 1)


@pytest.mark.parametrize("layouts", ["strict", "convert"])
@pytest.mark.parametrize("shape", [(COUNT // 2,), (8, COUNT // 8), (10 * COUNT,)])
def test_another_shape_is_refused(device, binary, x, shape, layouts):
    with pytest.raises(LayoutMismatch, match="shape: expected") as refused:
        submit(device, binary, 0, [x, Tensor.from_numpy(np.ones(shape, np.uint32))], layouts=layouts)
    assert "no conversion changes a shape" in refused.value.hint


def test_an_input_of_another_type_is_cast_too(device, x):
    done = submit(device, adder(), 0, [x, Tensor.from_numpy(ONES)], layouts="convert")
    np.testing.assert_array_equal(done.outputs[0].numpy(), vector(0) + 1)


def test_the_call_of_the_hint_mends_a_wrong_type(device, x):
    binary, tensor, program = adder(), to_layout(Tensor.from_numpy(ONES), DRAM, device), 0
    with pytest.raises(LayoutMismatch) as refused:
        submit(device, binary, program, [x, tensor])
    assert refused.value.hint.startswith("to_layout(tensor, binary.layout(program, 1), device)")
    mended = to_layout(tensor, binary.layout(program, 1), device)
    np.testing.assert_array_equal(submit(device, binary, program, [x, mended]).outputs[0].numpy(), vector(0) + 1)
