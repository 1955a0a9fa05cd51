"""Looks at the gradient norm before clipping."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.findings import Episode, EpisodeKind
from forensics.medians import median
from forensics.phrasing import at_step, number, times
from forensics.signals import Signal

NOT_LOGGED = "Needs the gradient norm before clipping, logged every step."


def gradient_jumped(case: Case, ratio: float = 10.0) -> Seen:
    """The norm jumped to ``ratio`` times its median or more, at or before the failure."""
    if _not_measured(case):
        return Seen(None, NOT_LOGGED)
    onset, usual = case.judgement.onset_step, facts.usual_gradient(case)
    if onset is not None and usual is None:
        return Seen(None, "Needs eight gradient norms from before the onset.")
    jumps = [
        e
        for e in _jumps(case)
        if float(e.details.get("ratio") or 0) >= ratio and _leads_up(case, e, onset)
    ]
    if not jumps and case.timeline.interval > 2:
        return Seen(None, "Needs the gradient norm of every step: between two points a jump hides.")
    if not jumps:
        level = f" (median {number(usual)})" if usual is not None else ""
        until = "" if onset is None else f"Up to {at_step(onset)} "
        text = f"the gradient norm never jumped to {times(ratio)} its median{level}."
        return Seen(False, until + text if until else f"T{text[1:]}")
    worst = max(jumps, key=lambda e: float(e.details["ratio"]))
    size = f"{times(float(worst.details['ratio']))} its median"
    if worst.peak_value is not None and worst.peak_step is not None:
        size = f"{number(worst.peak_value)} at {at_step(worst.peak_step)}, {size}"
    begun = "" if worst.peak_step == worst.onset_step else f" from {at_step(worst.onset_step)} on"
    return Seen(
        True,
        f"The gradient norm jumped{begun} to {size}.",
        (worst.onset_step,),
    )


def gradient_spiked(case: Case) -> Seen:
    """The norm left its band upward, by whatever the log caught of it."""
    seen, usual = gradient_jumped(case, ratio=3.0), facts.usual_gradient(case)
    if seen.holds is None and usual is not None and not _not_measured(case):
        return Seen(False, f"No logged gradient norm leaves the band around {number(usual)}.")
    return seen


def gradient_led(case: Case) -> Seen:
    """The gradient norm left its band before the loss did."""
    if _not_measured(case):
        return Seen(None, NOT_LOGGED)
    decisive = case.judgement.decisive
    loss = (
        [decisive]
        if decisive
        else list(
            case.episodes_of(EpisodeKind.LOSS_SPIKE, EpisodeKind.DIVERGENCE, EpisodeKind.NON_FINITE)
        )
    )
    loss_onsets = [e.onset_step for e in loss if e.signal is Signal.TRAIN_LOSS]
    if case.judgement.onset_step is None or not loss_onsets:
        return NOT_APPLICABLE
    first = case.judgement.onset_step
    if case.judgement.first_mover is not Signal.GRAD_NORM or first >= min(loss_onsets):
        return Seen(False, f"The gradient norm did not move before the loss ({at_step(first)}).")
    return Seen(
        True,
        f"The gradient norm left its band at {at_step(first)}, the loss only at "
        f"{at_step(min(loss_onsets))}.",
        (first, min(loss_onsets)),
    )


def gradient_grew(case: Case, factor: float = 2.0) -> Seen:
    """The norm rose slowly over a long stretch before the failure."""
    found = facts.before(case, Signal.GRAD_NORM, case.judgement.onset_step, 40)
    if _not_measured(case) or case.judgement.onset_step is None or found is None:
        return Seen(None, "Needs forty gradient norms from before the onset.")
    size = len(found)
    earlier = median(found.value[size // 5 : 3 * size // 5])
    # The last points may already belong to the failure.
    recent = median(found.value[-max(size // 10, 8) - 3 : -3])
    grew = earlier > 0 and recent >= factor * earlier
    return Seen(
        grew,
        f"The median gradient norm went from {number(earlier)} to {number(recent)} in the stretch "
        "before the onset.",
    )


def gradient_shrank(case: Case, factor: float = 5.0) -> Seen:
    """The norm fell and stayed low for long before the failure: a quiet phase."""
    found = facts.before(case, Signal.GRAD_NORM, case.judgement.onset_step, 40)
    if _not_measured(case) or case.judgement.onset_step is None or found is None:
        return Seen(None, "Needs forty gradient norms from before the onset.")
    start = median(found.value[: max(len(found) // 10, 8)])
    recent = median(found.value[-max(len(found) // 4, 8) : -3])
    return Seen(
        recent > 0 and start >= factor * recent,
        f"The median gradient norm went from {number(start)} at the beginning to {number(recent)} "
        "before the onset.",
    )


def gradient_ordinary(case: Case) -> Seen:
    """The norm stayed ordinary up to the failure: neither a jump nor a slow rise."""
    if _not_measured(case) or case.judgement.onset_step is None:
        return Seen(None, NOT_LOGGED)
    found = facts.before(case, Signal.GRAD_NORM, case.judgement.onset_step, 8)
    if found is None:
        return Seen(None, "Needs eight gradient norms from before the onset.")
    usual, last = median(found.value), float(found.value[-1])
    jumped = any(_leads_up(case, e, case.judgement.onset_step) for e in _jumps(case))
    calm = not jumped and last <= 3 * usual
    return Seen(
        calm,
        f"The last gradient norm before the onset was {number(last)}, its median {number(usual)}.",
    )


def gradient_tiny(case: Case, limit: float = 1e-3) -> Seen:
    """The median norm of the whole run is below ``limit``."""
    usual = facts.overall_gradient(case)
    if usual is None:
        return Seen(None, "Needs the gradient norm before clipping, logged at least now and then.")
    verb = "below" if usual < limit else "not below"
    return Seen(
        usual < limit, f"The median gradient norm is {number(usual)}, {verb} {number(limit)}."
    )


def gradient_negligible(case: Case) -> Seen:
    """The median norm is below 1e-6, where no update can come of it."""
    return gradient_tiny(case, limit=1e-6)


def gradient_alive(case: Case) -> Seen:
    """The median norm is one that should move the weights."""
    seen = gradient_tiny(case, limit=1e-2)
    return Seen(None if seen.holds is None else not seen.holds, seen.text)


def gradient_died(case: Case, share: float = 0.01) -> Seen:
    """After the failure the norm is a small part of what it was before."""
    onset = case.judgement.onset_step
    if _not_measured(case) or onset is None:
        return Seen(None, NOT_LOGGED)
    earlier = facts.before(case, Signal.GRAD_NORM, onset, 8)
    later = facts.since(case, Signal.GRAD_NORM, onset, 8)
    if earlier is None or later is None:
        return Seen(None, "Needs gradient norms from before and after the onset.")
    was, now = median(earlier.value), median(later.value[len(later) // 2 :])
    return Seen(
        now <= share * was,
        f"The median gradient norm was {number(was)} before {at_step(onset)} and is {number(now)} "
        "at the end.",
        (onset,),
    )


def gradient_large_at_first(case: Case, factor: float = 20.0) -> Seen:
    """The first norms are many times those of the rest of the run."""
    found = None if _not_measured(case) else facts.points(case.track(Signal.GRAD_NORM))
    if found is None or len(found) < 20 or not facts.starts_at_beginning(case):
        return Seen(None, "Needs the gradient norms of the first steps.")
    first = float(np.max(found.value[:3]))
    usual = median(found.value[3:])
    return Seen(
        usual > 0 and first >= factor * usual,
        f"The first gradient norms reach {number(first)}, the rest have a median of "
        f"{number(usual)}.",
    )


def gradient_broke_first(case: Case) -> Seen:
    """The gradient was non-finite at a step whose loss was still finite."""
    broken = [e for e in case.episodes_of(EpisodeKind.NON_FINITE) if e.signal is Signal.GRAD_NORM]
    loss = case.track(Signal.TRAIN_LOSS)
    if case.track(Signal.GRAD_NORM) is None or loss is None:
        return Seen(None, NOT_LOGGED)
    if not broken:
        known = bool(case.episodes_of(EpisodeKind.NON_FINITE))
        return Seen(False if known else None, "The gradient norm was finite to the last.")
    onset = broken[0].onset_step
    hidden = case.episodes_of(EpisodeKind.HIDDEN_NON_FINITE)
    if any(e.details.get("how") in ("nan_filter", "missing_loss") for e in hidden):
        return Seen(None, "Needs the true loss: the logger shows another number for a NaN.")
    here = loss.value[loss.step <= onset][-1:]
    if not len(here):
        return Seen(None, "Needs the loss of the step at which the gradient became non-finite.")
    finite = bool(np.isfinite(here[0]))
    state = f"the loss, {number(float(here[0]))}, was still finite" if finite else "so was the loss"
    return Seen(finite, f"At {at_step(onset)} the gradient was non-finite and {state}.", (onset,))


def gradient_infinite_first(case: Case) -> Seen:
    """The norm was infinite, not NaN, while the loss was still in its band."""
    infinite, first = gradient_infinite(case), gradient_broke_first(case)
    onset = case.judgement.onset_step
    if not infinite.holds or onset is None:
        return infinite
    began_it = bool(first.holds) and infinite.steps[0] <= onset + case.timeline.interval
    return Seen(began_it, first.text, infinite.steps)


def gradient_infinite(case: Case) -> Seen:
    """The gradient norm reached infinity (not NaN): a number too large for its type."""
    if case.track(Signal.GRAD_NORM) is None:
        return Seen(None, NOT_LOGGED)
    found = [
        e
        for e in case.episodes_of(EpisodeKind.NON_FINITE)
        if e.signal is Signal.GRAD_NORM and e.details.get("kind") == "inf"
    ]
    if not found:
        return Seen(False, "The gradient norm was never infinite.")
    onset = found[0].onset_step
    return Seen(True, f"The gradient norm is infinite from {at_step(onset)}.", (onset,))


def _jumps(case: Case) -> tuple[Episode, ...]:
    return case.episodes_of(EpisodeKind.GRADIENT_SPIKE, EpisodeKind.GRADIENT_EXPLOSION)


def _leads_up(case: Case, episode: Episode, onset: int | None, points: int = 50) -> bool:
    """True where the episode began by the onset, and not so long before as to be another story."""
    if onset is None:
        return True
    interval = case.timeline.interval
    reach = max(points * interval, 0.05 * (onset - case.timeline.first_step))
    return onset - reach <= episode.onset_step <= onset + interval


def _not_measured(case: Case) -> bool:
    """True where no norm was logged, or 0.000 all along, as tools print that do not measure it."""
    found = facts.points(case.track(Signal.GRAD_NORM))
    return found is None or not np.any(found.value)
