"""Lists what lies in a run directory: one walk, nothing opened.

Symbolic links are not followed: what they point to inside the folder is found anyway, and what
lies outside is not part of the run. Pipes, sockets and devices are passed over.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import scandir
from pathlib import Path
from typing import cast

from forensics.natural_order import natural_key
from forensics.remote import RemotePath
from forensics.tree._entries import FoundFile, PassedOver
from forensics.tree._local import descend
from forensics.tree._remote import descend_remotely

__all__ = ["MAX_FILES", "FoundFile", "PassedOver", "Tree", "grow"]

MAX_FILES = 200_000
"""A folder with more is no run but a disk; the walk stops there and says so."""


@dataclass(frozen=True)
class Tree:
    """The files under one folder, or one file alone."""

    root: Path
    files: tuple[FoundFile, ...] = ()
    """In natural order of their paths: ``step_2`` before ``step_10``."""
    passed_over: tuple[PassedOver, ...] = ()


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
    with scandir(root):
        pass  # an unreadable root is the caller's error, an unreadable folder below is a note
    return _gathered(root, descend(root), max_files)


def _grow_remotely(root: RemotePath, max_files: int) -> Tree:
    """The same of an address."""
    if not root.is_dir():
        found = root.stat()
        alone = FoundFile(root.name, found.st_size, found.st_mtime)
        return Tree(cast(Path, root.parent), (alone,))
    listing = root.listing()
    return _gathered(cast(Path, root), descend_remotely(root, listing), max_files)


def _gathered(root: Path, entries: Iterable[FoundFile | PassedOver], max_files: int) -> Tree:
    files: list[FoundFile] = []
    passed_over: list[PassedOver] = []
    for found in entries:
        if isinstance(found, PassedOver):
            passed_over.append(found)
        elif len(files) == max_files:
            passed_over.append(PassedOver("", f"more than {max_files:,} files; the rest is unread"))
            break
        else:
            files.append(found)
    files.sort(key=lambda f: natural_key(f.path))
    return Tree(root, tuple(files), tuple(_summed_up(passed_over)))


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
