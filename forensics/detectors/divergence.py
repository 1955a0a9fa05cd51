"""Divergence: the level of the training loss climbs away and does not come back.

Three forms: ``after_spike`` (an excursion that the run ends in), ``drift`` (the rolling median
rises above its best with no spike; signatures §3: 0 false alarms in 24 clean and 72 drifting runs,
onset where it left the band around that best), ``from_start`` (never below where it began).
"""

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._climb import Levels, departure, levels_of, stands_above
from forensics.detectors._context import finite_loss, is_adversarial, is_reinforcement, last_before
from forensics.detectors._movers import first_mover
from forensics.detectors._spikes import ORDINARY, SpikeRule, find_spikes
from forensics.detectors._undone import first_lost, undone
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.medians import median
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

FEW = 128
"""Points of a log too short to tell the noise of its levels from its steep start."""
NEVER_LEARNED, SMALL_RISE = 0.95, 1.3
"""Best level over the first one of a run that learned nothing, and last one that is no blow-up."""


def detect(
    timeline: Timeline,
    config: Config,
    *,
    window: int = 64,
    errors: float = 5.0,
    rise: float = 0.05,
    drop_lost: float = 0.5,
    sawtooth: float = 1.5,
    near_zero: float = 0.1,
    of_learned: float = 0.05,
    rule: SpikeRule = ORDINARY,
) -> list[Episode]:
    """Find a divergence; at most one, since it lasts to the end.

    Args:
        timeline: The run.
        config: Not used.
        window: Points of the rolling median (fewer in short runs).
        errors: Standard errors that the final level must lie above the best.
        rise: Share of the best level that it must lie above it as well.
        drop_lost: Share of everything learned that, once lost, needs no steady rise as proof.
        sawtooth: Factor by which the rise must exceed every earlier rise that came back.
        near_zero: Best level, as a share of the first, below which a multiple of it is nothing.
        of_learned: Share of everything learned that must be lost again there.
        rule: What a spike is: the thresholds of ``loss_spike``.
    """
    step, value = finite_loss(timeline)
    if len(value) < 6 or is_reinforcement(timeline) or is_adversarial(timeline):
        return []
    levels = levels_of(step, value, window)
    lost = levels.final - levels.lowest
    learned = levels.initial - levels.lowest
    lost_again = undone(value)
    sure = lost > errors * levels.error or (len(value) < FEW and stands_above(levels))
    if not lost_again and not (sure and lost > levels.margin(rise)):
        return []
    tiny = not levels.logarithmic and levels.lowest < near_zero * levels.initial
    if tiny and lost < of_learned * learned:
        return []
    spike = _last_unrecovered(timeline, rule)
    above_earlier = lost > sawtooth * _largest_recovered_rise(levels)
    gone = (
        lost_again
        or levels.final >= levels.initial
        or (learned > 0 and lost >= drop_lost * learned and above_earlier)
    )
    if not gone and not _stayed_up(timeline, spike) and not (above_earlier and _steady(levels)):
        return []
    return [_episode(timeline, spike, levels)]


def _stayed_up(timeline: Timeline, spike: Episode | None) -> bool:
    """A spike that the run ends in: by half its level, or with the gradient norm out as well.

    A smaller step up with quiet gradients is what another data mix or sequence length does.
    """
    if spike is None or spike.ending is Ending.CENSORED:
        return False
    return spike.ending is Ending.DIVERGED or bool(
        spike.details["ratio"] >= 1.5 or first_mover(timeline, spike.onset_step + 1)
    )


def _largest_recovered_rise(levels: Levels) -> float:
    """Largest rise of the level before its best: what this run gets over by itself."""
    before = levels.median[: levels.best + 1]
    return float(np.max(before - np.minimum.accumulate(before)))


def _steady(levels: Levels) -> bool:
    """A rise that has lasted and has not turned back."""
    after = levels.median[levels.best :]
    best, peak = float(after[0]), float(np.max(after))
    held = levels.final - best >= 0.7 * (peak - best)
    return held and len(after) >= max(5, len(levels.median) // 20)


def _episode(timeline: Timeline, spike: Episode | None, levels: Levels) -> Episode:
    step, value = finite_loss(timeline)
    from_start = levels.best == 0 or levels.lowest >= levels.initial
    onset = _onset(levels, spike, step, value)
    if spike is not None and onset == spike.onset_step:
        mover, mover_step = spike.first_mover, spike.first_mover_step
    else:
        mover, mover_step = first_mover(timeline, onset) or (None, None)
    top = int(np.argmax(levels.median[levels.best :])) + levels.best
    highest = float(levels.median[top])
    rising = levels.final - levels.lowest >= 0.9 * (highest - levels.lowest)
    best, final = levels.loss(levels.lowest), _final(timeline, levels, spike)
    away = rising or final >= levels.loss(levels.initial)
    return Episode(
        EpisodeKind.DIVERGENCE,
        Signal.TRAIN_LOSS,
        onset,
        Severity.FAILURE,
        Ending.DIVERGED if away else Ending.SETTLED,
        after_step=last_before(step, onset),
        peak_step=int(levels.step[top]),
        peak_value=levels.loss(highest),
        baseline=best,
        height=(levels.final - levels.lowest) / levels.error if levels.error > 0 else None,
        first_mover=mover,
        first_mover_step=mover_step,
        details={
            "form": "after_spike" if spike else "from_start" if from_start else "drift",
            "ratio": final / best if best > 0 else float("inf"),
            "best_step": int(levels.step[levels.best]),
            "best_value": best,
            "initial": levels.loss(levels.initial),
            "final": final,
        },
    )


def _final(timeline: Timeline, levels: Levels, spike: Episode | None) -> float:
    """Where the loss ends; after a spike of few points, those alone tell."""
    if spike is None:
        return levels.loss(levels.final)
    step, value = finite_loss(timeline)
    after = value[step >= spike.onset_step]
    return max(levels.loss(levels.final), median(after[-max(1, len(after) // 3) :]))


def _onset(levels: Levels, spike: Episode | None, step: Steps, value: Values) -> int:
    """Where the loss left its best level for good, or a spike that ends the run its own band."""
    best, final = levels.loss(levels.lowest), levels.loss(levels.final)
    initial = levels.loss(levels.initial)
    if best >= NEVER_LEARNED * initial > 0 and final <= SMALL_RISE * initial:
        return int(levels.step[0])
    if undone(value):
        return int(step[first_lost(value)])
    left = int(levels.step[departure(levels)])
    return left if spike is None else min(spike.onset_step, left)


def _last_unrecovered(timeline: Timeline, rule: SpikeRule) -> Episode | None:
    """The last spike, if the loss is still above its baseline."""
    spikes = find_spikes(timeline, rule)
    return spikes[-1] if spikes and spikes[-1].ending is not Ending.RECOVERED else None


DETECTOR = Detector("divergence", ((Signal.TRAIN_LOSS,),), detect, builds_on_spikes=True)
