"""Spells out tensors whose bytes do not lie in the file as they are: the registered decoders.

A decoder is named with its arguments (``deflate:128:4096``); several are joined by ``|`` and
applied from left to right. What comes out are raw little-endian bytes in element order.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import BinaryIO

import numpy as np

from forensics.checkpoints import _hdf5, _zip
from forensics.checkpoints._base import Extent, StoredTensor
from forensics.checkpoints._reading import open_regular, read_at, reason
from forensics.errors import UnreadableFile
from forensics.remote import locate

CHUNK = 1 << 20
Chunks = Iterator[bytes]


def decoded_chunks(tensor: StoredTensor, chunk: int = CHUNK) -> Chunks:
    """The bytes of a tensor, piece by piece; with a decoder or without one.

    Args:
        tensor: Which one.
        chunk: Bytes of a piece, roughly; every piece but the last holds whole elements.

    Raises:
        UnreadableFile: The file is gone or damaged, or its decoder is not known.
    """
    with ExitStack() as stack:
        files: dict[str, BinaryIO] = {}
        for extent in tensor.extents:
            if extent.path not in files:
                files[extent.path] = stack.enter_context(open_regular(locate(extent.path)))
        try:
            yield from _aligned(_decoded(tensor, files, chunk), tensor.dtype.size or 1)
        except OSError as error:
            raise UnreadableFile(f"{tensor.extents[0].path}: {reason(error)}") from error


def _decoded(tensor: StoredTensor, files: dict[str, BinaryIO], chunk: int) -> Chunks:
    names = tensor.decoder.split("|") if tensor.decoder else []
    if names and names[0].partition(":")[0] in _SOURCES:
        kind, _, arguments = names.pop(0).partition(":")
        stream = _SOURCES[kind](tensor, files, arguments)
    else:
        stream = _raw(tensor.extents, files, chunk)
    for name in names:
        kind, _, arguments = name.partition(":")
        if kind not in _FILTERS:
            raise UnreadableFile(f"{tensor.name}: stored in a way that is not known ({kind})")
        stream = _FILTERS[kind](stream, arguments)
    return stream


def _raw(extents: tuple[Extent, ...], files: dict[str, BinaryIO], chunk: int) -> Chunks:
    for extent in extents:
        for at in range(0, extent.nbytes, chunk):
            yield read_at(files[extent.path], extent.offset + at, min(chunk, extent.nbytes - at))


def _inflated(tensor: StoredTensor, files: dict[str, BinaryIO], arguments: str) -> Chunks:
    """``deflate:<first byte>:<bytes>`` of what a deflated range holds."""
    skip, left = (int(argument) for argument in arguments.split(":"))
    (extent,) = tensor.extents
    for piece in _zip.inflated(files[extent.path], extent.offset, extent.nbytes):
        wanted = piece[skip : skip + left]
        skip = max(0, skip - len(piece))
        left -= len(wanted)
        if wanted:
            yield wanted
        if not left:
            return


def _blockwise(tensor: StoredTensor, files: dict[str, BinaryIO], arguments: str) -> Chunks:
    """``blockwise8:<block>``: 8-bit codes, a float32 scale for each block, a table of 256."""
    block = int(arguments)
    codes, scales, table = tensor.extents
    values = np.frombuffer(read_at(files[table.path], table.offset, 1024), "<f4")
    per_read = max(1, CHUNK // 4 // block)
    for first in range(0, scales.nbytes // 4, per_read):
        count = min(per_read, scales.nbytes // 4 - first)
        start = first * block
        length = min(count * block, codes.nbytes - start)
        code = np.frombuffer(read_at(files[codes.path], codes.offset + start, length), np.uint8)
        scale = np.frombuffer(
            read_at(files[scales.path], scales.offset + 4 * first, 4 * count), "<f4"
        )
        yield (values[code] * np.repeat(scale, block)[: len(code)]).tobytes()


def _dataset(tensor: StoredTensor, files: dict[str, BinaryIO], arguments: str) -> Chunks:
    """``hdf5:<path>``: a dataset that is chunked or compressed within its HDF5 file."""
    (extent,) = tensor.extents
    return _hdf5.values_of(files[extent.path], extent, arguments, CHUNK)


def _swapped(stream: Chunks, arguments: str) -> Chunks:
    """``swap:<bytes of an element>``: from a big-endian machine."""
    size = int(arguments)
    for piece in _aligned(stream, size):
        whole = len(piece) // size * size
        yield np.frombuffer(piece[:whole], np.uint8).reshape(-1, size)[:, ::-1].tobytes()


def _aligned(stream: Chunks, size: int) -> Chunks:
    """The same bytes, cut between elements."""
    rest = b""
    for piece in stream:
        data = rest + piece if rest else piece
        whole = len(data) // size * size
        rest = data[whole:]
        if whole:
            yield data[:whole] if rest else data


_SOURCES: dict[str, Callable[[StoredTensor, dict[str, BinaryIO], str], Chunks]] = {
    "deflate": _inflated,
    "blockwise8": _blockwise,
    "hdf5": _dataset,
}
_FILTERS: dict[str, Callable[[Chunks, str], Chunks]] = {"swap": _swapped}
