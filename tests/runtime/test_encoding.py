"""Bytes of tensors: I6 (round trips, padding), I7 (one rounding per pair), and the tile order."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tensim.runtime.dtypes import DType, cast
from tensim.runtime.encoding import convert, decode, encode
from tensim.runtime.errors import LayoutMismatch
from tensim.runtime.layouts import OOB_VALUES, Layout, MemSpace, TensorDesc
from tensim.sim.cores.numerics import host_formats
from tests.runtime.layout_cases import (
    DTYPES,
    SHAPES,
    descs,
    device_layouts,
    host_layouts,
    layouts,
    noise,
    shapes,
    small_integers,
)

F32, BF16, I32, U32, U16, U8, BFP8, BFP4 = (
    DType(n) for n in ("f32", "bf16", "i32", "u32", "u16", "u8", "bfp8", "bfp4")
)
HOST, DRAM = MemSpace.HOST, MemSpace.DRAM


def block_steps(values, bits):
    """Distance of neighbours in the block float of each value: 16 over the last axis share the largest one's exponent."""
    blocks = values.astype(np.float32).reshape(-1, 16)
    exponents = np.frexp(np.abs(blocks).max(axis=1, keepdims=True))[1] - 1
    step = np.ldexp(np.float32(1), exponents - (bits - 2)).astype(np.float32)
    return np.broadcast_to(step, blocks.shape).reshape(values.shape)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_layout_gives_the_array_back(shape, dtype):
    """T1: shapes x types x tilings x memories x distributions."""
    desc = TensorDesc(shape, dtype)
    values = small_integers(desc)
    for layout in [*device_layouts(shape, DTYPES, ((32, 32), (16, 32))), *host_layouts(DTYPES, ((32, 32), (8, 16)))]:
        data = encode(values, desc, layout)
        back = decode(data, desc, layout)
        assert (data.dtype, data.size) == (np.uint8, layout.nbytes(desc))
        assert (back.shape, back.dtype) == (shape, layout.dtype.numpy)
        assert np.array_equal(back.astype(np.float64), values.astype(np.float64)), layout


@given(st.data())
def test_round_trips_keep_every_bit_without_a_lossy_cast(data):
    """I6, first half: any bits, NaN payloads included, in the tensor's own type."""
    desc = data.draw(descs([F32, BF16, I32, U32, U16, U8]))
    layout = data.draw(layouts(desc, [desc.dtype]))
    raw = data.draw(hnp.arrays(np.uint8, desc.volume * desc.dtype.itemsize))
    values = raw.view(desc.dtype.numpy).reshape(desc.shape)
    assert decode(encode(values, desc, layout), desc, layout).tobytes() == values.tobytes()


@given(st.data())
def test_padding_holds_what_the_layout_says(data):
    """I6, second half: seen as a tensor of the padded shape, everything outside the data is `oob`."""
    desc = data.draw(descs([F32]))
    layout = data.draw(layouts(desc))
    padded = layout.padded_shape(desc.shape)
    whole = decode(encode(np.full(desc.shape, 5, np.float32), desc, layout), TensorDesc(padded, F32), layout)
    outside = np.ones(padded, bool)
    inside = outside[(0,) * (len(padded) - len(desc.shape))]
    inside[tuple(slice(n) for n in desc.shape)] = False
    assert np.all(whole[outside].astype(np.float32) == OOB_VALUES[layout.oob])
    assert np.all(whole[~outside].astype(np.float32) == 5)


@given(st.data())
def test_block_floats_are_near_and_then_stay(data):
    """I7 for block floats, whatever the tile: a block is 16 datums of a row.  The packer rounds to 8 bits and cuts shorter
    formats from these, so a value is off by less than two steps (the block's exponent
    may round up); a second encoding changes nothing.
    """
    shape = data.draw(shapes)
    dtype = data.draw(st.sampled_from([BFP8, BFP4]))
    exponent = st.integers(-20, 20).map(lambda e: np.float32(2.0**e))
    values = data.draw(hnp.arrays(np.float32, shape, elements=st.floats(-1, 1, width=32).map(lambda x: np.float32(x))))
    values = values * data.draw(exponent)
    values[np.abs(values) < 1e-30] = 0  # the format's smallest exponents have their own test
    desc, layout = TensorDesc(shape, F32), data.draw(layouts(TensorDesc(shape, F32), [dtype]))
    wide = np.zeros((*shape[:-1], -(-shape[-1] // 16) * 16), np.float32)
    wide[..., : shape[-1]] = values
    steps = block_steps(wide, dtype.block_bits)[..., : shape[-1]]
    once = encode(values, desc, layout)
    back = decode(once, desc, layout)
    assert np.all(np.abs(back - values) <= 2 * steps)
    assert np.array_equal(encode(back, desc, layout), once)


@pytest.mark.parametrize("dtype", [BFP8, BFP4, DType.BFP2], ids=str)
def test_block_floats_are_the_bytes_of_the_device(dtype):
    desc = TensorDesc((64, 96), F32)
    values = noise(desc)
    expected = np.frombuffer(host_formats.encode(values, dtype.format), np.uint8)
    assert np.array_equal(encode(values, desc, Layout(DRAM, "tile", dtype=dtype)), expected)


def test_block_floats_have_neither_infinity_nor_nan_nor_subnormals():
    values = np.zeros((1, 32), np.float32)
    values[0, :3] = np.inf, -np.inf, np.nan
    values[0, 16] = 1e-40
    desc, layout = TensorDesc(values.shape, F32), Layout(DRAM, "tile", dtype=BFP8)
    back = decode(encode(values, desc, layout), desc, layout)
    largest = np.float32(127 / 64 * 2.0**127)
    assert list(back[0, :3]) == [largest, -largest, 0]
    assert back[0, 16] == 0


bits = hnp.arrays(np.uint32, st.integers(1, 40))


@given(bits)
def test_float32_to_bf16_is_ml_dtypes(raw):
    """I7: nearest even, on the tiled route as on the plain one."""
    values = raw.view(np.float32)
    desc, layout = TensorDesc(values.shape, F32), Layout(DRAM, "tile", dtype=BF16)
    with np.errstate(over="ignore"):
        expected = values.astype(ml_dtypes.bfloat16)
    assert decode(encode(values, desc, layout), desc, layout).tobytes() == expected.tobytes()


@given(bits, st.sampled_from([F32, BF16]), st.sampled_from([I32, U32, U16, U8]))
def test_floats_to_integers_are_cut_and_saturate(raw, source, target):
    values = raw.view(source.numpy)
    limits = np.iinfo(target.numpy)
    exact = [0.0 if np.isnan(v) else min(max(float(v), limits.min), limits.max) for v in values]
    assert list(cast(values, target)) == [int(v) for v in exact]
    inside = np.abs(values.astype(np.float64)) < 256
    numpys = np.abs(values[inside]).astype(np.float32).astype(np.int64).astype(target.numpy)
    assert np.array_equal(cast(np.abs(values[inside]), target), np.minimum(numpys, limits.max))


@given(bits, st.sampled_from([I32, U32, U16, U8]), st.sampled_from([F32, I32, U32, U16, U8]))
def test_integers_cast_as_numpy_does(raw, source, target):
    values = raw.view(source.numpy)
    assert np.array_equal(cast(values, target), values.astype(target.numpy))


@given(bits, st.sampled_from([I32, U32, U16, U8]))
def test_integers_reach_bf16_through_float32(raw, source):
    values = raw.view(source.numpy)
    assert cast(values, BF16).tobytes() == values.astype(np.float32).astype(ml_dtypes.bfloat16).tobytes()
    assert np.array_equal(cast(values, BFP8), values.astype(np.float32))  # before its blocks


@pytest.mark.parametrize("tile", [(32, 32), (16, 32), (32, 16), (16, 16), (4, 32), (1, 16)])
def test_a_datum_lies_where_the_device_looks_for_it(tile):
    """docs/hardware/numerics.md#tile-layout, for every tile shape: tiles row-major, faces of at most 16x16, rows inside."""
    height, width = 2 * tile[0], 3 * tile[1]
    desc = TensorDesc((height, width), U16)
    values = np.arange(height * width, dtype=np.uint16).reshape(height, width)
    data = encode(values, desc, Layout(DRAM, "tile", tile)).view(np.uint16)
    face = min(16, tile[0])
    for r, c in itertools.product(range(height), range(width)):
        in_r, in_c = r % tile[0], c % tile[1]
        which = (r // tile[0] * 3 + c // tile[1]) * tile[0] * tile[1]
        inside = in_r // face * face * tile[1] + in_c // 16 * face * 16 + in_r % face * 16 + in_c % 16
        assert data[which + inside] == values[r, c]


def test_strided_arrays_are_read_by_their_strides():
    whole = np.arange(40 * 80, dtype=np.float32).reshape(40, 80)
    part = whole[::2, ::-1]
    desc = TensorDesc(part.shape, F32)
    for layout in (Layout(HOST), Layout(DRAM, "tile")):
        assert np.array_equal(decode(encode(part, desc, layout), desc, layout), part)


def test_converting_bytes_that_stay_copies_nothing():
    desc = TensorDesc((32, 40), F32)
    there, here = Layout(DRAM, "tile", oob="one"), Layout(HOST, "tile", oob="undef")
    data = encode(noise(desc), desc, there)
    assert convert(data, desc, there, here) is data
    assert convert(data, desc, there, Layout(HOST, "tile")) is not data  # the padding has to become zero


@pytest.mark.parametrize(
    "array, says", [(np.zeros((3, 5), np.float32), r"\(3, 5\)"), (np.zeros((3, 4), np.float64), "float64")]
)
def test_arrays_that_are_not_the_tensor_are_refused(array, says):
    with pytest.raises(LayoutMismatch, match=says) as error:
        encode(array, TensorDesc((3, 4), F32), Layout(HOST))
    assert error.value.hint


def test_bytes_that_are_not_the_tensor_are_refused():
    with pytest.raises(LayoutMismatch, match="takes 48 B, the data has 44 B"):
        decode(np.zeros(44, np.uint8), TensorDesc((3, 4), F32), Layout(HOST))
