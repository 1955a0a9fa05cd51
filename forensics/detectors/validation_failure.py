"""Validation broken while training is fine: a jump, a gap from the start, or no progress at all."""

import numpy as np

from forensics.detectors._base import Detector
from forensics.detectors._behind import Behind, far_behind, fell_behind
from forensics.detectors._context import finite_loss, finite_of, is_reinforcement, last_before
from forensics.detectors._floor_shape import first_level
from forensics.detectors._robust import level
from forensics.findings import Ending, Episode, EpisodeKind, Severity
from forensics.medians import median
from forensics.run import Config, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Timeline


def detect(
    timeline: Timeline,
    config: Config,
    *,
    evaluations: int = 3,
    train_fall: float = 0.3,
    jump: float = 3.0,
    gap: float = 2.5,
    closing: float = 0.05,
    early: float = 0.05,
    far: float = 10.0,
    above: float = 1.2,
    behind: float = 0.5,
    learned: float = 0.15,
    known: float = 0.3,
    apart: float = 0.25,
    held: float = 0.9,
) -> list[Episode]:
    """Find a validation that fails for another reason than overfitting; at most one episode.

    Args:
        timeline: The run.
        config: A fine-tune has little to learn, and validation then starts low.
        evaluations: Fewest evaluations to judge by.
        train_fall: Share by which training must have improved to be called fine.
        jump: Factor over the median validation loss that makes a jump (BatchNorm statistics
            go wrong by orders of magnitude).
        gap: Factor over the training loss that makes a gap from the first evaluation on.
        closing: A validation that never improves by this share is flat.
        early: Share of the run within which the first evaluation must lie for that: a later
            one may already follow the best point, which is overfitting.
        far: Factor over the first training loss that validation never gets below.
        above: The same where validation got a little better at times and then worse again.
        behind: Share of the first training loss above which validation stays all the last third.
        learned: Share of it that training must have come down to meanwhile.
        known: The same where the accuracies lie far apart too.
        apart: Accuracy on training data less that on validation data from which they do.
        held: Share of the best validation accuracy above which it holds, and excuses the loss.
    """
    step, value = finite_of(timeline, Signal.EVAL_LOSS)
    train_step, train = finite_loss(timeline)
    if len(value) < evaluations or len(train) < 6 or is_reinforcement(timeline):
        return []
    width = max(1, len(train) // 20)
    first, last = level(train, width, at_end=False), level(train, width, at_end=True)
    if first <= 0 or (first - last) / first < train_fall:
        return []
    found = _jump(step, value, train_step, train, jump)
    soon = int(step[0]) - timeline.first_step <= early * (timeline.last_step - timeline.first_step)
    if found is None and soon:
        found = _flat(step, value, train_step, train, gap, closing)
    if found is None and _far_from_learning(timeline, step, value, first, last, far):
        near = _near(train_step, train, int(step[-1]))
        found = _episode(step, value, 0, "gap_from_start", near, len(value) - 1)
    improves = float(value.min()) < (1.0 - closing) * float(value[0])
    apart_from_it = improves and float(value.min()) >= above * level(train, 3, at_end=False)
    lost = apart_from_it and not _follows(value, first, last, closing)
    if found is None and (lost or not improves) and float(value.min()) >= first:
        # Never better than the untrained model on training data: nothing carries over.
        near = _near(train_step, train, int(step[-1]))
        found = _episode(step, value, 0, "flat", near, len(value) - 1)
    fresh = timeline.first_step <= early * timeline.last_step
    if found is None and fresh and not (config.pretrained or config.lora):
        limits = Behind(behind, learned, known, apart, held)
        if far_behind(timeline, value, train, first_level(train), limits):
            near = median(train[-max(3, len(train) // 5) :])
            start = fell_behind(value)
            found = _episode(step, value, start, "gap_from_start", near, len(value) - 1)
    return [found] if found else []


def _jump(
    step: Steps, value: Values, train_step: Steps, train: Values, factor: float
) -> Episode | None:
    """Evaluations far above their own median that the training loss does not share."""
    usual = median(value)
    high = np.flatnonzero(value > factor * max(usual, 1e-9))
    # The first evaluation is high because the model is untrained.
    high = high[high > 0]
    if len(high) == 0 or not (len(high) >= 2 or high[-1] == len(value) - 1):
        return None
    near = [_near(train_step, train, int(step[i])) for i in high]
    if max(near) > 0.5 * float(value[high].max()):
        return None
    return _episode(step, value, int(high[0]), "jump", median(near), int(high[-1]))


def _flat(
    step: Steps, value: Values, train_step: Steps, train: Values, gap: float, closing: float
) -> Episode | None:
    """A validation that starts far above training and never comes down."""
    near = np.array([_near(train_step, train, int(s)) for s in step])
    best, start = float(value.min()), float(value[0])
    improved = (start - best) / max(abs(start), 1e-9) >= closing
    ends_above = float(value[-1]) >= 0.95 * start
    if improved or not ends_above:
        return None
    apart = value >= gap * np.maximum(near, 1e-9)
    if bool(np.mean(apart[1:]) >= 0.8):
        form = "gap_from_start" if apart[0] else "flat"
        return _episode(step, value, 0, form, float(near[-1]), len(value) - 1)
    return None


def _far_from_learning(
    timeline: Timeline, step: Steps, value: Values, first: float, last: float, factor: float
) -> bool:
    """Validation stays many times above an untrained model and hardly follows training.

    A validation loss in another unit (a sum over batches) is as far away, but falls alike; and a
    validation accuracy that rises clears it.
    """
    if last <= 0 or float(value.min()) < factor * first:
        return False
    fall = float(np.log(value[0] / median(value[-3:])))
    _, accuracy = finite_of(timeline, Signal.EVAL_ACCURACY)
    rises = len(accuracy) >= 3 and float(accuracy[-1]) > 1.2 * float(accuracy[0]) + 0.01
    return fall < 0.5 * float(np.log(first / last)) and not rises


def _follows(value: Values, first: float, last: float, closing: float) -> bool:
    """True where validation ends better than it began, be it in another unit than training."""
    end = median(value[-max(1, len(value) // 4) :])
    if last <= 0 or end <= 0:
        return False
    fell = float(np.log(value[0] / end))
    return fell >= max(closing, 0.25 * float(np.log(first / last)))


def _near(step: Steps, train: Values, at: int) -> float:
    position = int(np.searchsorted(step, at))
    return median(train[max(0, position - 4) : position + 4])


def _episode(
    step: Steps, value: Values, first: int, form: str, train_level: float, last: int
) -> Episode:
    onset = int(step[first])
    peak = first + int(np.argmax(value[first : last + 1]))
    lasting = last == len(value) - 1
    return Episode(
        EpisodeKind.VALIDATION_FAILURE,
        Signal.EVAL_LOSS,
        onset,
        Severity.FAILURE if lasting else Severity.WARNING,
        Ending.PERSISTED if lasting else Ending.RECOVERED,
        after_step=last_before(step, onset),
        peak_step=int(step[peak]),
        peak_value=float(value[peak]),
        recovery_step=None if lasting else int(step[last + 1]),
        baseline=median(value),
        details={"form": form, "train_level": train_level, "eval_level": float(value[last])},
    )


DETECTOR = Detector("validation_failure", ((Signal.TRAIN_LOSS, Signal.EVAL_LOSS),), detect)
