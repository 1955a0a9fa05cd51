"""Facts about the learning rate and about clipping that are no episodes."""

from functools import lru_cache

import numpy as np

from forensics.detectors._restarts import schedule_restarts
from forensics.detectors._robust import finite_part
from forensics.findings import ClipFacts, LearningRateFacts
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline

AT_PEAK = 0.99
JUMP = 1.5
DROP = 0.67
SAME = 1e-6
"""TensorBoard keeps float32: compare learning rates with this relative tolerance."""


@lru_cache(maxsize=8)
def learning_rate_facts(timeline: Timeline) -> LearningRateFacts | None:
    """Peak, warm-up, jumps and zeros of the logged learning rate; None where it was not logged."""
    track = timeline.get(Signal.LR)
    if track is None:
        return None
    step, rate = finite_part(track.step, track.value)
    if len(rate) == 0:
        return None
    peak = float(rate.max())
    at = int(np.argmax(rate >= AT_PEAK * peak)) if peak > 0 else 0
    warmup = int(step[at] - step[0]) if rate[0] < AT_PEAK * peak else 0
    after = np.arange(1, len(rate)) > at
    before, now = rate[:-1], rate[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        jumps = after & (now > JUMP * before) & (now > 1e-3 * peak)
        drops = (now < DROP * before) & (before > 1e-3 * peak)
    return LearningRateFacts(
        peak=peak,
        peak_step=int(step[at]),
        first=float(rate[0]),
        last=float(rate[-1]),
        warmup_steps=max(0, warmup),
        constant=bool(np.all(np.abs(rate - peak) <= SAME * peak)),
        zero_from=_zero_from(step, rate),
        jumps=tuple(int(s) for s in step[1:][jumps][:50]),
        drops=tuple(int(s) for s in step[1:][drops][:50]),
        restarts=schedule_restarts(step, rate),
    )


def _zero_from(step: np.ndarray, rate: np.ndarray) -> int | None:
    if rate[-1] > 0:
        return None
    positive = np.flatnonzero(rate > 0)
    return int(step[positive[-1] + 1]) if len(positive) else int(step[0])


def clip_facts(timeline: Timeline, config: Config, onset: int | None) -> ClipFacts | None:
    """Share of logged steps above the clipping threshold, before the onset where there is one."""
    threshold = config.clip_threshold
    track = timeline.get(Signal.GRAD_NORM)
    if threshold is None or threshold <= 0 or track is None:
        return None
    step, norm = finite_part(track.step, track.value)
    measured = norm > 0
    if onset is not None and np.count_nonzero(measured & (step < onset)) >= 5:
        measured &= step < onset
    norm = norm[measured]
    if len(norm) == 0:
        return None
    recent = norm[-max(5, len(norm) // 10) :]
    return ClipFacts(
        float(threshold), float(np.mean(norm > threshold)), float(np.mean(recent > threshold))
    )
