"""Looks at where on the learning rate's schedule the failure began."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._looks_outcome import BROKE
from forensics.findings import EpisodeKind, Outcome
from forensics.phrasing import at_step, number, percent
from forensics.signals import Signal


def rise_onset(case: Case) -> int | None:
    """The onset, where the failure was a loss that rose or broke: a plateau has no place."""
    rose = case.judgement.outcome in (*BROKE, Outcome.SPIKED_RECOVERED)
    return case.judgement.onset_step if rose else None


def onset_near_peak(case: Case, share: float = 0.7) -> Seen:
    """The failure began while the rate was near its peak."""
    if rise_onset(case) is None:
        return NOT_APPLICABLE
    place = _share_of_peak(case)
    if place is None or _mostly_at(case, share):
        return Seen(None, "Needs a learning rate that changes, logged around the onset.")
    now, part, onset = place
    return Seen(
        part >= share,
        f"At the onset, {at_step(onset)}, the learning rate was {number(now)}, {percent(part)} of "
        "its peak so far.",
        (onset,),
    )


def _mostly_at(case: Case, share: float, most: float = 0.8) -> bool:
    """True where nearly all of the log lies near the peak, so that being there means nothing."""
    found = facts.points(case.track(Signal.LR))
    if found is None or case.lr is None:
        return True
    return float(np.mean(found.value >= share * case.lr.peak)) > most


def onset_after_decay(case: Case, share: float = 0.3) -> Seen:
    """The failure began when the rate had fallen far below its peak."""
    if rise_onset(case) is None:
        return NOT_APPLICABLE
    place = _share_of_peak(case)
    if place is None:
        return Seen(None, "Needs the learning rate, logged around the onset.")
    now, part, onset = place
    return Seen(
        part <= share,
        f"At the onset, {at_step(onset)}, the learning rate was {number(now)}, {percent(part)} of "
        "the peak it had come from.",
        (onset,),
    )


def _share_of_peak(case: Case) -> tuple[float, float, int] | None:
    """Rate at the onset, its share of the highest rate so far, and the onset."""
    onset = rise_onset(case)
    if onset is None or case.lr is None:
        return None
    now, peak = facts.value_at(case, Signal.LR, onset), facts.highest_lr(case)
    return None if now is None or not peak or peak <= 0 else (now, now / peak, onset)


def loss_follows_lr(case: Case, fall: float = 0.5) -> Seen:
    """After the failure the loss came back only as the rate came down."""
    onset = rise_onset(case)
    if onset is None:
        return NOT_APPLICABLE
    lr = facts.since(case, Signal.LR, onset, 8)
    loss = facts.since(case, Signal.TRAIN_LOSS, onset, 8)
    if lr is None or loss is None:
        return Seen(None, "Needs loss and learning rate after the onset.")
    top, end = float(np.max(loss.value)), float(np.median(loss.value[-3:]))
    start = float(np.median(_head(case, onset)))
    if top < 1.2 * start:
        return NOT_APPLICABLE
    if end > start + 0.5 * (top - start):
        return Seen(
            False, f"The loss did not come back: {number(top)} at worst, {number(end)} last."
        )
    after_top = loss.step >= loss.step[int(np.argmax(loss.value))]
    back = loss.step[after_top & (loss.value <= start + 0.5 * (top - start))]
    then = facts.value_at(case, Signal.LR, int(back[0])) if len(back) else None
    highest = float(np.max(lr.value))
    if then is None or highest <= 0:
        return Seen(None, "Needs the learning rate at the loss's way back.")
    return Seen(
        then <= fall * highest,
        f"The loss was half way back at {at_step(int(back[0]))}, when the learning rate had come "
        f"down from {number(highest)} to {number(then)}.",
        (int(back[0]),),
    )


def _head(case: Case, onset: int) -> np.ndarray:
    found = facts.before(case, Signal.TRAIN_LOSS, onset + 1)
    return np.asarray([np.inf]) if found is None else found.value[-8:]


def never_decayed(case: Case) -> Seen:
    """The rate was still at its peak late in training."""
    onset, held = rise_onset(case), _held_peak(case)
    if onset is None:
        return NOT_APPLICABLE
    if held is None:
        return Seen(None, "Needs the schedule of the learning rate.")
    if not held:
        return Seen(False, "The learning rate follows a schedule that decays.")
    late = facts.counts_steps(case) and onset > facts.early_limit(case)
    return Seen(
        late,
        f"The learning rate had not come down from its peak by the onset at {at_step(onset)}.",
        (onset,),
    )


def _held_peak(case: Case) -> bool | None:
    """True where the rate stayed at its peak, once reached, to the end of the log."""
    if case.lr is not None:
        after = facts.since(case, Signal.LR, case.lr.peak_step)
        return after is not None and float(np.min(after.value)) >= 0.95 * case.lr.peak
    schedule = case.config.schedule
    return None if schedule is None else schedule.lower().startswith("constant")


def lr_steady(case: Case, change: float = 0.1, window: int = 100) -> Seen:
    """The rate hardly changed in the last points before the failure."""
    if rise_onset(case) is None:
        return NOT_APPLICABLE
    found = facts.before(case, Signal.LR, rise_onset(case), 8)
    if found is None:
        return Seen(None, "Needs the learning rate before the onset.")
    last = found.value[-window:]
    top = float(np.max(last))
    moved = float(np.ptp(last)) / top if top > 0 else 0.0
    return Seen(
        moved <= change,
        f"In the last {len(last):,} logged points before the onset the learning rate changed by "
        f"{percent(moved)}.",
    )


def lr_jumped(case: Case, window: int = 50) -> Seen:
    """The rate jumped up shortly before the failure."""
    onset = rise_onset(case)
    if onset is None:
        return NOT_APPLICABLE
    if case.lr is None:
        return Seen(None, "Needs the learning rate before the onset.")
    jumps = {e.onset_step for e in case.episodes_of(EpisodeKind.LR_JUMP)} | set(case.lr.jumps)
    reach = onset - window * case.timeline.interval
    near = sorted(s for s in jumps if reach <= s <= onset)
    if not near:
        return Seen(False, "The learning rate made no jump before the onset.")
    return Seen(True, f"The learning rate jumped up at {at_step(near[-1])}.", (near[-1],))


def schedule_anew(case: Case) -> Seen:
    """The rate broke off in the middle of its decay and rose to its peak again.

    Planned restarts come at the end of a cycle, when the rate has reached its lowest level.
    """
    found = facts.points(case.track(Signal.LR))
    if found is None or case.lr is None or len(found) < 8 or case.lr.peak <= 0:
        return Seen(None, "Needs the learning rate over the whole run.")
    if not case.lr.restarts:
        return Seen(False, "The learning rate never broke off to begin again.")
    at = int(np.searchsorted(found.step, case.lr.restarts[0]))
    return Seen(
        True,
        f"At {at_step(case.lr.restarts[0])} the learning rate broke off at "
        f"{number(float(found.value[at - 1]))} and rose to {number(float(found.value[at:].max()))} "
        "again.",
        (case.lr.restarts[0],),
    )


def lowered_in_vain(case: Case) -> Seen:
    """The failure came back although the rate had been lowered at a resume."""
    onset = rise_onset(case)
    lowered = [
        e
        for e in case.episodes_of(EpisodeKind.RESUME_JUMP)
        if float(e.details.get("lr_after") or 0) < 0.9 * float(e.details.get("lr_before") or 0)
        and e.details.get("lr_after") is not None
    ]
    if onset is None or not lowered:
        return NOT_APPLICABLE
    first = lowered[0]
    text = (
        f"At {at_step(first.onset_step)} training resumed at a learning rate of "
        f"{number(float(first.details['lr_after']))} instead of "
        f"{number(float(first.details['lr_before']))}"
    )
    failed_again = onset > first.onset_step and case.judgement.outcome.is_failure
    ending = ", and failed again." if failed_again else "."
    return Seen(failed_again, text + ending, (first.onset_step,))
