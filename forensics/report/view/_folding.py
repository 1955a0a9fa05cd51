"""Long lists: some rows in sight, more behind a fold, and a bound on both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from forensics.report.wording import plural

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True)
class Folded(Generic[T]):
    """A list as the page shows it."""

    shown: tuple[T, ...]
    folded: tuple[T, ...]
    total: str
    """How many there are, those not listed included, such as ``1,240 files``."""
    fold_label: str
    """What to click to see the rest, such as ``47 more files``."""
    omitted: str
    """Says how many are on no list; '' where all are."""


def fold(
    items: Sequence[S], show: Callable[[S], T], noun: str, shown: int = 20, limit: int = 1000
) -> Folded[T]:
    """Put the first ``shown`` items in sight, the others up to ``limit`` behind a fold.

    Only what is kept is worded, so a list of a million costs no more than one of ``limit``.
    """
    kept = items[:limit]
    over, hidden = len(items) - len(kept), max(len(kept) - shown, 0)
    return Folded(
        tuple(show(item) for item in kept[:shown]),
        tuple(show(item) for item in kept[shown:]),
        plural(len(items), noun),
        plural(hidden, f"more {noun}"),
        f"{plural(over, f'further {noun}')} not listed here." if over else "",
    )
