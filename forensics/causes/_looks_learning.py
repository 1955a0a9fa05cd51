"""Looks at how far the model learned: accuracy, chance levels, a loss that vanishes at once."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.findings import EpisodeKind
from forensics.phrasing import at_step, count, number, percent
from forensics.quantities import named
from forensics.signals import Signal

_ACCURACIES = (Signal.TRAIN_ACCURACY, Signal.EVAL_ACCURACY)


def accuracy_high_and_flat(case: Case, high: float = 0.6, gain: float = 0.03) -> Seen:
    """Accuracy is high from its first point and hardly moves: always the same answer pays."""
    shown = _accuracy(case)
    if shown is None:
        return Seen(None, "Needs the accuracy, best for each class.")
    name, value = shown
    first, moved = float(value[0]), float(np.median(value[-3:]) - value[0])
    flat = first >= high and abs(moved) <= gain
    return Seen(
        flat,
        f"The {name} was {percent(first)} at its first point and {percent(float(value[-1]))} at "
        "its last.",
    )


def one_answer(case: Case, high: float = 0.6, evaluations: int = 5, fell: float = 1.5) -> Seen:
    """Not one validation sample more is right than at first, though their loss fell meanwhile.

    It knows how sure to be of its answer, and has only one.
    """
    right = facts.points(case.track(Signal.EVAL_ACCURACY))
    held_out = facts.points(case.track(Signal.EVAL_LOSS))
    if right is None or held_out is None or min(len(right), len(held_out)) < evaluations:
        return Seen(None, "Needs five accuracies and losses on validation data.")
    share = _as_share(right.value)
    still = high <= float(share.min()) == float(share.max()) < 1
    first, last = float(held_out.value[0]), float(np.median(held_out.value[-3:]))
    return Seen(
        still and first >= fell * last,
        f"In {count(len(share), 'validation')} the accuracy is {percent(float(share.min()))} at "
        f"the least and {percent(float(share.max()))} at most, while the validation loss went from "
        f"{number(first)} to {number(last)}.",
    )


def costs_like_frequencies(case: Case, high: float = 0.6, room: float = 0.3) -> Seen:
    """Loss and accuracy are those of a model that knows how frequent each class is, and no more.

    Naming the most frequent class, of a share p, is right in p of the cases, and costs the entropy
    of the labels: at least that of p against the rest, at most with the rest shared alike.
    """
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    shown = _accuracy(case)
    if shown is None or found is None or len(found) < 8:
        return Seen(None, "Needs loss and accuracy.")
    share = float(np.mean(shown[1][len(shown[1]) // 3 :]))
    level = float(np.mean(found.value[len(found) // 3 :]))
    if not high <= share < 1:
        return Seen(False, f"The {shown[0]} is {percent(share)} on average.")
    rest, others = 1 - share, max((case.config.num_classes or 10) - 1, 1)
    least = -share * np.log(share) - rest * np.log(rest)
    most = least + rest * np.log(others)
    third = shown[1][len(shown[1]) // 3 :]
    flat = abs(float(np.mean(third[-len(third) // 3 :]) - np.mean(third[: len(third) // 3])))
    return Seen(
        bool((1 - room) * least <= level <= (1 + room) * most and flat <= 0.03),
        f"The {shown[0]} is {percent(share)} at a loss of {number(level)}; knowing no more than "
        f"that one class makes up {percent(share)} costs {number(float(least))} to "
        f"{number(float(most))}.",
    )


def accuracy_at_chance(case: Case) -> Seen:
    """Accuracy ends where guessing does."""
    shown, classes = _accuracy(case), case.config.num_classes
    if shown is None or not classes:
        return Seen(None, "Needs the accuracy and the number of classes.")
    name, value = shown
    last, chance = float(np.median(value[-3:])), 1 / classes
    return Seen(
        last <= 1.5 * chance,
        f"The {name} ends at {percent(last)}; guessing among {classes:,} classes gives "
        f"{percent(chance)}.",
    )


def accuracy_swings(case: Case, low: float = 0.1, high: float = 0.9, share: float = 0.05) -> Seen:
    """Whole stretches of batches are right and others wrong: each holds one class only."""
    found = facts.points(case.track(Signal.TRAIN_ACCURACY))
    if found is None or len(found) < 60 or len(np.unique(found.value)) < 6:
        return Seen(None, "Needs sixty accuracies on training batches of more than a few samples.")
    value = _as_share(found.value)[len(found) // 3 :]
    wrong, right = value <= low, value >= high
    # The same as the batch before: in shuffled data extremes do not come in rows.
    rows = float(np.mean(wrong[1:] & wrong[:-1])), float(np.mean(right[1:] & right[:-1]))
    return Seen(
        min(rows) >= share,
        f"Among the accuracies after the first third, {percent(float(wrong.mean()))} are at most "
        f"{percent(low)} and {percent(float(right.mean()))} at least {percent(high)}.",
    )


def accuracy_below_chance(case: Case, share: float = 0.5) -> Seen:
    """Most batches are wholly wrong though some were wholly right: yesterday's class is named.

    On shuffled batches of more than a few samples nothing does so much worse than guessing.
    """
    found = facts.points(case.track(Signal.TRAIN_ACCURACY))
    if found is None or len(found) < 16 or (case.config.micro_batch or 16) < 8:
        return Seen(None, "Needs sixteen accuracies on training batches of some samples.")
    value = _as_share(found.value)
    wrong = float(np.mean(value[1:] <= 0.02))
    return Seen(
        wrong >= share and float(value.max()) >= 0.5,
        f"In {percent(wrong)} of the logged batches next to nothing is right; the best has "
        f"{percent(float(value.max()))}.",
    )


def accuracy_capped(case: Case, lowest: float = 0.3, highest: float = 0.97) -> Seen:
    """Training accuracy rose, then stopped well short of everything right."""
    found = facts.points(case.track(Signal.TRAIN_ACCURACY))
    if found is None or len(found) < 8:
        return Seen(None, "Needs the accuracy on the training data.")
    value = _as_share(found.value)
    last = float(np.median(value[-max(len(value) // 10, 3) :]))
    earlier = float(np.median(value[-max(len(value) // 3, 6) : -max(len(value) // 10, 3)]))
    capped = lowest <= last <= highest and last > value[0] + 0.1 and last - earlier < 0.01
    return Seen(
        capped,
        f"Training accuracy ends at {percent(last)}, a third of the run before it "
        f"was {percent(earlier)}.",
    )


def loss_vanished(case: Case, share: float = 0.02, within: float = 0.1) -> Seen:
    """The loss fell to next to nothing at once: the answer stands in the input."""
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    first = facts.initial_loss(case)
    if found is None or first is None or len(found) < 20 or first <= 0:
        return Seen(None, "Needs twenty training losses from the first step on.")
    if case.episodes_of(EpisodeKind.HIDDEN_NON_FINITE):
        return Seen(False, "The log shows zeros in place of NaN.")
    early = found.value[: max(int(within * len(found)), 8)]
    low = np.flatnonzero((early <= share * first) & (early != 0))
    gone = bool(len(low)) and float(np.median(found.value)) <= share * first
    where = f" by {at_step(int(found.step[low[0]]))}" if gone else ""
    return Seen(
        gone,
        f"The loss went from {number(first)} to {number(float(early.min()))} within "
        f"its first {count(len(early), 'logged point')}{where}.",
    )


def rests_below_chance(case: Case, lowest: float = 0.02, highest: float = 0.8) -> Seen:
    """The loss rests well below a uniform guess, far from zero, and got there early."""
    found, classes = case.episodes_of(EpisodeKind.PLATEAU), case.config.num_classes
    if not found:
        return NOT_APPLICABLE
    if not classes or classes < 2:
        return Seen(None, "Needs the number of classes.")
    level = found[0].details.get("level", found[0].baseline)
    if level is None:
        return Seen(None, "Needs the level of the plateau.")
    chance, line = float(np.log(classes)), case.timeline
    soon = found[0].onset_step - line.first_step <= 0.2 * max(line.last_step - line.first_step, 1)
    return Seen(
        soon and lowest * chance < float(level) < highest * chance,
        f"From {at_step(found[0].onset_step)} the loss rests at {number(float(level))}; a uniform "
        f"guess among {classes:,} classes costs {number(chance)}.",
        (found[0].onset_step,),
    )


def loss_fell(case: Case, share: float = 0.05) -> Seen:
    """The loss ends clearly below where it began."""
    found = facts.points(case.track(Signal.TRAIN_LOSS)) or facts.points(
        case.track(Signal.TRAIN_LOSS_EPOCH)
    )
    if found is None or len(found) < 4:
        return Seen(None, "Needs the training loss.")
    edge = max(min(len(found) // 10, 50), 1)
    first, last = float(np.median(found.value[:edge])), float(np.median(found.value[-edge:]))
    fell = last < first - share * abs(first)
    if not fell and facts.counts_steps(case) and not facts.starts_at_beginning(case):
        return Seen(None, "Needs the log from the first steps on: this one begins later.")
    begins, ends = float(found.value[0]), float(found.value[-1])
    if (ends < begins - share * abs(begins)) is fell:
        return Seen(fell, f"The training loss went from {number(begins)} to {number(ends)}.")
    # Single points are noisy: where they tell another story, say what was held against what.
    return Seen(
        fell,
        f"The median of the first {count(edge, 'training loss')} is {number(first)}, that of as "
        f"many at the end {number(last)}.",
    )


def _accuracy(case: Case) -> tuple[str, np.ndarray] | None:
    """The first logged accuracy with at least three points, as shares of 1."""
    for signal in _ACCURACIES:
        found = facts.points(case.track(signal))
        if found is not None and len(found) >= 3:
            return named(signal), _as_share(found.value)
    return None


def _as_share(value: np.ndarray) -> np.ndarray:
    """Some tools log accuracy in percent."""
    return value / 100 if float(np.max(value)) > 1.5 else value
