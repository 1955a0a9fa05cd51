"""Looks at the points around the first non-finite number."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.findings import EpisodeKind, Outcome
from forensics.phrasing import at_step, count, listing, times
from forensics.quantities import named
from forensics.run import TextKind
from forensics.signals import Signal


def instant(case: Case) -> Seen:
    """The number became non-finite from one step to the next, with nothing unusual before it."""
    calm = calm_before_nan(case)
    # A gradient leads the loss by one to eight steps: a coarser log cannot show it.
    if calm.holds and case.timeline.interval > 2:
        return Seen(None, "Needs the loss and the gradient norm of every step before the NaN.")
    return calm


def calm_before_nan(case: Case, coarsest: float = 100.0) -> Seen:
    """The last points logged before the first non-finite one were ordinary."""
    onset = facts.first_non_finite(case)
    if onset is None:
        return NOT_APPLICABLE
    warned = warnings_before(case, onset)
    if warned:
        return Seen(False, f"Before the NaN at {at_step(onset)}, {warned}.", (onset,))
    calm = [s for s in (Signal.TRAIN_LOSS, Signal.GRAD_NORM) if facts.before(case, s, onset, 8)]
    if not calm or (facts.counts_steps(case) and case.timeline.interval > coarsest):
        return Seen(None, "Needs eight logged points shortly before the first non-finite one.")
    names = " and ".join(named(s) for s in calm)
    return Seen(
        True,
        f"Up to the last point logged before {at_step(onset)} the {names} stayed in the usual "
        "band.",
        (onset,),
    )


def warnings_before(case: Case, onset: int, window: int = 50) -> str:
    """What left its band in the last ``window`` logged points before ``onset``, in words."""
    reach = onset - window * case.timeline.interval
    for episode in case.episodes_of(
        EpisodeKind.GRADIENT_EXPLOSION,
        EpisodeKind.GRADIENT_SPIKE,
        EpisodeKind.DIVERGENCE,
        EpisodeKind.LOSS_SPIKE,
        EpisodeKind.LOSS_SCALE_COLLAPSE,
    ):
        if reach <= episode.onset_step < onset:
            name = episode.kind.noun
            return f"a {name} began at {at_step(episode.onset_step)}"
    for signal, allowed in ((Signal.TRAIN_LOSS, 1.5), (Signal.GRAD_NORM, 4.0)):
        found = facts.before(case, signal, onset, 8)
        if found is not None:
            recent, last = found.value[-33:-1], float(found.value[-1])
            usual, noise = float(np.median(recent)), 1.2 * float(np.max(recent))
            if usual > 0 and last > max(allowed * usual, noise):
                return f"the {named(signal)} was {times(last / usual)} its median"
    return ""


def any_non_finite(case: Case) -> Seen:
    """Somewhere a number was not finite: in the log, in what it says, in a replay or a batch."""
    line = case.timeline
    tracks = (*line.tracks.values(), *line.others, *line.superseded)
    if any(not t.finite.all() for t in tracks) or case.judgement.outcome is Outcome.NON_FINITE:
        return Seen(True, "Numbers became non-finite.")
    hidden = case.episodes_of(EpisodeKind.HIDDEN_NON_FINITE, EpisodeKind.SKIPPED_STEPS)
    if hidden or case.text_of(*_TELLING) or case.replay is not None or case.batches is not None:
        return NOT_APPLICABLE
    if line.get(Signal.TRAIN_LOSS) is None and line.get(Signal.TRAIN_LOSS_EPOCH) is None:
        return NOT_APPLICABLE
    return Seen(False, "Not one logged number is NaN or infinite.")


_TELLING = (
    TextKind.NON_FINITE_ABORT,
    TextKind.NON_FINITE_GUARD,
    TextKind.OVERFLOW,
    TextKind.LOSS_SCALE_MINIMUM,
)


def after_one_update(case: Case) -> Seen:
    """The first loss was finite and the second was not: the first update did it."""
    first = case.timeline.first_step
    broken = case.episodes_of(EpisodeKind.NON_FINITE, EpisodeKind.HIDDEN_NON_FINITE)
    if not broken:
        return NOT_APPLICABLE
    if not facts.starts_at_beginning(case) or case.timeline.interval > 1:
        return Seen(None, "Needs the losses of the first two steps.")
    onset = min(e.onset_step for e in broken)
    return Seen(
        onset == first + 1,
        f"The log begins at {at_step(first)}; the NaN at {at_step(onset)}.",
    )


def isolated_non_finite(case: Case) -> Seen:
    """Single non-finite points with finite neighbours: the weights stayed finite."""
    found = [e for e in case.episodes_of(EpisodeKind.NON_FINITE) if e.signal is Signal.TRAIN_LOSS]
    if not found:
        return NOT_APPLICABLE
    lasting = any(bool(e.details.get("persistent")) for e in found)
    amount = sum(int(e.details.get("count", 1)) for e in found)
    steps = tuple(e.onset_step for e in found)
    if lasting:
        return Seen(False, f"From {at_step(steps[-1])} the loss stayed non-finite.", steps)
    return Seen(
        True,
        f"The loss was non-finite in {count(amount, 'point')} ({listing(steps)}) and finite again "
        "afterwards, so the weights were not poisoned.",
        steps,
    )


def validation_still_finite(case: Case) -> Seen:
    """The training loss is NaN while the validation loss stays finite."""
    broken = [e for e in case.episodes_of(EpisodeKind.NON_FINITE) if e.signal is Signal.TRAIN_LOSS]
    track = case.track(Signal.EVAL_LOSS)
    if not broken:
        return NOT_APPLICABLE
    if track is None:
        return Seen(None, "Needs a validation after the training loss became non-finite.")
    onset = min(e.onset_step for e in broken)
    later = track.step > onset
    if not later.any():
        return Seen(None, "Needs a validation after the training loss became non-finite.")
    finite = bool(track.finite[later].all())
    state = "stayed finite" if finite else "is non-finite too"
    return Seen(
        finite,
        f"After the training loss became non-finite at {at_step(onset)}, validation {state}.",
    )


def exact_zero(case: Case) -> Seen:
    """The logger shows 0.0, or another finite number, for a NaN."""
    found = case.episodes_of(EpisodeKind.HIDDEN_NON_FINITE)
    if not found:
        known = case.track(Signal.TRAIN_LOSS) is not None
        return Seen(False, "No NaN hides in the log.") if known else NOT_APPLICABLE
    return Seen(
        True,
        f"From {at_step(found[0].onset_step)} the log shows finite numbers where the loss or the "
        "gradient was not finite.",
        (found[0].onset_step,),
    )


def one_part_broke(case: Case) -> Seen:
    """One component of the loss became non-finite before the others."""
    parts = [t for t in case.timeline.others if t.signal is Signal.LOSS_COMPONENT]
    onsets = {t.tag: int(t.step[~t.finite][0]) for t in parts if not t.finite.all()}
    if len(parts) < 2 or not onsets:
        return NOT_APPLICABLE
    first = min(onsets.values())
    broken = [tag for tag, step in onsets.items() if step == first]
    return Seen(
        len(broken) == 1,
        f"At {at_step(first)}, {count(len(broken), 'component')} of {len(parts)} became "
        f"non-finite, {broken[0]} first.",
        (first,),
    )
