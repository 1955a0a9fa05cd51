"""What a replay settles: judged from its facts, not yet in words.

The causes and the report both ask here, so that neither can say what the other denies.
"""

from dataclasses import dataclass

from forensics.replay_facts import Counterfactual, ReplayFacts
from forensics.replay_reading._changes import (
    GENTLEST_FIRST,
    Repeat,
    closest,
    gentlest_first,
    repeat_of,
    settled,
)
from forensics.replay_reading._measurements import Check, odd
from forensics.replay_reading._suspect import Blame, blame_of, first_comparison, stands_out


@dataclass(frozen=True)
class ReplayReading:
    """The facts of a replay, judged."""

    repeat: Repeat
    removed_by: tuple[Counterfactual, ...]
    """Changes after which the failure does not come, the smallest first."""
    kept_by: tuple[Counterfactual, ...]
    """Changes after which it comes all the same."""
    undecided: tuple[Counterfactual, ...]
    """Changes that the budget cut short, or all where nothing was there to be removed."""
    closest: tuple[Counterfactual, ...]
    """The change that explains the log, where the failure did not come again by itself; several
    where they cannot be told apart."""
    blame: Blame | None
    """None: the suspect was not compared."""
    needs_precision: bool | None
    """True where the step is finite in float32 alone; None: not tried, or finite in both."""
    odd: frozenset[Check]
    """Measurements whose result is not the usual one."""


def read_replay(facts: ReplayFacts) -> ReplayReading:
    """Judge the facts of a replay."""
    told = settled(facts)
    return ReplayReading(
        repeat=repeat_of(facts),
        removed_by=tuple(c for c in told if c.removes),
        kept_by=tuple(c for c in told if not c.removes),
        undecided=tuple(c for c in gentlest_first(facts) if c not in told),
        closest=closest(facts),
        blame=blame_of(facts),
        needs_precision=_needs_precision(facts),
        odd=frozenset(odd(facts)),
    )


def _needs_precision(facts: ReplayFacts) -> bool | None:
    found = {search.precision: search.found is not None for search in facts.searches}
    full = found.pop("fp32", None)
    if full is None or not any(found.values()):
        return None
    return not full


__all__ = [
    "GENTLEST_FIRST",
    "Blame",
    "Check",
    "Repeat",
    "ReplayReading",
    "closest",
    "first_comparison",
    "read_replay",
    "settled",
    "stands_out",
]
