"""Writes a log, reads it, and shows what was read in plain lists."""

from pathlib import Path

from forensics.readers._base import Probe, Reading, no_progress
from forensics.readers.text_log import READER
from forensics.run import TextKind

Shown = dict[str, tuple[list[int], list[float]]]


def probe(folder: Path, text: str | bytes, name: str = "train.log") -> Probe:
    """A file with this content, as `sniff` and `read` see it."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return Probe(path, folder, path.stat().st_size)


def read(folder: Path, text: str | bytes, name: str = "train.log") -> Reading:
    """What the reader makes of this content."""
    return READER.read(probe(folder, text, name), no_progress)


def shown(reading: Reading) -> Shown:
    """Steps and values of each series by tag."""
    return {s.tag: (s.step.tolist(), s.value.tolist()) for s in reading.series}


def kinds(reading: Reading) -> list[TextKind]:
    """The kinds of evidence, in the order of the file."""
    return [evidence.kind for evidence in reading.text]
