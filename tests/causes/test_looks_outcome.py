import numpy as np

from forensics.causes._base import DECISIVE, STRONG
from forensics.causes._looks_outcome import before_any_update, early, explains, from_the_start
from forensics.findings import EpisodeKind, Outcome, Severity
from forensics.run import Axis, Config
from tests.causes.cases import healthy_case, make_case, make_episode
from tests.causes.failures import broke_to_nan, diverged, non_finite, stalled


def test_every_other_outcome_is_foreign() -> None:
    foreign, rare = explains((Outcome.DIVERGED,), rarely=(Outcome.STALLED,))
    assert (foreign.present, rare.present) == (-DECISIVE, -STRONG)
    held = {o: foreign.look(make_case(outcome=o)).holds for o in Outcome}
    assert [o for o, holds in held.items() if not holds] == [Outcome.DIVERGED, Outcome.STALLED]
    assert rare.look(stalled()).holds is True


def test_early_is_undecided_between_its_bounds() -> None:
    config = Config(total_steps=1000)
    loss = np.ones(1000)
    found = [early(make_case(loss=loss, onset=o, config=config)).holds for o in (50, 51, 250, 251)]
    assert found == [True, None, None, False]


def test_early_needs_steps() -> None:
    assert early(healthy_case()).holds is None
    assert early(make_case(loss=[1.0, 2.0], onset=1, axis=Axis.EPOCH)).holds is None


def test_from_the_start() -> None:
    assert from_the_start(diverged(100)).holds is False
    assert from_the_start(diverged(2)).holds is True
    assert from_the_start(stalled()).holds is True
    harmless = make_episode(EpisodeKind.PLATEAU, 1, severity=Severity.INFO, from_start=True)
    assert from_the_start(diverged(100, episodes=[harmless])).holds is False


def test_before_any_update_needs_the_very_first_step() -> None:
    broken = {"loss": np.full(50, np.nan), "episodes": [non_finite(1)]}
    assert before_any_update(make_case(**broken)).holds is True
    assert before_any_update(make_case(**broken, interval=10)).holds is None
    assert before_any_update(broke_to_nan(2)).holds is False
