"""A captured batch file as numpy arrays: nothing in it is executed, and memory is bounded."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forensics.batches._parts import Array
from forensics.checkpoints import DType, StoredTensor, decoded_chunks, open_checkpoint
from forensics.errors import UnreadableFile

MOST_BYTES = 1 << 30
"""Of a batch; tensors beyond are not read."""
_DTYPES = {
    DType.F64: "<f8",
    DType.F32: "<f4",
    DType.F16: "<f2",
    DType.BF16: "<u2",
    DType.I64: "<i8",
    DType.I32: "<i4",
    DType.I16: "<i2",
    DType.I8: "<i1",
    DType.U64: "<u8",
    DType.U32: "<u4",
    DType.U16: "<u2",
    DType.U8: "<u1",
    DType.BOOL: "|b1",
}


@dataclass(frozen=True, eq=False)
class ReadBatch:
    """The tensors of a file that could be read, and why the others could not."""

    tensors: Mapping[str, Array]
    problems: tuple[str, ...] = ()


def read_batch(path: Path, most: int = MOST_BYTES) -> ReadBatch:
    """Read a captured batch.

    Args:
        path: A file of safetensors, or one that torch wrote.
        most: Bytes to read; the smallest tensors come first, so that labels and masks are among
            them.

    Raises:
        UnreadableFile: Nothing of it could be read.
    """
    opened = open_checkpoint(path)
    problems = [note.text for note in opened.notes]
    tensors: dict[str, Array] = {}
    left = most
    for tensor in sorted(opened.tensors, key=lambda t: (_nbytes(t), t.name)):
        why = _unfit(tensor, left)
        if not why:
            left -= _nbytes(tensor)
            try:
                tensors[tensor.name] = _array(tensor)
            except (UnreadableFile, ValueError) as error:
                why = str(error).removeprefix(f"{path}: ")
        if why:
            problems.append(f"{tensor.name} is not checked: {why}")
    if not opened.tensors:
        problems.append("holds no tensor that is stored as torch or safetensors store one")
    return ReadBatch(tensors, tuple(problems))


def _nbytes(tensor: StoredTensor) -> int:
    return tensor.size * tensor.dtype.size


def _unfit(tensor: StoredTensor, left: int) -> str:
    """Why a tensor is not read, or ''."""
    if tensor.missing:
        return tensor.missing
    if tensor.dtype not in _DTYPES:
        return f"its elements are {tensor.dtype}"
    if _nbytes(tensor) > left:
        return f"its {_nbytes(tensor):,} bytes are more than is read of a batch"
    return ""


def _array(tensor: StoredTensor) -> Array:
    buffer = bytearray()
    wanted = _span(tensor) * tensor.dtype.size
    for chunk in decoded_chunks(tensor):
        buffer += memoryview(chunk)[: wanted - len(buffer)]
        if len(buffer) >= wanted:
            break
    if len(buffer) < wanted:
        raise UnreadableFile(f"{len(buffer):,} of its {wanted:,} bytes are there")
    flat = np.frombuffer(buffer, _DTYPES[tensor.dtype])
    if tensor.dtype is DType.BF16:
        flat = (flat.astype(np.uint32) << 16).view(np.float32)
    return _laid_out(flat, tensor)


def _span(tensor: StoredTensor) -> int:
    """Elements that its bytes hold: fewer than its size where a view repeats them."""
    if not tensor.size:
        return 0
    if not tensor.stride:
        return tensor.size
    return 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride, strict=True))


def _laid_out(flat: Array, tensor: StoredTensor) -> Array:
    if not tensor.stride or not tensor.size:
        return flat.reshape(tensor.shape)
    steps = tuple(step * flat.itemsize for step in tensor.stride)
    # Within bounds: the span was computed from the same strides, and is there.
    return np.lib.stride_tricks.as_strided(flat, tensor.shape, steps, writeable=False)


def problems_in_short(problems: tuple[str, ...], most: int = 3) -> Iterator[str]:
    """The first few, and how many more."""
    yield from problems[:most]
    if len(problems) > most:
        yield f"and {len(problems) - most:,} more like these"
