"""What each format logged of one run: within a channel, pieces of one tag are attempts in a row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np

from forensics.loading.curves import curve_of, shared
from forensics.loading.joining import Pieces, joined
from forensics.loading.ordering import in_time
from forensics.loading.strands import Strand
from forensics.run import Axis, Series

COVERED = 0.8
"""A copy shares this much of the steps of the shorter file."""
CONCURRENT = 0.5
"""Two files that were written at the same time for this share of the shorter are no attempts."""


@dataclass(frozen=True, eq=False)
class View:
    """One quantity as one channel logged it."""

    tag: str
    pieces: Pieces
    channel: tuple[str, ...]
    words: str
    """What the channel is called, for a tag that must be told from another's."""


def views(strands: Sequence[Strand]) -> list[View]:
    """Every quantity of every channel; the fullest channel first, the main rank before others."""
    channels: dict[tuple[str, str, str], dict[int, list[Strand]]] = {}
    for strand in strands:
        ranks = channels.setdefault(_channel(strand), {})
        ranks.setdefault(strand.place.rank or 0, []).append(strand)
    found: list[View] = []
    for channel, ranks in sorted(channels.items(), key=lambda item: _rank_of(item[1])):
        name = channel[0]
        for rank, members in sorted(ranks.items()):
            main = rank == min(ranks)
            words = name if main else f"rank {rank}"
            found += _views_of(in_time(members), (*channel, words), words)
    return found


def _channel(strand: Strand) -> tuple[str, str, str]:
    suffixes = [s for s in PurePosixPath(strand.source.path).suffixes if not s[1:].isdecimal()]
    suffix = "" if "tfevents" in strand.source.path else "".join(suffixes[-1:])
    return strand.format, suffix, strand.place.part


def _rank_of(ranks: dict[int, list[Strand]]) -> tuple[int, str]:
    members = ranks[min(ranks)]
    points = sum(len(s.curve.step) for s in members if s.curve is not None)
    return -points, members[0].source.path


def _views_of(strands: Iterable[Strand], channel: tuple[str, ...], words: str) -> list[View]:
    rows: dict[tuple[str, Axis], list[Pieces]] = {}
    for strand in strands:
        for series in strand.series:
            if len(series.step):
                _add(rows.setdefault((series.tag, series.axis), []), series)
    found = []
    for (tag, axis), lanes in rows.items():
        fuller = any(other == tag and _points(lanes) < _points(rows[other, a]) for other, a in rows)
        own = f"{tag}_{axis}" if fuller else tag
        for lane, pieces in enumerate(lanes):
            name = own if lane == 0 else f"writer {lane + 1}: {own}"
            renamed = [replace(piece, tag=name) for piece in pieces]
            found.append(View(name, renamed, channel, words))
    return found


def _points(lanes: Sequence[Pieces]) -> int:
    return sum(len(piece.step) for lane in lanes for piece in lane)


def _add(lanes: list[Pieces], new: Series) -> None:
    """Add the next piece: a copy is folded in, an attempt follows, a second writer gets a lane."""
    for lane in lanes:
        for number, old in enumerate(lane):
            together = joined([old], [new]) if _covers_it(old, new) else None
            if together is not None:
                lane[number : number + 1] = together
                return
    for lane in lanes:
        if not any(_at_the_same_time(old, new) for old in lane):
            lane.append(new)
            return
    lanes.append([new])


def _covers_it(old: Series, new: Series) -> bool:
    """True where one holds most steps of the other: a copy, not a restart that overlaps a little.

    A restart may repeat its steps to the last digit and is an attempt all the same.
    """
    one, other = curve_of([old]), curve_of([new])
    common = len(shared(one, other)[0])
    return common >= COVERED * min(len(one.step), len(other.step))


def _at_the_same_time(old: Series, new: Series) -> bool:
    """True where the clock says that both were being written at once, over the same steps."""
    if old.wall_time is None or new.wall_time is None or len(old.step) < 2 or len(new.step) < 2:
        return False
    if int(old.step.max()) < int(new.step.min()) or int(new.step.max()) < int(old.step.min()):
        return False
    spans = [(np.nanmin(wall), np.nanmax(wall)) for wall in (old.wall_time, new.wall_time)]
    overlap = min(b for _, b in spans) - max(a for a, _ in spans)
    return bool(overlap > CONCURRENT * max(min(b - a for a, b in spans), 1.0))
