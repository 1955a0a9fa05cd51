"""A zip that holds files of torch, uncompressed: what Stable-Baselines3 saves a policy as."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from forensics.checkpoints import _torch, _zip
from forensics.checkpoints._base import Opened, Opener
from forensics.checkpoints._contents import Parts, opened, sort_out
from forensics.checkpoints._reading import Source, address, head, open_regular, read_at
from forensics.errors import UnreadableFile
from forensics.found import Note

_MAX_INNER = 1000


def sniff(path: Path) -> bool:
    """A zip with zips in it."""
    if not head(path, 4).startswith(_zip.SIGNATURE):
        return False
    with open_regular(path) as file:
        return bool(_inner(file, _zip.read_archive(file)))


def open_outer(path: Path) -> Opened:
    """Open the inner files where they lie.

    Raises:
        UnreadableFile: None of them is a file of torch that can be read.
    """
    notes: list[Note] = []
    with open_regular(path) as file:
        archive = _zip.read_archive(file)
        parts = list(_parts(path, file, archive, notes))
    if not parts:
        raise UnreadableFile(f"{path}: {notes[0].text if notes else 'holds no file of torch'}")
    if not archive.whole:
        notes.append(Note("is cut off; the complete entries are read", str(path)))
    return opened(path, "torch files in a zip", parts, notes)


def _inner(file: Source, archive: "_zip.Archive") -> "list[_zip.Member]":
    stored = (
        m for m in archive.members if m.method == _zip.STORED and m.nbytes > len(_zip.SIGNATURE)
    )
    return [m for m in stored if read_at(file, m.offset, 4) == _zip.SIGNATURE][:_MAX_INNER]


def _parts(path: Path, file: Source, archive: "_zip.Archive", notes: list[Note]) -> Iterator[Parts]:
    inner = _inner(file, archive)
    for member in inner:
        try:
            saved = _torch.open_archive(
                file, address(path), member.offset, member.offset + member.nbytes
            )
        except UnreadableFile as error:
            notes.append(Note(f"{member.name[:80]} {error}", str(path)))
            continue
        notes.extend(Note(f"{member.name[:80]} {note}", str(path)) for note in saved.notes)
        parts = sort_out(saved.root)
        label = PurePosixPath(member.name).name.partition(".")[0]
        main = label == "policy" or len(inner) == 1
        models = (m if main or m.label else replace(m, label=label) for m in parts.models)
        yield replace(parts, models=tuple(models))


OPENER = Opener("torch files in a zip", 25, sniff, open_outer)
