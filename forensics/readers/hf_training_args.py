"""The arguments of a Hugging Face Trainer: ``training_args.bin``, a pickle saved by torch.

Three shapes: a zip whose first entry is ``*/data.pkl``; the stream that torch wrote before 1.6,
in which the object is the fourth pickle; and a bare pickle. The object is never made: what its
class would have been given is read as plain values.
"""

import io
import struct
from typing import BinaryIO

from forensics import inert_pickle
from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading

MAX_BYTES = 16 << 20
MAX_OPERATIONS = 500_000
_ZIP, _LEGACY = b"PK\x03\x04", bytes.fromhex("80028a0a6cfc9c46f9206aa85019")
_LOCAL_HEADER = struct.Struct("<26xHH")


def sniff(probe: Probe) -> bool:
    """A pickle, bare or in a zip, under the name that the Trainer uses."""
    if not (probe.path.name.startswith("training_args") and probe.path.suffix == ".bin"):
        return False
    return probe.size <= MAX_BYTES and probe.head.startswith((_ZIP, b"\x80"))


def read(probe: Probe, progress: Progress) -> Reading:
    """Read the arguments by name.

    Raises:
        UnreadableFile: The file is cut short or holds something else.
    """
    data = probe.path.read_bytes()
    progress(len(data))
    try:
        value = _last_pickle(data)
    except UnreadableFile as error:
        raise UnreadableFile(f"{probe.source}: {error}") from error
    settings = inert_pickle.plain(value)
    if not isinstance(settings, dict) or not settings:
        raise UnreadableFile(f"{probe.source}: holds no training arguments")
    return Reading(settings=settings, summary=f"{len(settings)} settings")


def _last_pickle(data: bytes) -> object:
    stream = io.BytesIO(data)
    if data.startswith(_ZIP):
        stream.seek(_payload(data))
    elif data.startswith(_LEGACY):
        for _ in ("magic", "version", "system"):
            _load(stream)
    return _load(stream)


def _load(stream: BinaryIO) -> object:
    return inert_pickle.load(stream, max_operations=MAX_OPERATIONS)


def _payload(data: bytes) -> int:
    """Offset of the first entry, which torch writes uncompressed: the directory may be missing."""
    if len(data) < _LOCAL_HEADER.size:
        raise UnreadableFile("zip is cut short")
    name_length, extra_length = _LOCAL_HEADER.unpack_from(data)
    start = _LOCAL_HEADER.size
    if not data[start : start + name_length].endswith(b"data.pkl"):
        raise UnreadableFile("zip was not written by torch")
    return int(start + name_length + extra_length)


READER = Reader("HF training arguments", 20, sniff, read)
