"""Tensor descriptions and layouts: sizes, padding, pages, what the device's buffers look like, and what is refused."""

import ml_dtypes
import numpy as np
import pytest

import tensim as tt
from tensim.runtime.dtypes import ALIASES, DType, cast, dtype_of
from tensim.runtime.encoding import decode, encode
from tensim.runtime.errors import LayoutUnsupported
from tensim.runtime.layouts import Layout, MemSpace, Sharded, TensorDesc
from tensim.sim.cores.numerics.data_format import tile_size
from tests.runtime.layout_cases import BANKS, DTYPES, GRID, SHAPES, device_layouts, small_integers

F32, BF16, U8, BFP8 = DType.F32, DType.BF16, DType.U8, DType.BFP8
L1, DRAM, HOST = MemSpace.L1, MemSpace.DRAM, MemSpace.HOST


def cores(count):
    return tt.CoreRangeSet([tt.CoreRange((0, 0), (count - 1, 0))])


def test_a_tensor_counts_its_elements_and_bytes():
    desc = TensorDesc((2, 31, 33), BF16)
    assert (desc.volume, desc.nbytes) == (2046, 4092)
    assert TensorDesc((4, 8), F32, strides=(16, 1)).nbytes == (3 * 16 + 7 + 1) * 4


@pytest.mark.parametrize(
    "shape, strides, says",
    [
        ((), None, "at least one dimension"),
        ((3, 0), None, "at least 1"),
        ((3, 4), (4,), "strides"),
        ((3,), (-1,), "strides"),
    ],
)
def test_descriptions_that_are_refused(shape, strides, says):
    with pytest.raises(LayoutUnsupported, match=says):
        TensorDesc(shape, F32, strides)


def test_element_types_and_memories_go_by_name():
    assert TensorDesc((3,), "f32") == TensorDesc((3,), F32) and Layout("l1", dtype="bf16") == Layout(L1, dtype=BF16)


@pytest.mark.parametrize(
    "make, says, hint",
    [
        (lambda: TensorDesc((3,), np.float32), "no element type <class 'numpy.float32'>", "f32"),
        (lambda: Layout(DRAM, dtype="f64"), "no element type 'f64'", "f32"),
        (lambda: Layout("sram"), "no memory 'sram'", "MemSpace.L1"),
    ],
)
def test_unknown_element_types_and_memories_are_refused(make, says, hint):
    with pytest.raises(LayoutUnsupported, match=says) as error:
        make()
    assert hint in error.value.hint


def test_the_0_d_error_says_what_to_do():
    with pytest.raises(LayoutUnsupported) as error:
        TensorDesc(np.float32(1).shape, F32)
    assert "(1,)" in error.value.hint


@pytest.mark.parametrize(
    "name, bytes_of_tile, code",
    [("f32", 4096, 0), ("bf16", 2048, 5), ("u8", 1024, 30), ("bfp8", 1088, 6), ("bfp4", 576, 7), ("bfp2", 320, 15)],
)
def test_types_weigh_what_the_device_says(name, bytes_of_tile, code):
    assert (DType(name).tile_bytes(), DType(name).format) == (bytes_of_tile, code)
    assert DType(name).tile_bytes() == tile_size(DType(name).format)


def test_exponents_of_small_tiles_fill_16_bytes():
    assert BFP8.tile_bytes((1, 32)) == 16 + 32  # two exponents, padded


@pytest.mark.parametrize("foreign, native", ALIASES.items())
def test_foreign_arrays_need_a_permitted_cast(foreign, native):
    assert dtype_of(foreign, allow_cast=True) is native
    with pytest.raises(LayoutUnsupported, match=f"{foreign}") as error:
        dtype_of(foreign)
    assert "allow_cast" in error.value.hint and str(native) in error.value.hint
    values = np.array([0, 1, 7]).astype(foreign)
    assert cast(values, native).dtype == native.numpy
    assert np.array_equal(cast(values, native).astype(np.float64), values.astype(np.float64))


def test_types_of_arrays():
    assert [dtype_of(t) for t in (np.float32, ml_dtypes.bfloat16, np.uint16)] == [F32, BF16, DType.U16]
    with pytest.raises(LayoutUnsupported, match="complex64"):
        dtype_of(np.complex64, allow_cast=True)


@pytest.mark.parametrize(
    "layout, shape, padded",
    [
        (Layout(DRAM), (31,), (31,)),
        (Layout(DRAM, "tile"), (31,), (32, 32)),
        (Layout(DRAM, "tile"), (2, 3, 33, 1), (2, 3, 64, 32)),
        (Layout(HOST, "tile", (16, 16)), (33, 17), (48, 32)),
        (Layout(L1, distribution=Sharded("width", GRID, (3, 32))), (3, 70), (3, 96)),
        (Layout(L1, distribution=Sharded("nd", GRID, (1, 3, 16))), (2, 5, 40), (2, 5, 48)),
    ],
)
def test_padded_shapes(layout, shape, padded):
    assert layout.padded_shape(shape) == padded
    assert layout.pads(TensorDesc(shape, F32)) == (np.prod(padded) != np.prod(shape))


def test_rows_have_no_tile():
    assert Layout(DRAM, "row", (16, 32)) == Layout(DRAM, "row")


def test_interleaved_buffers_have_a_page_per_tile_or_row():
    desc = TensorDesc((2, 33, 70), BF16)
    rows, tiles = (Layout(DRAM, tiling).buffer_config(desc, None) for tiling in ("row", "tile"))
    assert rows == tt.InterleavedBufferConfig(None, 2 * 33 * 140, 140, tt.BufferType.DRAM)
    assert tiles == tt.InterleavedBufferConfig(None, 2 * 2 * 3 * 2048, 2048, tt.BufferType.DRAM)


def test_sharded_buffers_have_pages_as_wide_as_a_shard():
    desc = TensorDesc((2, 16, 70), F32)
    config = Layout(L1, distribution=Sharded("width", GRID, (32, 35))).buffer_config(desc, None)
    parameters = config.shard_parameters
    assert (config.size, config.page_size) == (32 * 2 * 140, 140)
    assert config.buffer_layout == tt.TensorMemoryLayout.WIDTH_SHARDED
    assert (parameters.page_shape, parameters.tensor2d_shape_in_pages) == ((1, 35), (32, 2))
    assert parameters.tensor_shard_spec.shape == (32, 35)


def test_nd_shards_go_round_the_cores_in_the_grid_order():
    desc = TensorDesc((4, 64, 64), BF16)
    grid = tt.CoreRange((0, 0), (1, 1))
    layout = Layout(L1, "tile", distribution=Sharded("nd", grid, (1, 32, 64), tt.ShardOrientation.COL_MAJOR))
    spec = layout.buffer_config(desc, None).shard_parameters
    assert (spec.tensor_shape_in_pages, spec.shard_shape_in_pages) == ((4, 2, 2), (1, 1, 2))
    assert spec.cores == ((0, 0), (0, 1), (1, 0), (1, 1))


@pytest.mark.parametrize(
    "build, says",
    [
        (lambda: Layout(DRAM, "column"), "tiling"),
        (lambda: Layout(DRAM, oob="seven"), "padding cannot hold"),
        (lambda: Layout(DRAM, "tile", (24, 32)), "no tiles of 24x32"),
        (lambda: Layout(DRAM, "row", dtype=BFP8), "tiles only"),
        (lambda: Layout(DRAM, "tile", dtype=BFP8, oob="one"), "shares exponents"),
        (lambda: Layout(DRAM, "tile", dtype=U8, oob="inf"), "no infinity"),
        (lambda: Layout(HOST, distribution=Sharded("height", GRID, (1, 32))), "no banks"),
        (lambda: Layout(DRAM, distribution=Sharded("height", GRID, (1, 32))), r"\(bank, 0\)"),
        (lambda: Layout(L1, "tile", distribution=Sharded("height", GRID, (16, 32))), "whole 32x32 tiles"),
        (lambda: Layout(L1, "tile", distribution=Sharded("nd", GRID, (32,))), "whole 32x32 tiles"),
        (lambda: Sharded("diagonal", GRID, (1, 32)), "no 'diagonal' sharding"),
        (lambda: Sharded("height", GRID, (1, 1, 32)), "height, width"),
        (lambda: Sharded("nd", GRID, (0, 32)), "at least 1"),
        (lambda: Sharded("nd", [], (1, 32)), "at least one core"),
        (lambda: Sharded("height", GRID, (1, 32), axes=("y", "y")), "axes"),
    ],
)
def test_layouts_no_memory_can_hold(build, says):
    with pytest.raises(LayoutUnsupported, match=says):
        build()


@pytest.mark.parametrize(
    "layout, shape, says",
    [
        (Layout(DRAM), (4, 4), "tiles only"),
        (Layout(L1, "tile", dtype=F32, distribution=Sharded("height", cores(2), (32, 32))), (96, 32), "3 shards"),
        (
            Layout(L1, dtype=F32, distribution=Sharded("height", cores(2), (2, 16))),
            (4, 32),
            "16 pages wide|1 pages wide",
        ),
        (Layout(L1, dtype=F32, distribution=Sharded("width", cores(2), (2, 16))), (4, 32), "2 pages high"),
        (Layout(L1, dtype=F32, distribution=Sharded("nd", cores(2), (2, 16))), (2, 4, 32), "3 dimensions"),
        (Layout(L1, dtype=F32, distribution=Sharded("block", cores(2), (2, 16))), (4, 32), "2x2 shards"),
    ],
)
def test_layouts_that_do_not_fit_a_tensor(layout, shape, says):
    with pytest.raises(LayoutUnsupported, match=says):
        layout.resolved(TensorDesc(shape, BFP8))


def test_host_layouts_have_no_device_buffer():
    with pytest.raises(LayoutUnsupported, match="host memory"):
        Layout(HOST).buffer_config(TensorDesc((4, 4), F32), None)


def test_differences_are_named_field_by_field():
    a, b = Layout(DRAM, "tile", dtype=F32), Layout(L1, "tile", dtype=BF16)
    assert a.diff(b) == {"space": (DRAM, L1), "dtype": (F32, BF16)}
    assert a.diff(a) == {}


def test_the_order_of_cores_is_part_of_a_sharding():
    there = Sharded("height", [(0, 0), (1, 0)], (1, 32))
    assert there != Sharded("height", [(1, 0), (0, 0)], (1, 32))
    assert there == Sharded("height", [(0, 0), (1, 0)], (1, 32), axes=("rows", "columns"))  # names are labels


@pytest.fixture(scope="module")
def device():
    with tt.create_device(0) as device:
        yield device


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_device_holds_every_layout(device, shape):
    """T1, placement: the buffer exists as described, and what is written comes back."""
    for layout in device_layouts(shape, DTYPES):
        desc = TensorDesc(shape, layout.dtype)
        values = small_integers(desc)
        buffer = tt.create_buffer(layout.buffer_config(desc, device))
        data = encode(values, desc, layout)
        assert buffer.num_pages == layout.pages(desc).count
        tt.write_to_buffer(buffer, data)
        back = np.frombuffer(bytes(tt.read_from_buffer(buffer)), np.uint8)
        assert np.array_equal(decode(back, desc, layout), values), layout


def test_shards_lie_on_the_cores_of_the_grid(device):
    desc = TensorDesc((64, 64), BF16)
    layout = Layout(L1, "tile", distribution=Sharded("height", [(2, 1), (0, 3)], (32, 64)))
    buffer = tt.create_buffer(layout.buffer_config(desc, device))
    assert buffer.shard_cores() == [(2, 1), (0, 3)]
    assert [buffer.page_location(page)[0] for page in range(4)] == [
        bank for bank in (buffer.page_location(0)[0], buffer.page_location(2)[0]) for _ in range(2)
    ]
    dram = Layout(DRAM, distribution=Sharded("height", BANKS, (8, 64)))
    assert tt.create_buffer(dram.buffer_config(desc, device)).shard_cores() == [(bank, 0) for bank in range(8)]
