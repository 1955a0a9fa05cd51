"""Lists what lies in a run directory: one walk, nothing opened.

Symbolic links are not followed: what they point to inside the folder is found anyway, and what
lies outside is not part of the run. Pipes, sockets and devices are passed over.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from forensics.remote import RemotePath, locate

MAX_FILES = 200_000
"""A folder with more is no run but a disk; the walk stops there and says so."""
MAX_DEPTH = 40
PASSED_OVER = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".dvc",
        ".cache",
        ".eggs",
        ".idea",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
        ".venv",
        ".vscode",
        "__pycache__",
        "node_modules",
        "site-packages",
        "venv",
    }
)
"""Folders that hold software, never a run."""


@dataclass(frozen=True)
class FoundFile:
    """One regular file."""

    path: str
    """Relative to the root, with ``/``."""
    size: int
    """Bytes."""
    modified: float
    """Seconds since the epoch."""

    @property
    def name(self) -> str:
        """Last component of the path."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """Path of the folder it lies in, '' for the root."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True)
class PassedOver:
    """Something the walk could not or would not look at."""

    path: str
    reason: str


@dataclass(frozen=True)
class Tree:
    """The files under one folder, or one file alone."""

    root: Path
    files: tuple[FoundFile, ...] = ()
    """In natural order of their paths: ``step_2`` before ``step_10``."""
    passed_over: tuple[PassedOver, ...] = ()


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key under which numbers inside a name count as numbers."""
    parts = re.split(r"(\d+)", text.lower())
    return tuple((1, int(p), "") if p.isdecimal() else (0, 0, p) for p in parts)


def grow(root: Path, max_files: int = MAX_FILES) -> Tree:
    """Walk ``root``.

    Args:
        root: A folder, or a file that stands for itself; the tree's root is then its folder.
        max_files: Where to stop.

    Raises:
        OSError: ``root`` itself is missing or may not be read.
    """
    if isinstance(root, RemotePath):
        return _grow_remotely(root, max_files)
    if not root.is_dir():
        stat = root.stat()
        return Tree(root.parent, (FoundFile(root.name, stat.st_size, stat.st_mtime),))
    with os.scandir(root):
        pass  # an unreadable root is the caller's error, an unreadable folder below is a note
    files: list[FoundFile] = []
    passed_over: list[PassedOver] = []
    for found in _descend(root):
        if isinstance(found, PassedOver):
            passed_over.append(found)
        elif len(files) == max_files:
            passed_over.append(PassedOver("", f"more than {max_files:,} files; the rest is unread"))
            break
        else:
            files.append(found)
    files.sort(key=lambda f: natural_key(f.path))
    return Tree(root, tuple(files), tuple(_summed_up(passed_over)))


def _grow_remotely(root: RemotePath, max_files: int) -> Tree:
    """The same of an address, in one listing."""
    if not root.is_dir():
        stat = root.stat()
        alone = FoundFile(root.name, stat.st_size, stat.st_mtime)
        return Tree(locate(str(root.parent)), (alone,))
    found = (f for f in root.walk() if PASSED_OVER.isdisjoint(f[0].split("/")))
    files = [FoundFile(p, s.st_size, s.st_mtime) for p, s in islice(found, max_files)]
    files.sort(key=lambda f: natural_key(f.path))
    more = PassedOver("", f"more than {max_files:,} files; the rest is unread")
    return Tree(locate(str(root)), tuple(files), (more,) if next(found, None) else ())


def _descend(root: Path) -> Iterator[FoundFile | PassedOver]:
    pending = [("", 0)]
    while pending:
        folder, depth = pending.pop()
        try:
            with os.scandir(root / folder) as scan:
                entries = sorted(scan, key=lambda e: natural_key(e.name))
        except OSError as error:
            yield PassedOver(folder, f"folder could not be read ({error.strerror})")
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if not _is_text(path):
                shown = path.encode("utf-8", "replace").decode("utf-8")
                yield PassedOver(shown, "name is not valid UTF-8; not read")
            elif entry.is_dir(follow_symlinks=False):
                if depth + 1 > MAX_DEPTH:
                    yield PassedOver(path, f"nested more than {MAX_DEPTH} folders deep; not read")
                elif entry.name not in PASSED_OVER:
                    pending.append((path, depth + 1))
            else:
                yield from _file(entry, path, root)


def _file(entry: "os.DirEntry[str]", path: str, root: Path) -> Iterator[FoundFile | PassedOver]:
    try:
        if entry.is_file(follow_symlinks=False):
            stat = entry.stat(follow_symlinks=False)
            yield FoundFile(path, stat.st_size, stat.st_mtime)
        elif entry.is_symlink() and not _leads_inside(root, path):
            yield PassedOver(path, "link that leads out of the folder; not followed")
    except OSError as error:
        yield PassedOver(path, f"could not be looked at ({error.strerror})")


def _leads_inside(root: Path, path: str) -> bool:
    try:
        return (root / path).resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):
        return False  # a loop of links


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _summed_up(passed_over: list[PassedOver], most: int = 3) -> Iterator[PassedOver]:
    """Of many with the same reason, the first few and a count."""
    seen: Counter[str] = Counter()
    for one in passed_over:
        seen[one.reason] += 1
        if seen[one.reason] <= most:
            yield one
    for reason, count in seen.items():
        if count > most:
            yield PassedOver("", f"{count - most:,} more: {reason}")
