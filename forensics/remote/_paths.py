"""Addresses that are used like paths."""

import io
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import total_ordering
from pathlib import PurePosixPath
from typing import IO, Any, cast

from forensics.remote._files import open_remotely
from forensics.remote._stores import answering, file_system


@dataclass(frozen=True)
class RemoteStat:
    """What is known of a remote file without reading it."""

    st_size: int
    st_mode: int
    st_mtime: float = 0.0


@total_ordering
class RemotePath:
    """The part of `pathlib.Path` by which files are found and read, over fsspec."""

    def __init__(self, address: str) -> None:
        self._protocol, _, bare = address.partition("://")
        self._lead = "/" if bare.startswith("/") else ""
        self._pure = PurePosixPath("/", bare.strip("/"))
        self._system = file_system(address)

    def __str__(self) -> str:
        return self._address(self._pure)

    def _address(self, pure: PurePosixPath) -> str:
        return f"{self._protocol}://{self._lead}{str(pure).lstrip('/')}"

    def __repr__(self) -> str:
        return f"RemotePath({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and str(self) == str(other)

    def __lt__(self, other: "RemotePath") -> bool:
        return str(self) < str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __truediv__(self, name: str | PurePosixPath) -> "RemotePath":
        return RemotePath(self._address(self._pure / name))

    @property
    def name(self) -> str:
        """See `pathlib.PurePath.name`."""
        return self._pure.name

    @property
    def stem(self) -> str:
        """See `pathlib.PurePath.stem`."""
        return self._pure.stem

    @property
    def suffix(self) -> str:
        """See `pathlib.PurePath.suffix`."""
        return self._pure.suffix

    @property
    def parent(self) -> "RemotePath":
        """See `pathlib.PurePath.parent`."""
        return RemotePath(self._address(self._pure.parent))

    def relative_to(self, other: "RemotePath") -> PurePosixPath:
        """See `pathlib.PurePath.relative_to`."""
        return self._pure.relative_to(other._pure)

    def absolute(self) -> "RemotePath":
        """An address is absolute."""
        return self

    def exists(self) -> bool:
        """See `pathlib.Path.exists`; a store that does not answer raises OSError."""
        return bool(self._mode())

    def is_dir(self) -> bool:
        """See `pathlib.Path.is_dir`."""
        return stat.S_ISDIR(self._mode())

    def is_file(self) -> bool:
        """See `pathlib.Path.is_file`."""
        return stat.S_ISREG(self._mode())

    def _mode(self) -> int:
        try:
            return self.stat().st_mode
        except FileNotFoundError:
            return 0

    def is_symlink(self) -> bool:
        """Links are left out of listings."""
        return False

    def stat(self) -> RemoteStat:
        """Size and kind.

        Raises:
            FileNotFoundError: There is nothing at the address.
            OSError: The store does not say.
        """
        with answering(str(self)):
            return _stat_of(self._system.info(str(self)))

    def listing(self) -> list[tuple[str, RemoteStat]]:
        """Name and kind of what lies in a folder, by name; links left out.

        Raises:
            OSError: The store does not list it, or not to the end.
        """
        with answering(str(self)):
            own = self._system._strip_protocol(str(self)).rstrip("/")
            entries = self._system.ls(str(self), detail=True)
        named = [(str(e["name"]).rstrip("/"), e) for e in entries if not e.get("islink")]
        # Some stores list the folder in itself.
        inside = {PurePosixPath(n).name: _stat_of(e) for n, e in named if n != own}
        return sorted(inside.items())

    def iterdir(self) -> Iterator["RemotePath"]:
        """See `pathlib.Path.iterdir`."""
        for name, _ in self.listing():
            yield self / name

    def open(self, mode: str = "rb", **text: Any) -> IO[Any]:
        """Open for reading, bytes or text."""
        raw = open_remotely(str(self))
        return cast(IO[Any], raw if "b" in mode else io.TextIOWrapper(raw, **text))

    def read_bytes(self) -> bytes:
        """See `pathlib.Path.read_bytes`."""
        with answering(str(self)):
            return bytes(self._system.cat_file(str(self)))

    def read_text(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """See `pathlib.Path.read_text`."""
        return self.read_bytes().decode(encoding, errors)


def _stat_of(found: dict[str, Any]) -> RemoteStat:
    kind = _KINDS.get(found["type"], stat.S_IFIFO)  # a pipe, or something that is no better
    return RemoteStat(int(found.get("size") or 0), kind, _time_of(found))


_KINDS = {"directory": stat.S_IFDIR, "file": stat.S_IFREG}


def _time_of(found: dict[str, Any]) -> float:
    """Seconds since the epoch at which a file was written; 0 where the store does not say."""
    for key in ("mtime", "LastModified", "last_modified", "updated", "created"):
        value = found.get(key)
        if isinstance(value, (int, float)):
            return float(value)
        if isinstance(value, datetime):
            return value.timestamp()
    return 0.0
