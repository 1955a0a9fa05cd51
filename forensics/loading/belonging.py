"""Finds the runs to which a file belongs that does not itself tell them apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from forensics.loading.places import bare_name, is_above, place_of, words
from forensics.loading.strands import Strand


@dataclass(frozen=True)
class Address:
    """What is known of a run's whereabouts."""

    homes: tuple[str, ...]
    names: frozenset[str]
    """What its own files and checkpoints may be called after: file stems, labels, last folders."""


def address_of(strands: Sequence[Strand]) -> Address:
    """Where a run lives and what it may be called."""
    homes = tuple(dict.fromkeys(s.place.home for s in strands))
    own = {s.stem for s in strands} | {s.label for s in strands if s.label}
    own |= {PurePosixPath(home).name for home in homes if home}
    return Address(homes, frozenset(name.lower() for name in own))


def owners(path: str, addresses: Sequence[Address]) -> list[int]:
    """Positions of the runs that may have written a log, a traceback or a checkpoint.

    One where it is clear, several where it may be any of these, none where it lies elsewhere. In
    this order: the run in whose own folder it lies, the run after which it or a folder of it is
    called, the run of the root, the run below its folder.
    """
    if len(addresses) == 1:
        return [0]
    inside = _inside(path, addresses, root=False)
    called = _called(path, addresses, inside or range(len(addresses)))
    if len(inside) == 1 or (inside and len(called) != 1):
        return inside
    if len(called) == 1:
        return called
    return _inside(path, addresses, root=True) or _below(path, addresses)


def sharers(path: str, addresses: Sequence[Address]) -> list[int]:
    """Positions of the runs that a configuration is of: all at or below its folder.

    A configuration called after one run is of that run alone.
    """
    if len(addresses) == 1:
        return [0]
    inside = _inside(path, addresses, root=False)
    below = _below(path, addresses)
    called = _called(path, addresses, below or inside or range(len(addresses)))
    if len(called) == 1:
        return called
    return below or inside or _inside(path, addresses, root=True)


def _inside(path: str, addresses: Sequence[Address], *, root: bool) -> list[int]:
    """Runs in whose home the file lies; of homes within each other the innermost."""
    depth = [
        max(
            (len(home) + 1 for home in a.homes if (home or root) and is_above(home, path)),
            default=0,
        )
        for a in addresses
    ]
    return [number for number, d in enumerate(depth) if d and d == max(depth)]


def _below(path: str, addresses: Sequence[Address]) -> list[int]:
    home = place_of(path).home
    return [n for n, a in enumerate(addresses) if any(is_above(home, h) for h in a.homes)]


def _called(path: str, addresses: Sequence[Address], among: Sequence[int]) -> list[int]:
    """Of the runs ``among``, those after which the file or a folder of it is called.

    Where several are, the longest name counts.
    """
    folders = {part.lower() for part in PurePosixPath(path).parts[:-1]}
    stem = bare_name(path).lower()
    score = {
        number: max(
            (len(n) for n in addresses[number].names if n in folders or words(n) <= words(stem)),
            default=0,
        )
        for number in among
    }
    best = max(score.values(), default=0)
    return [number for number, value in score.items() if best and value == best]
