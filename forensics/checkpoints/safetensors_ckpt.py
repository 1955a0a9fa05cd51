"""safetensors: a length, a JSON header, and the tensors one behind the other.

https://github.com/huggingface/safetensors#format. The header is believed in nothing: a tensor
whose range is impossible, overlaps another or lies beyond the end is listed without its bytes.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from forensics.checkpoints._base import DType, StoredTensor
from forensics.checkpoints._contents import sort_out
from forensics.checkpoints._dtypes import SAFETENSORS
from forensics.checkpoints._param_names import usual_place
from forensics.checkpoints._piece import Piece, blank_note, file_opener, notes_on
from forensics.checkpoints._reading import address, head, open_regular, size_of
from forensics.checkpoints._views import Storage, is_possible, tensor_of, unread
from forensics.errors import UnreadableFile

MAX_HEADER = 32 << 20
"""Bytes; 200,000 tensors. The format allows 100 MB, which Python would take 2 GB to hold."""
_FORMAT_CAP = 100_000_000


def sniff(path: Path) -> bool:
    """A header length within the format's cap, followed by JSON."""
    first = head(path, 9)
    if len(first) < 9 or first[8:9] != b"{":
        return False
    return 2 <= int.from_bytes(first[:8], "little") <= _FORMAT_CAP


def read(path: Path) -> Piece:
    """Read the header.

    Raises:
        UnreadableFile: The header is cut off, too long, or no JSON.
    """
    with open_regular(path) as file:
        size = size_of(file)
        file.seek(0)
        (length,) = struct.unpack("<Q", file.read(8).ljust(8, b"\xff"))
        if length > MAX_HEADER:
            raise UnreadableFile(f"{path}: its header claims {length:,} bytes")
        if 8 + length > size:
            raise UnreadableFile(f"{path}: is cut off within its header")
        header = _parsed(path, file.read(length))
    entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
    tensors = dict(_tensors(entries, address(path), 8 + length, size))
    in_order = {name: tensors[name] for name in sorted(tensors, key=usual_place)}
    parts = sort_out(in_order, ordered=False)
    metadata = header.get("__metadata__")
    settings = metadata if isinstance(metadata, dict) else {}
    parts = replace(parts, state=replace(parts.state, settings=settings))
    notes = notes_on(path, tuple(_remarks(tensors, size - 8 - length)))
    return Piece("safetensors", parts, notes + blank_note(path, ((8 + length, size - 8 - length),)))


def _parsed(path: Path, raw: bytes) -> dict[str, Any]:
    try:
        header = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(f"{path}: its header is no JSON") from error
    if not isinstance(header, dict):
        raise UnreadableFile(f"{path}: its header lists no tensors")
    return header


def _tensors(
    entries: Mapping[str, Any], path: str, body: int, size: int
) -> Iterator[tuple[str, StoredTensor]]:
    """(name, tensor) in the order of their bytes."""
    taken = 0
    for name, entry in sorted(entries.items(), key=lambda item: _range(item[1])):
        start, end = _range(entry)
        tensor = _tensor(entry, start, end, path, body, size)
        if start < taken and end > start and tensor.extents:
            tensor = replace(tensor, extents=(), storage="", missing="overlaps another tensor")
        elif tensor.extents:
            taken = max(taken, end)
        yield name, tensor


def _tensor(entry: Any, start: int, end: int, path: str, body: int, size: int) -> StoredTensor:
    name = entry.get("dtype") if isinstance(entry, dict) else None
    dtype, bits = SAFETENSORS.get(name, (DType.OTHER, 8)) if isinstance(name, str) else (
        DType.OTHER, 8)  # fmt: skip
    shape = entry.get("shape") if isinstance(entry, dict) else None
    lengths = tuple(shape) if isinstance(shape, list) else (-1,)
    if not is_possible(lengths):
        return unread(dtype, (), "impossible shape")
    if not 0 <= start <= end < 1 << 62:
        return unread(dtype, lengths, "impossible offsets")
    numel = unread(dtype, lengths, "").size
    if (numel * bits + 7) // 8 != end - start and name in SAFETENSORS:
        return unread(dtype, lengths, f"its shape does not fit its {end - start:,} bytes")
    storage = Storage(path, body + start, max(0, min(end, size - body) - start), end - start)
    if bits % 8 or dtype is DType.OTHER:  # packed: counted by its bytes
        return replace(tensor_of(storage, DType.OTHER, 1, (end - start,)), shape=lengths)
    return tensor_of(storage, dtype, bits // 8, lengths)


def _range(entry: Any) -> tuple[int, int]:
    offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
    if isinstance(offsets, list) and len(offsets) == 2 and all(type(o) is int for o in offsets):
        return offsets[0], offsets[1]
    return -1, -1


def _remarks(tensors: Mapping[str, StoredTensor], body: int) -> Iterator[str]:
    cut = sum(t.missing.startswith("cut off") for t in tensors.values())
    if cut:
        yield f"is cut off: {cut:,} of its {len(tensors):,} tensors are not or not wholly there"
    odd = [name for name, t in tensors.items() if t.missing and not t.missing.startswith("cut")]
    if odd:
        yield f"{len(odd):,} tensors cannot be as its header says ({odd[0][:80]}: " + (
            f"{tensors[odd[0]].missing})"
        )


OPENER = file_opener("safetensors", 20, sniff, read)
