import numpy as np
import pytest

from forensics.case import Case
from forensics.causes import _looks_loss_shape as shape
from forensics.findings import EpisodeKind
from tests.causes.cases import make_case, make_episode
from tests.causes.failures import RUN, diverged, divergence, settled, stalled
from tests.causes.shapes import falling, loss_spike, plateau, steady


@pytest.mark.parametrize(("peak", "holds"), [(104, False), (160, True), (None, True)])
def test_a_drift_takes_its_time(peak: int | None, holds: bool) -> None:
    details = {"form": "drift", "ratio": 2.0}
    episode = make_episode(EpisodeKind.DIVERGENCE, 100, peak=peak, **details)
    assert shape.drifted(diverged(100, episodes=[episode])).holds is holds


def test_a_jump_is_no_drift() -> None:
    assert shape.drifted(diverged(100)).holds is False
    assert shape.drifted(stalled()).holds is None


def test_three_spikes_are_repeated() -> None:
    spikes = [loss_spike(s, 6.0) for s in (40, 80, 110)]
    assert shape.repeated_events(diverged(120, episodes=spikes[:2])).holds is False
    assert shape.repeated_events(diverged(120, episodes=spikes)).holds is True
    assert shape.repeated_events(make_case()).holds is None


def test_one_jump_is_no_growth_step_by_step() -> None:
    assert shape.grew_step_by_step(diverged(100)).holds is False
    climbing = falling(points=RUN)
    climbing[99:] = 2.0 * 1.3 ** np.minimum(np.arange(RUN - 99), 20)
    assert shape.grew_step_by_step(diverged(100, loss=climbing)).holds is True


def test_settled_on_a_higher_level() -> None:
    assert shape.settled_higher(settled()).holds is True
    assert shape.settled_higher(diverged(100, episodes=[divergence(100)])).holds is False
    assert shape.settled_higher(stalled()).holds is None


def pushed(rate_to: float, **more: object) -> Case:
    """A loss that climbs evenly from step 100 on, at a rate that comes down to ``rate_to``."""
    loss = falling(points=RUN)
    loss[99:] = 3.0 + 0.1 * np.arange(RUN - 99)
    settings = {"loss": loss, "lr": np.linspace(1e-3, rate_to * 1e-3, RUN), **more}
    return diverged(100, **settings)


def test_a_loss_that_calms_with_the_rate_is_not_pushed() -> None:
    assert shape.rises_against_rate(diverged(100, lr=np.linspace(1e-3, 1e-6, RUN))).holds is False
    assert shape.rises_against_rate(pushed(0.9)).holds is None
    assert shape.rises_against_rate(diverged(100)).holds is None
    assert shape.rises_against_rate(make_case(loss=falling())).holds is None


def test_a_loss_that_rises_to_the_last_is_pushed() -> None:
    assert shape.rises_against_rate(pushed(0.01)).holds is True


def test_levels_of_a_plateau() -> None:
    look = shape.plateau_level("label_entropy")
    assert look(stalled(kind="label_entropy")).holds is True
    assert look(stalled()).holds is False
    assert look(diverged(100)).holds is None


def test_falling_before_the_plateau() -> None:
    fell = stalled(episodes=[plateau(2.3, "unnamed", onset=60, improvement=0.4)])
    assert shape.fell_first(fell).holds is True
    assert shape.fell_first(stalled()).holds is False


def test_frozen_validation_needs_three_equal_numbers() -> None:
    assert shape.validation_frozen(make_case(eval_loss=[2.3, 2.3])).holds is None
    assert shape.validation_frozen(make_case(eval_loss=[2.3, 2.3, 2.3])).holds is True
    assert shape.validation_frozen(make_case(eval_loss=[2.3, 2.3, 2.2999])).holds is False


def test_noise_is_no_movement() -> None:
    assert shape.moved_at_all(stalled()).holds is False
    assert shape.moved_at_all(stalled(loss=np.r_[2.8, 2.8, 2.8, steady(2.3, 397, 0.01)])).holds
    assert shape.moved_at_all(make_case(loss=[2.3] * 4)).holds is None
