"""Loads JSON that may be cut, damaged, or nested without end, and keeps the good part."""

import json
import re
from contextlib import suppress
from typing import Any

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress
from forensics.readers._tables.blocks import encoding_of
from forensics.run import Note

_LARGEST = 1 << 30
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|["{}\[\],]', re.DOTALL)
_CLOSER = {"{": "}", "[": "]"}


def read_document(probe: Probe, progress: Progress) -> tuple[Any, tuple[Note, ...]]:
    """The value in a file, and a note where only a part of it could be read.

    Raises:
        UnreadableFile: It is no JSON, nested too deep, or too large to be held in memory.
    """
    if probe.size > _LARGEST:
        raise UnreadableFile(
            f"{probe.source}: one JSON document of more than 1 GiB; keep lines of JSON"
        )
    data = probe.path.read_bytes()
    encoding, mark = encoding_of(data[:4096])
    try:
        document, whole = load_document(data[mark:].decode(encoding, "replace"))
    except ValueError as error:
        raise UnreadableFile(f"{probe.source}: {error}") from error
    progress(probe.size)
    if whole:
        return document, ()
    return document, (Note("cut or damaged: only the rows before that were read", probe.source),)


def load_document(text: str) -> tuple[Any, bool]:
    """The value in ``text``, and whether all of it could be read.

    A document that ends early is closed after its last whole element, where a row that was begun
    is no element; several documents one after the other become a list.

    Raises:
        ValueError: No part of it is JSON, or it is nested too deep.
    """
    text = text.strip("\ufeff\0 \t\r\n")
    try:
        return json.loads(text), True
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    except ValueError:
        return _load_part(text)


def _load_part(text: str) -> tuple[Any, bool]:
    documents, position = _load_whole(text)
    if position < len(text):
        closed = _closed(text[position:])
        with suppress(ValueError, RecursionError):  # damaged before the cut
            documents += [json.loads(closed)] if closed else []
    if not documents:
        raise ValueError("not JSON")
    return (documents if len(documents) > 1 else documents[0]), position >= len(text)


def _load_whole(text: str) -> tuple[list[Any], int]:
    """The documents that stand one after the other, and where the last whole one ends."""
    documents: list[Any] = []
    decoder, position = json.JSONDecoder(), 0
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        documents.append(value)
        while position < len(text) and text[position] in ", \t\r\n\0":
            position += 1
    return documents, position


def _closed(text: str) -> str | None:
    """A cut document, ended after its last whole element; None where there is none."""
    stack: list[str] = []
    good: tuple[int, str] | None = None
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == '"':  # a string that never ends
            break
        if mark in _CLOSER:
            stack.append(_CLOSER[mark])
        elif mark in ("}", "]"):
            if not stack or stack.pop() != mark:
                break
        elif mark != ",":
            continue
        begun_row = "]" in stack and stack[-1] != "]"
        if stack and not begun_row and mark not in _CLOSER:
            end = token.start() if mark == "," else token.end()
            good = (end, "".join(reversed(stack)))
    return None if good is None else text[: good[0]] + good[1]
