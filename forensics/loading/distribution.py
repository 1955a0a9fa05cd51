"""Deals out everything that was found to the runs: each gets its own, and what is common to all."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from forensics.checkpoints import Discovery
from forensics.loading.alignment import aligned
from forensics.loading.belonging import Address, address_of, owners, sharers
from forensics.loading.counting import counted
from forensics.loading.grouping import Group, group
from forensics.loading.intake import Source
from forensics.loading.naming import names_of
from forensics.loading.places import is_above
from forensics.loading.strands import Strand, strands_of
from forensics.run import FileRecord, FoundCheckpoint, Note

T = TypeVar("T")


@dataclass(eq=False)
class Share:
    """All that belongs to one run."""

    name: str
    strands: Group
    own: list[Source] = field(default_factory=list)
    """Sources of this run alone."""
    common: list[Source] = field(default_factory=list)
    """Settings that it shares with others."""
    checkpoints: list[FoundCheckpoint] = field(default_factory=list)
    batches: list[str] = field(default_factory=list)
    files: list[FileRecord] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def distribute(
    sources: Sequence[Source],
    found: Discovery,
    records: Sequence[FileRecord],
    notes: Sequence[Note],
) -> list[Share]:
    """Tell the runs apart and give each what it wrote and what was written about it.

    What may be of any of several runs, and is no configuration, goes to none, with a note to all.
    """
    strands = aligned(counted(strands_of(sources)))
    groups = group([s for s in strands if s.curve is not None])
    unclear = _join_satellites(groups, [s for s in strands if s.curve is None])
    groups = groups or [[]]
    shares = [Share(name, one) for name, one in zip(names_of(groups), groups, strict=True)]
    addresses = [address_of(one) for one in groups]
    _deal_sources(shares, addresses, sources)
    unclear += _deal(
        found.checkpoints, lambda c: c.path, addresses, [s.checkpoints for s in shares]
    )
    unclear += _deal(found.batches, lambda path: path, addresses, [s.batches for s in shares])
    unclear_notes = [Note("could not tell which run it belongs to; not used", p) for p in unclear]
    written = {s.path: [n for n, share in enumerate(shares) if s in share.own] for s in sources}
    where = _whereabouts(written, addresses)
    for record in records:
        for number in where(record.path):
            shares[number].files.append(record)
    for note in (*notes, *_few(unclear_notes)):
        for number in where(note.source):
            shares[number].notes.append(note)
    return shares


def _join_satellites(groups: list[Group], satellites: Iterable[Strand]) -> list[str]:
    """Give strands without a training loss to the run they belong to, or make them one.

    Returns:
        The files that may be of several.
    """
    unclear: list[str] = []
    lonely: list[Strand] = []
    addresses = [address_of(one) for one in groups]
    for strand in satellites:
        if not strand.series and not strand.source.reading.text:
            continue
        may_be = _labelled_alike(strand, groups) or owners(strand.source.path, addresses)
        if len(may_be) == 1:
            groups[may_be[0]].append(strand)
        elif may_be:
            unclear.append(strand.source.path)
        else:
            lonely.append(strand)
    groups += _alone(lonely)
    return unclear


def _labelled_alike(strand: Strand, groups: Sequence[Group]) -> list[int]:
    """Runs of the same folder whose files carry the strand's label."""
    place = (strand.place.home, strand.label)
    alike = (any((s.place.home, s.label) == place for s in one) for one in groups)
    return [number for number, yes in enumerate(alike) if yes and strand.label]


def _alone(strands: Sequence[Strand]) -> list[Group]:
    """Runs of strands that no run is near to: one for each folder that is not below another."""
    homes = sorted({s.place.home for s in strands}, key=len)
    tops = [h for h in homes if not any(is_above(other, h) for other in homes if other != h)]
    return [[s for s in strands if is_above(top, s.place.home)] for top in sorted(tops)]


def _deal_sources(
    shares: Sequence[Share], addresses: Sequence[Address], sources: Sequence[Source]
) -> None:
    for source in sources:
        holders = [share for share in shares if any(s.source is source for s in share.strands)]
        for share in holders:
            share.own.append(source)
        if holders or not source.reading.settings:
            continue
        numbers = sharers(source.path, addresses)
        for number in numbers:
            (shares[number].own if len(numbers) == 1 else shares[number].common).append(source)


def _deal(
    things: Iterable[T],
    path_of: Callable[[T], str],
    addresses: Sequence[Address],
    shares: Sequence[list[T]],
) -> list[str]:
    """Give each thing to the one run it belongs to; the paths of the others are returned."""
    unclear = []
    for thing in things:
        may_be = owners(path_of(thing), addresses)
        if len(may_be) == 1:
            shares[may_be[0]].append(thing)
        else:
            unclear.append(path_of(thing))
    return unclear


def _whereabouts(
    written: dict[str, list[int]], addresses: Sequence[Address]
) -> Callable[[str], Sequence[int]]:
    """For a path, the runs in whose inventory and warnings it is named; all where unclear."""
    every = range(len(addresses))

    @cache
    def of_folder(folder: str) -> Sequence[int]:
        may_be = owners(f"{folder}/-", addresses) if folder else []
        return may_be if len(may_be) == 1 else every

    def where(path: str) -> Sequence[int]:
        return written.get(path) or of_folder(path.rpartition("/")[0])

    return where


def _few(notes: Sequence[Note], most: int = 5) -> Iterator[Note]:
    yield from notes[:most]
    if len(notes) > most:
        yield Note(f"{len(notes) - most:,} more files could not be told to belong to one run")
