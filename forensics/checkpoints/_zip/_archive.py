"""The entries of an archive, from its directory or, where that is gone, from its headers."""

from collections.abc import Iterable
from dataclasses import dataclass

from forensics.checkpoints._reading import Source, read_at, size_of
from forensics.checkpoints._zip._directory import Entry, read_directory
from forensics.checkpoints._zip._member import Member, payload_offset
from forensics.checkpoints._zip._salvage import Measure, salvage, unmeasured
from forensics.checkpoints._zip._sight import SIGNATURE


@dataclass(frozen=True)
class Archive:
    """What is in an archive."""

    members: tuple[Member, ...]
    """In the order of the file's directory, or of the file where it has none."""
    whole: bool = True
    """False where the directory at the end is gone: the file is cut short or unfinished."""
    damaged: tuple[str, ...] = ()
    """Names in the directory that lead to no entry."""

    def first(self, suffix: str) -> Member | None:
        """The first member whose name ends so."""
        return next((m for m in self.members if m.name.endswith(suffix)), None)


def read_archive(
    file: Source, start: int = 0, end: int | None = None, measure: Measure = unmeasured
) -> Archive:
    """Read where the entries lie.

    Args:
        file: The file that holds the archive.
        start: Where in it the archive begins.
        end: And ends; by default with the file.
        measure: Tells the bytes of an entry whose header leaves them open; asked only where the
            directory is gone.
    """
    stop = size_of(file) if end is None else end
    directory = read_directory(file, start, stop)
    if directory is None or _is_of_another(directory, file, start):
        return Archive(tuple(salvage(file, start, stop, measure)), whole=False)
    members = [_member(file, entry, start, stop) for entry in directory]
    found = tuple(m for m in members if m is not None)
    return Archive(found, damaged=_names_of_missing(directory, members))


def _is_of_another(directory: Iterable[Entry], file: Source, start: int) -> bool:
    """True where an archive is cut off behind another that it holds, whose directory remains."""
    if read_at(file, start, len(SIGNATURE)) != SIGNATURE:
        return False
    return all(entry.header != start for entry in directory)


def _member(file: Source, entry: Entry, start: int, end: int) -> Member | None:
    if not start <= entry.header < end:
        return None
    offset = payload_offset(file, entry.header)
    if offset is None or offset > end:
        return None
    there = min(entry.nbytes, end - offset)
    lost = entry.nbytes - there
    return Member(entry.name, entry.method, offset, there, entry.size, lost)


def _names_of_missing(
    directory: Iterable[Entry], members: Iterable[Member | None]
) -> tuple[str, ...]:
    return tuple(e.name for e, m in zip(directory, members, strict=True) if m is None)
