"""Writes a file, asks a reader, and shows what came out as plain lists."""

import json
from pathlib import Path
from typing import Any

import pytest

from forensics.readers._base import Probe, Reader, Reading, no_progress
from forensics.run import Series

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


def probe(root: Path, name: str, content: str | bytes) -> Probe:
    """A file of this name and content below ``root``."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Probe(path, root, path.stat().st_size)


def takes(reader: Reader, root: Path, name: str, content: str | bytes) -> bool:
    """Whether the reader would read the file."""
    return reader.sniff(probe(root, name, content))


def read(reader: Reader, root: Path, name: str, content: str | bytes) -> Reading:
    """What the reader gives for a file that it takes."""
    file = probe(root, name, content)
    assert reader.sniff(file), f"{name} was declined"
    return reader.read(file, no_progress)


def by_tag(reading: Reading) -> dict[str, Series]:
    """The series by tag, with the run before it where there are several."""
    named = {f"{s.run}:{s.tag}" if s.run else s.tag: s for s in reading.series}
    assert len(named) == len(reading.series)
    return named


def points(series: Series) -> list[tuple[int, Any]]:
    """Step and value of each point; non-finite values as text, so that they compare."""
    values = [v if v - v == 0 else str(v) for v in series.value.tolist()]
    return list(zip(series.step.tolist(), values, strict=True))


def lines(*rows: dict[str, Any]) -> str:
    """Rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def shared(name: str) -> Path:
    """A folder of public material, where this checkout has it."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the public {name} are not on this machine")
    return path
