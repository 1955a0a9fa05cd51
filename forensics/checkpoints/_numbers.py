"""Reads single numbers that were saved as tensors: step counters, learning rates, scales."""

from collections.abc import Iterable

import numpy as np

from forensics.checkpoints._base import DType, StoredTensor
from forensics.checkpoints._reading import open_regular, read_at
from forensics.errors import UnreadableFile
from forensics.remote import locate

_NUMPY = {
    **{DType.F64: "<f8", DType.F32: "<f4", DType.F16: "<f2", DType.BF16: "<u2"},
    **{DType.I64: "<i8", DType.I32: "<i4", DType.I16: "<i2", DType.I8: "<i1"},
    **{DType.U64: "<u8", DType.U32: "<u4", DType.U16: "<u2", DType.U8: "<u1", DType.BOOL: "<u1"},
}


def read_number(tensor: StoredTensor) -> float | int | None:
    """The value of a tensor of one element; None where it is not there, or not finite."""
    return read_numbers([tensor])[0]


def read_numbers(tensors: Iterable[StoredTensor]) -> list[float | int | None]:
    """The values of tensors of one element each, every file opened once."""
    wanted = list(tensors)
    values: list[float | int | None] = [None] * len(wanted)
    by_path: dict[str, list[int]] = {}
    for index, tensor in enumerate(wanted):
        if tensor.size == 1 and len(tensor.extents) == 1 and not tensor.missing:
            by_path.setdefault(tensor.extents[0].path, []).append(index)
    for path, indices in by_path.items():
        try:
            with open_regular(locate(path)) as file:
                for index in indices:
                    extent = wanted[index].extents[0]
                    raw = read_at(file, extent.offset, min(extent.nbytes, 16))
                    values[index] = _decoded(wanted[index], raw)
        except (UnreadableFile, OSError):
            continue
    return values


def _decoded(tensor: StoredTensor, raw: bytes) -> float | int | None:
    code = _NUMPY.get(tensor.dtype)
    swapped = tensor.decoder.startswith("swap:")
    if code is None or len(raw) < tensor.dtype.size or (tensor.decoder and not swapped):
        return None
    value = np.frombuffer(raw, code.replace("<", ">") if swapped else code, count=1)
    if tensor.dtype is DType.BF16:
        value = (value.astype(np.uint32) << 16).view(np.float32)
    number = value[0].item()
    return number if isinstance(number, (int, float)) and np.isfinite(number) else None
