import numpy as np

from forensics.causes.learning_rate_too_low import CAUSE
from forensics.findings import Change
from tests.causes.failures import RUN, cosine, diverged, recipe, stalled
from tests.causes.shapes import probability, winner

NAME = "learning_rate_too_low"


def test_not_where_the_rate_is_ordinary() -> None:
    assert probability(stalled(), NAME) < 0.1


def test_not_where_the_run_diverged() -> None:
    assert probability(diverged(lr=np.full(RUN, 1e-9)), NAME) < 0.1


def test_a_schedule_that_ends_with_the_run_is_no_fault() -> None:
    assert probability(stalled(lr=cosine(5e-4)), NAME) < 0.1


def test_wins_where_the_rate_is_zero() -> None:
    case = stalled(lr=np.zeros(RUN))
    assert winner(case) == NAME
    assert probability(case, NAME) > 0.6


def test_wins_where_the_configured_rate_is_tiny() -> None:
    case = stalled(lr=None, config=recipe(lr_peak=1e-9, num_classes=10))
    assert winner(case) == NAME
    (change,) = CAUSE.changes(case)
    assert change == Change("learning_rate", 1e-9, 1e-4)


def test_wins_where_the_schedule_steps_once_a_batch() -> None:
    case = stalled(lr=1e-3 * 10.0 ** -np.arange(RUN / 10).repeat(10))
    assert winner(case) == NAME
