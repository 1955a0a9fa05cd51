"""Tells an address from a local path; what speaks to a store is loaded where there is one."""

from pathlib import Path
from typing import cast
from urllib.parse import unquote

from forensics import remote
from forensics.errors import UnreadableFile

_HERE = "file://"
"""Begins the address of a file of this machine, which is better read as such."""


def is_remote(path: str | Path) -> bool:
    """True for an address rather than a local path."""
    text = str(path)
    return "://" in text and not text.startswith(_HERE)


def locate(path: str | Path) -> Path:
    """A local path as it is; an address as something that is used in the same way.

    Raises:
        UsageError: fsspec, or what it needs for this kind of address, is not installed.
        UnreadableFile: The store cannot be reached, or does not let us in.
    """
    if not isinstance(path, str):
        return path
    if is_remote(path):
        try:
            return cast(Path, remote.RemotePath(path))
        except OSError as error:
            raise UnreadableFile(f"{path}: {error.strerror}") from error
    return Path(unquote(path.removeprefix(_HERE)) if path.startswith(_HERE) else path)
