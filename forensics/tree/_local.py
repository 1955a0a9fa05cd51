"""Walks a local folder."""

import os
from collections.abc import Iterator
from pathlib import Path

from forensics.natural_order import natural_key
from forensics.tree._entries import MAX_DEPTH, PASSED_OVER, TOO_DEEP, FoundFile, PassedOver


def descend(root: Path) -> Iterator[FoundFile | PassedOver]:
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
                    yield PassedOver(path, TOO_DEEP)
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
