"""numpy's archives: a zip with one ``.npy`` file for each array, compressed or not."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forensics.checkpoints import _zip
from forensics.checkpoints._base import DType, StoredTensor
from forensics.checkpoints._contents import sort_out
from forensics.checkpoints._dtypes import of_numpy
from forensics.checkpoints._piece import Piece, file_opener, notes_on
from forensics.checkpoints._reading import Source, address, open_regular
from forensics.checkpoints._views import Storage, is_possible, tensor_of, unread
from forensics.checkpoints._zip import first_name
from forensics.errors import UnreadableFile

_MAGIC = b"\x93NUMPY"
_MAX_HEADER = 1 << 12
_MAX_HEADERS = 20_000
"""Arrays whose header is read; each may have to be inflated."""


def sniff(path: Path) -> bool:
    """A zip that begins with an array."""
    return (first_name(path) or "").endswith(".npy")


def read(path: Path) -> Piece:
    """Read the header of every array.

    Raises:
        UnreadableFile: There is no array in it.
    """
    with open_regular(path) as file:
        archive = _zip.read_archive(file)
        arrays = [m for m in archive.members if m.name.endswith(".npy")][:_MAX_HEADERS]
        tensors = {
            member.name.removesuffix(".npy"): _tensor(file, member, address(path))
            for member in arrays
        }
    if not tensors:
        raise UnreadableFile(f"{path}: holds no array")
    remark = "is cut off; the complete arrays are read"
    notes = notes_on(path, () if archive.whole else (remark,))
    return Piece("npz", sort_out(tensors), notes)


def _tensor(file: Source, member: "_zip.Member", path: str) -> StoredTensor:
    try:
        header = _header(_zip.inflate(file, member, _MAX_HEADER))
    except UnreadableFile as error:
        return unread(DType.OTHER, (), str(error))
    if header is None:
        return unread(DType.OTHER, (), "its header is damaged or cut off")
    descr, shape, length = header
    dtype, itemsize, swapped = of_numpy(descr)
    if not is_possible(shape, itemsize):
        return unread(dtype, (), "impossible shape")
    wanted = unread(dtype, shape, "").size * itemsize
    if member.method == _zip.DEFLATED:
        why = "cut off" if member.lost else ""
        storage = Storage(
            path, member.offset, wanted, wanted, why, member.nbytes, length, swapped=swapped
        )
    else:
        there = max(0, min(wanted, member.nbytes - length))
        why = "" if member.method == _zip.STORED else "compressed by a method that is not read"
        storage = Storage(path, member.offset + length, there, wanted, why, swapped=swapped)
    return tensor_of(storage, dtype, itemsize, shape)


def _header(first: bytes) -> tuple[str, tuple[int, ...], int] | None:
    """(type, shape, bytes before the values); None where it is no header, or holds objects."""
    if not first.startswith(_MAGIC) or len(first) < 12:
        return None
    wide = first[6] > 1
    start = 12 if wide else 10
    end = start + int.from_bytes(first[8:start], "little")
    values = dict(_entries(first[start:end]))
    descr, shape = values.get("descr"), values.get("shape")
    if len(first) < end or not isinstance(shape, tuple):
        return None
    return (descr if isinstance(descr, str) else "|V1"), shape, end


def _entries(header: bytes) -> Iterator[tuple[str, Any]]:
    """The entries of a header that are simple; a structured type is not."""
    text = header.decode("latin-1")
    for name, value in re.findall(r"'(descr|shape)':\s*('[^']{0,40}'|\([\d, ]{0,999}\))", text):
        try:
            yield name, ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue


OPENER = file_opener("npz", 20, sniff, read)
