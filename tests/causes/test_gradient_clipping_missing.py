import numpy as np
import pytest

from forensics.case import Case
from forensics.causes.gradient_clipping_missing import CAUSE
from forensics.findings import Outcome
from forensics.run import Config
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case
from tests.causes.failures import RUN, cosine, diverged, divergence, gradient_jump, recipe
from tests.causes.shapes import plateau, probability, steady, winner

NAME = "gradient_clipping_missing"
OFF = recipe(clip_threshold=0.0)


def jumped(**more: object) -> dict[str, object]:
    gradient = steady(0.5, RUN)
    gradient[249] = 250.0
    return {
        "grad_norm": gradient,
        "lr": cosine(3e-4),
        "config": OFF,
        "episodes": [gradient_jump(250), divergence(251)],
        "first_mover": Signal.GRAD_NORM,
        **more,
    }


def test_a_healthy_run_without_clipping_is_healthy() -> None:
    assert winner(healthy_case(config=OFF)) == "no_failure"


def test_not_with_a_threshold_near_the_usual_norm() -> None:
    assert probability(diverged(250, **jumped(config=recipe())), NAME) < 0.15


def test_not_where_clipping_always_acted() -> None:
    case = diverged(250, **jumped(config=recipe(clip_threshold=0.1)))
    assert probability(case, NAME) < 0.1


def test_not_where_the_norm_was_smooth() -> None:
    case = diverged(250, grad_norm=steady(0.5, RUN), lr=cosine(3e-4), config=OFF)
    assert probability(case, NAME) < 0.15


def test_a_rate_far_too_high_is_not_mended_by_clipping() -> None:
    case = diverged(250, **jumped(lr=np.full(RUN, 0.5)))
    assert winner(case) == "learning_rate_too_high"


@pytest.mark.parametrize("threshold", [0.0, 50.0])
def test_wins_where_one_gradient_passed_unbounded(threshold: float) -> None:
    case = diverged(250, **jumped(config=recipe(clip_threshold=threshold)))
    assert winner(case) == NAME
    (change,) = CAUSE.changes(case)
    assert change.before == threshold
    assert 0.5 <= change.after <= 0.6  # the 90th percentile of a norm around 0.5


def test_without_norms_the_usual_threshold_is_proposed() -> None:
    (change,) = CAUSE.changes(diverged(config=OFF))
    assert change.after == 1.0


def rested(jolt_at: int, clip: float) -> Case:
    """Text that came to rest at step 60 on the frequencies of its tokens, and one long gradient."""
    return make_case(
        np.maximum(2.8, 5.0 - 0.037 * np.arange(RUN)) + 0.01 * steady(1.0, RUN, 1.0),
        steady(0.5, RUN),
        np.full(RUN, 0.1),
        outcome=Outcome.STALLED,
        onset=60,
        episodes=[plateau(2.8, "token_entropy"), gradient_jump(jolt_at)],
        config=Config(vocab_size=128, optimizer="sgd", clip_threshold=clip),
    )


@pytest.mark.parametrize(("jolt_at", "clip"), [(70, 1.0), (350, 0.0)])
def test_a_jolt_that_was_clipped_or_came_late_does_not_explain_a_stall(
    jolt_at: int, clip: float
) -> None:
    assert probability(rested(jolt_at, clip), NAME) < 0.1


def test_an_unclipped_jolt_before_the_loss_came_to_rest() -> None:
    assert winner(rested(70, 0.0)) == NAME
