"""Compute kernels on one core of the real chip, against numpy in float64, with both numerics.

Every test runs one program: a data-movement kernel hands over tiles that the host has put into the circular buffers, the
compute kernel packs one output tile per case.  Tolerances: results are rounded once to the output format (bfloat16: half
of 2**-7 of the value), intermediate sums in float32.
"""

import math

import numpy as np
import pytest

import tensim as tt
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.cores.numerics.data_format import tile_size
from tensim.sim.cores.numerics.host_formats import decode, encode
from tensim.sim.cores.numerics.tile_order import tilize

IN0, IN1, SCALERS, OUT = 0, 1, 2, 16
TILES = 4
FORMATS = {"bf16": (tt.DataFormat.Float16_b, False, 2.0**-8), "fp32": (tt.DataFormat.Float32, True, 1e-5)}
FEED = kernel_from_source(
    """
@kernel
def feed(n0, n1, n2):
    cb_reserve_back(0, n0)
    cb_push_back(0, n0)
    cb_reserve_back(1, n1)
    cb_push_back(1, n1)
    cb_reserve_back(2, n2)
    cb_push_back(2, n2)
"""
)


# numerics=exact: rounding to 8 bits (bf16) or of operands to 11 (tf32) while sums of such a size are formed; the bits are
# checked in test_numerics_exact.py, here it is which operand goes where
EXACT_TOLERANCE = {"bf16": 2.0**-7, "fp32": 2.0**-9}
EXACT_SIZE = {1.0: 8, 1024: 128, 16 * 128: 256}  # `scale` of a check -> size of its sums, times their roundings


@pytest.fixture(scope="module", params=["fast", "exact"])
def device(request):
    device = tt.create_device(0, numerics=request.param, max_cycles=5_000_000)
    yield device
    tt.close_device(device)


def bits(value):
    return int(np.float32(value).view(np.uint32))


def compute_kernel(lines, outputs, pushed):
    body = "\n".join(
        f"    {line}"
        for line in [
            "compute_kernel_hw_startup(0, 1, 16)", *(f"cb_wait_front({cb}, get_arg_val({cb}))" for cb in (IN0, IN1, SCALERS)),
            f"cb_reserve_back(16, {outputs})", *lines, f"cb_push_back(16, {outputs - pushed})",
        ]
    )  # fmt: skip
    return kernel_from_source(f"@kernel\ndef compute():\n{body}\n")


def run(device, lines, inputs, outputs, data_format, fp32_dest, pushed=0, pages=(), tile=(32, 32)):
    """Bytes of the output buffer; `inputs`: {circular buffer: bytes of its tiles}; `pushed`: pages the lines push; `pages`:
    {circular buffer: bytes of a page} of those whose pages are no tiles; `tile`: its height and width."""
    core, program = tt.CoreCoord(0, 0), tt.create_program()
    tile_bytes = tile_size(data_format) * math.prod(tile) // 1024
    sizes, buffers = dict.fromkeys((*inputs, OUT), tile_bytes) | dict(pages), {}
    page = sizes[OUT]
    for cb, size in [*((cb, len(data)) for cb, data in inputs.items()), (OUT, outputs * page)]:
        config = tt.CircularBufferConfig(size, {cb: data_format}).set_page_size(cb, sizes[cb])
        config.set_tile_dims(cb, tt.Tile(tile))
        buffers[cb] = tt.create_circular_buffer(program, core, config)
    counts = [len(inputs[cb]) // sizes[cb] for cb in (IN0, IN1, SCALERS)]
    kernels = [
        tt.create_kernel(program, FEED, core, tt.ReaderDataMovementConfig()),
        tt.create_kernel(
            program, compute_kernel(lines, outputs, pushed), core, tt.ComputeConfig(fp32_dest_acc_en=fp32_dest)
        ),
    ]
    for kernel in kernels:
        tt.set_runtime_args(program, kernel, core, counts)
    tt.compile_program(device, program)
    where = {cb: tt.get_circular_buffer_config(program, handle)["address"] for cb, handle in buffers.items()}
    for cb, data in inputs.items():
        device.chip.memory.write_l1(0, where[cb], data)
    device.chip.memory.write_l1(0, where[OUT], bytes(outputs * page))
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    return device.chip.memory.read_l1(0, where[OUT], outputs * page)


def section(*lines, pack="pack_tile(0, 16)"):
    """One Dst section: what math does, then what is packed."""
    return ["tile_regs_acquire()", *lines, "tile_regs_commit()", "tile_regs_wait()", pack, "tile_regs_release()"]


def tiles(seed, data_format, low=-4.0, high=4.0):
    """TILES random 32x32 arrays as the format, and a source register, hold them, and their bytes."""
    values = np.random.default_rng(seed).uniform(low, high, (TILES * 32, 32)).astype(np.float32)
    values = (values.view(np.uint32) & 0xFFFFE000).view(np.float32)
    data = encode(values, data_format)
    return decode(data, data_format, values.shape).astype(np.float64).reshape(TILES, 32, 32), data


def scaler_tiles(data_format):
    """Tile 0 is full of 1, tile 1 full of 1/32."""
    return encode(np.concatenate([np.ones((32, 32)), np.full((32, 32), 1 / 32)]), data_format)


def check(device, name, cases, low=-4.0, high=4.0, scale=1.0, exact=False):
    """Run {title: (lines of one section, definition over the tiles a and b)} and compare; `scale`: size of inner terms."""
    data_format, fp32_dest, tolerance = FORMATS[name]
    (a, in0), (b, in1) = tiles(1, data_format, low, high), tiles(2, data_format, low, high)
    lines = [line for code, _ in cases.values() for line in code]
    inputs = {IN0: in0, IN1: in1, SCALERS: scaler_tiles(data_format)}
    found = decode(run(device, lines, inputs, len(cases), data_format, fp32_dest), data_format, (32 * len(cases), 32))
    for i, (title, (_, definition)) in enumerate(cases.items()):
        wanted, tile = definition(a, b), found[32 * i : 32 * i + 32].astype(np.float64)
        bound = 0 if exact else tolerance * np.abs(wanted) + 1e-6 * scale
        if device.chip.numerics == "exact" and not exact:
            bound = EXACT_TOLERANCE[name] * (np.abs(wanted) + EXACT_SIZE.get(scale, scale))
        worst = np.abs(tile - wanted) - bound
        assert (worst <= 0).all(), f"{title}: {tile.flat[worst.argmax()]} instead of {wanted.flat[worst.argmax()]}"


# --- element-wise operations

OPERATORS = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
BROADCASTS = {"rows": lambda t: t[:1], "cols": lambda t: t[:, :1], "scalar": lambda t: t[:1, :1]}


def eltwise_cases():
    cases = {}
    for name, operator in OPERATORS.items():
        cases[name] = section(f"{name}_tiles(0, 1, 1, 2, 0)"), lambda a, b, f=operator: f(a[1], b[2])
        for dim, part in BROADCASTS.items():
            definition = lambda a, b, f=operator, p=part: f(a[1], p(b[2]))  # noqa: E731
            cases[f"{name} {dim}"] = section(f"{name}_tiles_bcast_{dim}(0, 1, 1, 2, 0)"), definition
    reused = "binary_dest_reuse_tiles(1, 0, 0, EltwiseBinaryType.ELWSUB, {})"
    cases["Dst as SrcA"] = section("copy_tile(0, 0, 0)", reused.format("DEST_TO_SRCA")), lambda a, b: a[0] - b[0]
    cases["Dst as SrcB"] = section("copy_tile(0, 0, 0)", reused.format("DEST_TO_SRCB")), lambda a, b: b[0] - a[0]
    accumulating = (
        "add_tiles_init(0, 1, True)",
        "add_tiles(0, 1, 0, 0, 0)",
        "add_tiles(0, 1, 1, 1, 0)",
        "add_tiles_init(0, 1)",
    )
    cases["accumulate"] = section(*accumulating), lambda a, b: a[0] + b[0] + a[1] + b[1]
    replacing = "add_tiles(0, 1, 0, 0, 0)", "add_tiles(0, 1, 1, 1, 0)"
    cases["replace"] = section(*replacing), lambda a, b: a[1] + b[1]
    return cases


@pytest.mark.parametrize("name", FORMATS)
def test_element_wise_operations(device, name):
    check(device, name, eltwise_cases())


MOVES = {
    "copy": (section("copy_tile(0, 3, 0)"), lambda a, b: a[3]),
    "transpose": (section("transpose_wh_tile(0, 3, 0)"), lambda a, b: a[3].T),
    "rows": (section("unary_bcast(0, 3, 0, bcast_type=BroadcastType.ROW)"), lambda a, b: np.repeat(a[3][:1], 32, 0)),
    "columns": (section("unary_bcast(0, 3, 0, bcast_type=BroadcastType.COL)"), lambda a, b: np.repeat(a[3][:, :1], 32, 1)),
    "scalar": (section("unary_bcast(0, 3, 0, bcast_type=BroadcastType.SCALAR)"), lambda a, b: np.full((32, 32), a[3][0, 0])),
    "transpose in Dst": (section("copy_tile(0, 2, 0)", "transpose_dest(0)"), lambda a, b: a[2].T),
    "copy in Dst": (section("copy_tile(1, 2, 1)", "copy_dest_values(1, 0)"), lambda a, b: b[2]),
    "pack another tile": (section("copy_tile(0, 0, 0)", "copy_tile(1, 1, 3)", pack="pack_tile(3, 16)"), lambda a, b: b[1]),
    "a section starts clear": (section("copy_tile(0, 0, 1)"), lambda a, b: np.zeros((32, 32))),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_moves_are_exact(device, name):
    check(device, name, MOVES, exact=True)


# --- reductions


def placed(values, dim):
    """Results where the chip leaves them: column 0, row 0 or element 0; the rest is 0."""
    tile = np.zeros((32, 32))
    tile[{"ROW": (slice(None), 0), "COL": (0, slice(None)), "SCALAR": (0, 0)}[dim]] = values
    return tile


def reduce_cases():
    axes, cases = {"ROW": 1, "COL": 0, "SCALAR": (0, 1)}, {}
    for dim, axis in axes.items():
        for pool, scaler, function in (("SUM", 0, np.sum), ("AVG", 1, np.mean), ("MAX", 0, np.max)):
            code = [f"reduce_tile(0, 2, {{}}, {scaler}, 0, pool=PoolType.{pool}, dim=ReduceDim.REDUCE_{dim})"]
            one = lambda a, b, f=function, d=dim, x=axis: placed(f(a[1], axis=x), d)  # noqa: E731
            cases[f"{pool} {dim}"] = section(*(line.format(1) for line in code)), one
            combine = np.maximum if pool == "MAX" else np.add
            two = lambda a, b, f=function, d=dim, x=axis, g=combine: placed(g(f(a[1], axis=x), f(a[2], axis=x)), d)  # noqa: E731
            cases[f"{pool} {dim} of two"] = section(*(line.format(t) for line in code for t in (1, 2))), two
    return cases


@pytest.mark.parametrize("name", FORMATS)
def test_reductions(device, name):
    """Sums, averages (the scaler is 1/32 per dimension) and maxima of one tile and over two."""
    check(device, name, reduce_cases(), scale=1024)


# --- matrix products

PRODUCTS = {
    "tile": (section("matmul_tiles(0, 1, 0, 1, 0, False)"), lambda a, b: a[0] @ b[1]),
    "transposed": (section("matmul_tiles(0, 1, 0, 1, 0, True)"), lambda a, b: a[0] @ b[1].T),
    "transposed, says the init": (
        section("mm_init(0, 1, 16, transpose=1)", "matmul_tiles(0, 1, 0, 1, 0)"), lambda a, b: a[0] @ b[1].T,
    ),
    "no longer transposed": (
        section("mm_init_short(0, 1)", "matmul_tiles(0, 1, 0, 1, 0)"), lambda a, b: a[0] @ b[1],
    ),
    "sum": (
        section(*(f"matmul_tiles(0, 1, {k}, {k}, 0, False)" for k in range(4))),
        lambda a, b: sum(a[k] @ b[k] for k in range(4)),
    ),
    **{
        f"block {row} {column}": (
            section("matmul_block(0, 1, 0, 0, 0, False, 2, 2, 2)", pack=f"pack_tile({2 * row + column}, 16)"),
            lambda a, b, r=row, c=column: a[2 * r] @ b[c],
        )
        for row in range(2) for column in range(2)
    },
    "partials": (section("copy_tile(0, 3, 0)", "matmul_tiles(0, 1, 0, 0, 0, False)"), lambda a, b: a[3] + a[0] @ b[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_matrix_products(device, name):
    check(device, name, PRODUCTS, scale=16 * 128)


def test_a_block_is_packed_in_one_call(device):
    data_format, fp32_dest, tolerance = FORMATS["bf16"]
    (a, in0), (b, in1) = tiles(1, data_format), tiles(2, data_format)
    lines = section("matmul_block(0, 1, 0, 0, 0, False, 2, 2, 2)", pack="pack_tile_block(0, 16, 4)")
    inputs = {IN0: in0, IN1: in1, SCALERS: scaler_tiles(data_format)}
    found = decode(run(device, lines, inputs, 4, data_format, fp32_dest), data_format, (128, 32)).reshape(4, 32, 32)
    for i in range(4):
        wanted = a[2 * (i // 2)] @ b[i % 2]
        assert np.allclose(found[i], wanted, rtol=tolerance, atol=1e-3 if device.chip.numerics == "fast" else 1)


# --- pack


def packed(*lines):
    """A copy of tile 0 packed with the packer configured by the lines, which are undone afterwards."""
    return [*lines, *section("copy_tile(0, 0, 0)"), "pack_relu_config(ReluType.NO_RELU)", "pack_reconfig_l1_acc(0)"]


THRESHOLD = bits(1.5) >> 16  # the upper half of a float32
PACKS = {
    "plain": (packed(), lambda a, b: a[0]),
    "relu": (packed("pack_relu_config(ReluType.ZERO_RELU)"), lambda a, b: np.maximum(a[0], 0)),
    "above": (
        packed(f"pack_relu_config(ReluType.MIN_THRESHOLD_RELU, {THRESHOLD})"), lambda a, b: np.where(a[0] > 1.5, a[0], 0)),
    "up to": (packed(f"pack_relu_config(ReluType.MAX_THRESHOLD_RELU, {THRESHOLD})"), lambda a, b: np.clip(a[0], 0, 1.5)),
}  # fmt: skip
SUMS = {
    "pack again": (  # the first pack to the same place, with ReLU, leaves Dst as it was
        [
            "tile_regs_acquire()", "copy_tile(0, 0, 0)", "tile_regs_commit()", "tile_regs_wait()",
            "pack_relu_config(ReluType.ZERO_RELU)", "pack_tile(0, 16, 0, True)", "pack_relu_config(ReluType.NO_RELU)",
            "pack_tile(0, 16, 0, True)", "pack_reconfig_l1_acc(1)", "pack_tile(0, 16, 0, True)", "pack_tile(0, 16, 0, True)",
            "pack_reconfig_l1_acc(0)", "tile_regs_release()",
        ],
        lambda a, b: 3 * a[0],
    ),
    "add in L1": (
        [
            *section("copy_tile(0, 1, 0)", pack="pack_tile(0, 16, 1, True)"), "pack_reconfig_l1_acc(1)",
            *section("copy_tile(1, 1, 0)", pack="pack_tile(0, 16, 1, True)"),
            *section("copy_tile(0, 2, 0)", pack="pack_tile(0, 16, 1, True)"), "pack_reconfig_l1_acc(0)",
        ],
        lambda a, b: a[1] + b[1] + a[2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_packer(device, name):
    check(device, name, PACKS, exact=True)


@pytest.mark.parametrize("name", FORMATS)
def test_packs_that_add_to_l1(device, name):
    """In bfloat16 L1 holds every partial sum rounded: up to three roundings of 2**-9 of values up to 12."""
    check(device, name, SUMS, scale=3 * 12 * 2**-9 / 1e-6 if name == "bf16" else 10)


# --- layouts


@pytest.mark.parametrize("name", FORMATS)
def test_tilize_and_untilize(device, name):
    """32 rows of 2 tiles: rows to tiles; tiles to rows by the math thread's copy and by the packer from Dst."""
    data_format, fp32_dest, _ = FORMATS[name]
    if name == "fp32" and device.chip.numerics == "exact":
        pytest.skip("the patterns are denormals of fp32, which the matrix unit flushes")
    dtype = {2: np.uint16, 4: np.uint32}[tile_size(data_format) // 1024]
    rows = np.arange(32 * 64, dtype=np.uint16).reshape(32, 64).astype(dtype) + 0x3F80
    as_tiles = np.concatenate([rows[:, :32], rows[:, 32:]]).reshape(2, 32, 32)
    in_faces = np.concatenate([tilize(tile, *tile.shape) for tile in as_tiles])
    lines = [
        "tilize_init(0, 2, 16)", "tilize_block(0, 2, 16)", "tilize_uninit(0, 16)", "cb_push_back(16, 2)",
        "untilize_init(1)", "untilize_block(1, 2, 16)", "untilize_uninit(1)", "cb_push_back(16, 2)",
        *section("copy_tile(1, 0, 0)", "copy_tile(1, 1, 1)", pack="pack_untilize_dest(16, block_ct_dim=2)"),
    ]  # fmt: skip
    inputs = {IN0: rows.tobytes(), IN1: in_faces.tobytes(), SCALERS: scaler_tiles(data_format)}
    found = np.frombuffer(run(device, lines, inputs, 6, data_format, fp32_dest, pushed=4), dtype).reshape(3, -1)
    assert np.array_equal(found[0], in_faces.ravel())
    assert np.array_equal(found[1], rows.ravel())
    assert np.array_equal(found[2], rows.ravel())


def test_pages_of_row_major_data_may_be_rows(device):
    rows = np.arange(32 * 64, dtype=np.uint16).reshape(32, 64) + 0x3F80
    as_tiles = np.concatenate([rows[:, :32], rows[:, 32:]]).reshape(2, 32, 32)
    in_faces = np.concatenate([tilize(tile, *tile.shape) for tile in as_tiles])
    data_format = tt.DataFormat.Float16_b
    inputs = {IN0: rows.tobytes(), IN1: in_faces.tobytes(), SCALERS: scaler_tiles(data_format)}
    row = {IN0: 64 * 2}
    lines = ["tilize_init(0, 2, 16)", "tilize_block(0, 2, 16)", "tilize_uninit(0, 16)", "cb_pop_front(0, 32)"]
    assert run(device, lines, inputs, 2, data_format, False, pages=row) == in_faces.tobytes()
    lines = section("copy_tile(1, 0, 0)", "copy_tile(1, 1, 1)", pack="pack_untilize_dest(16, block_ct_dim=2)")
    assert run(device, lines, inputs, 32, data_format, False, pages={OUT: 64 * 2}) == rows.tobytes()


def test_pages_that_do_not_hold_tiles_are_odd():
    data_format = tt.DataFormat.Float16_b
    inputs = dict.fromkeys((IN0, IN1, SCALERS), scaler_tiles(data_format))
    with tt.create_device(1) as device:
        run(device, section("copy_tile(1, 0, 0)"), inputs, 32, data_format, False, pages={OUT: 128})
        (one,) = device.chip.oddities.rows()
        assert one["kind"] == "page_size" and "a page of 128 bytes does not hold a tile of 2048 bytes" in one["message"]


# --- the vector unit


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


erf = np.vectorize(math.erf)
# call -> definition; tiles hold 0.25 to 4
UNARY = {
    "exp_tile(0)": np.exp, "exp2_tile(0)": np.exp2, "expm1_tile(0)": np.expm1, "log_tile(0)": np.log, "log1p_tile(0)": np.log1p,
    "sqrt_tile(0)": np.sqrt, "rsqrt_tile(0)": lambda x: x**-0.5, "recip_tile(0)": lambda x: 1 / x,
    "square_tile(0)": np.square, "cbrt_tile(0)": np.cbrt, "negative_tile(0)": np.negative, "sin_tile(0)": np.sin,
    "cos_tile(0)": np.cos, "atan_tile(0)": np.arctan, "tanh_tile(0)": np.tanh, "sinh_tile(0)": np.sinh,
    "sigmoid_tile(0)": sigmoid, "silu_tile(0)": lambda x: x * sigmoid(x), "erf_tile(0)": erf,
    "gelu_tile(0)": lambda x: x * (1 + erf(x / math.sqrt(2))) / 2, "softsign_tile(0)": lambda x: x / (1 + x),
    "floor_tile(0)": np.floor, "ceil_tile(0)": np.ceil, "unary_gt_tile(0, 0x3F800000)": lambda x: x > 1,
    "power_tile(0, 0x40400000)": lambda x: x**3, "mul_unary_tile(0, 0x40400000)": lambda x: 3 * x,
    "rsub_unary_tile(0, 0x40400000)": lambda x: 3 - x, "fill_tile(0, 0x40400000)": lambda x: 0 * x + 3,
    "hardtanh_tile(0, 0x3F800000, 0x40400000)": lambda x: np.clip(x, 1, 3),
}  # fmt: skip
BINARY = {
    "add_binary_tile(0, 1, 0)": np.add, "sub_binary_tile(0, 1, 0)": np.subtract, "rsub_binary_tile(0, 1, 0)": lambda x, y: y - x,
    "mul_binary_tile(0, 1, 0)": np.multiply, "div_binary_tile(0, 1, 0)": np.divide, "power_binary_tile(0, 1, 0)": np.power,
    "binary_max_tile(0, 1, 0)": np.maximum, "binary_min_tile(0, 1, 0)": np.minimum, "max_tile(0, 1)": np.maximum,
    "lt_binary_tile(0, 1, 0)": np.less, "xlogy_binary_tile(0, 1, 0)": lambda x, y: x * np.log(y),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_unary_vector_functions(device, name):
    cases = {
        call: (section("copy_tile(0, 0, 0)", call), lambda a, b, f=function: f(a[0]) * 1.0)
        for call, function in UNARY.items()
    }
    check(device, name, cases, low=0.25, scale=10)


@pytest.mark.parametrize("name", FORMATS)
def test_binary_vector_functions(device, name):
    """Both operands in Dst, the result over the first; and a chain of two functions."""
    load = "copy_tile(0, 0, 0)", "copy_tile(1, 0, 1)"
    cases = {
        call: (section(*load, call), lambda a, b, f=function: f(a[0], b[0]) * 1.0) for call, function in BINARY.items()
    }
    chain = section("copy_tile(0, 0, 0)", "exp_tile_init()", "exp_tile(0)", "recip_tile_init()", "recip_tile(0)")
    cases["chain"] = chain, lambda a, b: np.exp(-a[0])
    where = section(
        "copy_tile(0, 0, 0)",
        "unary_gt_tile(0, 0x40000000)",
        "copy_tile(0, 1, 1)",
        "copy_tile(1, 1, 2)",
        "where_tile(0, 1, 2, 0)",
    )
    cases["where"] = where, lambda a, b: np.where(a[0] > 2, a[1], b[1])
    check(device, name, cases, low=0.25, scale=10)


INTEGER = {
    "add_int_tile(0, 1, 0)": lambda x, y: x + y, "sub_int_tile(0, 1, 0)": lambda x, y: x - y,
    "mul_int_tile(0, 1, 0)": lambda x, y: x * y, "bitwise_and_binary_tile(0, 1, 0)": lambda x, y: x & y,
    "bitwise_xor_binary_tile(0, 1, 0)": lambda x, y: x ^ y, "gcd_tile(0, 1, 0)": np.gcd,
    "binary_min_int32_tile(0, 1, 0)": np.minimum, "bitwise_not_tile(0)": lambda x, y: ~x,
    "left_shift_tile(0, 3)": lambda x, y: x << 3, "abs_tile_int32(0)": lambda x, y: np.abs(x),
}  # fmt: skip


def test_integer_vector_functions(device):
    """Int32 tiles pass through Dst bit for bit."""
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-30_000, 30_000, (32 * TILES, 32)) for _ in range(2))
    lines = [line for call in INTEGER for line in section("copy_tile(0, 0, 0)", "copy_tile(1, 0, 1)", call)]
    form = tt.DataFormat.Int32
    inputs = {IN0: encode(a, form), IN1: encode(b, form), SCALERS: encode(a[:32], form)}
    found = decode(run(device, lines, inputs, len(INTEGER), form, True), form, (32 * len(INTEGER), 32))
    for i, (call, definition) in enumerate(INTEGER.items()):
        assert np.array_equal(found[32 * i : 32 * i + 32], definition(a[:32], b[:32])), call
