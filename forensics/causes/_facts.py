"""Facts about a case on which several looks rest; None where the run does not say."""

import re
from dataclasses import dataclass
from functools import lru_cache
from math import log

import numpy as np

from forensics.case import Case
from forensics.findings import Episode, EpisodeKind, Outcome
from forensics.medians import median
from forensics.run import Axis, Steps, Values
from forensics.signals import Signal
from forensics.timeline import Track

_CLASSIFIER = "classif|multiplechoice"
"""In the name of a model: it reads tokens and tells classes apart."""

FINE_INTERVAL = 10
"""Log interval in steps up to which 'the step before' means something."""


@dataclass(frozen=True, eq=False)
class Points:
    """The finite points of a track."""

    step: Steps
    value: Values

    def __len__(self) -> int:
        return len(self.step)


def points(track: Track | None) -> Points | None:
    """The finite points of a quantity, or None where there are none."""
    if track is None or not track.finite.any():
        return None
    if track.finite.all():
        return Points(track.step, track.value)
    return Points(track.step[track.finite], track.value[track.finite])


def before(case: Case, signal: Signal, step: int | None, least: int = 1) -> Points | None:
    """The finite points logged before ``step`` (all where it is None), if there are ``least``."""
    found = points(case.track(signal))
    if found is not None and step is not None:
        end = int(np.searchsorted(found.step, step))
        found = Points(found.step[:end], found.value[:end])
    return found if found is not None and len(found) >= least else None


def since(case: Case, signal: Signal, step: int, least: int = 1) -> Points | None:
    """The finite points logged at ``step`` or later, if there are ``least``."""
    found = points(case.track(signal))
    if found is None:
        return None
    start = int(np.searchsorted(found.step, step))
    later = Points(found.step[start:], found.value[start:])
    return later if len(later) >= least else None


def beside(found: Points, steps: Steps, width: int = 4) -> Values:
    """Medians of the ``width`` points on either side of each step; shape of ``steps``.

    A single batch is noisy, and a wide stretch of a falling loss lies above its end.
    """
    at = np.searchsorted(found.step, steps)
    return np.array([median(found.value[max(i - width, 0) : i + width]) for i in at])


def value_at(case: Case, signal: Signal, step: int) -> float | None:
    """The last finite value logged at or before ``step``."""
    found = before(case, signal, step + 1)
    return None if found is None else float(found.value[-1])


def counts_steps(case: Case) -> bool:
    """True where the x-axis counts optimizer steps (or rows, for want of anything better)."""
    return case.timeline.axis in (Axis.STEP, Axis.ROW)


def starts_at_beginning(case: Case) -> bool:
    """True where the log holds the start of training, not only a later part."""
    line = case.timeline
    return counts_steps(case) and line.first_step <= max(10, 2 * line.interval)


def break_onset(case: Case) -> int | None:
    """The onset, where something broke there: a run that never got on has no time before it."""
    if case.judgement.outcome in (Outcome.STALLED, Outcome.OVERFIT, Outcome.VALIDATION_FAILED):
        return None
    return case.judgement.onset_step


def first_non_finite(case: Case) -> int | None:
    """Where a number was first not finite; None where all were.

    A framework that stops because of one logs it no more: it came after the last point.
    """
    broken = case.episodes_of(EpisodeKind.NON_FINITE, EpisodeKind.HIDDEN_NON_FINITE)
    trained = [e for e in broken if e.signal is not Signal.EVAL_LOSS]
    if broken:
        return min(e.onset_step for e in trained or broken)
    return case.timeline.last_step + 1 if case.judgement.outcome is Outcome.NON_FINITE else None


def warmup_steps(case: Case) -> int | None:
    """Length of the warm-up: as configured, else as the logged learning rate shows it.

    A logged rate proves a missing warm-up only where it was logged often enough to see one.
    """
    config = case.config
    if config.warmup_steps:
        return config.warmup_steps
    if config.warmup_ratio:
        return round(config.warmup_ratio * config.total_steps) if config.total_steps else None
    if config.warmup_steps == 0 or config.warmup_ratio == 0:
        return 0
    if case.lr is None or not starts_at_beginning(case):
        return None
    if case.lr.warmup_steps == 0 and case.timeline.interval > 2 * FINE_INTERVAL:
        return None
    return case.lr.warmup_steps


def optimizer_memory(case: Case) -> float:
    """Steps until Adam's second moment has settled, 2 / (1 - beta2) (arXiv 1910.04209)."""
    beta2 = min((case.config.betas or (0.9, 0.999))[1], 0.9996)
    return 2 / (1 - beta2)


def surely_early(case: Case) -> int:
    """Last step that is the beginning of training by any measure.

    5 % of the run (100 steps where its length is not known), or three warm-ups.
    """
    total = case.config.total_steps
    return int(max(0.05 * total if total else 100, 3 * (warmup_steps(case) or 0), 10))


def early_limit(case: Case) -> int:
    """Last step that may still count as the beginning of training.

    While the second moment fills; never more than a quarter of a run whose length is known.
    """
    memory, total = optimizer_memory(case), case.config.total_steps
    span = case.timeline.last_step - case.timeline.first_step
    limit = min(memory, 0.25 * total) if total else min(memory, max(200, 0.25 * span))
    return max(int(limit), surely_early(case))


def chance_loss(case: Case) -> tuple[float, str] | None:
    """Cross-entropy of a uniform guess and its name, or None where no count is configured."""
    config, classes = case.config, case.config.num_classes
    sorts = bool(classes and re.search(_CLASSIFIER, config.model or "", re.IGNORECASE))
    if config.vocab_size and config.vocab_size > 1 and not sorts:
        return log(config.vocab_size), f"ln({config.vocab_size:,}) of a uniform guess over tokens"
    if classes and classes > 1:
        return log(classes), f"ln({classes:,}) of a uniform guess"
    rests = [e for e in case.episodes_of(EpisodeKind.PLATEAU) if _in_batch(e)]
    return (float(rests[0].details["level"]), rests[0].details["level_name"]) if rests else None


def _in_batch(plateau: Episode) -> bool:
    """True where the loss rests on that of a guess among the samples of its batch."""
    return plateau.details.get("level_kind") == "ln_batch"


def initial_loss(case: Case) -> float | None:
    """The first finite training loss, where the log holds the start of training."""
    found = points(case.track(Signal.TRAIN_LOSS)) if starts_at_beginning(case) else None
    return None if found is None else float(found.value[0])


@lru_cache(maxsize=4)
def usual_gradient(case: Case, least: int = 8) -> float | None:
    """Median gradient norm before the onset (of the whole run where there is none)."""
    return _median_positive(before(case, Signal.GRAD_NORM, break_onset(case), least))


@lru_cache(maxsize=4)
def overall_gradient(case: Case) -> float | None:
    """Median gradient norm of the whole run; 0.000 all along means that it was not measured."""
    found = points(case.track(Signal.GRAD_NORM))
    return None if found is None or not np.any(found.value) else _median_positive(found)


def _median_positive(found: Points | None) -> float | None:
    if found is None:
        return None
    positive = found.value[found.value > 0]
    return median(positive) if len(positive) else 0.0


def highest_lr(case: Case) -> float | None:
    """The highest learning rate in force up to the onset: logged, else the configured peak.

    To six digits: TensorBoard's float32 makes 0.0030000000261 of 0.003.
    """
    step = break_onset(case)
    found = before(case, Signal.LR, None if step is None else step + 1)
    if case.lr is None:
        lr = case.config.lr_peak
    else:
        lr = case.lr.peak if found is None else float(found.value.max())
    return None if lr is None else float(f"{lr:.6g}")


def flag(case: Case, *names: str) -> bool | None:
    """A setting found in the raw configuration under any of the names, read as on or off.

    Keys are compared by their last part, so ``model.qk_norm`` answers for ``qk_norm``.
    """
    for key, value in case.config.raw.items():
        if key.rpartition(".")[2].lower().replace("-", "_") in names:
            if isinstance(value, str):
                return value.strip().lower() not in (
                    "",
                    "0",
                    "0.0",
                    "false",
                    "none",
                    "null",
                    "no",
                    "off",
                )
            return bool(value)
    return None
