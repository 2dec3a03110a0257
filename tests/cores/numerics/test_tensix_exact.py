"""`numerics=exact` against the arithmetic of docs/hardware/numerics.md written a second time, on patterns of every kind.

Random tiles mix ordinary numbers, wide exponents, denormals, exponent 255 (no NaN or Inf to the unit), cancelling pairs and
uniformly random bits.  TENSIM_NUMERICS_TILES sets the number of tiles of the vectorised comparison, TENSIM_NUMERICS_DATUMS
that of the datums which Python integers compute again: half of them matrix products, half sums, differences and products
(`make numerics` runs both at full size).
"""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensim.sim.cores.numerics.exact_math import (
    ALL_BITS,
    KEPT_BF16,
    KEPT_TF32,
    SCRATCH_BYTES,
    binary_exact,
    matmul_exact,
    matmul_integers,
    reduce_exact,
)
from tensim.sim.cores.numerics.matrix_unit import WIDE
from tensim.sim.cores.numerics.packer import DST16, DST32, PRECISE, pack_tile
from tensim.sim.cores.numerics.tile_order import tilize, untilize
from tensim.sim.cores.numerics.unpacker import TILE_ROWS, TO_BF16, TO_FP32, TO_TF32, unpack_tile
from tensim.sim.cores.operations import Binary, Pool, ReduceDim
from tests.cores.numerics import reference_tiles
from tests.cores.numerics.reference import Unit, largest, packed, unpacked

TILES = int(os.environ.get("TENSIM_NUMERICS_TILES", "200"))
DATUMS = int(os.environ.get("TENSIM_NUMERICS_DATUMS", "2000"))
# Datums of a tile that are compared with fractions: few, so that many kinds of operands come up
CHECKED = min(max(DATUMS // 300, 1), 64)
EXAMPLES = -(-DATUMS // (2 * CHECKED))
SCRATCH = np.zeros(SCRATCH_BYTES, np.uint8)
CLASSES = ("ordinary", "wide", "tiny", "huge", "bits", "cancelling", "sparse", "zero")
FORMATS = {
    "fp32": (0, 32), "fp16": (1, 16), "bfp8a": (2, 8), "bfp4a": (3, 4), "bf16": (5, 16), "bfp8": (6, 8), "bfp4": (7, 4),
    "fp8": (10, 8), "bfp2a": (11, 2), "int8": (14, 8), "bfp2": (15, 2),
}  # fmt: skip
CUTS = {"bf16": TO_BF16, "tf32": TO_TF32, None: TO_FP32}
seeds, classes = st.integers(0, 2**32 - 1), st.sampled_from(CLASSES)


def fp32_words(rng, kind, count=1024):
    """Random float32 patterns of a class."""
    words = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    low, high = {"wide": (90, 165), "tiny": (0, 12), "huge": (240, 256)}.get(kind, (122, 132))
    if kind != "bits":
        words = words & 0x807FFFFF | rng.integers(low, high, count, dtype=np.uint32) << 23
    if kind == "cancelling":
        words = words & 0xFFF00000
        words[1::2] = words[::2] ^ 0x80000000
    if kind == "sparse":
        words[rng.random(count) < 0.7] &= 0x80000000
    if kind == "zero":
        words &= 0x80000000
    return words.astype(np.uint32)


def source_words(rng, kind, narrow, ten_bits):
    """A (32, 32) array of SrcA or SrcB words: 7 or 10 mantissa bits, 5-bit exponents if `narrow`."""
    words = fp32_words(rng, kind)
    if narrow:
        exponent = (words >> 23 & 255).astype(np.int64) - (112 if kind not in ("tiny", "huge", "bits") else 0)
        words = words & 0x807FFFFF | (np.clip(exponent, 0, 255) & 31).astype(np.uint32) << 23
    return (words & np.uint32(0xFFFFE000 if narrow or ten_bits else 0xFFFF0000)).reshape(32, 32)


def dst_words(rng, kind, narrow, wide):
    """A (32, 32) array of Dst words as the unit itself leaves them."""
    words = source_words(rng, kind, narrow and not wide, True).ravel()
    if wide:
        words = words | rng.integers(0, 1 << 13, 1024, dtype=np.uint32)
    elif not narrow:
        words = words & 0xFFFF0000
    return words.astype(np.uint32).reshape(32, 32)


def faces(array):
    return tilize(array, *array.shape)


def unit_tuple(phases, narrow, wide, quirk):
    return phases, int(narrow), int(wide), int(quirk), SCRATCH.ctypes.data


def simulate(function, tiles, *arguments):
    """Call a tile function on (32, 32) arrays; returns the last one, which it changes."""
    words = [faces(tile) for tile in tiles]
    function(*[word.ctypes.data for word in words], *arguments)
    return untilize(words[-1], 32, 32).reshape(32, 32)


units = st.tuples(st.integers(1, 4), st.booleans(), st.booleans(), st.booleans())


@given(seed=seeds, a=classes, b=classes, old=classes, unit=units, ten_bits=st.booleans())
@settings(max_examples=EXAMPLES, deadline=None)
def test_matrix_product(seed, a, b, old, unit, ten_bits):
    """Selected datums of Dst += in0 @ in1, phase by phase, inner halves in order."""
    rng, (phases, narrow, wide, quirk) = np.random.default_rng(seed), unit
    in0, in1 = source_words(rng, a, narrow, ten_bits), source_words(rng, b, narrow, ten_bits)
    dst = dst_words(rng, old, narrow, wide)
    found = simulate(matmul_exact, (in0, in1, dst), unit_tuple(*unit))
    reference = Unit(narrow, wide, quirk)
    for row, column in rng.integers(0, 32, (CHECKED, 2)):
        word = int(dst[row, column])
        for phase in range(phases):
            for inner in (slice(0, 16), slice(16, 32)):
                word = reference.dot([*map(int, in1[inner, column])], [*map(int, in0[row, inner])], phase, word)
        assert found[row, column] == word


@pytest.mark.parametrize("phases", [1, 2, 3, 4])
@pytest.mark.parametrize(("narrow", "wide"), [(False, False), (False, True), (True, False), (True, True)])
def test_whole_tiles_of_products(phases, narrow, wide):
    """Every datum of random tiles against the vectorised reference, both chips' renormalisation."""
    rng = np.random.default_rng([phases, narrow, wide])
    for i in range(max(TILES // 16, 1)):
        kinds, quirk = rng.choice(CLASSES, 3), bool(i % 2)
        in0, in1 = (source_words(rng, kind, narrow, wide) for kind in kinds[:2])
        dst = dst_words(rng, kinds[2], narrow, wide)
        found = simulate(matmul_exact, (in0, in1, dst), unit_tuple(phases, narrow, wide, quirk))
        assert np.array_equal(found, reference_tiles.matmul(in0, in1, dst, phases, narrow, wide, quirk)), kinds


@given(seed=seeds, a=classes, b=classes, old=classes, unit=units, op=st.sampled_from(Binary), keep=st.booleans())
@settings(max_examples=EXAMPLES, deadline=None)
def test_element_wise(seed, a, b, old, unit, op, keep):
    """Sums, differences and products, onto Dst or in its place (products always add)."""
    rng, (phases, narrow, wide, quirk) = np.random.default_rng(seed), unit
    left, right = source_words(rng, a, narrow, wide), source_words(rng, b, narrow, wide)
    if a == "cancelling":
        right = np.where(rng.random((32, 32)) < 0.5, left ^ np.uint32(1 << 31), right)
    dst = dst_words(rng, old, narrow, wide)
    found = simulate(lambda x, y, d: binary_exact(op, x, y, d, int(keep), unit_tuple(*unit)), (left, right, dst))
    reference = Unit(narrow, wide, quirk)
    for row, column in rng.integers(0, 32, (CHECKED, 2)):
        x, y, word = (int(array[row, column]) for array in (left, right, dst))
        if op == Binary.MUL:
            for phase in range(phases):
                word = reference.multiply(x, y, phase, word)
        else:
            word = reference.plus(x, y, word if keep else 0, op == Binary.SUB)
        assert found[row, column] == word


@pytest.mark.parametrize(("quirk", "wanted"), [(False, 0xB4000000), (True, 0xC1800000)])
def test_wormhole_normalises_a_lone_negative_bit_wrongly(quirk, wanted):
    """-1 plus the number below 1 leaves -1 in the last place: -2**-23, on Wormhole -16.

    Source: docs/hardware/numerics.md#accumulation-into-dst.
    """
    one, nothing = np.full((32, 32), 0xBF800000, np.uint32), np.zeros((32, 32), np.uint32)
    dst = np.full((32, 32), 0x3F7FFFFE, np.uint32)
    unit = unit_tuple(1, False, True, quirk)
    found = simulate(lambda a, b, d: binary_exact(Binary.ADD, a, b, d, 1, unit), (one, nothing, dst))
    assert (found == wanted).all() and Unit(False, True, quirk).plus(0xBF800000, 0, 0x3F7FFFFE) == wanted


@given(
    seed=seeds, kind=st.sampled_from(["ordinary", "sparse", "zero", "cancelling"]), unit=units,
    dim=st.sampled_from([ReduceDim.ROW, ReduceDim.COL]), fresh=st.booleans(), doubled=st.booleans(),
)  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_maximum(seed, kind, unit, dim, fresh, doubled):
    """By sign and magnitude; the scaler's exponent moves the values', and so does a 32-bit Dst 5-bit exponents."""
    rng, (_, narrow, wide, _) = np.random.default_rng(seed), unit
    array = source_words(rng, kind, narrow, False)
    dst = np.zeros((32, 32), np.uint32)
    dst[:, 0] = dst[0] = old = array[5, 7]
    scaler = np.full((32, 32), (15 if narrow else 127) + doubled << 23, np.uint32)
    found = simulate(
        lambda a, s, d: reduce_exact(Pool.MAX, dim, a, s, d, fresh, ALL_BITS, unit_tuple(*unit)), (array, scaler, dst)
    )
    moved = np.where(array >> 23 & 255, array + np.uint32((112 if narrow and wide else 0) + doubled << 23), 0)
    for i in range(32):
        words = [*map(int, moved[i] if dim == ReduceDim.ROW else moved[:, i])]
        wanted = largest(words) if fresh else largest(words, int(old))
        assert (found[i, 0] if dim == ReduceDim.ROW else found[0, i]) == wanted


@given(seed=seeds, kind=classes, unit=units, fresh=st.booleans())
@settings(max_examples=60, deadline=None)
def test_sums_of_rows_are_products_with_a_column(seed, kind, unit, fresh):
    rng, (_, narrow, wide, _) = np.random.default_rng(seed), unit
    array, factor = source_words(rng, kind, narrow, False), np.uint32(15 if narrow else 127) << np.uint32(23)
    scaler, column = np.zeros((2, 32, 32), np.uint32)
    scaler[[0, 16]] = factor  # row 0 of each face
    column[:, [0, 16]] = factor
    old = np.zeros((32, 32), np.uint32)
    old[:, 0] = 0 if fresh else array[:, 3] & (0xFFFFFFFF if wide else 0xFFFF0000)
    found = simulate(
        lambda a, s, d: reduce_exact(Pool.SUM, ReduceDim.ROW, a, s, d, fresh, ALL_BITS, unit_tuple(*unit)),
        (array, scaler, old),
    )
    wanted = simulate(lambda a, c, d: matmul_exact(a, c, d, unit_tuple(*unit)), (array, column, old))
    assert (found[:, 0] == wanted[:, 0]).all()


@given(seed=seeds, kind=classes, factor=classes, unit=units, fresh=st.booleans(), ten_bits=st.booleans())
@settings(max_examples=60, deadline=None)
def test_sums_of_columns(seed, kind, factor, unit, fresh, ten_bits):
    """Face by face, each in all phases, in groups of eight rows, whatever the exponents; only row 0 is left."""
    rng, (phases, narrow, wide, quirk) = np.random.default_rng(seed), unit
    array, scaler = source_words(rng, kind, narrow, ten_bits), source_words(rng, factor, narrow, False)
    scaler = np.broadcast_to(scaler[:1], (32, 32)).copy()
    scaler[:, 16:] = scaler[:, :16]  # each face has the factors of its rows
    old = dst_words(rng, kind, narrow, wide)
    found = simulate(
        lambda a, s, d: reduce_exact(Pool.SUM, ReduceDim.COL, a, s, d, fresh, ALL_BITS, unit_tuple(*unit)),
        (array, scaler, old),
    )
    reference, factors = Unit(narrow, wide, quirk), [*map(int, scaler[0, :16])]
    for column in range(32):
        word = 0 if fresh else int(old[0, column])
        for rows in (slice(0, 16), slice(16, 32)):
            for phase in range(phases):
                word = reference.dot([*map(int, array[rows, column])], factors, phase, word)
        assert found[0, column] == word
    assert not fresh or not found[1:].any()


@given(
    seed=seeds, kind=classes, unit=units, fresh=st.booleans(), kept=st.sampled_from([ALL_BITS, KEPT_TF32, KEPT_BF16])
)
@settings(max_examples=60, deadline=None)
def test_sums_over_both_dimensions(seed, kind, unit, fresh, kept):
    """The columns of all four faces together, then their results as a column, of which SrcB keeps some bits."""
    rng, (phases, narrow, wide, quirk) = np.random.default_rng(seed), unit
    array, factor = source_words(rng, kind, narrow, False), np.uint32(15 if narrow else 127) << np.uint32(23)
    scaler, old = np.full((32, 32), factor, np.uint32), dst_words(rng, kind, narrow, wide)
    found = simulate(
        lambda a, s, d: reduce_exact(Pool.SUM, ReduceDim.SCALAR, a, s, d, fresh, kept, unit_tuple(*unit)),
        (array, scaler, old),
    )
    reference, factors, sums = Unit(narrow, wide, quirk), [int(factor)] * 16, []
    for column in range(16):
        word = 0
        for face in (array[:16, :16], array[:16, 16:], array[16:, :16], array[16:, 16:]):
            for phase in range(phases):
                word = reference.dot([*map(int, face[:, column])], factors, phase, word)
        sums.append(word & kept)
    word = 0 if fresh else int(old[0, 0])
    for phase in range(phases):
        word = reference.dot(sums, factors, phase, word)
    assert found[0, 0] == word


@given(seed=seeds, phases=st.integers(1, 4), big=st.booleans())
@settings(max_examples=10, deadline=None)
def test_integer_products_are_exact_and_saturate(seed, phases, big):
    """8-bit integers: the phases together multiply all bits; Dst stops at +-(2**31 - 1)."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-127, 128, (2, 32, 32))
    old = np.where(big, (2**31 - 1) * rng.choice([-1, 1], (32, 32)), rng.integers(-1000, 1000, (32, 32)))
    coded = [np.where(x < 0, 1 << 31 | -x, x).astype(np.uint32) for x in (a, b, old)]
    found = simulate(matmul_integers, coded, phases).astype(np.int64)
    wanted = old
    for phase in range(phases):
        left = np.sign(a) * (np.abs(a) % 16 if phase >> 1 else np.abs(a) - np.abs(a) % 16)
        right = np.sign(b) * (np.abs(b) % 32 if phase & 1 else np.abs(b) - np.abs(b) % 32)
        for inner in (slice(0, 16), slice(16, 32)):
            wanted = np.clip(wanted + left[:, inner] @ right[inner], -(2**31) + 1, 2**31 - 1)
    assert np.array_equal(np.where(found >> 31, -(found & 0x7FFFFFFF), found), wanted)


# --- conversions


@given(seed=seeds, name=st.sampled_from(sorted(FORMATS)), cut=st.sampled_from([*CUTS]), kind=classes)
@settings(max_examples=200, deadline=None)
def test_unpacking(seed, name, cut, kind):
    """Every datum of a tile, for random bits and every block exponent."""
    rng, (code, size) = np.random.default_rng(seed), FORMATS[name]
    block = name.startswith("bfp")
    values = fp32_words(rng, kind) if size == 32 else rng.integers(0, 1 << size, 1024)
    exponents = rng.integers(0, 32 if name.endswith("a") else 256, 64)
    data = sum(values.reshape(-1, 8 // size)[:, i] << size * i for i in range(8 // size)) if size < 8 else values
    raw = np.ascontiguousarray(data.astype({32: np.uint32, 16: np.uint16}.get(size, np.uint8))).view(np.uint8)
    if block:
        raw = np.concatenate([exponents.astype(np.uint8), raw])
    words = np.zeros(1024, np.uint32)
    unpack_tile(raw.ctypes.data, code, CUTS[cut], TILE_ROWS, words.ctypes.data)
    wanted = [unpacked(name, int(value), int(exponents[i // 16]), cut) for i, value in enumerate(values)]
    assert words.tolist() == wanted


PACKED = ("fp32", "bf16", "fp16", "bfp8", "bfp4", "bfp2", "bfp8a")


@given(
    seed=seeds, name=st.sampled_from(PACKED), kind=classes, wide=st.booleans(), mode=st.integers(0, 3),
    threshold=st.integers(0, 0x7FFF), precise=st.booleans(),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_packing(seed, name, kind, wide, mode, threshold, precise):
    """Every datum of a tile, with each ReLU mode, block floats from 6 or all bits."""
    rng, (code, size) = np.random.default_rng(seed), FORMATS[name]
    words = fp32_words(rng, kind)
    if not wide:
        words &= 0xFFFF0000
    out = np.zeros(64 + 4096, np.uint8)
    dst = (DST32 if wide else DST16) | (PRECISE if precise else 0)
    pack_tile(words.ctypes.data, WIDE, code, dst, TILE_ROWS, out.ctypes.data, mode, threshold, 0)
    limit = threshold << (13 if name in ("fp16", "bfp8a") else 16)
    blocks = [packed([*map(int, row)], name, wide, mode, limit, precise) for row in words.reshape(64, 16)]
    start = 64 if name.startswith("bfp") else 0
    assert not start or out[:64].tolist() == [exponent for exponent, _ in blocks]
    raw = out[start : start + 1024 * size // 8]
    if size < 8:
        found = np.stack([raw >> shift & (1 << size) - 1 for shift in range(0, 8, size)], -1).ravel()
    else:
        found = raw.view({32: np.uint32, 16: np.uint16, 8: np.uint8}[size])
    assert found.tolist() == [datum for _, datums in blocks for datum in datums]


ONE, LARGE = 0x3F800000, 0x7F000000
SPECIAL = {  # first word of a block that a 1 and zeros fill up
    "NaN": 0x7FC00000, "NaN with a sign": 0xFFC00000, "small NaN": 0x7F810000, "NaN below 16 bits": 0x7F800001,
    "infinity": 0x7F800000, "-infinity": 0xFF800000, "-0": 0x80000000, "denormal": 0x007FFFFF, "-denormal": 0x80400000,
    "smallest": 0x00800000, "largest": 0x7F7F0000, "just below 2": 0x3FFF0000, "1 of another block": LARGE,
}  # fmt: skip
EXPECTED = {  # name -> exponent of the block, first datum of 8 bits; None: as infinity
    "NaN": None, "NaN with a sign": None, "small NaN": None, "NaN below 16 bits": None, "infinity": (255, 0x40),
    "-infinity": (255, 0xC0), "-0": (127, 0), "denormal": (127, 0), "-denormal": (127, 0), "smallest": (127, 0),
    "largest": (254, 0x7F), "just below 2": (127, 0x7F), "1 of another block": (254, 0x40),
}  # fmt: skip
CARRIED = {"largest": (255, 0x40), "just below 2": (128, 0x40)}  # where 6 bits of mantissa round to a power of two


@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("size", [8, 4, 2])
def test_special_numbers_in_block_floats(size, wide, precise):
    """NaN becomes infinity, a number of the binade above all others; only a precise pack of a 32-bit Dst keeps its mantissa.

    Denormals and -0 become zero without a sign; a magnitude that rounds to 2 is the largest below, or carries before.
    """
    code = FORMATS[f"bfp{size}"][0]
    for name, word in SPECIAL.items():
        words = np.zeros(1024, np.uint32)
        words[:2] = word & (0xFFFFFFFF if wide else 0xFFFF0000), ONE
        if not wide and name in ("NaN below 16 bits", "denormal"):
            continue  # no such numbers in 16 bits
        out = np.zeros(64 + 1024, np.uint8)
        dst = (DST32 if wide else DST16) | (PRECISE if precise else 0)
        pack_tile(words.ctypes.data, WIDE, code, dst, TILE_ROWS, out.ctypes.data, 0, 0, 0)
        first = int(out[64]) & (1 << size) - 1
        wanted = EXPECTED if precise else EXPECTED | CARRIED
        exponent, datum = wanted[name] or (255, 0xC0 if word >> 31 else 0x40)
        if EXPECTED[name] is None and wide and precise:  # bits of the mantissa that 7 bits hold
            datum |= min((128 + (word >> 16 & 127) + 1) >> 1, 127) & 0x3F
        datum = (datum & 0x7F) >> 8 - size | datum >> 7 << size - 1 if datum & 0x7F else 0
        assert (int(out[0]), first) == (exponent, datum), name


@pytest.mark.parametrize("rows", [1, 16, 32])
@pytest.mark.parametrize("name", ["bf16", "bfp8", "bfp4"])
def test_smaller_tiles_touch_nothing_behind_them(name, rows):
    """A tile of fewer rows of 16 datums fills the first rows of the register and comes out as it went in."""
    code, size = FORMATS[name]
    rng, length = np.random.default_rng(rows), 2 * rows * size + (rows if name != "bf16" else 0)
    words = np.zeros(1024, np.uint32)
    words[: 16 * rows] = fp32_words(rng, "ordinary", 16 * rows)
    out, back = np.full(4096, 0xAA, np.uint8), np.full(1024, 7, np.uint32)
    pack_tile(words.ctypes.data, WIDE, code, DST32, rows, out.ctypes.data, 0, 0, 0)
    assert (out[length:] == 0xAA).all()
    unpack_tile(out.ctypes.data, code, TO_FP32, rows, back.ctypes.data)
    again = out.copy()
    pack_tile(back.ctypes.data, WIDE, code, DST32, rows, again.ctypes.data, 0, 0, 0)
    assert not back[16 * rows :].any() and np.array_equal(out, again)


def test_accumulation_in_l1_rounds_the_exact_sum_to_nearest_even():
    """bf16 sums against fractions; float32 is only wide enough because it has more than twice bf16's bits."""
    from fractions import Fraction

    rng = np.random.default_rng(5)
    new, old = (fp32_words(rng, "wide") & 0xFFFF0000 for _ in range(2))
    target = (old >> 16).astype(np.uint16)
    pack_tile(new.ctypes.data, WIDE, FORMATS["bf16"][0], DST16, TILE_ROWS, target.ctypes.data, 0, 0, 1)
    for a, b, found in zip(new.view(np.float32), old.view(np.float32), target, strict=True):
        total = Fraction(float(a)) + Fraction(float(b))
        near = np.uint32(int(found) << 16).view(np.float32)
        ends = [np.uint32((int(found) + step & 0xFFFF) << 16).view(np.float32) for step in (-1, 1)]
        error = abs(Fraction(float(near)) - total)
        assert all(error <= abs(Fraction(float(end)) - total) for end in ends if np.isfinite(end))
        if any(error == abs(Fraction(float(end)) - total) for end in ends if np.isfinite(end) and total):
            assert found % 2 == 0
