"""Writes ``.wandb`` files byte by byte, as wandb 0.31 does."""

import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

HEADER = b":W&B\xe1\xbe\x00"
BLOCK = 1 << 15


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def item(key: str | tuple[str, ...], value: Any) -> bytes:
    keys = (key,) if isinstance(key, str) else key
    named = b"".join(field(2, part.encode()) for part in keys)
    return named + field(16, json.dumps(value).encode())


def row(values: Mapping[Any, Any], step: int) -> bytes:
    items = b"".join(field(1, item(k, v)) for k, v in {**values, "_step": step}.items())
    return field(1, step) + field(2, items + field(2, field(1, step)))


def settings(values: Mapping[str, Any]) -> bytes:
    updates = b"".join(
        field(1, field(1, k.encode()) + field(16, json.dumps(v).encode()))
        for k, v in values.items()
    )
    return field(17, field(1, b"id") + field(4, updates))


def ended(code: int) -> bytes:
    return field(18, field(1, code) if code else b"")


def framed(records: Iterable[bytes]) -> bytes:
    out = HEADER
    for record in records:
        begun = False
        while True:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                continue
            part, record = record[: room - 7], record[room - 7 :]
            kind = (4 if begun else 1) if not record else (3 if begun else 2)
            body = bytes([kind]) + part
            out += struct.pack("<IH", zlib.crc32(body), len(part)) + body
            begun = True
            if not record:
                break
    return out
