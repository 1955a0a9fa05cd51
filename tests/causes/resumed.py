"""Runs that jump at a resume, for the tests of what a resume can lose."""

from typing import Any

import numpy as np

from forensics.case import Case
from forensics.findings import Ending, EpisodeKind, Outcome, Severity
from tests.causes.cases import make_case, make_episode
from tests.causes.shapes import POINTS, falling, loss_spike, steady

AT = 100


def jumped(direction: str = "up", rate_after: float = 3e-4, **more: Any) -> Case:
    """The loss jumps at the resume at step 100 and is back thirty steps later."""
    loss, rate = falling(), np.full(POINTS, 3e-4)
    sign = 1 if direction == "up" else -0.4
    loss[AT - 1 : AT + 40] += sign * 2 * np.exp(-np.arange(41) / 10)
    rate[AT - 1 :] = rate_after
    jump = make_episode(
        EpisodeKind.RESUME_JUMP,
        AT,
        severity=Severity.WARNING,
        ending=Ending.RECOVERED,
        before=2.1,
        after=2.1 + 2 * sign,
        direction=direction,
        rewound_from=None,
        lr_before=3e-4,
        lr_after=rate_after,
        grad_ratio=2.0,
        recovery_steps=30,
    )
    spike = loss_spike(AT, 4.1, peak=AT + 1, recovery=AT + 30, points=20, recovery_steps=30)
    settings: dict[str, Any] = {
        "lr": rate,
        "outcome": Outcome.SPIKED_RECOVERED,
        "onset": AT,
        "episodes": [jump, spike] if direction == "up" else [jump],
        "resumes": [AT],
    }
    return make_case(loss, steady(0.6), **(settings | more))


def diverged_on_second_warmup(**more: Any) -> Case:
    """The warm-up is replayed from the resume on, and the loss drifts away as the rate rises."""
    loss = falling()
    loss[160:] += np.linspace(0, 6, POINTS - 160)
    rate = np.concatenate([np.full(AT - 1, 3e-4), np.linspace(1e-6, 3e-4, POINTS - AT + 1)])
    drift = make_episode(
        EpisodeKind.DIVERGENCE,
        161,
        ending=Ending.DIVERGED,
        form="drift",
        ratio=3.0,
        best_step=160,
        best_value=2.0,
        initial=6.0,
        final=8.0,
    )
    settings: dict[str, Any] = {
        "lr": rate,
        "outcome": Outcome.DIVERGED,
        "onset": 161,
        "episodes": [drift],
        "resumes": [AT],
    }
    return make_case(loss, steady(0.6), **(settings | more))
