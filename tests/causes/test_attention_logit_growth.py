import numpy as np

from forensics.findings import EpisodeKind
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_episode, make_track
from tests.causes.failures import RUN, broke_to_nan, diverged, lasting_spike, non_finite, recipe
from tests.causes.failures import settled as settled_at
from tests.causes.shapes import loss_spike, probability, winner

NAME = "attention_logit_growth"
MODEL = recipe(model="llama", total_steps=1000)


def logits(top: float) -> list[object]:
    grid = np.arange(1, RUN + 1)
    return [make_track(Signal.ACTIVATION, grid, np.geomspace(5, top, RUN), tag="max_attn_logit")]


def late(**more: object) -> dict[str, object]:
    steps = [150, 220, 290]
    run = make_episode(EpisodeKind.CONSECUTIVE_SPIKES, 150, count=3, escalating=True, steps=steps)
    spikes = [run, *(loss_spike(s, 4.0) for s in steps), lasting_spike(330)]
    return {"lr": np.full(RUN, 3e-4), "config": MODEL, "episodes": spikes, **more}


def test_growing_logits_that_did_no_harm_are_healthy() -> None:
    assert winner(healthy_case(others=logits(300.0), config=MODEL)) == "no_failure"


def test_not_in_a_model_without_attention() -> None:
    assert probability(settled_at(330, **late(config=recipe(model="resnet50"))), NAME) < 0.05


def test_not_with_normalised_queries_and_keys() -> None:
    normed = late(config=recipe(model="llama", total_steps=1000, raw={"qk_norm": True}))
    plain = settled_at(330, **late())
    assert probability(settled_at(330, **normed), NAME) < 0.5 * probability(plain, NAME)


def test_bounded_logits_clear_it() -> None:
    assert probability(settled_at(330, **late(others=logits(20.0))), NAME) < 0.05


def test_not_in_the_first_steps() -> None:
    early = diverged(8, config=MODEL, lr=np.full(RUN, 3e-4))
    assert probability(early, NAME) < 0.1


def test_wins_where_the_logits_were_logged_and_grew() -> None:
    assert winner(settled_at(330, **late(others=logits(5000.0)))) == NAME


def test_infinite_gradients_at_a_finite_loss_speak_for_it() -> None:
    def case(kind: str) -> float:
        broken = [non_finite(300), non_finite(299, signal=Signal.GRAD_NORM, kind=kind)]
        return probability(broke_to_nan(300, gradient_first=1, config=MODEL, episodes=broken), NAME)

    assert case("inf") > case("nan")
