import numpy as np

from forensics.causes.poor_initialization import CAUSE
from forensics.run import Config
from tests.causes.cases import healthy_case
from tests.causes.failures import RUN, diverged, divergence, recipe
from tests.causes.shapes import probability, steady, winner

NAME = "poor_initialization"
VOCAB = recipe(vocab_size=32_000, normalization="none")


def from_start(first: float, **more: object) -> dict[str, object]:
    return {
        "form": "from_start",
        "loss": np.r_[np.linspace(first, 3 * first, 20), np.full(RUN - 20, 3 * first)],
        "grad_norm": np.r_[3000.0, 2500.0, 1000.0, np.full(RUN - 3, 5.0)],
        "lr": np.full(RUN, 1e-4),
        "config": VOCAB,
        "episodes": [divergence(2, "from_start")],
        **more,
    }


def test_a_high_first_loss_that_heals_is_healthy() -> None:
    loss = np.r_[30.0, 20.0, 12.0, np.linspace(9, 2, 297)]
    assert winner(healthy_case(loss=loss, config=VOCAB)) == "no_failure"


def test_not_after_long_calm() -> None:
    assert probability(diverged(390, config=VOCAB), NAME) < 0.1


def test_a_first_loss_at_chance_speaks_against_it() -> None:
    at_chance = diverged(2, **from_start(10.4, grad_norm=None))
    assert probability(at_chance, NAME) < probability(diverged(2, **from_start(40.0)), NAME)


def test_pretrained_weights_speak_against_it() -> None:
    tuned = from_start(40.0, config=recipe(vocab_size=32_000, pretrained=True))
    new = from_start(40.0, config=recipe(vocab_size=32_000, pretrained=False))
    assert probability(diverged(2, **tuned), NAME) < probability(diverged(2, **new), NAME)


def test_leads_where_signals_have_the_wrong_size_from_the_first_step() -> None:
    case = diverged(2, **from_start(40.0))
    assert probability(case, NAME) > 0.3
    assert probability(case, NAME) > probability(case, "learning_rate_too_high")


def test_advice_uses_width_and_depth() -> None:
    case = diverged(2, config=Config(hidden_size=1000, num_layers=50), grad_norm=steady(1.0, RUN))
    assert "0.02" in CAUSE.fix(case)[0]
    assert "0.1" in CAUSE.fix(case)[1]
