"""Cuts a stream of bytes into clean lines, never holding more than a chunk of it.

A progress bar repaints itself with carriage returns or backspaces: each repaint is a line of its
own that shares the number of the physical line. Colour codes and NUL bytes are dropped.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

CHUNK_BYTES = 1 << 17  # small, so that most chunks of a long log hold lines of one make only
LONGEST_LINE = 1 << 16  # what goes on without a break is cut here

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Batch:
    """Consecutive lines of a file."""

    texts: list[str]
    numbers: list[int]
    """1-based physical line of each text; a repaint shares it with the one before."""
    size: int
    """Bytes read for this batch."""
    body: str | None = None
    """The texts as one string, a line break after each; None where they are no whole lines."""
    ended: bool = True
    """False where the last text was not ended by a line break: the file stops there."""


def encoding_of(head: bytes) -> str:
    """Name the encoding of a text by its first bytes; UTF-8 where nothing speaks against it."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    even, odd = head[0:4096:2].count(0), head[1:4096:2].count(0)
    half = len(head[:4096]) // 2
    if half >= 8 and max(even, odd) > 0.4 * half and min(even, odd) < 0.05 * half:
        return "utf-16-le" if odd > even else "utf-16-be"
    return "utf-8"


def read_batches(file: BinaryIO, chunk_bytes: int = CHUNK_BYTES) -> Iterator[Batch]:
    """Yield the lines of ``file`` in order; bytes that are no text become U+FFFD."""
    chunk = file.read(chunk_bytes)
    decoder = codecs.getincrementaldecoder(encoding_of(chunk))(errors="replace")
    pending, number = "", 1
    while chunk:
        following = file.read(chunk_bytes)
        text = pending + decoder.decode(chunk, final=not following).removeprefix("\ufeff")
        body, pending = (text, "") if not following else _cut(text)
        if body:
            body = _clean(body)
            texts, numbers = _split(body, number)
            number += body.count("\n")
            whole = body if body.endswith("\n") and len(texts) == body.count("\n") else None
            ended = bool(following) or body[-1:] in "\n\r\b"
            yield Batch(texts, numbers, len(chunk), whole, ended)
        chunk = following


def _cut(text: str) -> tuple[str, str]:
    """Split into whole lines and the beginning of one that goes on in the next chunk."""
    end = max(text.rfind("\n"), text.rfind("\r", 0, -1), text.rfind("\b", 0, -1)) + 1
    return (text[:end], text[end:]) if len(text) - end < LONGEST_LINE else (text, "")


def _clean(text: str) -> str:
    if "\0" in text:
        text = text.replace("\0", "")
    return _ANSI.sub("", text) if "\x1b" in text else text


def _split(body: str, number: int) -> tuple[list[str], list[int]]:
    """The lines of ``body``, the first of which has ``number``."""
    lines = body.split("\n")
    if not lines[-1]:
        lines.pop()
    if (
        "\r" not in body
        and "\b" not in body
        and (len(body) <= LONGEST_LINE or max(map(len, lines)) <= LONGEST_LINE)
    ):
        return lines, list(range(number, number + len(lines)))
    texts: list[str] = []
    numbers: list[int] = []
    for offset, line in enumerate(lines):
        parts = line.replace("\b", "\r").split("\r") if "\b" in line else line.split("\r")
        if len(line) > LONGEST_LINE:
            parts = [cut for part in parts for cut in _pieces(part)]
        texts += parts
        numbers += [number + offset] * len(parts)
    return texts, numbers


def _pieces(text: str) -> list[str]:
    """A text in pieces of bearable length."""
    return [text[k : k + LONGEST_LINE] for k in range(0, max(len(text), 1), LONGEST_LINE)]
