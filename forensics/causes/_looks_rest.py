"""Looks at the level on which a run rests that made no progress."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._wording import number, percent
from forensics.findings import Outcome
from forensics.medians import median
from forensics.signals import Signal


def rests_above_guess(case: Case, room: float = 0.01) -> Seen:
    """The loss rests above that of a uniform guess, which the output's bias alone could reach.

    What keeps it there are the updates themselves: they are too long.
    """
    chance, found = facts.chance_loss(case), _later(case)
    if case.judgement.outcome is not Outcome.STALLED:
        return NOT_APPLICABLE
    if chance is None or found is None:
        return Seen(None, "Needs the number of classes or tokens.")
    level, name = chance
    rest = median(found)
    doubt = 2 * 1.4826 * median(np.abs(found - rest)) / len(found) ** 0.5
    started = facts.initial_loss(case)
    moved = started is None or abs(rest - started) > room * level
    return Seen(
        rest > (1 + room) * level + doubt and moved,
        f"The later half of the losses rests at {number(rest)}; a guess costs {number(level)} = "
        f"{name}.",
    )


def frequencies_unlearned(case: Case) -> Seen:
    """Not even the frequencies of the tokens were learned, which need no input at all."""
    if case.judgement.outcome is not Outcome.STALLED or not case.config.vocab_size:
        return NOT_APPLICABLE
    found, chance = _later(case), facts.chance_loss(case)
    if found is None or chance is None:
        return NOT_APPLICABLE
    rest = median(found)
    return Seen(
        rest > 0.93 * chance[0],
        f"The loss rests at {number(rest)}; tokens that are not all equally frequent cost less "
        f"than {number(chance[0])} once their frequencies are known.",
    )


def still_falls(case: Case, share: float = 0.002) -> Seen:
    """The loss falls to the last, steadily and by next to nothing."""
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    if case.judgement.outcome is not Outcome.STALLED or found is None or len(found) < 16:
        return NOT_APPLICABLE
    quarters = [median(part) for part in np.array_split(found.value, 4)]
    falls = bool(np.all(np.diff(quarters) < 0))
    fell = (quarters[0] - quarters[-1]) / abs(quarters[0]) if quarters[0] else 0.0
    return Seen(
        falls and share < fell < 0.2,
        f"From quarter to quarter of the run the loss went {', '.join(map(number, quarters))} "
        f"({percent(fell)} in all).",
    )


def _later(case: Case) -> np.ndarray | None:
    """The losses of the later half, shape (n,)."""
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    return None if found is None or len(found) < 8 else found.value[len(found) // 2 :]


def learned_some(case: Case, least: float = 0.02) -> Seen:
    """The loss fell by more than the noise of its batches before it came to rest."""
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    if not case.judgement.outcome.is_failure or found is None or len(found) < 16:
        return NOT_APPLICABLE
    if not facts.starts_at_beginning(case):
        return Seen(None, "Needs the training loss from the first step on.")
    first, rest = median(found.value[:2]), median(found.value[len(found) // 2 :])
    later = found.value[len(found) // 2 :]
    noise = 1.4826 * median(np.abs(later - rest))
    return Seen(
        first - rest > max(2 * noise, least * abs(first)),
        f"The loss went from {number(first)} to {number(rest)} and varies by {number(noise)} from "
        "batch to batch.",
    )
