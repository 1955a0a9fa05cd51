"""Floors that captured batches explain: one class alone, labels by lot, inputs never scaled.

From the log alone such a run looks as one that is done, or as one whose samples are mixed or
augmented; the labels of its batches tell the difference.
"""

import numpy as np

from forensics.batch_facts import BatchSurvey, Oddity
from forensics.detectors._context import finite_of
from forensics.detectors._floor_shape import first_level, part, resting, stopped, unit_of
from forensics.detectors._levels import Flat
from forensics.medians import median
from forensics.run import Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline

NEARLY_ALL, COUNTED = 0.95, 100
"""Share of the largest class, and labels needed to know it."""
OF_ENTROPY = 0.6
"""Least share of the labels' entropy at which a loss knows frequencies alone."""
HALF_RIGHT, HALF_LOSS = 0.7, 0.7
"""Training accuracy over validation's, and validation loss over training's, of labels by lot."""
RAW, HUGE, HIGH, LEFT = 100.0, 30.0, 10.0, 0.05
"""Magnitude of inputs that nobody scaled; the first loss, the last one, and the share of the first
that is left, from which the loss is none of a task that was learned."""
FAR = 0.5
"""Share of the first loss that such labels leave at least."""


def of_batches(timeline: Timeline, batches: BatchSurvey, step: Steps, value: Values) -> Flat | None:
    """The floor that the labels of a run's batches explain, or None.

    Args:
        timeline: The run.
        batches: What its batches hold.
        step: Shape (n,), of the finite losses.
        value: Shape (n,), the losses.
    """
    if len(value) < 20:
        return None
    if batches.labels_counted < COUNTED or len(batches.class_shares) < 2:
        return _raw_inputs(timeline, batches, value)
    return _one_class(timeline, batches, value) or _by_lot(timeline, value)


def _raw_inputs(timeline: Timeline, batches: BatchSurvey, value: Values) -> Flat | None:
    """Inputs in the hundreds, in every batch, and a loss that stopped early at many nats.

    It began far above what targets of that scale cost, because the inputs made it so.
    """
    raw = any(
        f.oddity is Oddity.INPUT_SCALE and "label" not in f.tensor and (f.value or 0.0) >= RAW
        for f in batches.everywhere
    )
    first, level = first_level(value), part(value, 0.8, 1.0)
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if not raw or len(evals) < 3 or first < HUGE or level < max(HIGH, LEFT * first):
        return None
    as_poor = 0.5 * level <= median(evals[-3:]) <= 2.0 * level
    fell = part(value, 0.0, 0.1) - level
    slow = part(value, 0.15, 0.35) - level <= FAR * fell
    return resting(value, first, level, from_start=True) if as_poor and slow else None


def _one_class(timeline: Timeline, batches: BatchSurvey, value: Values) -> Flat | None:
    """Always the answer of the most frequent class, of which nearly all labels are."""
    shares = np.array(batches.class_shares)
    most, first, level = (
        float(shares[0]),
        first_level(value),
        float(np.mean(value[-len(value) // 3 :])),
    )
    entropy = -float(np.sum(shares * np.log(np.maximum(shares, 1e-12))))
    if most < NEARLY_ALL or not OF_ENTROPY * entropy <= level < first:
        return None
    _, right = finite_of(timeline, Signal.EVAL_ACCURACY)
    if len(right) < 3 or float(np.ptp(right)) > 0 or abs(right[0] / unit_of(right) - most) > 0.02:
        return None
    return resting(value, first, max(level, part(value, 0.8, 1.0)))


def _by_lot(timeline: Timeline, value: Values) -> Flat | None:
    """Hard labels that training cannot get right and validation shows to be learnable."""
    _, right = finite_of(timeline, Signal.TRAIN_ACCURACY)
    _, shown = finite_of(timeline, Signal.EVAL_ACCURACY)
    _, evals = finite_of(timeline, Signal.EVAL_LOSS)
    if len(right) < 10 or len(shown) < 3 or len(evals) < 3:
        return None
    first, level = first_level(value), part(value, 0.7, 1.0)
    learned, known = median(right[-len(right) // 3 :]), median(shown[-3:])
    apart = learned <= HALF_RIGHT * known and median(evals[-3:]) <= HALF_LOSS * level
    if not apart or level < FAR * first or not stopped(value, first, FAR):
        return None
    return resting(value, first, level, from_start=True)
