"""What changed at a step at which one stretch of training ends and another begins."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from forensics.detectors._robust import noise, rolling_median, window_for
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.medians import MAD_TO_SD, MEDIAN_ERROR, deviation, median, row_medians
from forensics.run import Values
from forensics.signals import Signal
from forensics.timeline import Resume, Timeline, Track

LASTING = 3
"""Points in a row that are no single hard batch."""
LEVEL_ERRORS = 6.0
"""Standard errors by which two levels must differ."""
LEVEL_RISE = 0.1
"""Share of the level by which they must differ as well."""
RETURNED = 1.2
"""A level that ends below so many times the one before has come back."""


@dataclass(frozen=True)
class Rise:
    """A loss on either side of a seam, and how it went on."""

    before: float
    after: float
    """The value farthest from ``before``; of levels the highest level."""
    peak_step: int
    recovery_step: int | None


def rise_within(
    loss: Track, step: int, points: int, look: int, limits: tuple[float, float, float]
) -> Rise | None:
    """A jump within the first points after a seam; None where there is none.

    Args:
        loss: The training loss.
        step: First step after the seam.
        points: Points before it that make the level.
        look: Points after it in which the jump must show.
        limits: Standard deviations of a single point, of the median of three in a row, and the
            least share of the level.
    """
    at = int(np.searchsorted(loss.step, step))
    before = loss.value[max(0, at - points) : at]
    before = before[np.isfinite(before)]
    after = loss.value[at : at + look]
    after = after[np.isfinite(after)]
    if len(before) < 3 or len(after) < 1:
        return None
    base = median(before)
    spread, least = MAD_TO_SD * deviation(before), limits[2] * abs(base)
    margin = max(limits[0] * spread, least)
    extreme = float(after.max()) if after.max() - base >= base - after.min() else float(after.min())
    lasting = _lasting(after) - base >= max(limits[1] * spread, least)
    if lasting and abs(extreme - base) < margin:
        extreme, margin = float(after.max()), max(limits[1] * spread, least)
    if abs(extreme - base) < margin:
        return None
    peak = at + int(np.argmax(loss.value[at:] == extreme))
    back = np.abs(loss.value[peak:] - base) < 0.5 * margin
    if extreme > base:
        back |= loss.value[peak:] < base
    recovery = int(loss.step[peak + int(np.argmax(back))]) if back.any() else None
    return Rise(base, extreme, int(loss.step[peak]), recovery)


def _lasting(after: Values) -> float:
    """Highest median of three points in a row; -inf of fewer."""
    if len(after) < LASTING:
        return float("-inf")
    return float(row_medians(sliding_window_view(after, LASTING)).max())


def rise_of_level(loss: Track, step: int) -> Rise | None:
    """A level that rises, at once or by and by, above that at a seam; None where it does not."""
    steps, value = loss.step[loss.finite], loss.value[loss.finite]
    at, width = int(np.searchsorted(steps, step)), window_for(len(value), 1 / 20, 3, 32)
    if at < 2 * width or len(value) - at < width:
        return None
    middle = rolling_median(value, width)
    peak = at + int(np.argmax(middle[at:]))
    base = float(middle[at - width : peak + 1].min())
    near = value[max(0, at - 8 * width) : at]
    error = MEDIAN_ERROR * max(noise(near), MAD_TO_SD * deviation(near[-2 * width :]))
    height = float(middle[peak]) - base
    if height < max(LEVEL_ERRORS * error / np.sqrt(width), LEVEL_RISE * abs(base)):
        return None
    back = np.flatnonzero(middle[peak:] <= max(base + 0.5 * height, RETURNED * base))
    recovery = int(steps[peak + int(back[0])]) if len(back) else None
    return Rise(base, float(middle[peak]), int(steps[peak]), recovery)


def seam_episode(timeline: Timeline, step: int, rise: Rise, resume: Resume | None) -> Episode:
    """The episode that tells a jump at a seam."""
    loss = timeline.tracks[Signal.TRAIN_LOSS]
    at = int(np.searchsorted(loss.step, step))
    rest = loss.value[at:]
    back = rise.recovery_step
    details: dict[str, Any] = {
        "before": rise.before,
        "after": rise.after,
        "final": float(np.nanmedian(rest[-max(3, len(rest) // 20) :])),
        "direction": "up" if rise.after > rise.before else "down",
        "rewound_from": None if resume is None else resume.rewound_from,
        "recovery_steps": None if back is None else back - step,
        **_around(timeline, step),
    }
    return Episode(
        EpisodeKind.RESUME_JUMP,
        Signal.TRAIN_LOSS,
        step,
        Severity.WARNING,
        Ending.PERSISTED if back is None else Ending.RECOVERED,
        after_step=int(loss.step[at - 1]),
        peak_step=rise.peak_step,
        peak_value=rise.after,
        recovery_step=back,
        baseline=rise.before,
        details=details,
    )


def _around(timeline: Timeline, step: int) -> dict[str, float | None]:
    """Learning rate just before and after a step, and the ratio of the gradient norms."""
    rate = _sides(timeline.get(Signal.LR), step)
    norm = _sides(timeline.get(Signal.GRAD_NORM), step)
    ratio = norm[1] / norm[0] if norm[0] and norm[1] is not None and norm[0] > 0 else None
    return {"lr_before": rate[0], "lr_after": rate[1], "grad_ratio": ratio}


def _sides(track: Track | None, step: int) -> tuple[float | None, float | None]:
    if track is None:
        return None, None
    at = int(np.searchsorted(track.step, step))
    before, after = track.value[max(0, at - 5) : at], track.value[at : at + 5]
    if len(before) == 0 or len(after) == 0:
        return None, None
    if track.signal is Signal.LR:
        return float(before[-1]), float(after[0])
    return median(before), float(np.max(after))
