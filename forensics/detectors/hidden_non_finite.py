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
from forensics.detectors._language import is_language_model
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
    tails = [] if norm is None else [_masked(norm, loss, needed), _emptied(norm, loss, rows)]
    if not is_reinforcement(timeline):
        tails.append(_zero_loss(loss, norm, needed))
        if is_language_model(config) and Signal.EVAL_LOSS not in timeline.tracks:
            tails.append(_zero_throughout(loss, norm, needed))
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


def _emptied(norm: Track, loss: Track, rows: int) -> _Tail | None:
    """A tail of losses of exactly 0.0 beside gradient norms that are no numbers.

    Either alone has innocent readings, a skipped step of a scaler or a loss that is not measured;
    together they have none, so a log that holds nothing else may be a single row.
    """
    if loss.value[-1] != 0.0:
        return None
    common, at, there = np.intersect1d(loss.step, norm.step, return_indices=True)
    lost = (loss.value[at] == 0.0) & ~norm.finite[there]
    start = _tail(lost)
    if start == len(common) or common[-1] != loss.step[-1]:
        return None
    whole = start == 0 and len(common) == len(loss)
    if len(common) - start < rows and not whole:
        return None
    return _Tail(int(common[start]), "nan_filter", norm)


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
    onset = int(loss.step[start])
    return None if _alive(norm, onset) else _Tail(onset, "nan_filter", loss)


def _zero_throughout(loss: Track, norm: Track | None, rows: int) -> _Tail | None:
    """Losses of exactly 0.0 from the first row on, which no text costs."""
    if len(loss) < rows or np.any(loss.value) or _alive(norm, int(loss.step[0])):
        return None
    return _Tail(int(loss.step[0]), "nan_filter", loss)


def _alive(norm: Track | None, onset: int) -> bool:
    """True where the gradient norm goes on being positive and finite."""
    tail = np.empty(0) if norm is None else norm.value[norm.step >= onset]
    return len(tail) > 0 and bool(np.all(np.isfinite(tail) & (tail > 0)))


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
