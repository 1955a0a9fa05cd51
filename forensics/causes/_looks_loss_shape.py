"""Looks at how the loss went."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Look, Seen
from forensics.causes._looks_model import batchnorm_used
from forensics.findings import Ending, EpisodeKind, Outcome
from forensics.medians import MAD_TO_SD, median
from forensics.phrasing import at_step, count, listing, number, percent, times
from forensics.signals import Signal


def repeated_events(case: Case) -> Seen:
    """The loss left its band again and again, at changing data."""
    runs = case.episodes_of(EpisodeKind.CONSECUTIVE_SPIKES)
    spikes = case.episodes_of(EpisodeKind.LOSS_SPIKE)
    steps = tuple(runs[0].details.get("steps", ())) if runs else tuple(s.onset_step for s in spikes)
    amount = max(int(runs[0].details.get("count", len(steps))) if runs else 0, len(spikes))
    if case.track(Signal.TRAIN_LOSS) is None:
        return Seen(None, "Needs the training loss.")
    if runs or amount >= 3:
        return Seen(True, f"The loss spiked {count(amount, 'time')} ({listing(steps)}).", steps)
    return Seen(False, f"The loss spiked {count(amount, 'time')} in all.", steps)


def escalating(case: Case) -> Seen:
    """The spikes come closer together or grow."""
    runs = case.episodes_of(EpisodeKind.CONSECUTIVE_SPIKES)
    if not runs:
        return NOT_APPLICABLE
    grows = any(bool(e.details.get("escalating")) for e in runs)
    verb = "come closer together or grow" if grows else "neither grow nor come closer together"
    return Seen(grows, f"The spikes {verb}.", (runs[0].onset_step,))


def drifted(case: Case, points: int = 8) -> Seen:
    """The loss rose gradually, over ``points`` logged points or more, instead of jumping."""
    found = [
        e for e in case.episodes_of(EpisodeKind.DIVERGENCE) if e.details.get("form") == "drift"
    ]
    if not found:
        known = bool(case.episodes_of(EpisodeKind.DIVERGENCE, EpisodeKind.LOSS_SPIKE))
        return Seen(False, "The loss jumped rather than drifted.") if known else NOT_APPLICABLE
    onset, peak, ratio = found[0].onset_step, found[0].peak_step, found[0].details.get("ratio")
    size = f" to {times(float(ratio))} its best level" if ratio is not None else ""
    if peak is not None and peak - onset < points * case.timeline.interval:
        text = f"The loss rose{size} between {at_step(onset)} and {at_step(peak)}, without a drift."
        return Seen(False, text, (onset,))
    return Seen(
        True, f"The loss drifted upwards from {at_step(onset)}{size}, without a jump.", (onset,)
    )


def grew_step_by_step(case: Case, rises: int = 6, factor: float = 3.0) -> Seen:
    """From the onset to its peak the loss rose at nearly every point, as overshooting makes it."""
    onset = case.judgement.onset_step
    found = None if onset is None else facts.since(case, Signal.TRAIN_LOSS, onset, rises)
    if onset is None or found is None:
        return Seen(None, "Needs the loss of several points after the onset.")
    climb = found.value[: int(np.argmax(found.value)) + 1]
    if len(climb) <= rises or climb[0] <= 0:
        return Seen(False, f"The loss reached its peak within {count(len(climb), 'logged point')}.")
    share, growth = float(np.mean(np.diff(climb) > 0)), float(climb[-1] / climb[0])
    return Seen(
        share >= 0.8 and growth >= factor,
        f"From {at_step(onset)} the loss rose in {percent(share)} of {len(climb):,} points, to "
        f"{times(growth)} its level.",
        (onset,),
    )


def settled_higher(case: Case) -> Seen:
    """After a jump the loss stayed stable on a higher level."""
    plateau = [
        e
        for e in case.episodes_of(EpisodeKind.PLATEAU)
        if e.details.get("level_kind") == "post_jump"
    ]
    settled = [e for e in case.episodes_of(EpisodeKind.LOSS_SPIKE) if e.ending is Ending.SETTLED]
    found = plateau or settled
    if not found:
        jumped = bool(case.episodes_of(EpisodeKind.LOSS_SPIKE, EpisodeKind.DIVERGENCE))
        text = "The loss did not settle on a higher level."
        return Seen(False, text) if jumped else NOT_APPLICABLE
    level = found[0].details.get("level")
    where = f" near {number(float(level))}" if level is not None else ""
    return Seen(
        True,
        f"After the jump at {at_step(found[0].onset_step)} the loss stayed stable on a higher "
        f"level{where}.",
        (found[0].onset_step,),
    )


def rises_against_rate(case: Case, least: int = 6, fall: float = 0.3) -> Seen:
    """The loss rises to the last, stretch by stretch, while the learning rate comes down.

    Steps that overshoot shorten with the rate, and the loss calms. One that is pushed goes on.
    """
    onset, rate = case.judgement.onset_step, facts.points(case.track(Signal.LR))
    found = None if onset is None else facts.since(case, Signal.TRAIN_LOSS, onset, 16)
    if found is None or rate is None or case.judgement.outcome is not Outcome.DIVERGED:
        return NOT_APPLICABLE
    peak, last = float(rate.value.max()), float(rate.value[-1])
    if peak <= 0 or last > fall * peak:
        return NOT_APPLICABLE
    levels = [median(part) for part in np.array_split(found.value, 8)]
    return Seen(
        int(np.sum(np.diff(levels) > 0)) >= least and levels[-1] > 1.1 * levels[3],
        f"From eighth to eighth of the time since {at_step(int(found.step[0]))} the loss went "
        f"{', '.join(map(number, levels))}, while the rate fell to {percent(last / peak)} of "
        "its peak.",
        (int(found.step[0]),),
    )


def plateau_level(*kinds: str) -> Look:
    """A look that holds where the loss rests on a level of one of these kinds."""

    def look(case: Case) -> Seen:
        found = case.episodes_of(EpisodeKind.PLATEAU)
        if not found:
            return NOT_APPLICABLE
        match = [e for e in found if e.details.get("level_kind") in kinds]
        level = (match or list(found))[0]
        value = level.details.get("level", level.baseline)
        where = f"at {number(float(value))}" if value is not None else "on one level"
        named = level.details.get("level_kind") != "unnamed" and level.details.get("level_name")
        name = f" ({named})" if named else ""
        return Seen(
            bool(match),
            f"From {at_step(level.onset_step)} the loss rests {where}{name}.",
            (level.onset_step,),
        )

    return look


def fell_first(case: Case, share: float = 0.05) -> Seen:
    """The loss fell by more than ``share`` of its initial value before it stopped."""
    found = [
        e for e in case.episodes_of(EpisodeKind.PLATEAU) if e.details.get("improvement") is not None
    ]
    if not found:
        return NOT_APPLICABLE
    gain = float(found[0].details["improvement"])
    fell = gain > share
    return Seen(
        fell,
        f"Before the plateau the loss had fallen by {percent(gain)} of its initial value.",
        (found[0].onset_step,),
    )


def moved_at_all(case: Case, sigmas: float = 4.0) -> Seen:
    """The later losses differ from the first ones by more than the noise of the batches."""
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    if found is None or len(found) < 16 or not facts.starts_at_beginning(case):
        return Seen(None, "Needs the training loss from the first step on.")
    later = found.value[len(found) // 2 :]
    first, level = median(found.value[:3]), median(later)
    noise = MAD_TO_SD * median(np.abs(later - level))
    moved = abs(first - level) > max(sigmas * noise, 1e-6 * abs(level))
    return Seen(
        moved,
        f"The loss was {number(first)} at first and {number(level)} in the later half, where it "
        f"varies by {number(noise)} from batch to batch.",
    )


def validation_frozen(case: Case) -> Seen:
    """Every validation gives the same number to the last digit logged."""
    found = facts.points(case.track(Signal.EVAL_LOSS))
    if found is None or len(found) < 3:
        return Seen(None, "Needs the validation loss of at least three checkpoints.")
    spread, level = float(np.ptp(found.value)), median(np.abs(found.value))
    frozen = spread <= 1e-6 * max(level, 1e-12)
    if not frozen and batchnorm_used(case).holds:
        return Seen(None, "Needs the weights: running statistics move validation without them.")
    if frozen:
        return Seen(
            True, f"All {len(found):,} validation losses are {number(level)}, without change."
        )
    return Seen(
        False,
        f"The {len(found):,} validation losses differ by up to {number(spread)}, so the weights "
        "moved.",
    )
