"""The pilot run before the restart: small, and long enough to meet what stopped this run."""

from collections.abc import Sequence

import numpy as np

from forensics.advice._levels import planned_updates
from forensics.advice._timing import failed_at
from forensics.case import Case
from forensics.findings import Change
from forensics.phrasing import at_step, number
from forensics.run import Axis
from forensics.signals import Signal

SHORTEST_STRETCH = 200
"""Steps at the peak rate: enough for a second moment with beta2 0.99 to settle twice over."""
LONGEST_REACH = 5000
"""A failure later than this is not worth reaching for from step 0: resume before it instead."""


def pilot_run(case: Case, changes: Sequence[Change]) -> tuple[str, ...]:
    """Instructions for the pilot run, one each, with this run's numbers."""
    warmup = _warmup_steps(case)
    length = warmup + _stretch(case)
    return (
        _schedule(case, warmup, length, changes),
        _reach(case, length),
        _data(case, length),
        _validation(case),
        _seed(case),
        "Go on only when every loss and gradient norm was finite, no alarm of the list below fired,"
        " and the validation loss fell.",
    )


def _schedule(case: Case, warmup: int, length: int, changes: Sequence[Change]) -> str:
    peak = case.config.lr_peak if case.lr is None else case.lr.peak
    new = next((c.after for c in changes if c.setting == "learning_rate"), peak)
    rate = f" of {number(new)}" if isinstance(new, int | float) else ""
    return (
        f"Run {length:,} optimizer steps: the full warm-up of {warmup:,} steps, not a shortened"
        f" one, then {length - warmup:,} steps at the peak learning rate{rate}."
    )


def _reach(case: Case, length: int) -> str:
    onset = failed_at(case)
    if onset is None:
        return "Keep precision, batch size and number of devices exactly as in the full run."
    if case.timeline.axis is not Axis.STEP:
        return f"Then go on past {at_step(onset)}, where this run went wrong."
    if onset <= length:
        return f"This covers {at_step(onset)}, where this run went wrong."
    if onset <= LONGEST_REACH:
        past = at_step(onset + length)
        return f"Then go on past {at_step(onset)}, where this run went wrong, to {past}."
    return (
        f"This run went wrong at {at_step(onset)}, too late to reach from the start: repeat the"
        f" pilot from the last checkpoint before it, for {length:,} steps."
    )


def _data(case: Case, length: int) -> str:
    batch = case.config.effective_batch
    amount = f"{length * batch:,} samples" if batch else f"{length:,} batches"
    return (
        f"Draw {amount} at random from the whole training set, every source and the longest"
        " sequences included, never just its first shard."
    )


def _validation(case: Case) -> str:
    track = case.track(Signal.EVAL_LOSS)
    first = None if track is None or not track.finite.any() else track.value[track.finite][0]
    level = "" if first is None else f" (this run began at {number(float(first))})"
    return (
        "Validate once before the first step and once at the end, on the real validation set and"
        f" with the code of the full run{level}."
    )


def _seed(case: Case) -> str:
    seed = case.config.seed
    if seed is None:
        return "Fix the seed and write it down: this run did not record one."
    return f"Fix the seed at {seed} again, so that a failure can be repeated step by step."


def _warmup_steps(case: Case) -> int:
    """As configured, else as logged, else 3 % of the run, at least 100."""
    config, total = case.config, planned_updates(case) or 0
    known = config.warmup_steps or round((config.warmup_ratio or 0.0) * total)
    if not known and case.lr is not None:
        known = case.lr.warmup_steps
    return int(known or np.clip(round(0.03 * total), 100, 2000))


def _stretch(case: Case) -> int:
    total = planned_updates(case) or 0
    return int(np.clip(round(0.02 * total), SHORTEST_STRETCH, 2000))
