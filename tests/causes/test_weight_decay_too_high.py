import numpy as np

from forensics.causes.weight_decay_too_high import CAUSE
from forensics.findings import Change
from forensics.signals import Signal
from tests.causes.cases import healthy_case
from tests.causes.failures import RUN, cosine, diverged, divergence, recipe
from tests.causes.shapes import loss_spike, probability, winner

NAME = "weight_decay_too_high"
HIGH = recipe(weight_decay=5.0)


def shrinking(**more: object) -> dict[str, object]:
    return {
        "form": "drift",
        "lr": cosine(1e-3),
        "config": HIGH,
        "tracks": {Signal.PARAM_NORM: np.linspace(90, 20, RUN)},
        **more,
    }


def test_a_healthy_run_stays_healthy() -> None:
    assert winner(healthy_case(config=HIGH)) == "no_failure"


def test_not_at_the_usual_decay() -> None:
    usual = diverged(150, **shrinking(config=recipe(weight_decay=0.1), tracks={}))
    assert probability(usual, NAME) < 0.05


def test_not_where_the_weights_grow() -> None:
    grow = diverged(150, **shrinking(tracks={Signal.PARAM_NORM: np.linspace(20, 90, RUN)}))
    assert probability(grow, NAME) < 0.3


def test_not_for_spikes() -> None:
    spikes = [loss_spike(s, 8.0) for s in (60, 90, 120)]
    case = diverged(150, **shrinking(tracks={}, episodes=[*spikes, divergence(150)]))
    assert probability(case, NAME) < probability(diverged(150, **shrinking(tracks={})), NAME)


def test_wins_where_the_weights_melt() -> None:
    case = diverged(150, **shrinking())
    assert winner(case) == NAME
    assert CAUSE.changes(case) == (Change("weight_decay", 5.0, 0.1),)
