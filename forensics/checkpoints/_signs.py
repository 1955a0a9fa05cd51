"""Cheap signs that a file holds weights, and that it was written to its end."""

import json
import re
import struct
from pathlib import Path

_MAGIC = (
    *(b"PK\x03\x04", b"\x89HDF\r\n\x1a\n", b"GGUF", b"\x93NUMPY"),
    *(b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"\x1f\x8b"),
)
_ZIP_END, _ZIP_TAIL = b"PK\x05\x06", 1024
_MAX_SAFETENSORS_HEADER = 100_000_000
"""Cap of the format itself."""
_READ_HEADER_UP_TO = 8 << 20
_MAX_JSON = 16 << 20
_FLAX_HEAD = 1 << 16
_MAP = re.compile(rb"(?:[\x81-\x8f]|\xde..|\xdf....)[\xa0-\xbf\xd9]", re.DOTALL)
"""A msgpack map that is not empty, and whose first key is a text."""
_ARRAY = re.compile(
    rb"(?:[\xd4-\xd8]|\xc7.|\xc8..|\xc9.{4})[\x01\x03]\x93[\x90-\x9f\xdc]"
    rb".{0,300}?[\xa4-\xaf](?:b?float|u?int|bool|complex)",
    re.DOTALL,
)


def is_flax(head: bytes) -> bool:
    """True for a msgpack map that holds an array as flax writes one."""
    return _MAP.match(head) is not None and _ARRAY.search(head) is not None


def has_weights_magic(path: Path, size: int) -> bool:
    """True where the first bytes are those of a format for weights; unreadable counts as True."""
    if size == 0:
        return True
    try:
        with path.open("rb") as file:
            head = file.read(512)
            rest = file.read(_FLAX_HEAD) if _MAP.match(head) else b""
    except OSError:
        return True
    if head.startswith(_MAGIC) or head[257:262] == b"ustar":
        return True
    if is_safetensors(head, size) or (path.suffix == ".msgpack" and head[0] >= 0x80):
        return True
    return is_flax(head + rest)


def is_safetensors(head: bytes, size: int) -> bool:
    """True for a header length within the format's cap, followed by JSON."""
    if len(head) < 9 or head[8:9] != b"{":
        return False
    (length,) = struct.unpack("<Q", head[:8])
    return bool(2 <= length <= max(size, _MAX_SAFETENSORS_HEADER))


def is_cut_short(path: Path, size: int) -> bool:
    """True where the file certainly ends before its end; False where that is not to be seen."""
    if size == 0:
        return True
    try:
        with path.open("rb") as file:
            head = file.read(9)
            if head.startswith(b"PK\x03\x04"):
                file.seek(max(0, size - _ZIP_TAIL))
                return _ZIP_END not in file.read(_ZIP_TAIL)
            if path.suffix == ".safetensors":
                length = int.from_bytes(head[:8], "little")
                return _ends_early(head, file.read(min(length, _READ_HEADER_UP_TO)), size)
    except OSError:
        pass
    return False


def _ends_early(head: bytes, rest: bytes, size: int) -> bool:
    if len(head) < 9:
        return True
    (length,) = struct.unpack("<Q", head[:8])
    if not head.endswith(b"{") or length + 8 > size:
        return True
    if length > len(rest) + 1:
        return False  # header too long to look at here; reading the file will tell
    ends = re.findall(rb'"data_offsets"\s*:\s*\[\s*\d+\s*,\s*(\d{1,18})\s*\]', rest[: length - 1])
    return bool(8 + length + max(map(int, ends), default=0) > size)


def missing_shards(index: Path, present: set[str]) -> list[str]:
    """Files that a shard index names and that are not among ``present``; [] if unreadable."""
    try:
        if index.stat().st_size > _MAX_JSON:
            return []
        content = json.loads(index.read_bytes())
        names = set(content["weight_map"].values())
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return []
    return sorted(str(name) for name in names if str(name) not in present)


_STEP_KEY = re.compile(
    rb'"(?:global_step|iteration|iter_num|num_updates|current_step|step)"\s*:\s*(\d{1,15})\b'
)


def step_inside(path: Path) -> int | None:
    """The step that a small JSON beside the weights gives, looked for in its first 64 KiB."""
    try:
        with path.open("rb") as file:
            found = _STEP_KEY.search(file.read(1 << 16))
    except OSError:
        return None
    return int(found[1]) if found else None


def commit_is_missing(path: Path) -> bool:
    """True where Orbax's metadata says that the save was never committed."""
    try:
        content = json.loads(path.read_bytes()[:_MAX_JSON])
    except (OSError, ValueError, RecursionError):
        return True
    stamp = "commit_timestamp_nsecs"
    return isinstance(content, dict) and stamp in content and content[stamp] is None
