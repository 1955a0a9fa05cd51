"""Failed runs that the tests of optimisation, model and precision causes share."""

from typing import Any

import numpy as np

from forensics.case import Case
from forensics.findings import Ending, Episode, EpisodeKind, Outcome, Severity
from forensics.run import Config
from forensics.signals import Signal
from tests.causes.cases import make_case, make_episode
from tests.causes.shapes import falling, plateau, steady

RUN = 400
"""Points of a failed run, one a step."""
RECIPE: dict[str, Any] = {
    "optimizer": "adamw",
    "precision": "bf16",
    "betas": (0.9, 0.95),
    "clip_threshold": 1.0,
    "warmup_steps": 20,
    "total_steps": RUN,
}


def recipe(**changed: Any) -> Config:
    """A sound configuration, but for what is changed."""
    return Config(**(RECIPE | changed))


def cosine(peak: float, warmup: int = 20, points: int = RUN) -> np.ndarray:
    """Linear warm-up, then a cosine to zero."""
    t = np.arange(points)
    return peak * np.minimum(1, (t + 1) / max(warmup, 1)) * (0.5 + 0.5 * np.cos(np.pi * t / points))


def diverged(onset: int = 25, *, form: str = "after_spike", **more: Any) -> Case:
    """A loss that jumps from its band at ``onset`` and ends above where it began."""
    loss = falling(points=RUN)
    loss[onset - 1 :] = 9.0
    settings: dict[str, Any] = {
        "loss": loss,
        "outcome": Outcome.DIVERGED,
        "onset": onset,
        "config": recipe(),
        "episodes": [divergence(onset, form)],
    }
    return make_case(**(settings | more))


def settled(onset: int = 250, level: float = 5.0, **more: Any) -> Case:
    """A loss that jumps to a higher level and stays there."""
    loss = falling(points=RUN)
    loss[onset - 1 :] = level
    settings: dict[str, Any] = {
        "loss": loss,
        "outcome": Outcome.SPIKED_UNRECOVERED,
        "onset": onset,
        "config": recipe(),
        "episodes": [
            lasting_spike(onset),
            plateau(level, "post_jump", onset=onset + 5, improvement=0.3),
        ],
    }
    return make_case(**(settings | more))


def stalled(level: float = 2.303, kind: str = "ln_classes", **more: Any) -> Case:
    """A loss that rests on one level from the first step, at a sound rate."""
    settings: dict[str, Any] = {
        "loss": steady(level, RUN, noise=0.01),
        "grad_norm": steady(0.8, RUN),
        "lr": cosine(5e-4),
        "outcome": Outcome.STALLED,
        "onset": 1,
        "config": recipe(num_classes=10),
        "episodes": [plateau(level, kind)],
    }
    return make_case(**(settings | more))


def broke_to_nan(onset: int = 200, *, gradient_first: int = 0, **more: Any) -> Case:
    """A quiet run whose loss is NaN from ``onset`` on, its gradient some steps earlier."""
    loss, gradient = falling(points=RUN), steady(0.6, RUN)
    loss[onset - 1 :], gradient[onset - 1 - gradient_first :] = np.nan, np.nan
    first = onset - gradient_first
    settings: dict[str, Any] = {
        "loss": loss,
        "grad_norm": gradient,
        "outcome": Outcome.NON_FINITE,
        "onset": first,
        "config": recipe(),
        "episodes": [non_finite(onset), non_finite(first, signal=Signal.GRAD_NORM)],
    }
    return make_case(**(settings | more))


def divergence(onset: int, form: str = "after_spike") -> Episode:
    """The loss climbs away from ``onset`` on."""
    return make_episode(
        EpisodeKind.DIVERGENCE,
        onset,
        ending=Ending.DIVERGED,
        form=form,
        ratio=4.0,
        best_step=max(onset - 1, 1),
        best_value=2.2,
        initial=6.0,
        final=9.0,
    )


def lasting_spike(onset: int, ratio: float = 2.4) -> Episode:
    """A spike that does not come back."""
    return make_episode(
        EpisodeKind.LOSS_SPIKE,
        onset,
        ending=Ending.SETTLED,
        peak=onset,
        ratio=ratio,
        points=100,
        speed="partial",
        recovery_steps=None,
    )


def gradient_jump(onset: int, ratio: float = 500.0) -> Episode:
    """The gradient norm leaves its band by a large factor."""
    return make_episode(
        EpisodeKind.GRADIENT_EXPLOSION,
        onset,
        signal=Signal.GRAD_NORM,
        severity=Severity.WARNING,
        ratio=ratio,
        points=3,
        extreme=True,
    )


def non_finite(
    onset: int, *, signal: Signal = Signal.TRAIN_LOSS, kind: str = "nan", **more: Any
) -> Episode:
    """A quantity is non-finite from ``onset`` to the end."""
    details: dict[str, Any] = {
        "kind": kind,
        "persistent": True,
        "count": 100,
        "share": 0.5,
        "at_start": onset <= 1,
        "last_finite": 2.1,
    }
    return make_episode(EpisodeKind.NON_FINITE, onset, signal=signal, **(details | more))
