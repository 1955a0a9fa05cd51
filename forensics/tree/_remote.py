"""Walks the folder at an address."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from stat import S_ISDIR, S_ISREG

from forensics.remote import RemotePath, RemoteStat
from forensics.tree._entries import MAX_DEPTH, PASSED_OVER, TOO_DEEP, FoundFile, PassedOver

WORKERS = 16
"""Folders that are listed at a time: a store answers slowly, but many at once."""
Listing = Sequence[tuple[str, RemoteStat]]
"""Names in a folder, each with what is known of it."""


def descend_remotely(root: RemotePath, listing: Listing) -> Iterator[FoundFile | PassedOver]:
    """Level by level.

    Args:
        root: Where to begin.
        listing: Of the root.
    """
    from concurrent.futures import ThreadPoolExecutor

    level: list[tuple[str, Listing | OSError]] = [("", listing)]
    with ThreadPoolExecutor(WORKERS) as pool:
        for depth in count(1):
            folders: list[str] = []
            for folder, listed in level:
                if isinstance(listed, OSError):
                    yield PassedOver(folder, f"folder could not be read ({listed.strerror})")
                else:
                    folders += _folders(folder, listed)
                    yield from _files(folder, listed)
            if not folders:
                return
            if depth > MAX_DEPTH:
                yield from (PassedOver(path, TOO_DEEP) for path in folders)
                return
            level = list(zip(folders, pool.map(partial(_listed, root), folders), strict=True))


def _files(folder: str, listing: Listing) -> Iterator[FoundFile]:
    for name, found in listing:
        if S_ISREG(found.st_mode):
            yield FoundFile(_within(folder, name), found.st_size, found.st_mtime)


def _folders(folder: str, listing: Listing) -> Iterator[str]:
    for name, found in listing:
        if S_ISDIR(found.st_mode) and name not in PASSED_OVER:
            yield _within(folder, name)


def _within(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _listed(root: RemotePath, folder: str) -> Listing | OSError:
    try:
        return (root / folder).listing()
    except OSError as error:
        return error
