"""Settings that a run logged as text or through the hparams plugin.

What programs write as text is a JSON object (transformers: ``args``, ``model_config``), the
``repr`` of a dictionary, a Markdown table of two columns (CleanRL: ``hyperparameters``) or one bare
value under each tag (Megatron). ``/text_summary``, which torch appends to every tag, is dropped.
"""

import ast
import json
import re
import struct
from typing import Any

from forensics.readers._event_file.layout import HPARAMS, Text
from forensics.readers._event_file.wire import (
    BYTES,
    FIXED64,
    VARINT,
    MalformedMessageError,
    Walk,
)

SUFFIX = "/text_summary"
MAX_TEXT = 1 << 20  # characters of a text that is looked at for settings
MAX_VALUE = 1000  # characters of a bare value; a longer one is prose
MAX_DEPTH = 32  # of hparams inside each other
_FENCE = re.compile(r"^```\w*\n|\n?```$")
_RULE = re.compile(r"\|?[\s:|-]+\|?")


def settings_of(payload: bytes, text: Text) -> dict[str, Any]:
    """What one text of an event says of the configuration; empty for prose."""
    parts = [payload[part] for part in text.parts]
    if text.plugin == HPARAMS:
        hparams = _hparams(parts[0])
        return {"hparams": hparams} if hparams else {}
    name = decoded(payload[text.tag]).removesuffix(SUFFIX)
    written = "\n".join(map(decoded, parts)).strip()
    value = _dictionary(written) or _table(written) or written
    if isinstance(value, str) and not 0 < len(value) <= MAX_VALUE:
        return {}
    return {name: value}


def decoded(raw: bytes) -> str:
    """Text of any bytes; what is not UTF-8 becomes an escape, so that it can be written again."""
    return raw.decode("utf-8", "backslashreplace")


def _dictionary(written: str) -> dict[str, Any] | None:
    """The object that a text spells out in JSON or as Python would."""
    body = _FENCE.sub("", written).strip()
    if not body.startswith("{") or len(body) > MAX_TEXT:
        return None
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(body)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        if isinstance(value, dict):
            return {str(key): inner for key, inner in value.items()}
    return None


def _table(written: str) -> dict[str, str] | None:
    """The rows of a Markdown table of two columns, without its head."""
    lines = [line.strip() for line in written.splitlines() if line.strip()]
    if len(lines) < 3 or "|" not in lines[1] or not _RULE.fullmatch(lines[1]):
        return None
    rows = [[cell.strip() for cell in line.strip("|").split("|", 1)] for line in lines[2:]]
    return {row[0]: row[1] for row in rows if len(row) == 2}


def _hparams(content: bytes) -> dict[str, Any]:
    """``session_start_info.hparams`` of an HParamsPluginData message; empty for its others."""
    walk = Walk(content)
    found: dict[str, Any] = {}
    try:
        for start_info in _all(walk, walk.whole, 3):
            for entry in _all(walk, start_info, 1):
                found.update(_entry(walk, entry, MAX_DEPTH))
    except MalformedMessageError:
        return found
    return found


def _all(walk: Walk, message: slice, number: int) -> list[slice]:
    """Every message or string under a field number."""
    return [at for n, wire, at in walk.fields(message) if (n, wire) == (number, BYTES)]


def _entry(walk: Walk, entry: slice, depth: int) -> dict[str, Any]:
    """One pair of a ``map<string, google.protobuf.Value>``."""
    keys = [decoded(walk.data[at]) for at in _all(walk, entry, 1)]
    values = [_value(walk, at, depth) for at in _all(walk, entry, 2)]
    return {(keys or [""])[-1]: (values or [None])[-1]}


def _value(walk: Walk, value: slice, depth: int) -> Any:
    """A ``google.protobuf.Value``."""
    result: Any = None
    for number, wire, at in walk.fields(value):
        if (number, wire) == (2, FIXED64):
            (result,) = struct.unpack("<d", walk.data[at])
        elif (number, wire) == (3, BYTES):
            result = decoded(walk.data[at])
        elif (number, wire) == (4, VARINT):
            result = bool(walk.number(at))
        elif (number, wire) == (5, BYTES) and depth:
            entries = [_entry(walk, inner, depth - 1) for inner in _all(walk, at, 1)]
            result = {key: inner for entry in entries for key, inner in entry.items()}
        elif (number, wire) == (6, BYTES) and depth:
            result = [_value(walk, inner, depth - 1) for inner in _all(walk, at, 1)]
    return result
