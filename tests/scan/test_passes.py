"""Both passes against the slow twin, over every type and any bit pattern."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.checkpoints import DType
from forensics.scan import compiled_pass, numpy_pass
from forensics.scan.element_types import FLOATS
from tests.scan import naive

READABLE = [dtype for dtype in DType if dtype is not DType.OTHER]
FLOATING = list(FLOATS)
PASSES = [numpy_pass, compiled_pass]
BLOCK = 4096
COUNTS = ("count", "nan", "pos_inf", "neg_inf", "zero", "first_bad", "finite")


def count(pass_, data, dtype, cut=None):
    array = np.frombuffer(data, np.uint8)
    cut = len(array) if cut is None else cut * dtype.size
    return pass_.count([array[:cut], array[cut:]], dtype)


def check(pass_, data, dtype, cut=None, loose=False):
    """Compare with the twin; 32 values in float32 are right to 2**-21 (``loose``)."""
    tally, truth = count(pass_, data, dtype, cut), naive.scan(data, dtype)
    assert {name: getattr(tally, name) for name in COUNTS} == {n: truth[n] for n in COUNTS}
    assert tally.largest == pytest.approx(truth["largest"], rel=0, abs=0, nan_ok=True)
    relative = 2.0**-21 if loose else 1e-13
    assert tally.rms == pytest.approx(truth["rms"], rel=relative, abs=0, nan_ok=True)
    scale = truth["rms"] if truth["finite"] else 0.0
    assert tally.mean == pytest.approx(truth["mean"], rel=1e-13, abs=relative * scale, nan_ok=True)
    return tally


def special(dtype):
    """Bits of the values at which something could go wrong."""
    if dtype not in FLOATS:
        return list(range(256)) if dtype.size == 1 else []
    inf = FLOATS[dtype].infinity
    sign = FLOATS[dtype].magnitude + 1
    ulp = {DType.F64: 1 << 52, DType.F32: 1 << 23, DType.F16: 1 << 10, DType.BF16: 1 << 7}[dtype]
    small, large = [0, 1, 2, ulp - 1, ulp, ulp + 1], [inf // 2, inf - 1]
    bad = [inf, inf + 1, inf | ulp // 2, sign - 1]
    return [b | s for b in (*small, *large, *bad) for s in (0, sign)]


def pack(bits, dtype):
    return b"".join(b.to_bytes(dtype.size, "little") for b in bits)


def normal(count, dtype, seed=0, scale=0.02):
    """Bits of ordinary weights."""
    value = (np.random.default_rng(seed).standard_normal(count) * scale).astype(np.float32)
    match dtype:
        case DType.F64:
            return value.astype(np.float64).tobytes()
        case DType.F16:
            return value.astype(np.float16).tobytes()
        case DType.BF16:
            return (value.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return value.tobytes()


def plant(data, dtype, place, bits):
    at = place * dtype.size
    return data[:at] + pack([bits], dtype) + data[at + dtype.size :]


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", READABLE)
def test_nothing_is_found_in_nothing(pass_, dtype):
    tally = check(pass_, b"", dtype)
    assert (tally.first_bad, tally.zero) == (None, 0)
    assert math.isnan(tally.rms)


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("size", [1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 513])
def test_nothing_is_found_in_ordinary_weights(pass_, dtype, size):
    tally = check(pass_, normal(size, dtype), dtype, loose=dtype.size == 2)
    assert (tally.nan, tally.pos_inf, tally.neg_inf, tally.first_bad) == (0, 0, 0, None)


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", FLOATING)
def test_largest_finite_values_are_no_infinity(pass_, dtype):
    top = FLOATS[dtype].infinity - 1
    tally = check(pass_, pack([top] * (BLOCK + 3), dtype), dtype)
    assert tally.first_bad is None
    assert tally.rms == pytest.approx(tally.largest, rel=1e-14)
    assert math.isfinite(tally.rms)
    assert math.isfinite(tally.mean)


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", FLOATING)
def test_smallest_subnormals_are_no_zeros(pass_, dtype):
    sign = FLOATS[dtype].magnitude + 1
    tally = check(pass_, pack([1, 1 | sign, 1] * BLOCK, dtype), dtype)
    assert tally.zero == 0
    assert tally.rms > 0


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", READABLE)
def test_zeros_of_both_signs(pass_, dtype):
    negative = 1 << (8 * dtype.size - 1) if dtype in FLOATS else 0
    tally = check(pass_, pack([0, negative, 0], dtype) * BLOCK, dtype)
    assert tally.zero == 3 * BLOCK
    assert tally.rms == 0


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", FLOATING)
def test_one_bad_value_in_many(pass_, dtype):
    inf, sign = FLOATS[dtype].infinity, FLOATS[dtype].magnitude + 1
    clean = normal(3 * BLOCK, dtype)
    for place in (0, 1, BLOCK - 1, BLOCK, 3 * BLOCK - 1):
        for bits, name in ((inf, "pos_inf"), (inf | sign, "neg_inf"), (inf + 1, "nan")):
            tally = count(pass_, plant(clean, dtype, place, bits), dtype)
            assert (getattr(tally, name), tally.first_bad) == (1, place)
            assert tally.nan + tally.pos_inf + tally.neg_inf == 1


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", FLOATING)
def test_the_finite_part_of_a_poisoned_tensor(pass_, dtype):
    data = normal(2 * BLOCK, dtype, seed=3)
    for place in range(5, 2 * BLOCK, 37):
        data = plant(data, dtype, place, FLOATS[dtype].infinity + 1)
    check(pass_, data, dtype, loose=dtype.size == 2)


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", FLOATING)
def test_nothing_but_nan(pass_, dtype):
    tally = check(pass_, pack([FLOATS[dtype].infinity + 1] * (BLOCK + 9), dtype), dtype)
    assert (tally.nan, tally.first_bad) == (BLOCK + 9, 0)
    assert math.isnan(tally.rms)


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", READABLE)
def test_special_values_together(pass_, dtype):
    check(pass_, pack(special(dtype), dtype), dtype)


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", FLOATING)
def test_special_values_among_ordinary_ones(pass_, dtype):
    data = normal(2 * BLOCK, dtype, seed=1)
    for place, bits in enumerate(special(dtype)):
        data = plant(data, dtype, 131 * place % (2 * BLOCK), bits)
    check(pass_, data, dtype, loose=dtype.size == 2)


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("exponent", [-120, -60, -20, 0, 60, 120])
def test_magnitudes_far_from_one(pass_, dtype, exponent):
    if dtype is DType.F16 and abs(exponent) > 14:
        exponent = int(math.copysign(12, exponent))
    check(pass_, normal(BLOCK, dtype, scale=2.0**exponent), dtype, loose=dtype.size == 2)


@pytest.mark.parametrize("pass_", PASSES)
def test_squares_beyond_float64(pass_):
    """And the zeros and small values beside them."""
    value = np.array([1e300, -1e308, 0.0, 1e-300, 5e-324, 3.0])
    check(pass_, value.tobytes(), DType.F64)
    check(pass_, (value[3:5]).tobytes(), DType.F64)
    check(pass_, np.concatenate([np.full(70_000, 1e-200), value]).tobytes(), DType.F64)


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", [d for d in READABLE if d.size == 1])
def test_every_byte_of_the_one_byte_types(pass_, dtype):
    for byte in range(256):
        check(pass_, bytes([byte]), dtype)
    check(pass_, bytes(range(256)) * 33, dtype, cut=100)


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("dtype", READABLE)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_bits(pass_, dtype, data):
    size = data.draw(st.integers(0, 40))
    raw = data.draw(st.binary(min_size=size * dtype.size, max_size=size * dtype.size))
    check(pass_, raw, dtype, cut=data.draw(st.integers(0, size)))


@pytest.mark.parametrize("dtype", FLOATING)
def test_both_passes_agree_at_length(dtype):
    """Over several blocks of either, a bad value in the last of them."""
    data = normal(70_001, dtype, seed=5)
    data = plant(data, dtype, 69_000, FLOATS[dtype].infinity)
    slow, quick = (count(p, data, dtype, cut=40_000) for p in PASSES)
    assert slow.first_bad == quick.first_bad == 69_000
    assert quick.rms == pytest.approx(slow.rms, rel=2.0**-21)
    assert quick.mean == pytest.approx(slow.mean, abs=2.0**-21 * slow.rms)


@pytest.mark.parametrize("dtype", [d for d in READABLE if d not in FLOATS])
def test_other_types_at_length(dtype):
    data = bytes(range(256)) * (70_000 * dtype.size // 256)
    once, twice = count(numpy_pass, data, dtype), count(numpy_pass, data, dtype, cut=50_001)
    assert {n: getattr(once, n) for n in COUNTS} == {n: getattr(twice, n) for n in COUNTS}
    assert once.rms == pytest.approx(twice.rms, rel=1e-13, nan_ok=True)
    assert once.count == len(data) // dtype.size
    truth = naive.scan(data[: 256 * dtype.size], dtype)
    assert (once.nan > 0, once.largest) == (truth["nan"] > 0, truth["largest"])


@pytest.mark.parametrize("dtype", FLOATING)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_bits_at_length(dtype, data):
    """Whole blocks of patterns of any kind: the passes against each other."""
    seed, size = data.draw(st.integers(0, 2**32)), data.draw(st.integers(1, 3 * BLOCK))
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 1 << 8 * dtype.size, size, np.uint64, endpoint=False) if (
        dtype.size < 8) else rng.integers(0, 2**64, size, np.uint64)  # fmt: skip
    kept = data.draw(st.sampled_from([0.0, 0.5, 0.999]))
    pool = np.array(special(dtype), np.uint64)
    bits = np.where(rng.random(size) < kept, rng.choice(pool, size), bits)
    raw = bits.astype(FLOATS[dtype].unsigned).tobytes()
    slow, quick = (count(p, raw, dtype, cut=size // 3) for p in PASSES)
    assert {n: getattr(slow, n) for n in COUNTS} == {n: getattr(quick, n) for n in COUNTS}
    assert quick.largest == pytest.approx(slow.largest, rel=0, nan_ok=True)
    assert quick.rms == pytest.approx(slow.rms, rel=1e-12, nan_ok=True)
    assert quick.mean == pytest.approx(
        slow.mean, rel=1e-12, abs=1e-12 * (slow.rms if slow.finite else 0), nan_ok=True
    )
