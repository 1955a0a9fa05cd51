import numpy as np

from forensics.causes.warmup_missing import CAUSE
from forensics.findings import Ending, EpisodeKind, Severity
from tests.causes.cases import healthy_case, make_episode
from tests.causes.failures import RUN, broke_to_nan, cosine, diverged, divergence, recipe
from tests.causes.shapes import probability, winner

NAME = "warmup_missing"
NONE = recipe(warmup_steps=0, total_steps=RUN, model="gpt2")


def test_a_healthy_run_without_warmup_is_healthy() -> None:
    assert winner(healthy_case(lr=cosine(3e-4, 0, 300), config=NONE)) == "no_failure"


def test_not_after_long_calm() -> None:
    assert probability(diverged(300, lr=cosine(3e-4, 0), config=NONE), NAME) < 0.05


def test_not_with_an_ample_warmup() -> None:
    case = diverged(25, lr=cosine(3e-4, 20))
    assert probability(case, NAME) < probability(diverged(25, config=NONE), NAME)


def test_not_for_single_nan_between_ordinary_losses() -> None:
    single = make_episode(
        EpisodeKind.NON_FINITE,
        6,
        severity=Severity.WARNING,
        ending=Ending.RECOVERED,
        kind="nan",
        persistent=False,
        count=2,
    )
    assert probability(broke_to_nan(6, episodes=[single], config=NONE), NAME) < 0.1


def test_a_rate_of_one_needs_no_warmup_to_be_wrong() -> None:
    case = diverged(8, lr=np.full(RUN, 1.0), config=NONE)
    assert winner(case) == "learning_rate_too_high"


def test_wins_where_the_first_updates_at_full_rate_break_it() -> None:
    gradient = np.r_[np.full(3, 40.0), np.full(RUN - 3, 0.6)]
    case = diverged(8, lr=cosine(3e-4, 0), grad_norm=gradient, config=NONE)
    assert winner(case) == NAME


def test_a_short_warmup_counts_as_missing() -> None:
    short = recipe(warmup_steps=5, total_steps=20_000, betas=(0.9, 0.999))
    case = diverged(9, lr=cosine(3e-4, 5), config=short, episodes=[divergence(9)])
    assert winner(case) == NAME
    (change,) = CAUSE.changes(case)
    assert (change.before, change.after) == (5, 600)
