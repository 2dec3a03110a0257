"""What a compute operation does not know stops the kernel, and masks and scalers of reductions mean what they mean on the chip."""

import numpy as np
import pytest

import tensim as tt
from tensim.sim.cores.numerics.host_formats import decode, encode
from tensim.sim.errors import KernelCompileError, ProgramError
from tests.cores.tensix.test_compute import IN0, IN1, SCALERS, run, section

BF16, INT32, FLOAT32 = tt.DataFormat.Float16_b, tt.DataFormat.Int32, tt.DataFormat.Float32


@pytest.fixture(scope="module", params=["fast", "exact"])
def numerics(request):
    return request.param


@pytest.fixture
def device(numerics):
    device = tt.create_device(0, numerics=numerics, max_cycles=5_000_000)
    yield device
    tt.close_device(device)


def one(data_format, value=1.0):
    return encode(np.full((32, 32), value), data_format)


def inputs(data_format, a=None, b=None, scaler=None):
    full = one(data_format)
    return {IN0: a or full, IN1: b or full, SCALERS: scaler or full}


# --- unknown values: constants are refused when the kernel is built, others stop it


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("reduce_tile(0, 2, 0, 0, 0, pool=3)", "MATH_REDUCE has no Pool 3; it knows SUM"),
        ("reduce_tile(0, 2, 0, 0, 0, pool=PoolType.MIN)", "has no Pool 3"),
        ("reduce_tile(0, 2, 0, 0, 0, dim=4)", "has no ReduceDim 4"),
        ("binary_dest_reuse_tiles(0, 0, 0, eltwise_binary_type=3)", "MATH_BINARY has no Binary 3"),
        ("add_tiles_bcast(0, 1, 0, 0, 0, dim=5)", "has no Bcast 5"),
        ("unary_bcast(0, 0, 0, bcast_type=9)", "MATH_COPY has no Bcast 9"),
        ("sfpu_reduce(0, pool=4)", "SFPU_REDUCE has no Pool 4"),
    ],
)
def test_a_constant_that_is_unknown_is_refused_when_the_kernel_is_built(device, call, words):
    with pytest.raises(KernelCompileError, match=words):
        run(device, section(call), inputs(BF16), 1, BF16, False)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("reduce_tile(0, 2, 0, 0, 0, pool=2 + get_arg_val(0))", "MATH_REDUCE has no Pool 3"),
        ("binary_dest_reuse_tiles(0, 0, 0, eltwise_binary_type=2 + get_arg_val(0))", "MATH_BINARY has no Binary 3"),
        ("unary_bcast(0, 0, 0, bcast_type=3 + get_arg_val(0))", "MATH_COPY has no Bcast 4"),
        ("sfpu_reduce(0, dim=2 + get_arg_val(0))", "SFPU_REDUCE has no ReduceDim 3"),
        ("sfpu_reduce(0, data_format=1 + get_arg_val(0))", "no such call for data format 2"),
        ("typecast_tile(0, 0, 13 + get_arg_val(0))", "no such call for data format 0"),
        ("sfpu_reduce(0, pool=1, dim=0, data_format=7 + get_arg_val(0))", "no such call for data format 8"),
    ],
)
def test_a_value_that_is_unknown_stops_the_kernel(device, call, words):
    with pytest.raises(ProgramError, match=words) as error:
        run(device, section(call), inputs(BF16), 1, BF16, False)
    assert error.value.where["thread"] in ("TRISC0", "TRISC1") and error.value.where["line"]


@pytest.mark.parametrize(
    "call", ["add_tiles(0, 1, 0, 0, 0)", "matmul_tiles(0, 1, 0, 0, 0)", "add_reuse_dest_tiles(0, 0, 0)"]
)
def test_the_matrix_unit_takes_no_words(device, call):
    """Int32 operands: on the chip their bits would count as numbers."""
    with pytest.raises(ProgramError, match="operands of formats 8 and 8"):
        run(device, section(call), inputs(INT32), 1, INT32, True)


def test_accumulation_in_l1_of_other_formats_stops(device):
    with pytest.raises(ProgramError, match="accumulation in L1 of data format 8"):
        run(device, ["pack_reconfig_l1_acc(1)", *section("copy_tile(0, 0, 0)")], inputs(INT32), 1, INT32, True)


# --- products with zero, scalers


def test_a_factor_of_zero_masks_infinity(device):
    """The matrix unit knows no infinity: kernels mask the unused part of a tile with zeros, whatever it holds."""
    values, mask = np.full((32, 32), 2.0), np.ones((32, 32))
    values[:, 20:], mask[:, 20:] = np.inf, 0
    a, b = encode(values, BF16), encode(mask, BF16)
    lines = section("mul_tiles(0, 1, 0, 0, 0)")
    found = decode(run(device, lines, inputs(BF16, a, b), 1, BF16, False), BF16, (32, 32))
    assert np.array_equal(found, np.where(mask != 0, 2.0, 0.0))
    lines = section("matmul_tiles(0, 1, 0, 0, 0)")
    found = decode(run(device, lines, inputs(BF16, a, encode(mask.T, BF16)), 1, BF16, False), BF16, (32, 32))
    assert np.array_equal(found, np.full((32, 32), 40.0))


@pytest.mark.parametrize(("dim", "axis"), [("REDUCE_ROW", 1), ("REDUCE_COL", 0)])
def test_a_scaler_has_a_factor_for_every_place(device, dim, axis):
    """Sums of rows take row 0 of its upper faces, sums of columns that of its first face; infinity where the factor is zero."""
    rng, scaler = np.random.default_rng(0), np.zeros((32, 32))
    values = rng.integers(-4, 5, (32, 32)).astype(float)
    used = 10 if dim == "REDUCE_ROW" else 7
    factors = np.zeros(32)
    factors[:used] = 0.5
    if dim == "REDUCE_COL":
        factors[16 : 16 + used] = 0.5
    for face in (0, 16):
        scaler[face, :] = factors
    unused = factors == 0
    values[(slice(None), unused) if axis == 1 else (unused, slice(None))] = np.inf
    a, s = encode(values, BF16), encode(scaler, BF16)
    lines = section(f"reduce_tile(0, 2, 0, 0, 0, pool=PoolType.SUM, dim=ReduceDim.{dim})")
    found = decode(run(device, lines, inputs(BF16, a, None, s), 1, BF16, False), BF16, (32, 32))
    kept = values[:, ~unused] if axis == 1 else values[~unused]
    assert np.array_equal(found[:, 0] if axis == 1 else found[0], kept.sum(axis) / 2)


def test_a_maximum_takes_the_exponent_of_its_scaler(device):
    values = np.arange(1024.0).reshape(32, 32) % 37 - 40
    lines = section("reduce_tile(0, 2, 0, 0, 0, pool=PoolType.MAX, dim=ReduceDim.REDUCE_ROW)")
    given = inputs(BF16, encode(values, BF16), None, one(BF16, 0.75))
    found = decode(run(device, lines, given, 1, BF16, False), BF16, (32, 32))
    assert np.array_equal(found[:, 0], values.max(1) / 2)


def test_products_of_integers_of_8_bits(device):
    """With HiFi4 every bit counts; sums are exact."""
    rng, form = np.random.default_rng(1), tt.DataFormat.Int8
    a, b = rng.integers(-2, 3, (32, 32)), rng.integers(-1, 2, (32, 32))
    found = run(
        device, section("matmul_tiles(0, 1, 0, 0, 0)"), inputs(form, encode(a, form), encode(b, form)), 1, form, True
    )
    assert np.array_equal(decode(found, form, (32, 32)), a @ b)


# --- reductions of the vector unit, from a circular buffer and back


@pytest.mark.parametrize(("pool", "function"), [("SUM", np.sum), ("MAX", np.max), ("MIN", np.min), ("AVG", np.mean)])
def test_vector_reduction_of_numbers(device, pool, function):
    values = np.random.default_rng(2).integers(-64, 64, (32, 32)).astype(float)
    values = values if pool != "AVG" else values * 32
    lines = section("copy_tile(0, 0, 0)", f"sfpu_reduce(0, pool=PoolType.{pool}, dim=ReduceDim.REDUCE_COL)")
    found = decode(run(device, lines, inputs(FLOAT32, encode(values, FLOAT32)), 1, FLOAT32, True), FLOAT32, (32, 32))
    assert np.array_equal(found[0], function(values, axis=0))


@pytest.mark.parametrize(("pool", "function"), [("SUM", np.sum), ("MAX", np.max), ("MIN", np.min)])
@pytest.mark.parametrize(("dim", "axis"), [("REDUCE_ROW", 1), ("REDUCE_COL", 0)])
def test_vector_reduction_of_integers(device, pool, function, dim, axis):
    values = np.random.default_rng(3).integers(-(2**26), 2**26, (32, 32))
    call = f"sfpu_reduce(0, pool=PoolType.{pool}, dim=ReduceDim.{dim}, data_format=DataFormat.Int32)"
    given = inputs(INT32, encode(values, INT32))
    found = decode(run(device, section("copy_tile(0, 0, 0)", call), given, 1, INT32, True), INT32, (32, 32))
    assert np.array_equal(found[:, 0] if axis == 1 else found[0], function(values, axis=axis))


# --- a fault of the chip that is not modelled is said


@pytest.mark.parametrize(("arch", "phases", "wide", "said"), [
    ("wormhole_b0", "HiFi4", True, True), ("wormhole_b0", "HiFi3", True, False), ("wormhole_b0", "HiFi4", False, False),
    ("blackhole", "HiFi4", True, False),
])  # fmt: skip
def test_the_fault_of_wide_products_is_said(arch, phases, wide, said):
    from tests.cores.tensix.test_compute import FEED, OUT, compute_kernel

    device = tt.create_device(0, arch=arch, numerics="exact")
    core, program = tt.CoreCoord(0, 0), tt.create_program()
    for cb in (IN0, IN1, SCALERS, OUT):
        config = tt.CircularBufferConfig(2048, {cb: BF16}).set_page_size(cb, 2048)
        tt.create_circular_buffer(program, core, config)
    config = tt.ComputeConfig(math_fidelity=getattr(tt.MathFidelity, phases), fp32_dest_acc_en=wide)
    for kernel in (
        tt.create_kernel(program, FEED, core, tt.ReaderDataMovementConfig()),
        tt.create_kernel(program, compute_kernel(section("matmul_tiles(0, 1, 0, 0, 0)"), 1, 0), core, config),
    ):
        tt.set_runtime_args(program, kernel, core, [1, 1, 1])
    with tt.measure(device) as measured:
        tt.enqueue_program(device.command_queue(), program, blocking=True)
    tt.close_device(device)
    assert any("HiFi4 into a 32-bit Dst" in line for line in measured.result.warnings) == said
