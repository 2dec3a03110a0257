"""Products, sums and maxima of the matrix unit's instructions against plain models, over bit patterns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cores.coprocessor.coprocessor_bench import CHIPS, Bench
from tests.cores.numerics.reference import Unit

BENCHES = {chip: Bench(chip) for chip in CHIPS}
FP16, TF32, BF16, INT8 = 1, 4, 5, 14
KEEP = {FP16: 0x8FFFE000, TF32: 0xFFFFE000, BF16: 0xFFFF0000}


def source_of(word):
    """19 bits of a source register."""
    return word >> 13 & 0x40000 | (word >> 13 & 0x3FF) << 8 | word >> 23 & 0xFF


def random_words(rng, shape, kind):
    """Words of a format: any bits, or exponents near each other."""
    word = rng.integers(0, 1 << 32, shape, np.uint32)
    if rng.random() < 0.7:
        low, high = (8, 24) if kind == FP16 else (118, 134)
        word = (word & 0x807FFFFF) | (rng.integers(low, high, shape, np.uint32) << 23)
    if rng.random() < 0.3:
        word[rng.random(shape) < 0.2] &= 0x807FFFFF
    return word & KEEP[kind]


def prepare(chip, rng, kind, wide):
    """A bench with random sources and Dst; returns it and the words of SrcA and SrcB, [64][16] lists."""
    bench = BENCHES[chip]
    bench.configure(
        ALU_FORMAT_SPEC_REG0_SrcA=kind, ALU_FORMAT_SPEC_REG1_SrcB=kind, ALU_ACC_CTRL_Fp32_enabled=int(wide),
        ALU_ACC_CTRL_INT8_math_enabled=int(kind == INT8),
    )  # fmt: skip
    bench.parts["unpackers"]["format"][:] = kind
    arrays = bench.arrays
    arrays.record["matrix_bank_a"], arrays.record["matrix_bank_b"] = rng.integers(0, 2, 2)
    if kind == INT8:
        a, b = rng.integers(0, 1 << 19, (2, 64, 16), np.uint32) & 0x7FF1F
    else:
        a, b = random_words(rng, (64, 16), kind), random_words(rng, (64, 16), kind)
    for name, bank, values in (("src_a", "matrix_bank_a", a), ("src_b", "matrix_bank_b", b)):
        getattr(arrays, name)[int(arrays.record[bank][0])] = values if kind == INT8 else np.vectorize(source_of)(values)
    arrays.dst[:] = rng.integers(0, 1 << 16, arrays.dst.shape, np.uint16)
    arrays.dst_undefined[:] = 0
    arrays.rwcs[:] = np.zeros(3, arrays.rwcs.dtype)
    arrays.record["fault"] = 0
    return bench, a.tolist(), b.tolist()


def physical(row, wide):
    return (row & 0x1F8) << 1 | row & 0x207 if wide else row


def dst_words(bench, row, wide, kind):
    """A row of Dst as words."""
    dst, at = bench.arrays.dst.tolist(), physical(row, wide)
    if bench.arrays.dst_undefined[at]:
        return [0] * 16
    if not wide and kind == FP16:
        return [x >> 15 << 31 | (x & 31) << 23 | (x >> 5 & 1023) << 13 for x in dst[at]]
    words = [x >> 15 << 31 | (x & 255) << 23 | (x >> 8 & 127) << 16 for x in dst[at]]
    return [word | low for word, low in zip(words, dst[at + 8], strict=True)] if wide else words


def unit(chip, kind, wide):
    return Unit(kind == FP16, wide, chip == "wormhole_b0")


CASES = st.tuples(st.sampled_from(CHIPS), st.sampled_from([FP16, TF32, BF16]), st.booleans(), st.integers(0, 2**32 - 1))


def start_dst(bench, rng, kind, wide, rows):
    """Numbers of like size in the rows of Dst that an instruction accumulates onto, some of them undefined."""
    for row in rows:
        if rng.random() < 0.2:
            bench.arrays.dst_undefined[physical(row, wide)] = 1
        elif rng.random() < 0.7:
            exponent = rng.integers(8, 24, 16) if kind == FP16 and not wide else rng.integers(120, 140, 16)
            mask = 31 if kind == FP16 and not wide else 255
            at = physical(row, wide)
            bench.arrays.dst[at] = (bench.arrays.dst[at] & (0xFFFF ^ mask)) | exponent


@given(case=CASES, phase=st.integers(0, 3), name=st.sampled_from(["MVMUL", "DOTPV", "GAPOOL", "broadcast"]))
@settings(max_examples=60)
def test_products_of_matrices(case, phase, name):
    chip, kind, wide, seed = case
    rng = np.random.default_rng(seed)
    bench, a, b = prepare(chip, rng, kind, wide)
    row_a, row_b, dst = 16 * int(rng.integers(0, 4)), int(rng.integers(0, 64)), 8 * int(rng.integers(0, 60))
    bench.arrays.rwcs["src_a"][1], bench.arrays.rwcs["src_b"][1] = row_a + 3, row_b
    bench.arrays.rwcs["dst"][1], bench.arrays.rwcs["fidelity"][1] = 2, phase
    rows = {"GAPOOL": range(4), "broadcast": range(0, 7, 2)}.get(name, range(8))
    start_dst(bench, rng, kind, wide, [dst + i for i in rows])
    model, old = unit(chip, kind, wide), {i: dst_words(bench, dst + i, wide, kind) for i in rows}
    if name == "broadcast":
        bench.arrays.rwcs["dst"][1] = 0
        bench.do("MVMUL", dst=dst, instr_mod19=1)
    else:
        bench.do(name, dst=dst)
    assert bench.fault == (0, 0, 0)
    for i in rows:
        row = b[row_b] if name == "broadcast" else b[(row_b & 0x38) + i]
        column = lambda j: [a[row_a + k][j] for k in range(16)]  # noqa: E731
        expected = [model.dot(column(j), row, phase, old[i][j]) for j in range(16)]
        assert dst_words(bench, dst + i, wide, kind) == expected
        assert not bench.arrays.dst_undefined[physical(dst + i, wide)]


@pytest.mark.parametrize("chip", CHIPS)
def test_numbers_of_b_without_exponent_count_where_they_are_kept(chip):
    """1.5 * 2**-127 instead of the denormal, 2**-127 instead of 0: seen in products with 2 or more, and beside 0 in no sum."""
    for kept, product, tiny in ((0, 0, 0), (1, 4 * 1.5 * 2.0**-127, 4 * 2.0**-127)):
        bench, _, _ = prepare(chip, np.random.default_rng(0), TF32, True)
        bench.configure(ALU_ACC_CTRL_Zero_Flag_disabled_src=kept)
        for name, word in (("src_a", 0x40800000), ("src_b", 0x00400000)):
            getattr(bench.arrays, name)[:] = source_of(word)
        bench.arrays.src_b[:, :, 1] = 0
        bench.arrays.src_a[:, :, 2] = source_of(0x3F800000)  # 1 times it is nothing that Dst holds
        bench.arrays.dst_undefined[:] = 1
        bench.do("ELWMUL")
        assert bench.fault == (0, 0, 0)
        found = np.array(dst_words(bench, 0, True, TF32), np.uint32).view(np.float32)
        assert found[:4].tolist() == [product, tiny, 0, product]
        bench.do("ELWADD")
        assert np.array(dst_words(bench, 0, True, TF32), np.uint32).view(np.float32)[:3].tolist() == [4, 4, 1]
        bench.configure(ALU_ACC_CTRL_Zero_Flag_disabled_src=0)


@given(case=CASES, phase=st.integers(0, 3), name=st.sampled_from(["ELWADD", "ELWSUB", "ELWMUL"]), mode=st.integers(0, 3),
       accumulate=st.integers(0, 1))  # fmt: skip
@settings(max_examples=80)
def test_combinations_of_elements(case, phase, name, mode, accumulate):
    chip, kind, wide, seed = case
    rng = np.random.default_rng(seed)
    bench, a, b = prepare(chip, rng, kind, wide)
    row_a, row_b, dst = 8 * int(rng.integers(0, 8)), int(rng.integers(0, 64)), 8 * int(rng.integers(0, 60))
    phase = phase if name == "ELWMUL" else 0
    for key, value in (("src_a", row_a), ("src_b", row_b), ("dst", 5), ("fidelity", phase)):
        bench.arrays.rwcs[key][1] = value
    start_dst(bench, rng, kind, wide, range(dst, dst + 8))
    model, old = unit(chip, kind, wide), [dst_words(bench, dst + i, wide, kind) for i in range(8)]
    bench.do(name, dst=dst, instr_mod19=mode, dest_accum_en=accumulate)
    assert bench.fault == (0, 0, 0)
    for i in range(8):
        expected = []
        for j in range(16):
            x, y = a[row_a + i][j], b[row_b if mode & 2 else (row_b & 0x38) + i][0 if mode & 1 else j]
            if name == "ELWMUL":
                expected.append(model.multiply(x, y, phase, old[i][j]))
            else:
                expected.append(model.plus(x, y, old[i][j] if accumulate else 0, name == "ELWSUB"))
        assert dst_words(bench, dst + i, wide, kind) == expected


# --- integers


def integer(value, mask=0x3FF, flush=True):
    if flush and value & 0xFF == 0:
        return 0
    magnitude = value >> 8 & mask
    return -magnitude if value >> 18 else magnitude


def saturated(word, value):
    old = -(word & 0x7FFFFFFF) if word >> 31 else word
    total = max(min(old + value, 2**31 - 1), 1 - 2**31)
    return 1 << 31 | -total if total < 0 else total


@given(chip=st.sampled_from(CHIPS), seed=st.integers(0, 2**32 - 1), phase=st.integers(0, 3),
       name=st.sampled_from(["MVMUL", "ELWADD", "ELWSUB", "ELWMUL"]))  # fmt: skip
@settings(max_examples=60)
def test_integers(chip, seed, phase, name):
    rng = np.random.default_rng(seed)
    bench, a, b = prepare(chip, rng, INT8, True)
    bench.arrays.rwcs["fidelity"][1], bench.arrays.rwcs["src_a"][1] = phase, 16
    if rng.random() < 0.3:  # close to the limits
        bench.arrays.dst[:64] = rng.choice([0x7F80, 0xFF80, 0x7FFF, 0xFFFF], (64, 16))
    old = [dst_words(bench, i, True, INT8) for i in range(8)]
    bits_a, bits_b = (
        (0x1F if phase & 1 else 0xE0, 0xF if phase & 2 else 0x3F0) if name in ("MVMUL", "ELWMUL") else (0x3FF, 0x3FF)
    )
    accumulate = name == "ELWMUL" or bool(seed & 1)
    if name == "MVMUL":
        bench.do(name)
    else:
        bench.do(name, dest_accum_en=seed & 1)
    for i in range(8):
        row = [integer(x, bits_b) for x in b[i]]
        for j in range(16):
            x = integer(a[16 + i][j], bits_a)
            if name == "MVMUL":
                value = sum(integer(a[16 + k][j], bits_a) * row[k] for k in range(16))
            else:
                value = x * row[j] if name == "ELWMUL" else x + row[j] if name == "ELWADD" else x - row[j]
            expected = saturated(old[i][j] if accumulate or name == "MVMUL" else 0, value)
            assert dst_words(bench, i, True, INT8)[j] == expected


# --- maxima


def number(word):
    """Order of a source's word scaled by 1: sign and magnitude, denormals as 0."""
    if word >> 23 & 255 == 0:
        return 0
    return -(word & 0x7FFFFFFF) if word >> 31 else word


@given(case=CASES)
@settings(max_examples=40)
def test_the_maximum_of_columns(case):
    chip, kind, wide, seed = case
    rng = np.random.default_rng(seed)
    bench, a, b = prepare(chip, rng, kind, wide)
    one = {FP16: 15 << 23}.get(kind, 127 << 23)
    bench.arrays.src_b[:, 8] = source_of(one)
    bench.arrays.rwcs["src_a"][1], bench.arrays.rwcs["src_b"][1] = 37, 8
    undefined = bool(seed & 1)
    bench.arrays.dst_undefined[physical(4, wide)] = undefined
    for i in range(4, 8):
        bench.arrays.dst[physical(i, wide)] &= 0xFF1F if kind == FP16 else 0xFFFF
    old = dst_words(bench, 4, wide, kind)
    bench.do("GMPOOL", dst=4)
    mask = 0xFFFFE000 if wide else 0xFFFFFFFF
    for j, got in enumerate(dst_words(bench, 4, wide, kind)):
        words = [a[32 + k][j] for k in range(16)]
        if kind == FP16 and wide:  # 5-bit exponents become those of a 32-bit Dst
            words = [w + (112 << 23) if w >> 23 & 255 else 0 for w in words]
        first = old[j] & mask
        best = max([number(w) for w in words] + ([] if undefined else [order_of_dst(first)]))
        if kind == TF32 and not wide:  # cut to bf16
            best = (abs(best) & 0xFFFF0000) * (-1 if best < 0 else 1)
        assert order_of_dst(got) == best, (hex(got), best)
    for i in (5, 6, 7):
        assert dst_words(bench, i, wide, kind) == [0] * 16


def order_of_dst(word):
    return -(word & 0x7FFFFFFF) if word >> 31 else word


def test_a_scaler_takes_its_exponent_only_and_a_zero_drops_a_row():
    bench, _, _ = prepare("wormhole_b0", np.random.default_rng(1), BF16, False)
    bench.arrays.src_a[:], bench.arrays.src_b[:] = 0, 0
    bench.arrays.src_a[:, :16] = source_of(0x3F800000)
    bench.arrays.src_a[:, 3] = source_of(0x42C80000)  # 100, in a row whose scaler is 0
    bench.arrays.src_b[:, 0] = source_of(0x40600000)  # 3.5: twice
    bench.arrays.src_b[:, 0, 3] = 0
    bench.arrays.dst_undefined[0] = 1
    bench.do("GMPOOL")
    assert dst_words(bench, 0, False, BF16) == [0x40000000] * 16


def test_the_index_of_the_largest_of_the_first_eight_rows():
    bench, _, _ = prepare("wormhole_b0", np.random.default_rng(2), BF16, True)
    bench.arrays.src_b[:, 0] = source_of(0x3F800000)
    bench.arrays.dst[:] = 0
    bench.arrays.dst_undefined[:] = 0
    places = [0, 3, 6, 1, 4, 7, 2, 5]
    for row in range(8):
        bench.arrays.src_a[:, :16] = source_of(0xBF800000)
        bench.arrays.src_a[:, row] = source_of(0x40000000)
        bench.arrays.dst_undefined[:16] = 0
        bench.arrays.dst[:16] = 0
        bench.arrays.dst[0] = 0x80FF  # a large negative number
        bench.do("GMPOOL", max_pool_index_en=1)
        assert bench.arrays.dst[8].tolist() == [0x100 | 0x10 + places[row]] * 16
        assert dst_words(bench, 0, False, BF16) == [0x40000000] * 16


# --- the fast path


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("wide", [False, True])
def test_fast_products_are_float32_products(chip, wide):
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((2, 16, 16)).astype(np.float32)
    got, (a, b) = fast_product(chip, rng, wide, a, b)
    expected = b[:8].astype(np.float64) @ a.astype(np.float64)
    np.testing.assert_allclose(got, expected, rtol=1e-4 if wide else 0.005, atol=1e-4 if wide else 0.02)


@pytest.mark.parametrize("chip", CHIPS)
def test_what_a_fast_product_multiplies_with_zero_is_zero(chip):
    a, b = np.ones((2, 16, 16), np.float32)
    a[3], b[:, 3] = np.inf, 0  # a column of b masks a row of a
    a[5], b[2, 5] = 0, np.nan
    a[7, 4] = -np.inf
    got, _ = fast_product(chip, np.random.default_rng(3), True, a, b)
    expected = np.full((8, 16), 14.0)
    expected[:, 4] = -np.inf
    assert np.array_equal(got, expected)


def fast_product(chip, rng, wide, a, b):
    """Rows 0 to 7 of b times a (16x16 float32) by the fast path, and what both are as bf16."""
    bench, _, _ = prepare(chip, rng, BF16, wide)
    words = [x.view(np.uint32) & 0xFFFF0000 for x in (a, b)]
    bench.arrays.src_a[:, :16], bench.arrays.src_b[:, :16] = (np.vectorize(source_of)(w) for w in words)
    bench.arrays.dst[:] = 0
    bench.arrays.record["fast"] = 1
    try:
        for phase in range(4):
            bench.arrays.rwcs["fidelity"][1] = phase
            bench.do("MVMUL")
    finally:
        bench.arrays.record["fast"] = 0
    got = np.array([dst_words(bench, i, wide, BF16) for i in range(8)], np.uint32).view(np.float32)
    return got, [x.view(np.float32) for x in words]
