import numpy as np

from forensics.findings import Ending, EpisodeKind, Outcome
from forensics.run import Config
from tests.causes.cases import healthy_case, make_case, make_episode
from tests.causes.shapes import falling, probability, steady, winner


def exploded(loss, gradient, **more):
    episode = make_episode(
        EpisodeKind.DIVERGENCE,
        2,
        ending=Ending.DIVERGED,
        form="from_start",
        ratio=1e4,
        best_step=1,
        best_value=loss[0],
        initial=loss[0],
        final=loss[-1],
    )
    return make_case(
        loss,
        gradient,
        [1e-3] * len(loss),
        outcome=Outcome.DIVERGED,
        onset=2,
        episodes=[episode],
        **more,
    )


def test_a_first_loss_of_a_guess_is_no_matter_of_scale():
    case = exploded(
        [2.31, 4.0, 30.0, 2e3, 1e5], [1.0, 5.0, 50.0, 1e3, 1e5], config=Config(num_classes=10)
    )
    assert probability(case, "input_scale") < 0.05


def test_a_late_divergence_is_no_matter_of_scale():
    loss = falling()
    loss[150:] += np.linspace(0, 6, 50)
    episode = make_episode(EpisodeKind.DIVERGENCE, 151, ending=Ending.DIVERGED, form="drift")
    case = make_case(loss, steady(0.6), outcome=Outcome.DIVERGED, onset=151, episodes=[episode])
    assert probability(case, "input_scale") < 0.05


def test_a_healthy_run_is_healthy():
    assert probability(healthy_case(), "input_scale") < 0.01


def test_a_huge_first_loss_and_gradient_at_an_ordinary_rate_are_a_matter_of_scale():
    case = exploded([900, 1200, 5e4, 1e7, 1e9], [4e3, 6e3, 1e6, 1e9, 1e10])
    assert winner(case) == "input_scale"
