"""Tells zips apart by their first entry, without reading anything else."""

from pathlib import Path

from forensics.checkpoints import _zip
from forensics.checkpoints._reading import head, open_regular

SIGNATURE = b"PK\x03\x04"


def first_name(path: Path) -> str | None:
    """Name of the first entry of a zip; None for any other file."""
    if head(path, len(SIGNATURE)) != SIGNATURE:
        return None
    with open_regular(path) as file:
        first = _zip.read_local_header(file, 0)
    return None if first is None else first.name
