"""Non-finite runs that the logger shows as finite.

transformers' ``logging_nan_inf_filter`` (on by default) replaces a NaN loss by the running mean of
the window, so the log shows 0.0 or a plausible number while the gradient norm is NaN and every
weight is lost. DeepSpeed masks a non-finite gradient norm to -1. Both beat the loss curve.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forensics.detectors._base import Detector
from forensics.detectors._context import is_reinforcement, last_before
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline, Track


@dataclass(frozen=True, eq=False)
class _Tail:
    onset: int
    how: str
    track: Track
    """The track whose rows gave it away."""


def detect(timeline: Timeline, config: Config, *, rows: int = 2) -> list[Episode]:
    """Find a run that is non-finite behind a finite loss; at most one episode.

    Args:
        timeline: The run.
        config: fp16 asks for one row more, since its scaler skips single steps by design.
        rows: Rows at the end of the log that must agree.
    """
    loss = timeline.get(Signal.TRAIN_LOSS)
    norm = timeline.get(Signal.GRAD_NORM)
    if loss is None or not bool(loss.finite[-1]):
        return []
    scaled = config.precision == "fp16" or Signal.LOSS_SCALE in timeline.tracks
    needed = rows + 1 if scaled else rows
    tails = [] if norm is None else [_masked(norm, loss, needed)]
    if not is_reinforcement(timeline):
        tails.append(_zero_loss(loss, norm, needed))
    found = [t for t in tails if t is not None]
    return [_episode(loss, min(found, key=lambda t: t.onset))] if found else []


def _masked(norm: Track, loss: Track, rows: int) -> _Tail | None:
    """A tail in which every gradient norm is NaN, infinite or negative."""
    bad = ~norm.finite | (norm.value < 0)
    start = _tail(bad)
    if len(bad) - start < rows or _goes_on(loss, int(norm.step[start])):
        return None
    negative = bool(np.all(norm.value[start:] < 0))
    how = "negative_grad_norm" if negative else "nan_filter"
    return _Tail(int(norm.step[start]), how, norm)


def _goes_on(loss: Track, onset: int) -> bool:
    """True where the loss keeps changing long after the norm was lost: the weights are not NaN.

    The filter can show a plausible mean for the window in which the first NaN fell; every later
    window is 0.0 or a constant.
    """
    later = loss.value[loss.step > onset][1:]
    return len(later) >= 3 and len(np.unique(later[later != 0.0])) >= 0.5 * len(later)


def _zero_loss(loss: Track, norm: Track | None, rows: int) -> _Tail | None:
    """A tail of losses of exactly 0.0 after a loss that was far from it.

    A healthy loss approaches zero; it does not jump there from above. A gradient norm that goes
    on being positive and finite contradicts a lost run.
    """
    start = _tail(loss.value == 0.0)
    before = loss.value[:start][np.isfinite(loss.value[:start])]
    if len(loss) - start < rows or len(before) == 0 or before[-1] < 0.05:
        return None
    if norm is not None:
        tail = norm.value[norm.step >= loss.step[start]]
        if len(tail) and bool(np.all(np.isfinite(tail) & (tail > 0))):
            return None
    return _Tail(int(loss.step[start]), "nan_filter", loss)


def _tail(bad: NDArray[np.bool_]) -> int:
    """Start of the unbroken run of True at the end; n where the last is False."""
    good = np.flatnonzero(~bad)
    return int(good[-1]) + 1 if len(good) else 0


def _episode(loss: Track, tail: _Tail) -> Episode:
    shown = loss.value[loss.step >= tail.onset]
    before = last_before(tail.track.step, tail.onset)
    return Episode(
        EpisodeKind.HIDDEN_NON_FINITE,
        tail.track.signal,
        tail.onset,
        Severity.FAILURE,
        Ending.PERSISTED,
        after_step=before,
        peak_step=tail.onset,
        details={
            "how": tail.how if len(shown) else "guard",
            "shown": float(shown[0]) if len(shown) else None,
            "rows": int(np.count_nonzero(tail.track.step >= tail.onset)),
            "at_start": int(np.count_nonzero(loss.step < tail.onset)) <= 1,
        },
    )


DETECTOR = Detector("hidden_non_finite", ((Signal.TRAIN_LOSS,),), detect)
