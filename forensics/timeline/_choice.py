"""Which of several series of one quantity stands for it, and what stands in for one that is absent.

A run logs its loss and, beside it, what Keras calls metrics: ``loss`` may be a cosine and ``mse``
a square. Only the first is what was trained. Where nothing is called the loss, the metric is it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from forensics.run import Series
from forensics.signals import Signal, mean_of, names_distance, names_measure, names_test, normalise
from forensics.timeline._values import Track

COVERAGE = 0.5
"""Of several series of one quantity, only those that span at least half of the longest compete."""
LEAST_SHARE = 0.1
"""Nor do those with fewer points than this share of the fullest: an evaluation on training data."""
AS_FULL = 0.5
"""A loss with this share of a metric's points makes the metric a quantity of its own."""

Tagged = dict[str, list[Series]]
_LOSSES = (Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH, Signal.EVAL_LOSS)


def without_measures(groups: Mapping[Signal, Tagged]) -> dict[Signal, Tagged]:
    """Series by quantity and tag, with metrics that lie beside the loss among the components."""
    kept = {signal: dict(tagged) for signal, tagged in groups.items()}
    for signal in _LOSSES:
        tagged = kept.get(signal, {})
        plain = [parts for tag, parts in tagged.items() if not names_measure(tag)]
        for tag in [t for t in tagged if names_measure(t)]:
            if any(_is_as_full(parts, tagged[tag]) for parts in plain):
                kept.setdefault(Signal.LOSS_COMPONENT, {})[tag] = tagged.pop(tag)
    return kept


def without_means(groups: Mapping[Signal, Tagged]) -> dict[Signal, Tagged]:
    """Series by quantity and tag, with means of what is logged itself as quantities of their own.

    ``loss/avg`` beside ``loss`` is no part of it, and lags behind it; alone it stands for it.
    """
    kept = {signal: dict(tagged) for signal, tagged in groups.items()}
    named = {normalise(tag): parts for tagged in groups.values() for tag, parts in tagged.items()}
    for signal in (Signal.TRAIN_LOSS, Signal.EVAL_LOSS, Signal.LOSS_COMPONENT):
        for tag, parts in list(kept.get(signal, {}).items()):
            whole = named.get(mean_of(tag))
            if whole is not None and _is_as_full(whole, parts):
                kept.setdefault(Signal.OTHER, {})[tag] = kept[signal].pop(tag)
        if signal in kept and not kept[signal]:
            del kept[signal]
    return kept


def _is_as_full(loss: Sequence[Series], metric: Sequence[Series]) -> bool:
    """True where the loss was logged about as often as the metric, and over as much of the run."""
    points = [sum(len(part.step) for part in parts) for parts in (loss, metric)]
    spans = [_last(parts) - _first(parts) for parts in (loss, metric)]
    return points[0] >= AS_FULL * points[1] and spans[0] >= COVERAGE * spans[1]


def _first(parts: Sequence[Series]) -> int:
    return min(int(part.step.min()) for part in parts)


def _last(parts: Sequence[Series]) -> int:
    return max(int(part.step.max()) for part in parts)


def fitness(track: Track, rivals: Sequence[Track]) -> tuple[bool, bool, bool, int, int]:
    """What makes one track the better of several.

    It is no mere sample, spans enough of the run, is not of the test set, has the most points, has
    the plainest name.
    """
    full = [r for r in rivals if len(r) >= LEAST_SHARE * max(len(r) for r in rivals)]
    longest = max(int(r.step[-1] - r.step[0]) for r in full)
    spans = int(track.step[-1] - track.step[0]) >= COVERAGE * longest
    full_enough = any(track is r for r in full)
    return full_enough, spans, not names_test(track.tag), len(track), -len(track.tag)


def is_rate(series: Series) -> bool:
    """True for a learning rate under the name by which others call the time that is left."""
    named = normalise(series.tag).rpartition("/")[2] in ("eta", "step_size")
    value = series.value[np.isfinite(series.value)]
    return named and len(value) > 1 and bool(value.min() >= 0) and 0 < float(value.max()) <= 1


def stand_in(tracks: dict[Signal, Track]) -> None:
    """Give a run without a loss the next best: the epoch mean, else the error it was trained on."""
    epoch = tracks.get(Signal.TRAIN_LOSS_EPOCH)
    if epoch is not None and Signal.TRAIN_LOSS not in tracks and len(epoch) > 1:
        tracks[Signal.TRAIN_LOSS] = replace(epoch, signal=Signal.TRAIN_LOSS)
    for loss, error in (
        (Signal.TRAIN_LOSS, Signal.TRAIN_ERROR),
        (Signal.EVAL_LOSS, Signal.EVAL_ERROR),
    ):
        other = tracks.get(error)
        if other is None or loss in tracks or len(other) < 2 or not names_distance(other.tag):
            continue
        tracks[loss] = replace(other, signal=loss)
