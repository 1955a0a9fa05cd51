"""Synthetic training curves whose truth is known: healthy shapes, and failures planted in them.

Each function returns a loss of n points; `run_of` wraps arrays into a `Run`.
"""

from pathlib import Path

import numpy as np

from forensics.run import Config, Run, Series, Values
from forensics.timeline import Timeline, build


def run_of(
    tags: dict[str, Values], interval: int = 1, first: int = 0, config: Config | None = None
) -> Run:
    """A run that logs each array every ``interval`` steps; an array may be (step, value)."""
    series = []
    for tag, data in tags.items():
        if isinstance(data, tuple):
            step, value = data
        else:
            step, value = first + interval * np.arange(len(data)), data
        series.append(
            Series(tag, np.asarray(step, np.int64), np.asarray(value, float), "metrics.csv")
        )
    return Run(Path("run"), series=tuple(series), config=config or Config())


def timeline_of(tags: dict[str, Values], interval: int = 1, first: int = 0) -> Timeline:
    return build(run_of(tags, interval, first))


def power_law(n: int, rng: np.random.Generator, noise: float = 0.02) -> Values:
    t = np.arange(n)
    return 2.0 + 8.0 * (1 + t / max(1, n / 200)) ** -0.7 + noise * rng.standard_normal(n)


def correlated(n: int, rng: np.random.Generator, sd: float = 0.05, rho: float = 0.6) -> Values:
    noise = np.empty(n)
    noise[0] = 0
    shock = rng.standard_normal(n) * sd * np.sqrt(1 - rho**2)
    for i in range(1, n):
        noise[i] = rho * noise[i - 1] + shock[i]
    return power_law(n, rng, 0.0) + noise


def skewed(n: int, rng: np.random.Generator) -> Values:
    return power_law(n, rng, 0.0) * np.exp(0.12 * (rng.exponential(1, n) - 1))


def small_batches(n: int, rng: np.random.Generator) -> Values:
    """Fine-tuning at batch 1: noise as large as the level, little progress."""
    return (1.3 - 0.25 * np.arange(n) / n) * np.exp(0.45 * rng.standard_normal(n) - 0.1)


def heavy_tails(n: int, rng: np.random.Generator) -> Values:
    return power_law(n, rng, 0.0) + 0.03 * np.abs(rng.standard_t(3, n))


def sawtooth(n: int, rng: np.random.Generator) -> Values:
    """Epoch sawtooth: a drop at each epoch start, a rise within (2410.10056)."""
    epoch = n // 8
    phase = (np.arange(n) % epoch) / epoch
    return power_law(n, rng, 0.01) - 0.15 * (np.arange(n) // epoch) + 0.12 * phase


def warm_restarts(n: int, rng: np.random.Generator) -> Values:
    cycle = n // 4
    phase = (np.arange(n) % cycle) / cycle
    bump = np.where(np.arange(n) >= cycle, 0.35 * (1 + np.cos(np.pi * phase)), 0.0)
    return power_law(n, rng) + bump


def curriculum(n: int, rng: np.random.Generator) -> Values:
    """Longer sequences from the middle on: the level steps up and goes on falling."""
    loss = power_law(n, rng)
    half = n // 2
    loss[half:] += 0.5 * (1 + np.arange(n - half) / (n / 10)) ** -0.6
    return loss


def mixup(n: int, rng: np.random.Generator) -> Values:
    return power_law(n, rng) + np.where(rng.random(n) < 0.3, 0.9, 0.0)


def to_zero(n: int, rng: np.random.Generator) -> Values:
    return 2.3 * np.exp(-np.arange(n) / (n / 12)) + 0.001 * rng.exponential(1, n)


def late_fall(n: int, rng: np.random.Generator) -> Values:
    """A plateau that ends: nothing for two fifths of the run, then learning."""
    return (
        4.0
        - 3.0 / (1 + np.exp(-(np.arange(n) - 0.4 * n) / (n / 40)))
        + 0.02 * rng.standard_normal(n)
    )


def preference(n: int, rng: np.random.Generator) -> Values:
    """DPO: starts at ln 2 and falls slowly."""
    return np.log(2) - 0.15 * np.sqrt(np.arange(n) / n) + 0.03 * rng.standard_normal(n)


def step_decay(n: int, rng: np.random.Generator) -> Values:
    return (
        power_law(n, rng, 0.05) - 0.4 * (np.arange(n) > n // 2) - 0.2 * (np.arange(n) > 3 * n // 4)
    )


def quantised(n: int, rng: np.random.Generator) -> Values:
    """Logged in bf16: steps of 2^-7 between 1 and 2."""
    return (
        np.round(
            (1.65 + 0.3 * np.exp(-np.arange(n) / (n / 5)) + 0.02 * rng.standard_normal(n)) * 128
        )
        / 128
    )


def likelihood(n: int, rng: np.random.Generator) -> Values:
    """A negative log-likelihood of densities: below zero in health."""
    return -3.0 + 5.0 * np.exp(-np.arange(n) / (n / 10)) + 0.1 * rng.standard_normal(n)


def huge_units(n: int, rng: np.random.Generator) -> Values:
    return 1e5 * power_law(n, rng)


def hard_batch_each_epoch(n: int, rng: np.random.Generator) -> Values:
    loss = power_law(n, rng)
    loss[:: max(8, n // 10)] += 1.5
    return loss


HEALTHY = {
    f.__name__: f
    for f in (
        power_law,
        correlated,
        skewed,
        small_batches,
        heavy_tails,
        sawtooth,
        warm_restarts,
        curriculum,
        mixup,
        to_zero,
        late_fall,
        preference,
        step_decay,
        quantised,
        likelihood,
        huge_units,
        hard_batch_each_epoch,
    )
}


def plant_spike(loss: Values, at: int, height: float, decay: float) -> Values:
    """Add ``height`` at ``at`` that decays with time constant ``decay`` points."""
    t = np.arange(len(loss) - at)
    out = loss.copy()
    out[at:] += height * np.exp(-t / decay)
    return out


def plant_divergence(loss: Values, at: int, rate: float) -> Values:
    """Exponential growth away from the level at ``at``, by ``rate`` nats a point, up to 1e6."""
    t = np.arange(len(loss) - at)
    out = loss.copy()
    out[at:] += 0.05 * np.expm1(np.minimum(rate * t, 17.0))
    return out


def plant_drift(loss: Values, at: int, slope: float) -> Values:
    """A slow linear rise from ``at``."""
    out = loss.copy()
    out[at:] = out[at] + (loss[at:] - loss[at:].mean()) + slope * np.arange(len(loss) - at)
    return out
