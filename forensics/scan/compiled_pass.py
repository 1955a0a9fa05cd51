"""The scan with compiled loops, where there is enough to read to pay for loading numba."""

import platform
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from llvmlite import binding

from forensics.checkpoints import DType
from forensics.scan import kernels_numba, numpy_pass
from forensics.scan.element_types import FLOATS, Bytes, Doubles, table_of
from forensics.scan.tally import Tally


def _half_precision_is_fast() -> bool:
    """False on x86 processors from before 2012, for which LLVM would call a missing library."""
    if platform.machine().lower() not in ("x86_64", "amd64", "i686"):
        return True
    return bool(binding.get_host_cpu_features().get("f16c"))


_KERNELS: dict[DType, Callable[..., None]] = {
    DType.BF16: kernels_numba.scan_bf16,
    DType.F32: kernels_numba.scan_f32,
    **({DType.F16: kernels_numba.scan_f16} if _half_precision_is_fast() else {}),
}


def count(chunks: Iterable[Bytes], dtype: DType) -> Tally:
    """See `numpy_pass.count`; rare types are left to it."""
    if dtype in _KERNELS:
        return _floats(chunks, dtype)
    table = table_of(dtype)
    return _one_byte(chunks, table) if table is not None else numpy_pass.count(chunks, dtype)


def warm_up(dtype: DType) -> None:
    """Load or compile the loop of a type, which can take seconds, before several threads do."""
    count([np.zeros(0, np.uint8)], dtype)


def _floats(chunks: Iterable[Bytes], dtype: DType) -> Tally:
    kernel, unsigned = _KERNELS[dtype], FLOATS[dtype].unsigned
    scratch = np.empty(kernels_numba.BLOCK, np.float32)
    counts, sums, seen = np.zeros(5, np.int64), np.zeros(3), 0
    counts[kernels_numba.FIRST_BAD] = -1
    for chunk in chunks:
        bits = chunk.view(unsigned)
        kernel(bits, scratch, counts, sums, seen)
        seen += len(bits)
    return _tally(seen, counts, sums)


def _tally(seen: int, counts: "np.ndarray[Any, Any]", sums: Doubles) -> Tally:
    nan, pos_inf, neg_inf, zero, first_bad = counts.tolist()
    abs_max, total, squares = sums.tolist()
    return Tally(
        count=seen,
        nan=nan,
        pos_inf=pos_inf,
        neg_inf=neg_inf,
        zero=zero,
        first_bad=None if first_bad < 0 else first_bad,
        finite=seen - nan - pos_inf - neg_inf,
        abs_max=abs_max,
        total=total,
        squares=squares,
    )


def _one_byte(chunks: Iterable[Bytes], table: Doubles) -> Tally:
    whole = Tally()
    for chunk in chunks:
        times = np.zeros((4, 256), np.int64)
        kernels_numba.count_bytes(chunk, times)
        whole += numpy_pass.from_histogram(times.sum(axis=0), table, chunk)
    return whole
