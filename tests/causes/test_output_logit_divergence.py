import numpy as np

from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_track
from tests.causes.failures import RUN, cosine, diverged, divergence, recipe
from tests.causes.shapes import falling, loss_spike, probability, winner

NAME = "output_logit_divergence"
FREE = recipe(vocab_size=50_000, weight_decay=0.0)


def late(onset: int = 350, **more: object) -> dict[str, object]:
    return {"onset": onset, "form": "drift", "lr": cosine(3e-4), "config": FREE, **more}


def test_a_healthy_run_stays_healthy() -> None:
    assert winner(healthy_case(config=FREE)) == "no_failure"


def test_not_with_a_z_loss() -> None:
    held = recipe(vocab_size=50_000, weight_decay=0.0, raw={"loss.z_loss_weight": 1e-4})
    assert probability(diverged(**late(config=held)), NAME) < 0.35


def test_not_near_the_peak_of_the_rate() -> None:
    assert probability(diverged(**late(40)), NAME) < 0.1


def test_not_with_few_classes() -> None:
    few = recipe(num_classes=10, weight_decay=0.0)
    assert probability(diverged(**late(config=few)), NAME) < probability(diverged(**late()), NAME)


def test_spikes_speak_against_it() -> None:
    spikes = [loss_spike(s, 5.0) for s in (200, 260, 310)]
    spiky = diverged(**late(form="after_spike", episodes=[*spikes, divergence(350)]))
    assert probability(spiky, NAME) < probability(diverged(**late()), NAME)


def test_wins_for_a_late_drift_at_a_low_rate() -> None:
    assert winner(diverged(**late())) == NAME


def test_wins_clearly_where_the_logits_were_logged() -> None:
    grid = np.arange(1, RUN + 1)
    track = make_track(Signal.ACTIVATION, grid, -np.linspace(0.5, 90, RUN), tag="logit_mean")
    case = diverged(**late(others=[track]))
    assert probability(case, NAME) > probability(diverged(**late()), NAME)


def test_a_loss_that_climbs_evenly_while_the_rate_comes_down() -> None:
    loss = falling(points=RUN)
    loss[99:] = 3.0 + 0.1 * np.arange(RUN - 99)
    pushed = diverged(100, loss=loss, lr=cosine(3e-4), config=FREE, form="from_start")
    assert winner(pushed) == NAME
    assert probability(pushed, "learning_rate_too_high") < 0.15
