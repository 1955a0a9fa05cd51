"""Cause, Clue and Seen: a cause is a declaration, its weights are natural-log likelihood ratios."""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from forensics.case import Case
from forensics.findings import Change

WEAK, MODERATE, STRONG, DECISIVE = 0.5, 1.0, 2.0, 4.0
"""ln P(clue | cause) / P(clue | other causes): odds of about 1.6, 2.7, 7.4 and 55 to one."""

PROVEN = 8.0
"""Weight of an intervention: the run was replayed with this one thing changed."""


class Family(StrEnum):
    """Group of CONTRACT's table of causes."""

    OPTIMISATION = "optimisation"
    MODEL = "model"
    PRECISION = "precision"
    DATA = "data"
    CHAIN = "training chain"
    OBJECTIVE = "objective"
    NOTHING_WRONG = "nothing wrong"


@dataclass(frozen=True)
class Seen:
    """What a look at the case found."""

    holds: bool | None
    """True, False, or None: could not be checked."""
    text: str = ""
    """One sentence with this run's numbers; for None, what would be needed to check it."""
    steps: tuple[int, ...] = ()
    source: str = "logs"
    """Where it was seen: logs, configuration, text, checkpoints, batches or replay."""


NOT_APPLICABLE = Seen(None)
"""The question does not arise in this case; nothing would help to check it."""

Look = Callable[[Case], Seen]


@dataclass(frozen=True)
class Clue:
    """One declared test for a cause."""

    name: str
    look: Look
    present: float
    """Nats added where it holds (negative: it speaks against the cause)."""
    absent: float = 0.0
    """Nats added where it was checked and does not hold."""
    group: str = ""
    """Of the clues of one group only the strongest counts, since they are correlated."""
    confirms: bool = False
    """Where it holds, the cause is proven: an intervention showed it."""
    refutes: bool = False
    """Where it was checked and does not hold, the cause is ruled out."""


def proof(name: str, look: Look, *, refutes: bool = True) -> Clue:
    """An intervention that proves the cause where it holds.

    Args:
        name: The clue's.
        look: What the replay showed.
        refutes: It rules the cause out where it does not hold.
    """
    absent = -PROVEN if refutes else 0.0
    return Clue(name, look, PROVEN, absent, group="replay", confirms=True, refutes=refutes)


def no_change(_: Case) -> tuple[Change, ...]:
    """No setting to change."""
    return ()


def no_step(_: Case) -> tuple[int, ...]:
    """No step to skip."""
    return ()


@dataclass(frozen=True)
class Cause:
    """One root cause. Its module's docstring is its page (``forensics causes NAME``)."""

    name: str
    """The module's name and CONTRACT's identifier."""
    title: str
    """A few words for a heading, such as 'Learning rate too high'."""
    family: Family
    prior: float
    """Relative frequency among failed runs before any evidence; about 1.0 for a common cause."""
    claim: str
    """One sentence that a reader can agree or disagree with."""
    clues: tuple[Clue, ...]
    verify: Callable[[Case], str]
    """The smallest test that would settle it, with this run's numbers: a command or a few lines."""
    fix: Callable[[Case], list[str]]
    """What to do, most effective first, with this run's numbers."""
    changes: Callable[[Case], tuple[Change, ...]] = no_change
    skip: Callable[[Case], tuple[int, ...]] = no_step
    needs: tuple[str, ...] = field(default=())
    """Evidence beyond logs and configuration that would settle it, cheapest first, in words."""

    @property
    def page(self) -> str:
        """The docstring of the module that declares it: claim, signs, for, against, what to do."""
        return inspect.getdoc(importlib.import_module(f"forensics.causes.{self.name}")) or ""
