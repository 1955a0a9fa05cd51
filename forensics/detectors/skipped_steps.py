"""Steps the optimizer skipped because the gradient was not finite.

Seen in a counter, or as a gradient norm repeated to the last digit (the stale value that a
skipping step prints) while the loss stays flat (signatures §3).
"""

from dataclasses import replace

import numpy as np

from forensics.detectors._base import Detector
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.run import Config, Values
from forensics.signals import Signal
from forensics.timeline import Timeline, Track


def detect(
    timeline: Timeline,
    config: Config,
    *,
    share: float = 0.02,
    stale_rows: int = 4,
    stale_digits: int = 5,
) -> list[Episode]:
    """Find stretches of skipped steps.

    Args:
        timeline: The run.
        config: Not used.
        share: Share of steps from which skipping is worth telling (a growth interval costs less).
        stale_rows: Equal gradient norms in a row that make a stale one.
        stale_digits: Significant digits such a norm must carry: ``0.0`` is 'not measured'.
    """
    counter = timeline.get(Signal.SKIPPED_STEPS)
    if counter is not None:
        return _from_counter(timeline, counter, share)
    norm = timeline.get(Signal.GRAD_NORM)
    return _from_stale_norm(norm, stale_rows, stale_digits) if norm is not None else []


def _from_counter(timeline: Timeline, counter: Track, share: float) -> list[Episode]:
    values = np.nan_to_num(counter.value)
    if _none_was_made(counter, values):
        return [_all_skipped(counter, float(values.sum()))]
    cumulative = bool(len(values) > 2 and np.all(np.diff(values) >= 0) and values[-1] > 1)
    count = float(values[-1] - values[0]) if cumulative else float(values.sum())
    hits = (
        counter.step[np.append(0.0, np.diff(values)) > 0]
        if cumulative
        else counter.step[values > 0]
    )
    span = max(1, timeline.last_step - timeline.first_step)
    if len(hits) == 0 or count / span < share:
        return []
    return [_episode(int(hits[0]), int(hits[-1]), count, count / span)]


def _none_was_made(counter: Track, values: Values, least: int = 5) -> bool:
    """True where each line counts as many skipped steps as lie between two lines.

    A counter that went up once, at the start, stands still at 1 and says nothing of the rest.
    """
    between = np.diff(counter.step)
    if len(values) < least or between.min() < 2:
        return False
    return bool(np.all(values[1:] == between) or np.all(np.diff(values) == between))


def _all_skipped(counter: Track, count: float) -> Episode:
    first, last = int(counter.step[0]), int(counter.step[-1])
    return replace(
        _episode(first, last, count, 1.0),
        severity=Severity.FAILURE,
        ending=Ending.PERSISTED,
        recovery_step=None,
    )


def _from_stale_norm(norm: Track, rows: int, digits: int) -> list[Episode]:
    same = np.append(False, (norm.value[1:] == norm.value[:-1]) & (norm.value[1:] > 0))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], same.view(np.int8), [0]])))
    episodes = []
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        exact = (
            np.isfinite(norm.value[begin])
            and len(f"{norm.value[begin]:.12g}".replace(".", "").strip("0")) >= digits
        )
        if end - begin + 1 >= rows and exact:
            count = float(end - begin)
            episodes.append(
                _episode(int(norm.step[begin]), int(norm.step[end - 1]), count, count / len(norm))
            )
    return episodes[:20]


def _episode(first: int, last: int, count: float, share: float) -> Episode:
    return Episode(
        EpisodeKind.SKIPPED_STEPS,
        Signal.SKIPPED_STEPS,
        first,
        Severity.WARNING,
        Ending.RECOVERED,
        recovery_step=last,
        details={"count": round(count), "share": share},
    )


DETECTOR = Detector("skipped_steps", ((Signal.SKIPPED_STEPS,), (Signal.GRAD_NORM,)), detect)
