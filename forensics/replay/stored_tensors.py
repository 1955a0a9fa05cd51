"""Stored tensors as torch tensors: mapped where the bytes lie as they are, decoded where not."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from forensics.checkpoints import DType, StoredTensor, decoded_chunks
from forensics.replay.errors import ReplayError

_DTYPES = {
    DType.F64: torch.float64,
    DType.F32: torch.float32,
    DType.F16: torch.float16,
    DType.BF16: torch.bfloat16,
    DType.F8_E4M3: torch.float8_e4m3fn,
    DType.F8_E5M2: torch.float8_e5m2,
    DType.F8_E4M3FNUZ: torch.float8_e4m3fnuz,
    DType.F8_E5M2FNUZ: torch.float8_e5m2fnuz,
    DType.C64: torch.complex64,
    DType.C128: torch.complex128,
    DType.I64: torch.int64,
    DType.I32: torch.int32,
    DType.I16: torch.int16,
    DType.I8: torch.int8,
    DType.U8: torch.uint8,
    DType.BOOL: torch.bool,
}


def read_tensors(tensors: Sequence[StoredTensor]) -> dict[str, torch.Tensor]:
    """Name -> tensor on the CPU.

    Raises:
        ReplayError: One of them is incomplete or of a kind that torch does not know.
    """
    return {tensor.name: _read(tensor) for tensor in tensors}


def _read(tensor: StoredTensor) -> torch.Tensor:
    dtype = _DTYPES.get(tensor.dtype)
    if dtype is None or tensor.missing:
        why = tensor.missing or f"its elements are {tensor.dtype}"
        raise ReplayError(f"{tensor.name}: it cannot be loaded: {why}")
    if not tensor.size:
        return torch.empty(tensor.shape, dtype=dtype)
    extents = tensor.extents
    if len(extents) == 1 and not tensor.decoder and "://" not in extents[0].path:
        extent = extents[0]
        # Copy on write: the file is never changed, and pages are read when they are used.
        place = (extent.offset, (extent.nbytes,))
        raw: NDArray[np.uint8] = np.memmap(extent.path, np.uint8, "c", *place)
    else:
        raw = np.frombuffer(bytearray(b"".join(bytes(c) for c in decoded_chunks(tensor))), np.uint8)
    flat = torch.from_numpy(raw)
    if flat.storage_offset() % dtype.itemsize or raw.ctypes.data % dtype.itemsize:
        flat = flat.clone()
    values = flat.view(dtype)
    if tensor.stride:
        return values.as_strided(tensor.shape, tensor.stride)
    return values.reshape(tensor.shape)
