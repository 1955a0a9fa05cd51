"""Divergence: the level of the training loss climbs away and does not come back.

Three forms: ``after_spike`` (an excursion that the run ends in), ``drift`` (the rolling median
rises above its best with no spike; signatures §3: 0 false alarms in 24 clean and 72 drifting runs,
onset at the minimum of the median), ``from_start`` (never below where it began).
"""

from dataclasses import dataclass

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._context import finite_loss, is_adversarial, is_reinforcement, last_before
from forensics.detectors._movers import first_mover
from forensics.detectors._robust import (
    block_medians,
    noise,
    rolling_median,
    window_for,
)
from forensics.detectors._spikes import ORDINARY, SpikeRule, find_spikes
from forensics.detectors._undone import first_lost, undone
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.medians import MEDIAN_ERROR, median
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

Z90 = 1.2816
"""90th percentile of the standard normal."""
NEVER_LEARNED, SMALL_RISE = 0.95, 1.3
"""Best level over the first one of a run that learned nothing, and last one that is no blow-up."""
WIDE = 30.0
"""Largest loss over the first one from which levels are compared as logarithms."""


@dataclass(frozen=True, eq=False)
class _Levels:
    step: Steps
    median: Values
    best: int
    """Position of the lowest level."""
    error: float
    """Standard error of a level."""
    calm_error: float
    """The same around the best level alone, where no first fall adds to it."""
    initial: float
    final: float
    logarithmic: bool
    """True where levels are logarithms: the loss spans so much that only factors compare."""

    @property
    def lowest(self) -> float:
        """The best level."""
        return float(self.median[self.best])

    def margin(self, share: float) -> float:
        """A share of the best level, in the unit of the levels."""
        return float(np.log1p(share)) if self.logarithmic else share * abs(self.lowest)

    def loss(self, level: float) -> float:
        """A level in the unit of the loss."""
        return float(np.exp(level)) if self.logarithmic else level

    def level(self, loss: float) -> float:
        """The reverse of `loss`."""
        return float(np.log(loss)) if self.logarithmic else loss


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
    levels = _levels(step, value, window)
    lost = levels.final - levels.lowest
    learned = levels.initial - levels.lowest
    lost_again = undone(value)
    if lost <= max(errors * levels.error, levels.margin(rise)) and not lost_again:
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


def _levels(step: Steps, value: Values, window: int) -> _Levels:
    start = median(value[: max(1, len(value) // 50)])
    logarithmic = bool(value.min() > 0 and value.max() > WIDE * start)
    value = np.log(value) if logarithmic else value
    sigma = noise(value)
    thin_step, thin = block_medians(step, value)
    sigma /= np.sqrt(max(1.0, len(value) / len(thin)))
    width = window_for(len(thin), 1 / 16, 3, window)
    middle = rolling_median(thin, width)
    best = int(np.argmin(middle))
    # Noise with an upper tail (two levels, rare hard batches) that differences do not show;
    # measured before the rise, which is no noise.
    calm = (thin - middle)[: max(best + width, len(thin) // 4)]
    local = slice(max(0, best - 2 * width), best + width + 1)
    quiet = max(noise(thin[local]), float(np.quantile((thin - middle)[local], 0.9)) / Z90)
    sigma = max(sigma, float(np.quantile(calm, 0.9)) / Z90)
    tail = max(1, min(width, len(thin) // 5))
    head = max(1, min(width, len(thin) // 50))
    return _Levels(
        thin_step,
        middle,
        best,
        float(MEDIAN_ERROR * sigma / np.sqrt(width)),
        float(MEDIAN_ERROR * min(quiet, sigma) / np.sqrt(width)),
        median(thin[:head]),
        median(thin[-tail:]),
        logarithmic,
    )


def _largest_recovered_rise(levels: _Levels) -> float:
    """Largest rise of the level before its best: what this run gets over by itself."""
    before = levels.median[: levels.best + 1]
    return float(np.max(before - np.minimum.accumulate(before)))


def _steady(levels: _Levels) -> bool:
    """A rise that has lasted and has not turned back."""
    after = levels.median[levels.best :]
    best, peak = float(after[0]), float(np.max(after))
    held = levels.final - best >= 0.7 * (peak - best)
    return held and len(after) >= max(5, len(levels.median) // 20)


def _episode(timeline: Timeline, spike: Episode | None, levels: _Levels) -> Episode:
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


def _final(timeline: Timeline, levels: _Levels, spike: Episode | None) -> float:
    """Where the loss ends; after a spike of few points, those alone tell."""
    if spike is None:
        return levels.loss(levels.final)
    step, value = finite_loss(timeline)
    after = value[step >= spike.onset_step]
    return max(levels.loss(levels.final), median(after[-max(1, len(after) // 3) :]))


def _onset(levels: _Levels, spike: Episode | None, step: Steps, value: Values) -> int:
    """A spike that ends the run began where it did, unless the level had risen before.

    Before: by a fifth of all that it rose in the end, or without a jump, so that the spike is only
    where a steady climb left the band.
    """
    best, final = levels.loss(levels.lowest), levels.loss(levels.final)
    initial = levels.loss(levels.initial)
    if best >= NEVER_LEARNED * initial > 0 and final <= SMALL_RISE * initial:
        return int(levels.step[0])
    if undone(value):
        return int(step[first_lost(value)])
    if spike is None or _climbed(step, value, spike):
        return _drift_onset(levels, 0.0)
    highest = max(levels.final, levels.level(max(spike.peak_value or 0.0, 1e-300)))
    return min(spike.onset_step, _drift_onset(levels, 0.2 * (highest - levels.lowest)))


def _climbed(step: Steps, value: Values, spike: Episode) -> bool:
    """True where the first point of a spike makes less than half of the way up from the baseline.

    The one before it, still in band, had then come most of the way.
    """
    at = int(np.searchsorted(step, spike.onset_step))
    if at == 0 or spike.baseline is None:
        return False
    return bool(value[at] - value[at - 1] < 0.5 * (value[at] - spike.baseline))


def _last_unrecovered(timeline: Timeline, rule: SpikeRule) -> Episode | None:
    """The last spike, if the loss is still above its baseline."""
    spikes = find_spikes(timeline, rule)
    return spikes[-1] if spikes and spikes[-1].ending is not Ending.RECOVERED else None


def _drift_onset(levels: _Levels, least: float) -> int:
    """First level above the best, by noise or by ``least``, after the last time it was there."""
    after = levels.median[levels.best :]
    margin = max(3.0 * levels.calm_error, levels.margin(0.01), least)
    low = np.flatnonzero(after <= after[0] + margin)
    start = levels.best + (int(low[-1]) + 1 if len(low) else 0)
    return int(levels.step[min(start, len(levels.step) - 1)])


DETECTOR = Detector("divergence", ((Signal.TRAIN_LOSS,),), detect, builds_on_spikes=True)
