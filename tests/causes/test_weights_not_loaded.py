import numpy as np

from forensics.run import TextKind
from tests.causes.cases import healthy_case
from tests.causes.failures import RUN, diverged, recipe, stalled
from tests.causes.shapes import probability, steady, winner

NAME = "weights_not_loaded"


def tuning(**changed: object) -> dict[str, object]:
    config = recipe(**({"vocab_size": 32_000, "pretrained": True} | changed))
    return {"level": 10.4, "kind": "ln_vocab", "lr": np.full(RUN, 1e-5), "config": config}


def test_a_new_head_that_trains_is_healthy() -> None:
    case = healthy_case(text=[TextKind.WEIGHTS_NOT_LOADED])
    assert winner(case) == "no_failure"


def test_not_where_training_starts_below_a_guess() -> None:
    case = stalled(**tuning(), loss=steady(2.9, RUN, noise=0.01))
    assert probability(case, NAME) < 0.05


def test_not_where_training_is_from_scratch() -> None:
    assert probability(stalled(**tuning(pretrained=False)), NAME) < 0.05


def test_a_start_at_chance_is_normal_where_nothing_says_pretrained() -> None:
    assert probability(stalled(**tuning(pretrained=None)), NAME) < 0.2


def test_not_for_a_late_failure() -> None:
    case = diverged(300, config=recipe(pretrained=True, vocab_size=300))
    assert probability(case, NAME) < 0.1


def test_wins_where_fine_tuning_starts_from_a_guess() -> None:
    assert winner(stalled(**tuning())) == NAME


def test_the_loader_s_own_words_speak_for_it() -> None:
    said = stalled(**tuning(pretrained=None), text=[TextKind.WEIGHTS_NOT_LOADED])
    assert probability(said, NAME) > probability(stalled(**tuning(pretrained=None)), NAME)
