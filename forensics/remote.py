"""Run directories that lie elsewhere: an fsspec address in place of a path.

``s3://``, ``gs://``, ``hf://`` and ``memory://`` alike; `locate` gives what the readers and
openers take for a `pathlib.Path`, and `RemoteFile` reads ranges without opening the whole.
"""

import io
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import total_ordering
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from forensics.errors import UsageError

BLOCK = 1 << 23
"""Bytes asked for at a time: a request to a remote store takes long, however little it asks."""


def is_remote(path: str | Path) -> bool:
    """True for an address rather than a local path."""
    return isinstance(path, RemotePath) or "://" in str(path)


def locate(path: str | Path) -> Path:
    """A local path as it is; an address as something that is used in the same way.

    Raises:
        UsageError: fsspec, or what it needs for this kind of address, is not installed.
    """
    if isinstance(path, str):
        return cast(Path, RemotePath(path)) if is_remote(path) else Path(path)
    return path


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
        self._pure = PurePosixPath("/", bare.strip("/"))
        self._system = file_system(address)

    def __str__(self) -> str:
        return f"{self._protocol}://{str(self._pure).lstrip('/')}"

    def __repr__(self) -> str:
        return f"RemotePath({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and str(self) == str(other)

    def __lt__(self, other: "RemotePath") -> bool:
        return str(self) < str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __truediv__(self, name: str | PurePosixPath) -> "RemotePath":
        return RemotePath(f"{self._protocol}://{self._pure / name}")

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
        return RemotePath(f"{self._protocol}://{self._pure.parent}")

    def relative_to(self, other: "RemotePath") -> PurePosixPath:
        """See `pathlib.PurePath.relative_to`."""
        return self._pure.relative_to(other._pure)

    def absolute(self) -> "RemotePath":
        """An address is absolute."""
        return self

    def exists(self) -> bool:
        """See `pathlib.Path.exists`."""
        return bool(self._system.exists(str(self)))

    def is_dir(self) -> bool:
        """See `pathlib.Path.is_dir`."""
        return bool(self._system.isdir(str(self)))

    def is_file(self) -> bool:
        """See `pathlib.Path.is_file`."""
        return bool(self._system.isfile(str(self)))

    def is_symlink(self) -> bool:
        """Stores have no links."""
        return False

    def stat(self) -> RemoteStat:
        """Size and kind.

        Raises:
            FileNotFoundError: There is nothing at the address.
        """
        return _stat_of(self._system.info(str(self)))

    def iterdir(self) -> Iterator["RemotePath"]:
        """See `pathlib.Path.iterdir`."""
        own = self._system._strip_protocol(str(self)).rstrip("/")
        for name in sorted(self._system.ls(str(self), detail=False)):
            if name.rstrip("/") != own:  # some stores list the folder in itself
                yield self / PurePosixPath(name).name

    def walk(self) -> Iterator[tuple[str, RemoteStat]]:
        """Every file below, by its path relative to here."""
        own = self._system._strip_protocol(str(self)).rstrip("/")
        for name, found in self._system.find(str(self), detail=True).items():
            yield name.removeprefix(own).lstrip("/"), _stat_of(found)

    def open(self, mode: str = "rb", **text: Any) -> IO[Any]:
        """Open for reading, bytes or text."""
        raw = self._system.open(str(self), "rb")
        return cast(IO[Any], raw if "b" in mode else io.TextIOWrapper(raw, **text))

    def read_bytes(self) -> bytes:
        """See `pathlib.Path.read_bytes`."""
        return bytes(self._system.cat_file(str(self)))

    def read_text(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """See `pathlib.Path.read_text`."""
        return self.read_bytes().decode(encoding, errors)


def _stat_of(found: dict[str, Any]) -> RemoteStat:
    kind = stat.S_IFDIR if found["type"] == "directory" else stat.S_IFREG
    return RemoteStat(int(found.get("size") or 0), kind, _time_of(found))


def _time_of(found: dict[str, Any]) -> float:
    """Seconds since the epoch at which a file was written; 0 where the store does not say."""
    for key in ("mtime", "LastModified", "last_modified", "updated", "created"):
        value = found.get(key)
        if isinstance(value, (int, float)):
            return float(value)
        if isinstance(value, datetime):
            return value.timestamp()
    return 0.0


def file_system(address: str) -> Any:
    """The fsspec file system of an address.

    Raises:
        UsageError: fsspec, or what it needs for this kind of address, is not installed.
    """
    try:
        from fsspec.core import url_to_fs

        return url_to_fs(address)[0]
    except ImportError as error:
        raise UsageError(
            f"{address}: reading it needs more than is installed ({error}); "
            "pip install 'run-forensics[remote]' and the driver of this kind of address"
        ) from error
    except ValueError as error:
        raise UsageError(f"{address}: {error}") from error


class RemoteFile:
    """A remote file, read by ranges."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._system = file_system(address)
        self._size = int(self._system.info(address)["size"])
        self._start, self._block = 0, b""

    def read_into(self, buffer: memoryview, offset: int) -> int:
        """Fill the buffer as far as the block at hand goes; 0 at the end of the file."""
        inside = offset - self._start
        if not 0 <= inside < len(self._block):
            stop = min(offset + BLOCK, self._size)
            if stop <= offset:
                return 0
            self._block = self._system.cat_file(self._address, start=offset, end=stop)
            self._start, inside = offset, 0
        piece = self._block[inside : inside + len(buffer)]
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Let go of the block."""
        self._block = b""
