"""What a training did, told from every step of it and from its control."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zoo_runs.watch import Watch

Values = NDArray[np.float64]
SHARE = 0.15
"""Share of the control's progress that a run must lose to count as failed."""


@dataclass(frozen=True)
class Measured:
    """Outcome and onset of one run."""

    outcome: str
    symptom: str
    onset: int | None
    """Step, counted from 1; None: no failure, or one without a beginning in the curve."""
    slack: int
    """Steps by which the onset is uncertain, were every step logged."""
    start: float
    end: float
    control_end: float


def curve(watch: Watch) -> tuple[NDArray[np.int64], Values]:
    """Steps and losses of a run, both (n,)."""
    step = np.array(sorted(watch.losses), dtype=np.int64)
    return step, np.array([watch.losses[int(s)] for s in step])


def smooth(loss: Values, width: int) -> Values:
    """Running median over ``width`` points, centred; (n,)."""
    half = width // 2
    padded = np.pad(loss, half, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1), axis=1)


def tail(loss: Values) -> float:
    """Median of the last tenth."""
    return float(np.median(loss[-max(3, len(loss) // 10) :]))


def measure(run: Watch, control: Watch, acts_at: int | None) -> Measured:
    """Tell how a run ended and where that began.

    Args:
        run: The run.
        control: The same training without the fault.
        acts_at: Step at which the fault acts, where it acts at one.
    """
    _, loss = curve(run)
    _, sound = curve(control)
    start, end, control_end = _start(sound), tail(loss), tail(sound)
    outcome, onset, slack = _judge(run, control, acts_at)
    if onset is not None and acts_at is not None:
        onset, slack = acts_at, max(0, min(slack, onset - acts_at))
    symptom = _symptom(outcome, loss, sound)
    return Measured(outcome, symptom, onset, slack, start, end, control_end)


def _start(loss: Values) -> float:
    return float(np.median(loss[:3]))


def _judge(run: Watch, control: Watch, acts_at: int | None) -> tuple[str, int | None, int]:
    step, loss = curve(run)
    _, sound = curve(control)
    if run.error:
        return "crashed", None, 0
    bad = ~np.isfinite(loss)
    if bad[-1] or bad[-max(3, len(loss) // 10) :].mean() > 0.5:
        return "non_finite", *_before(step, loss, int(np.argmax(bad)))
    validation = _validation(run, control)
    level = np.where(bad, np.nanmax(np.where(bad, np.nan, loss)), loss)
    start, end, control_end = _start(sound), tail(level), tail(sound)
    gain = start - control_end
    calm = smooth(level, max(9, len(level) // 40))
    best = float(calm.min())
    turned = int(np.argmin(calm))
    if _start(level) > 1.5 * start and end - control_end > SHARE * gain:
        return ("diverged" if end > start else "stalled"), int(step[0]), len(loss) // 10
    if end - best > SHARE * gain + 0.5 * _noise(level) and turned > 2:
        outcome = "diverged" if end > 0.97 * start else "spiked_unrecovered"
        return outcome, *_before(step, level, turned + _rise(calm[turned:], best, end))
    if end > 1.05 * max(start, _start(level)):
        return "diverged", int(step[0]), len(loss) // 10
    if end - control_end > SHARE * gain:
        return "stalled", *_parted(step, level, sound, gain)
    if validation is not None:
        return validation
    high = out_of_band(level, sound) | bad[: len(sound)]
    if acts_at is not None and jumped(level, sound, int(np.searchsorted(step, acts_at))):
        return "spiked_recovered", acts_at, 0
    if high.any():
        at = int(np.argmax(high))
        return "spiked_recovered", int(step[at]), 2
    return "healthy", None, 0


def _rise(calm: Values, best: float, end: float) -> int:
    """Points from the best level to half-way up to the end's."""
    return int(np.argmax(calm > (best + end) / 2)) if end > best else 0


def _before(step: NDArray[np.int64], loss: Values, at: int) -> tuple[int, int]:
    """First step outside the band before point ``at``, and how unsure that is."""
    before = loss[: at + 1]
    before = np.where(np.isfinite(before), before, np.inf)
    calm = smooth(before, 9)
    turned = int(np.argmin(calm[: at + 1]))
    spread = 1.4826 * float(np.median(np.abs(np.diff(loss[max(0, turned - 40) : turned + 1]))))
    spread = spread if math.isfinite(spread) else 0.0
    band = float(calm[turned]) + max(4 * spread, 0.03 * abs(float(calm[turned])))
    inside = np.flatnonzero(before <= band)
    left = min(int(inside[-1]) + 1, at) if len(inside) else 0
    return int(step[left]), left - turned if left > turned else 3


def _parted(step: NDArray[np.int64], loss: Values, sound: Values, gain: float) -> tuple[int, int]:
    """Step at which a run that never got on parts from its control."""
    n = min(len(loss), len(sound))
    width = max(9, n // 40)
    apart = smooth(loss[:n], width) - smooth(sound[:n], width) > 0.05 * gain
    close = np.flatnonzero(~apart)
    at = int(close[-1]) + 1 if len(close) else 0
    at = min(at, n - 1)
    return int(step[at]), max(at, n // 10)


def jumped(loss: Values, sound: Values, at: int) -> bool:
    """Whether the loss leaves that of its control, equal to the last bit before, for some steps.

    It must also stand out from what was logged before, or nobody could see it.
    """
    n = min(len(loss), len(sound))
    apart = smooth(loss[at:n] - sound[at:n], 9)
    gain = _start(sound) - tail(sound)
    if len(apart) <= 9:
        return False
    noise = _noise(loss[max(0, at - 100) : at])
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
    high: NDArray[np.bool_] = loss - usual > max(8 * _noise(sound), 0.08 * (start - tail(sound)))
    if loss.min() > 0 and sound.min() > 0:
        noise = _noise(np.log(sound))
        high |= (np.log(loss / calm) > max(8 * noise, math.log(10))) & (loss > 0.003 * start)
    high[:3] = False
    return high


def _noise(values: Values) -> float:
    """Standard deviation from one point to the next, robustly."""
    return 1.4826 * float(np.median(np.abs(np.diff(values))))


def _validation(run: Watch, control: Watch) -> tuple[str, int | None, int] | None:
    """Overfit or broken validation, with the step and its slack; None: it is sound."""
    steps = sorted(run.validation)
    if len(steps) < 2 or len(control.validation) < 2:
        return None
    values = np.array([run.validation[s] for s in steps])
    sound = np.array([control.validation[s] for s in sorted(control.validation)])
    gain = float(sound[0] - sound[-1]) if sound[0] > sound[-1] else float(sound[0])
    start = _start(curve(control)[1])
    lost = values[-1] - sound[-1] > SHARE * max(gain, start - sound[-1], 1e-9)
    swings = np.median(np.abs(np.diff(values))) > 0.3 * max(1e-9, start - sound[-1])
    if not (lost or swings or not np.isfinite(values).all()):
        return None
    best = int(np.nanargmin(values)) if np.isfinite(values).any() else 0
    spacing = int(steps[1] - steps[0])
    turned = best > 0 and values[-1] > 1.1 * values[best] and not swings
    if turned and len(values) > 3:
        return "overfit", int(steps[best]), 2 * spacing
    return "validation_failed", int(steps[0]), 2 * spacing


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


def plateau(run: Watch) -> tuple[int, int]:
    """First step near the level at which a run ends, and how unsure that is."""
    step, loss = curve(run)
    near = smooth(loss, max(9, len(loss) // 40)) < 1.15 * tail(loss)
    at = int(np.argmax(near))
    return int(step[at]), max(at, len(loss) // 10)
