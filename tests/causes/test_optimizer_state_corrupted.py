import numpy as np

from forensics.findings import Ending, EpisodeKind
from forensics.run import TextKind
from tests.causes.cases import make_episode
from tests.causes.failures import RUN, diverged, divergence
from tests.causes.shapes import probability

NAME = "optimizer_state_corrupted"


def resumed(**more: object) -> dict[str, object]:
    jump = make_episode(
        EpisodeKind.RESUME_JUMP,
        200,
        ending=Ending.DIVERGED,
        before=2.1,
        after=9.0,
        direction="up",
        lr_before=1e-4,
        lr_after=1e-4,
        recovery_steps=None,
    )
    return {
        "lr": np.full(RUN, 1e-4),
        "resumes": [200],
        "episodes": [jump, divergence(200)],
        **more,
    }


def test_not_without_a_resume() -> None:
    assert probability(diverged(200, lr=np.full(RUN, 1e-4)), NAME) < 0.05


def test_not_where_the_log_says_that_no_state_was_restored() -> None:
    lost = diverged(200, **resumed(text=[TextKind.OPTIMIZER_NOT_RESTORED]))
    assert probability(lost, NAME) < probability(diverged(200, **resumed()), NAME)


def test_not_where_the_rate_began_again() -> None:
    rate = np.r_[np.full(199, 1e-4), np.linspace(1e-6, 1e-4, RUN - 199)]
    jump = make_episode(
        EpisodeKind.RESUME_JUMP, 200, direction="up", before=2.1, after=9.0, lr_before=1e-4,
        lr_after=1e-6,
    )  # fmt: skip
    case = diverged(200, **resumed(lr=rate, episodes=[jump, divergence(200)]))
    assert probability(case, NAME) < 0.02


def test_shares_a_jump_at_a_resume_with_a_lost_state() -> None:
    """Logs cannot tell a wrong state from a lost one: both must stay in sight."""
    case = diverged(200, **resumed())
    assert 0.02 < probability(case, NAME) < 0.6
    assert probability(case, NAME) + probability(case, "resume_state_lost") > 0.7
