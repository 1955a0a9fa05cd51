"""Small facts about checkpoints for the tests of the causes: what is not said is ordinary."""

from typing import Any

from forensics.case import Case
from forensics.checkpoint_facts import (
    CheckpointFacts,
    CheckpointPair,
    CheckpointSurvey,
    MomentChange,
    MomentFacts,
    StateFacts,
    WeightChange,
    WeightFacts,
)
from tests.causes.cases import make_case

SHAPE = (64, 64)


def weight(name: str, rms: float = 0.1, shape: tuple[int, ...] = SHAPE, **more: Any) -> WeightFacts:
    """A matrix as torch makes it, its rows of somewhat different length."""
    size = 1
    for length in shape:
        size *= length
    told: dict[str, Any] = {
        "role": "param",
        "read": size,
        "non_finite": 0,
        "negative": size // 2,
        "abs_max": 3 * rms,
        "largest_at": 0,
        "runner_up": 2.9 * rms,
        "row_max": 1.2 * rms,
        "row_runner_up": 1.19 * rms,
        "row_median": rms,
    }
    return WeightFacts(name=name, shape=shape, rms=rms, **(told | more))


def moment(name: str, gradient: float = 0.01, size: int = 4096, **more: Any) -> MomentFacts:
    """Moments of a tensor whose gradient entries have this root mean square."""
    told: dict[str, Any] = {
        "read": size,
        "exact": True,
        "update_rms": 0.23,
        "update_max": 2.0,
        "bound": 7.27,
        "beyond_bound": 0,
        "negative": 0,
        "eps_share": 0.0,
        "unseen": 0.0,
        "sum_square": gradient**2 * size,
    }
    return MomentFacts(name=name, size=size, **(told | more))


def change(name: str, relative: float, shape: tuple[int, ...] = SHAPE) -> WeightChange:
    """A tensor that moved by this share of itself."""
    return WeightChange(name, shape, 4096, 1.0 if relative else 0.0, relative)


def silence(name: str, no_gradient: float, shape: tuple[int, ...] = SHAPE) -> MomentChange:
    """A second moment of which this share had no gradient."""
    rows = shape[0] if len(shape) > 1 else 0
    return MomentChange(name, shape, 4096, 0.0, no_gradient, rows, int(no_gradient * rows))


def save(step: int, *weights: WeightFacts, moments: tuple[MomentFacts, ...] = (), **state: Any):
    """A checkpoint."""
    return CheckpointFacts(
        f"step_{step}.pt", step, StateFacts(**state), weights, moments, optimizer=bool(state)
    )


def pair(*weights: WeightChange, moments: tuple[MomentChange, ...] = (), steps: int = 100):
    """Two checkpoints, a hundred steps apart."""
    return CheckpointPair("step_100.pt", "step_200.pt", steps, weights, moments)


def scanned(*found: CheckpointFacts | CheckpointPair, **more: Any) -> Case:
    """A case with these checkpoints and pairs of them; ``more`` goes to `make_case`."""
    from dataclasses import replace

    saves = tuple(f for f in found if isinstance(f, CheckpointFacts))
    pairs = tuple(f for f in found if isinstance(f, CheckpointPair))
    return replace(make_case(**more), survey=CheckpointSurvey(saves, pairs))
