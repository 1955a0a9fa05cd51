"""The zip that torch has written since 1.6: ``<name>/data.pkl`` and ``<name>/data/<key>``.

A file that was cut off has lost the directory at its end, but begins with the pickle, which gives
the size of every storage: what lies before the cut is read all the same.
"""

from dataclasses import dataclass, field
from typing import Any

from forensics.checkpoints._reading import Source, in_memory, size_of
from forensics.checkpoints._torch._pickle import (
    MAX_PICKLE,
    Locate,
    StorageId,
    named_and_length,
    read_object,
    with_enough,
)
from forensics.checkpoints._views import Storage
from forensics.checkpoints._zip import DEFLATED, STORED, Archive, Member, inflate, read_archive
from forensics.errors import UnreadableFile


@dataclass(frozen=True, eq=False)
class TorchFile:
    """The object that was saved, and what became of the file."""

    root: Any
    notes: tuple[str, ...] = ()
    bodies: tuple[tuple[int, int], ...] = ()
    """(offset, bytes) of every storage."""


def open_archive(file: Source, path: str, start: int = 0, end: int | None = None) -> TorchFile:
    """Read the object of the torch zip in [start, end).

    Args:
        file: The open file.
        path: Its address, for the extents.
        start: Where the zip begins.
        end: Where it ends; by default with the file.

    Raises:
        UnreadableFile: It has no readable pickle.
    """
    stop = size_of(file) if end is None else end
    sizes = _Sizes(file, stop)
    archive = read_archive(file, start, stop, sizes)
    pickled = archive.first("/data.pkl") or archive.first("data.pkl")
    if pickled is None:
        raise UnreadableFile("has no data.pkl, in which torch lists the tensors")
    if pickled.lost:
        raise UnreadableFile("is cut off within its data.pkl, before any tensor")
    if pickled.size > MAX_PICKLE:
        raise UnreadableFile(
            f"its data.pkl has {pickled.size:,} bytes; more than {MAX_PICKLE:,} is not read"
        )
    folder = pickled.name.removesuffix("data.pkl")
    swapped = _is_big_endian(file, archive, folder)
    locate = _locator(path, archive, folder, swapped=swapped)
    root = read_object(in_memory(inflate(file, pickled, MAX_PICKLE)), locate)
    notes = _notes(archive)
    bodies = tuple((m.offset, m.nbytes) for m in archive.members if "/data/" in m.name)
    return TorchFile(root, notes, bodies)


def _notes(archive: Archive) -> tuple[str, ...]:
    notes = []
    if not archive.whole:
        notes.append("is cut off or was not written to its end; the complete entries are read")
    if archive.damaged:
        notes.append(f"{len(archive.damaged):,} entries of its directory lead nowhere")
    if any(".." in m.name.split("/") or m.name.startswith("/") for m in archive.members):
        notes.append("has entries whose names lead outside; nothing is extracted")
    return tuple(notes)


@dataclass
class _Sizes:
    """Tells the size of each entry of a zip without a directory, from its pickle."""

    file: Source
    end: int
    known: dict[str, int] = field(default_factory=dict)

    def __call__(self, name: str, offset: int) -> int | None:
        _, found, key = name.rpartition("/data/")
        if found:
            return self.known.get(key)
        if not name.endswith("data.pkl"):
            return None
        try:
            named, nbytes = with_enough(self.file, offset, self.end, named_and_length)
        except UnreadableFile:
            return None
        self.known = {key: storage.nbytes for key, storage in named.items()}
        return nbytes


def _locator(path: str, archive: Archive, folder: str, *, swapped: bool) -> Locate:
    """Finds a storage among the entries."""
    members = {member.name: member for member in archive.members}

    def locate(named: StorageId) -> Storage:
        member = members.get(f"{folder}data/{named.key}")
        if member is None:
            return Storage(path, 0, 0, named.nbytes, "its bytes are not in the file")
        return _as_storage(member, path, named, swapped)

    return locate


def _as_storage(member: Member, path: str, named: StorageId, swapped: bool) -> Storage:
    there = min(member.nbytes, named.nbytes)
    if member.method == DEFLATED:
        why = "cut off" if member.lost else ""
        return Storage(
            path, member.offset, named.nbytes, named.nbytes, why, member.nbytes, swapped=swapped
        )
    why = "" if member.method == STORED else "compressed by a method that is not read"
    return Storage(path, member.offset, there, named.nbytes, why, swapped=swapped)


def _is_big_endian(file: Source, archive: Archive, folder: str) -> bool:
    member = next((m for m in archive.members if m.name == f"{folder}byteorder"), None)
    return member is not None and inflate(file, member, 16).strip() == b"big"
