"""A text file as blocks of whole lines in UTF-8, whatever it was written in."""

import codecs
from collections.abc import Iterator
from pathlib import Path

from forensics.readers._base import Progress

BLOCK_BYTES = 1 << 20
_LONGEST_LINE = 1 << 26  # a longer one is cut: it is no line of a log
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def encoding_of(head: bytes) -> tuple[str, int]:
    """The encoding that the first bytes show, and the length of the mark that says so."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name, len(mark)
    sample = head[:256]
    if len(sample) >= 4 and sample[1::2].count(0) > 0.9 * len(sample[1::2]):
        return "utf-16-le", 0
    if len(sample) >= 4 and sample[::2].count(0) > 0.9 * len(sample[::2]):
        return "utf-16-be", 0
    return "utf-8", 0


def decode_head(head: bytes) -> str | None:
    """The first bytes as text, or None where the file is not text."""
    encoding, mark = encoding_of(head)
    if head.count(0) > len(head) * (0.1 if encoding == "utf-8" else 0.9):
        return None
    text = head[mark:].decode(encoding, "replace").replace("\0", "")
    odd = text.count("\ufffd") + sum(text.count(chr(code)) for code in range(1, 9))
    return text if odd <= len(text) // 20 + 1 else None


def before_crash(text: str) -> str:
    """The text up to a traceback: what a file is shows in the lines before it."""
    return text.partition("Traceback (most recent call last)")[0]


def read_blocks(path: Path, progress: Progress, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Yield about ``size`` bytes at a time, each block ending with its last whole line.

    Only the last block may end without a newline: its last line was cut, or not yet finished.
    """
    with path.open("rb") as file:
        encoding, mark = encoding_of(file.read(4096))
        file.seek(mark)
        decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("replace")
        pending = b""
        while raw := file.read(size):
            progress(len(raw))
            block = raw if decoder is None else decoder.decode(raw).encode("utf-8", "replace")
            pending += _unix_line_ends(block)
            end = pending.rfind(b"\n") + 1 or (len(pending) if len(pending) > _LONGEST_LINE else 0)
            if end:
                yield pending[:end]
                pending = pending[end:]
        if pending:
            yield pending


def _unix_line_ends(block: bytes) -> bytes:
    """Lines of old Macintosh files end in a carriage return alone."""
    if b"\n" not in block and b"\r" in block:
        return block.replace(b"\r", b"\n")
    return block
