"""Curves and episodes that several tests of the causes share, and who wins a case."""

from typing import Any

import numpy as np

from forensics.case import Case
from forensics.causes import rank
from forensics.findings import Ending, Episode, EpisodeKind, Outcome, Severity
from forensics.signals import Signal
from tests.causes.cases import make_case, make_episode

POINTS = 200


def falling(low: float = 2.0, points: int = POINTS, noise: float = 0.02) -> np.ndarray:
    """A healthy loss from ``low`` + 4 down to ``low``."""
    t = np.arange(points) / points
    return low + 4.0 * np.exp(-6 * t) + noise * np.random.default_rng(0).standard_normal(points)


def steady(level: float, points: int = POINTS, noise: float = 0.05) -> np.ndarray:
    """A quantity that stays near one level."""
    return level * (1 + noise * np.random.default_rng(1).standard_normal(points))


def loss_spike(onset: int, height: float, base: float = 2.05, **more: Any) -> Episode:
    """A spike of one logged point that is back three steps later."""
    settings: dict[str, Any] = {
        "severity": Severity.WARNING,
        "ending": Ending.RECOVERED,
        "peak": onset,
        "peak_value": height,
        "recovery": onset + 3,
        "baseline": base,
        "height": 50.0,
        "ratio": height / base,
        "points": 1,
        "speed": "fast",
        "recovery_steps": 3,
    }
    return make_episode(EpisodeKind.LOSS_SPIKE, onset, **(settings | more))


def plateau(level: float, kind: str, onset: int = 1, improvement: float = 0.0) -> Episode:
    """A loss that rests on a level, from the start where ``improvement`` is nil."""
    return make_episode(
        EpisodeKind.PLATEAU,
        onset,
        level=level,
        level_name=kind,
        level_kind=kind,
        improvement=improvement,
        from_start=improvement == 0.0,
    )


def spiked_once(height: float = 9.0, onset: int = 150, **more: Any) -> Case:
    """A run whose loss and gradient leave their band in one and the same step."""
    loss, gradient = falling(), steady(0.6)
    loss[onset - 1], gradient[onset - 1] = height, 25.0
    settings: dict[str, Any] = {
        "loss": loss,
        "grad_norm": gradient,
        "outcome": Outcome.SPIKED_RECOVERED,
        "onset": onset,
        "episodes": [loss_spike(onset, height)],
    }
    return make_case(**(settings | more))


def spiked_each_epoch(height: float, **more: Any) -> Case:
    """Spikes at the same place of three epochs of fifty steps."""
    loss, steps = falling(), (70, 120, 170)
    loss[[s - 1 for s in steps]] = height
    settings: dict[str, Any] = {
        "loss": loss,
        "grad_norm": steady(0.6),
        "outcome": Outcome.SPIKED_RECOVERED,
        "onset": steps[0],
        "episodes": [loss_spike(s, height) for s in steps],
        "tracks": {Signal.EPOCH: np.arange(POINTS) / 50},
    }
    return make_case(**(settings | more))


def built_up() -> Case:
    """A spike that the gradient norm led by four steps and that took three to its peak."""
    loss, gradient = falling(), steady(0.6)
    loss[149:155], gradient[145:150] = 9.0, [1, 2, 4, 8, 20]
    spike = loss_spike(
        150,
        9.0,
        peak=152,
        recovery=180,
        points=6,
        recovery_steps=30,
        first_mover=Signal.GRAD_NORM,
        first_mover_step=146,
    )
    return make_case(
        loss,
        gradient,
        outcome=Outcome.SPIKED_RECOVERED,
        onset=146,
        first_mover=Signal.GRAD_NORM,
        episodes=[spike],
    )


def turned_nan(steps: list[int], *, lasting: bool, gradient_too: bool, **more: Any) -> Case:
    """A loss that is NaN at some steps, or from the first of them to the end."""
    loss, gradient = falling(), steady(0.6)
    at = slice(steps[0] - 1, None) if lasting else [s - 1 for s in steps]
    loss[at] = np.nan
    if gradient_too:
        gradient[at] = np.nan
    broken = make_episode(
        EpisodeKind.NON_FINITE,
        steps[0],
        severity=Severity.FAILURE if lasting else Severity.WARNING,
        ending=Ending.PERSISTED if lasting else Ending.RECOVERED,
        kind="nan",
        persistent=lasting,
        count=int(np.isnan(loss).sum()),
        share=float(np.isnan(loss).mean()),
        at_start=False,
        last_finite=2.1,
    )
    outcome = Outcome.NON_FINITE if lasting else Outcome.SPIKED_RECOVERED
    settings = {"outcome": outcome, "onset": steps[0], "episodes": [broken]}
    return make_case(loss, gradient, **(settings | more))


def winner(case: Case) -> str:
    """The cause ranked first, where it beats 'none of these'; else ''."""
    hypotheses, unexplained = rank(case)
    return hypotheses[0].cause if hypotheses[0].probability > unexplained else ""


def probability(case: Case, cause: str) -> float:
    """What the ranking gives one cause."""
    return next(h.probability for h in rank(case)[0] if h.cause == cause)
