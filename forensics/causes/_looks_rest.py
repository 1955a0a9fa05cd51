"""Looks at the level on which a run rests that made no progress."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._looks_loss_shape import plateau_level
from forensics.causes._looks_periodic import jumps_in_step
from forensics.findings import Outcome
from forensics.medians import MAD_TO_SD, median
from forensics.phrasing import at_step, number, percent
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
    doubt = 2 * MAD_TO_SD * median(np.abs(found - rest)) / len(found) ** 0.5
    started = facts.initial_loss(case)
    moved = started is None or abs(rest - started) > room * level
    return Seen(
        rest > (1 + room) * level + doubt and moved,
        f"The later half of the losses rests at {number(rest)}; a guess costs {number(level)} = "
        f"{name}.",
    )


def rests_on_guessing(case: Case, room: float = 0.015) -> Seen:
    """The loss rests where guessing among the classes, or by their frequencies, leads."""
    if plateau_level("token_entropy")(case).holds:
        # Where any model of text rests that does not use its context, whatever keeps it from it.
        return NOT_APPLICABLE
    named = plateau_level("ln_classes", "label_entropy", "ln_batch")(case)
    chance, found = facts.chance_loss(case), _later(case)
    if named.holds or chance is None or found is None or case.config.vocab_size:
        return named
    if case.judgement.outcome is not Outcome.STALLED:
        return named
    level, name = chance
    rest = median(found)
    return Seen(
        abs(rest / level - 1) <= room,
        f"The later half of the losses rests at {number(rest)}; {number(level)} is {name}.",
    )


def overshot_at_first(case: Case, factor: float = 2.0, share: float = 0.1) -> Seen:
    """In its first tenth the loss rose to far above where it began: the first steps made it so.

    Shuffled data cannot do that: with them alone a model can only fail to get better.
    """
    found, first = facts.points(case.track(Signal.TRAIN_LOSS)), facts.initial_loss(case)
    if found is None or first is None or len(found) < 16 or case.timeline.first_step > 2:
        return Seen(None, "Needs the loss of the very first step and of those after it.")
    early = found.value[: max(int(share * len(found)), 8)]
    top = float(early.max())
    chance = facts.chance_loss(case)
    start = max(first, chance[0]) if chance is not None else first
    if jumps_in_step(case).holds:
        return NOT_APPLICABLE  # Where classes take turns the loss leaps as high at each turn.
    stayed = median(early[int(early.argmax()) :]) >= start
    return Seen(
        start > 0 and top > factor * start and stayed,
        f"The loss began at {number(first)} and rose to {number(top)} by "
        f"{at_step(int(found.step[int(early.argmax())]))}.",
    )


def frequencies_unlearned(case: Case) -> Seen:
    """Not even the frequencies of the tokens were learned, which need no input at all."""
    if case.judgement.outcome is not Outcome.STALLED or not case.config.vocab_size:
        return NOT_APPLICABLE
    found, chance = _later(case), facts.chance_loss(case)
    if found is None or chance is None or "tokens" not in chance[1]:
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
    first = facts.initial_loss(case)
    if first is None:
        return Seen(None, "Needs the training loss from the first step on.")
    fell = (first - quarters[-1]) / abs(first) if first else 0.0
    return Seen(
        falls and share < fell < 0.2,
        f"From quarter to quarter of the run the loss went {', '.join(map(number, quarters))} "
        f"({percent(fell)} in all).",
    )


def _later(case: Case) -> np.ndarray | None:
    """The losses of the later half, shape (n,)."""
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    return None if found is None or len(found) < 8 else found.value[len(found) // 2 :]
