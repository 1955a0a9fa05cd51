"""Asks the readers about each file of a tree and keeps what they gave."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

import forensics.readers
from forensics import registry
from forensics.checkpoints import Discovery
from forensics.errors import UnreadableFile
from forensics.loading.fetching import fetched
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.run import FileRecord, Note
from forensics.tree import FoundFile, Tree

_NEVER_LOGS = frozenset(
    {
        *(".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".svg", ".ico"),
        *(".pdf", ".mp3", ".wav", ".flac", ".ogg", ".mp4", ".avi", ".mov", ".mkv", ".webm"),
        *(".so", ".o", ".a", ".dll", ".pyc", ".pyd", ".whl", ".jar", ".exe", ".dylib"),
        *(".7z", ".rar", ".xz", ".bz2", ".zst", ".parquet", ".arrow", ".feather", ".lmdb"),
        *(".mdb", ".ttf", ".woff", ".woff2", ".css", ".npy", ".mat", ".tfrecord", ".webdataset"),
    }
)
"""Suffixes of media, binaries and data sets: not even opened."""
_SHOULD_HOLD_SOMETHING = (".csv", ".tsv", ".json", ".jsonl")
_IN_VAIN = 300
"""Of one suffix in one folder, so many files are offered in vain before the rest is passed over."""


@dataclass(frozen=True, eq=False)
class Source:
    """One file that a reader understood."""

    path: str
    format: str
    """Name of the reader."""
    reading: Reading


@dataclass(frozen=True, eq=False)
class Intake:
    """All that was read, in the order of the tree."""

    sources: tuple[Source, ...]
    records: tuple[FileRecord, ...]
    """One for each file of the tree."""
    notes: tuple[Note, ...]


@cache
def all_readers() -> tuple[Reader, ...]:
    """Every reader, in the order in which they are asked."""
    readers: list[Reader] = registry.collect(forensics.readers, "READER")
    return tuple(sorted(readers, key=lambda reader: (reader.order, reader.name)))


def take_in(
    tree: Tree,
    found: Discovery,
    readers: Sequence[Reader],
    progress: Progress,
    *,
    strict: bool = False,
) -> Intake:
    """Read every file of the tree that a reader takes.

    Args:
        tree: The files.
        found: Checkpoints and batches, whose files are left to those who scan them.
        readers: In the order in which they are asked.
        progress: Called with the number of bytes done since the last call.
        strict: Let a fault of a reader through instead of noting it.
    """
    sources: list[Source] = []
    records: list[FileRecord] = []
    notes: list[Note] = []
    in_vain: Counter[tuple[str, str]] = Counter()
    for file in tree.files:
        kind = (file.folder, _suffix(file))
        reason = _passed_over(file, found, in_vain[kind])
        if reason:
            records.append(FileRecord(file.path, file.size, *reason))
            continue
        source, faults = _offer(file, tree, readers, progress, strict=strict)
        notes += faults
        if source is None:
            in_vain[kind] += 1
            why = faults[0].text if faults else "neither log nor configuration"
            records.append(FileRecord(file.path, file.size, "", why))
        else:
            sources.append(source)
            notes += source.reading.notes
            records.append(FileRecord(file.path, file.size, source.format, _summary(source)))
    notes += _empty_files(tree)
    return Intake(tuple(sources), tuple(records), tuple(notes))


def _suffix(file: FoundFile) -> str:
    return PurePosixPath(file.name).suffix.lower()


def _passed_over(file: FoundFile, found: Discovery, in_vain: int) -> tuple[str, str] | None:
    """(format, why) of a file that is not offered to the readers."""
    if file.path in found.members:
        return "checkpoint", f"part of {found.members[file.path]}"
    if file.path in found.batches:
        return "captured batch", "one batch of training data"
    if file.path.removesuffix(".json") + ".safetensors" in found.batches:
        return "captured batch", "what was noted beside it"
    if file.size == 0:
        return "", "empty"
    if _suffix(file) in _NEVER_LOGS or in_vain >= _IN_VAIN:
        return "", "neither log nor configuration"
    if file.name.startswith("forensics-report"):
        return "", "a report of this tool"
    return None


def _offer(
    file: FoundFile, tree: Tree, readers: Sequence[Reader], progress: Progress, *, strict: bool
) -> tuple[Source | None, list[Note]]:
    """Let the first reader that wants the file and can read it have it."""
    probe = Probe(tree.root / file.path, tree.root, file.size)
    done = _Counted(progress)
    faults: list[Note] = []
    with fetched(probe) as at_hand:
        for reader in readers:
            try:
                if reader.sniff(probe):
                    reading = reader.read(at_hand.whole(), done)
                    done.up_to(file.size)
                    return Source(file.path, reader.name, reading), []
            except UnreadableFile as error:
                faults.append(Note(_without_path(f"{error}", file.path), file.path))
            except OSError as error:
                faults.append(Note(f"could not be read ({error.strerror or error})", file.path))
                break
            except Exception as error:
                if strict:
                    raise
                faults.append(Note(f"could not be read ({type(error).__name__})", file.path))
    done.up_to(file.size)
    return None, faults[:1]


def _without_path(message: str, path: str) -> str:
    return message.removeprefix(f"{path}: ").partition("\n")[0]


class _Counted:
    """A `Progress` that makes up for what a reader did not report."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.done = 0

    def __call__(self, amount: int) -> None:
        self.done += amount
        self.progress(amount)

    def up_to(self, size: int) -> None:
        if size > self.done:
            self(size - self.done)


def _summary(source: Source) -> str:
    reading = source.reading
    if reading.summary:
        return reading.summary
    points = sum(len(series.step) for series in reading.series)
    counts = (
        (len(reading.series), "series"),
        (points, "points"),
        (len(reading.settings), "settings"),
        (len(reading.text), "telling lines"),
    )
    return ", ".join(f"{n:,} {what}" for n, what in counts if n) or "nothing of use"


def _empty_files(tree: Tree) -> list[Note]:
    """Empty files whose names promise something: the process ended before it wrote."""
    empty = [f.path for f in tree.files if f.size == 0]
    telling = [p for p in empty if "tfevents" in p or p.endswith(_SHOULD_HOLD_SOMETHING)]
    return [Note("the file is empty: nothing was logged to it", path) for path in telling[:5]]
