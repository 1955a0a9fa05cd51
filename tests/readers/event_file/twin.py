"""Event files for tests: records written by hand, and a slow, obvious twin of the reader."""

import struct
from dataclasses import dataclass, field

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.summary.writer.record_writer import masked_crc32c
from tensorboard.util import tensor_util

MAX_PAYLOAD = 1 << 28


def record(payload: bytes) -> bytes:
    """One framed record."""
    length = struct.pack("<Q", len(payload))
    return length + _crc(length) + payload + _crc(payload)


def _crc(data: bytes) -> bytes:
    return struct.pack("<I", masked_crc32c(data))


def scalar(tag: str, step: int, value: float, wall_time: float = 1.7e9) -> bytes:
    """A framed event of the older encoding."""
    event = Event(wall_time=wall_time, step=step)
    event.summary.value.add(tag=tag, simple_value=value)
    return record(event.SerializeToString())


VERSION = record(Event(wall_time=1.7e9, file_version="brain.Event:2").SerializeToString())


@dataclass
class Naive:
    """What the twin found."""

    payloads: list[bytes] = field(default_factory=list)
    lost: list[tuple[int, int, bool]] = field(default_factory=list)
    """Begin, end, and whether the file ends inside a record."""


def naive_records(data: bytes) -> Naive:
    """Record by record, byte by byte where there is none."""
    found, at = Naive(), 0
    while at < len(data):
        end = _end_of_record(data, at)
        whole = end is not None and end <= len(data)
        intact = whole and data[end - 4 : end] == _crc(data[at + 12 : end - 4])
        if intact:
            found.payloads.append(data[at + 12 : end - 4])
            at = end
        elif whole and (end == len(data) or _end_of_record(data, end) is not None):
            found.lost.append((at, end, False))  # only its payload is damaged
            at = end
        else:
            later = (i for i in range(at + 1, len(data)) if _end_of_record(data, i) is not None)
            resumed = next(later, len(data))
            lacking = (end is not None and not whole) or len(data) - at < 12
            found.lost.append((at, resumed, lacking and resumed == len(data)))
            at = resumed
    return found


def _end_of_record(data: bytes, at: int) -> int | None:
    """Where the record ends whose header lies at ``at``, None where there is no header."""
    head = data[at : at + 12]
    if len(head) < 12 or head[8:] != _crc(head[:8]):
        return None
    length = struct.unpack("<Q", head[:8])[0]
    return at + 16 + length if 0 < length <= MAX_PAYLOAD else None


def naive_points(payloads: list[bytes]) -> dict[str, list[tuple[int, float, float]]]:
    """(step, value, wall time) of every scalar by tag, by way of TensorBoard's own classes."""
    points: dict[str, list[tuple[int, float, float]]] = {}
    for payload in payloads:
        event = Event.FromString(payload)
        for value in event.summary.value:
            number = _number(value)
            if number is not None:
                points.setdefault(value.tag, []).append((event.step, number, event.wall_time))
    return points


def _number(value):
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return value.simple_value
    plugin = value.metadata.plugin_data.plugin_name
    if kind != "tensor" or plugin not in ("", "scalars"):
        return None
    array = tensor_util.make_ndarray(value.tensor)
    numeric = array.dtype.kind in "fiub" or array.dtype.name == "bfloat16"
    return float(array.reshape(-1)[0]) if array.size == 1 and numeric else None
