"""Looks at marks that a logger leaves on sound numbers."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import Seen
from forensics.causes._looks_validation import validation_falls_smoothly
from forensics.findings import Ending, EpisodeKind, Outcome
from forensics.medians import median
from forensics.phrasing import at_step, count, number, percent
from forensics.run import Values
from forensics.signals import Signal, names_distance

_PERPLEXITY_CAP = float(np.exp(20.0))
"""Megatron prints exp(min(loss, 20))."""


def first_gradient_not_finite(case: Case) -> Seen:
    """Only the first gradient norms are non-finite: the loss scaler was finding its level."""
    track = case.track(Signal.GRAD_NORM)
    if track is None or len(track) < 4:
        return Seen(None, "Needs the gradient norm.")
    bad = np.flatnonzero(~track.finite)
    scaled = case.config.precision == "fp16" or case.track(Signal.LOSS_SCALE) is not None
    leading = bool(len(bad)) and int(bad[-1]) <= max(2, len(track) // 50)
    if not len(bad):
        return Seen(False, "Every logged gradient norm is finite.")
    return Seen(
        leading and scaled,
        f"{count(len(bad), 'gradient norm')} of {len(track):,} are non-finite, the last at "
        f"{at_step(int(track.step[bad[-1]]))}.",
        tuple(int(s) for s in track.step[bad[:8]]),
    )


def training_noisy_validation_smooth(case: Case, noise: float = 0.15) -> Seen:
    """The training loss swings while validation falls steadily: single batches were logged."""
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    smooth = validation_falls_smoothly(case)
    if found is None or len(found) < 20 or smooth.holds is None:
        return Seen(None, "Needs training and validation loss over the whole run.")
    later = found.value[len(found) // 2 :]
    swing = float(np.std(np.diff(later))) / (np.sqrt(2) * max(median(later), 1e-12))
    return Seen(
        bool(smooth.holds and swing >= noise),
        f"From point to point the training loss swings by {percent(swing)} of its level. "
        f"{smooth.text}",
    )


def quantised(case: Case, step: float = 2.0**-9) -> Seen:
    """Every logged loss is a number of bf16: it was rounded to eight bits before it was written."""
    track = case.track(Signal.TRAIN_LOSS)
    found = facts.points(track)
    if track is None or found is None or len(found) < 30:
        return Seen(None, "Needs thirty training losses.")
    rounding = 1e-6 if track.digits is None else 0.51 * 10.0**-track.digits
    size = np.maximum(np.abs(found.value), 1e-6)
    if rounding > 0.05 * step * median(size):
        return Seen(None, "Needs losses written with more digits.")
    exact = bool(
        np.all(np.abs(found.value - _to_bf16(found.value)) <= rounding * np.maximum(size, 1))
    )
    distinct = len(np.unique(found.value))
    verb = "are" if exact else "are not"
    return Seen(
        exact and distinct > 1,
        f"The {len(found):,} losses {verb} numbers of bf16 ({count(distinct, 'distinct value')}).",
    )


def _to_bf16(value: Values) -> Values:
    """Round to the nearest number with eight bits of mantissa, shape (n,)."""
    mantissa, exponent = np.frexp(value)
    return np.ldexp(np.round(mantissa * 256) / 256, exponent)


def perplexity_capped(case: Case) -> Seen:
    """The largest perplexity is a cap of the logger, reached again and again."""
    for signal in (Signal.TRAIN_ERROR, Signal.EVAL_ERROR):
        track = case.track(signal)
        found = facts.points(track)
        if track is None or found is None or len(found) < 3 or names_distance(track.tag):
            continue
        top = float(found.value.max())
        times_reached = int(np.sum(found.value == top))
        capped = abs(top / _PERPLEXITY_CAP - 1) < 1e-3 or (
            top >= 1e4 and float(f"{top:.0e}") == top
        )
        if times_reached >= 2 and capped:
            return Seen(
                True, f"The perplexity stands at {number(top)} in {times_reached:,} points."
            )
        return Seen(False, f"The largest perplexity is {number(top)}.")
    return Seen(None, "Needs a logged perplexity.")


def placeholder_metric(case: Case) -> Seen:
    """Lightning's hp_metric is -1 throughout: a place-holder, not a result."""
    found = [s for s in case.run.series if s.tag.rpartition("/")[2] == "hp_metric"]
    if not found:
        return Seen(None, "")
    held = all(bool(np.all(s.value == -1)) for s in found)
    return Seen(held, "hp_metric is -1 throughout, which is Lightning's place-holder.")


def not_measured(case: Case) -> Seen:
    """The gradient norm is logged as zero throughout: it was not measured."""
    found = facts.points(case.track(Signal.GRAD_NORM))
    if found is None or len(found) < 3:
        return Seen(None, "")
    zero = not bool(np.any(found.value))
    return Seen(
        zero, "The gradient norm is 0 throughout while the loss moves: it was not measured."
    )


def lasting_damage(case: Case) -> Seen:
    """Something failed and stayed so: no logger does that."""
    lasting = [
        e
        for e in case.episodes_of(
            EpisodeKind.NON_FINITE, EpisodeKind.DIVERGENCE, EpisodeKind.HIDDEN_NON_FINITE
        )
        if e.ending in (Ending.PERSISTED, Ending.DIVERGED)
    ]
    if lasting:
        name = lasting[0].kind.noun
        return Seen(
            True,
            f"The {name} from {at_step(lasting[0].onset_step)} lasts to the end of the log.",
            (lasting[0].onset_step,),
        )
    return Seen(
        case.judgement.outcome is Outcome.DIVERGED,
        "Nothing that failed lasts to the end of the log.",
    )


def any_mark(case: Case) -> Seen:
    """Some mark of a logger is there at all."""
    marks = (
        first_gradient_not_finite,
        training_noisy_validation_smooth,
        quantised,
        perplexity_capped,
        placeholder_metric,
        not_measured,
    )
    found = next((seen for mark in marks if (seen := mark(case)).holds), None)
    return found or Seen(False, "No logged number bears the mark of a logger.")
