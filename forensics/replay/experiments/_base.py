"""What an experiment is: a name, a place in the order of cost, and a function."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from forensics.replay.session import Session

Fields = Mapping[str, Any]
"""Fields of `ReplayFacts` that an experiment fills in."""


@dataclass(frozen=True)
class Experiment:
    """One question, answered by running the model."""

    name: str
    """A few words for the report, such as 'suspect against control batches'."""
    order: int
    """10 what was loaded, 20 single forward passes, 30 a stretch of training, 40 several."""
    run: Callable[[Session], Iterator[Fields]]
    """Yields what it found so far: a spent budget keeps all that was yielded.

    Raises:
        NotDone: It does not apply, or the budget is spent.
        ReplayError: The user's functions failed.
    """
