"""What a training did, told from every step of it and from its control."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zoo_runs.logged import Logged
from zoo_runs.onsets import (
    Began,
    Steps,
    Values,
    came_to_rest,
    can_be_seen,
    first_of,
    left_the_band,
    noise_of,
    reached,
    smooth,
    tail,
    turned,
)
from zoo_runs.watch import Watch

SHARE = 0.15
"""Share of the control's progress that a run must lose to count as failed."""


@dataclass(frozen=True)
class Measured:
    """Outcome and onset of one run."""

    outcome: str
    symptom: str
    began: Began | None
    """Steps, counted from 1; None: no failure, or one without a beginning in the curve."""
    seen: bool
    """False: an event too small for what was logged to show it."""
    start: float
    end: float
    control_end: float


def curve(watch: Watch) -> tuple[NDArray[np.int64], Values]:
    """Steps and losses of a run, both (n,)."""
    step = np.array(sorted(watch.losses), dtype=np.int64)
    return step, np.array([watch.losses[int(s)] for s in step])


def as_logged(watch: Watch, logged: Logged) -> tuple[Steps, Values]:
    """Steps and losses that the run wrote down, both (m,)."""
    step, loss = curve(watch)
    kept = step % logged.interval == 0
    if not logged.mean or logged.interval == 1:
        return step[kept], loss[kept]
    means = [np.mean(loss[(step > s - logged.interval) & (step <= s)]) for s in step[kept]]
    return step[kept], np.array(means)


def measure(run: Watch, control: Watch, acts_at: int | None, logged: Logged) -> Measured:
    """Tell how a run ended and where that began.

    Args:
        run: The run.
        control: The same training without the fault.
        acts_at: Step at which the fault acts, where it acts at one.
        logged: What the run wrote down.
    """
    _, loss = curve(run)
    _, sound = curve(control)
    outcome, began = _judge(run, control, acts_at)
    if began is not None and acts_at is not None:
        began = Began(acts_at, max(acts_at, began.first))
    seen = True
    if outcome == "spiked_recovered" and began is not None:
        began, seen = _as_shown(run, control, began, acts_at, logged)
    symptom = _symptom(outcome, loss, sound)
    return Measured(outcome, symptom, began, seen, _start(sound), tail(loss), tail(sound))


def _as_shown(
    run: Watch, control: Watch, began: Began, acts_at: int | None, logged: Logged
) -> tuple[Began, bool]:
    """From the first event to the first that a logged point shows; and whether one does."""
    step, shown = as_logged(run, logged)
    _, sound = as_logged(control, logged)
    high = np.flatnonzero(out_of_band(shown, sound) | ~np.isfinite(shown[: len(sound)]))
    if len(high):
        return Began(began.first, max(began.last, int(step[high[0]]))), True
    return began, acts_at is not None and can_be_seen(step, shown, acts_at)


def _start(loss: Values) -> float:
    return float(np.median(loss[:3]))


def _judge(run: Watch, control: Watch, acts_at: int | None) -> tuple[str, Began | None]:
    step, loss = curve(run)
    _, sound = curve(control)
    if run.error:
        return "crashed", None
    bad = ~np.isfinite(loss)
    if bad[-1] or bad[-max(3, len(loss) // 10) :].mean() > 0.5:
        return "non_finite", left_the_band(step, loss, int(np.argmax(bad)))
    level = np.where(bad, np.nanmax(np.where(bad, np.nan, loss)), loss)
    failed = _of_the_level(step, level, sound)
    if failed is not None:
        return failed
    validation = _validation(run, control)
    if validation is not None:
        return validation
    if acts_at is not None and jumped(level, sound, int(np.searchsorted(step, acts_at))):
        return "spiked_recovered", Began(acts_at, acts_at)
    high = out_of_band(level, sound) | bad[: len(sound)]
    return ("spiked_recovered", first_of(step, high)) if high.any() else ("healthy", None)


def _of_the_level(step: Steps, level: Values, sound: Values) -> tuple[str, Began] | None:
    """The failure that the loss ends in; None: it ends as its control does."""
    start, end, control_end = _start(sound), tail(level), tail(sound)
    gain = start - control_end
    lost = end - control_end > SHARE * gain
    calm = smooth(level, max(9, len(level) // 40))
    best, at = float(calm.min()), int(np.argmin(calm))
    if _start(level) > 1.5 * start and lost:
        began = Began(int(step[0]), int(step[reached(level)]))
        return ("diverged" if end > start else "stalled"), began
    if end - best > SHARE * gain + 0.5 * noise_of(level) and at > 2:
        outcome = "diverged" if end > 0.97 * start else "spiked_unrecovered"
        return outcome, left_the_band(step, level, at + _rise(calm[at:], best, end))
    if end > 1.05 * max(start, _start(level)):
        began = left_the_band(step, level, int(np.argmax(calm)))
        return "diverged", Began(int(step[0]), began.last)
    return ("stalled", came_to_rest(step, level, sound, gain)) if lost else None


def _rise(calm: Values, best: float, end: float) -> int:
    """Points from the best level to half-way up to the end's."""
    return int(np.argmax(calm > (best + end) / 2)) if end > best else 0


def jumped(loss: Values, sound: Values, at: int) -> bool:
    """Whether the loss leaves that of its control, equal to the last bit before, for some steps.

    It must also stand out from what was logged before, or nobody could see it.
    """
    n = min(len(loss), len(sound))
    apart = smooth(loss[at:n] - sound[at:n], 9)
    gain = _start(sound) - tail(sound)
    if len(apart) <= 9:
        return False
    noise = noise_of(loss[max(0, at - 100) : at])
    risen = smooth(loss[at:n], 9).max() - np.median(loss[max(0, at - 20) : at])
    return bool(apart.max() > max(2 * noise, 0.025 * gain) and risen > noise)


def out_of_band(loss: Values, sound: Values) -> NDArray[np.bool_]:
    """Points of a spike that the control does not have; (n,).

    Measured in the loss itself, and in its logarithm while it is more than a few thousandths of
    the first loss: what spikes from a millionth to a hundredth has spiked.
    """
    n = min(len(loss), len(sound))
    loss, sound = loss[:n], sound[:n]
    start = _start(sound)
    calm = smooth(loss, 33)
    usual = np.maximum(calm, np.maximum(smooth(sound, 33), sound))
    high: NDArray[np.bool_] = loss - usual > max(8 * noise_of(sound), 0.08 * (start - tail(sound)))
    if loss.min() > 0 and sound.min() > 0:
        noise = noise_of(np.log(sound))
        high |= (np.log(loss / calm) > max(8 * noise, math.log(10))) & (loss > 0.003 * start)
    high[:3] = False
    return high


def _validation(run: Watch, control: Watch) -> tuple[str, Began | None] | None:
    """Overfit or broken validation, and since when; None: it is sound."""
    steps = sorted(run.validation)
    if len(steps) < 2 or len(control.validation) < 2:
        return None
    values = np.array([run.validation[s] for s in steps])
    sound = np.array([control.validation[s] for s in sorted(control.validation)])
    gain = float(sound[0] - sound[-1]) if sound[0] > sound[-1] else float(sound[0])
    gain = max(gain, _start(curve(control)[1]) - float(sound[-1]), 1e-9)
    swings = np.median(np.abs(np.diff(values))) > 0.3 * gain
    if not (values[-1] - sound[-1] > SHARE * gain or swings or not np.isfinite(values).all()):
        return None
    best = int(np.nanargmin(values)) if np.isfinite(values).any() else 0
    if best > 0 and values[-1] > 1.1 * values[best] and not swings and len(values) > 3:
        return "overfit", turned(steps, values)
    n = min(len(values), len(sound))
    bad = ~(values[:n] - sound[:n] <= SHARE * gain)
    return "validation_failed", first_of(steps, bad)


def _symptom(outcome: str, loss: Values, sound: Values) -> str:
    if outcome == "non_finite":
        return "first_step_non_finite" if not math.isfinite(loss[0]) else "late_non_finite"
    if outcome == "spiked_recovered":
        return "consecutive_spikes" if _events(loss, sound) > 2 else "single_spike_recovers"
    return {
        "healthy": "none",
        "crashed": "crash",
        "stalled": "no_progress",
        "overfit": "validation_only",
        "validation_failed": "validation_only",
    }.get(outcome, "spike_never_recovers")


def _events(loss: Values, sound: Values) -> int:
    """Number of separate spikes."""
    finite = np.where(np.isfinite(loss), loss, np.nanmax(loss[np.isfinite(loss)]))
    high = np.flatnonzero(out_of_band(finite, sound))
    return 1 + int((np.diff(high) > 20).sum()) if len(high) else 0


def plateau(run: Watch) -> Began:
    """First step near the level at which a run ends, which may be that from which it starts."""
    step, loss = curve(run)
    near = smooth(loss, max(9, len(loss) // 40)) < 1.15 * tail(loss)
    first, last = sorted((reached(loss), int(np.argmax(near))))
    return Began(int(step[first]), int(step[last]))
