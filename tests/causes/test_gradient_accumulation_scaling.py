from dataclasses import replace

import numpy as np

from forensics.causes import _looks_scaling as scaling
from forensics.findings import EpisodeKind, Outcome
from forensics.run import Config
from tests.causes.cases import healthy_case, make_case, make_episode
from tests.causes.shapes import POINTS, plateau, probability, steady, winner

LEVEL = float(np.log(32000))


def apart(factor, accumulation):
    """Training loss ``factor`` times the validation loss all along."""
    held_out = np.linspace(LEVEL, 0.6 * LEVEL, 10)
    train = factor * np.linspace(LEVEL, 0.6 * LEVEL, POINTS)
    episode = make_episode(
        EpisodeKind.VALIDATION_FAILURE, 20, form="gap_from_start", train_level=30.0, eval_level=7.0
    )
    return make_case(
        train,
        steady(0.6),
        eval_loss=held_out,
        outcome=Outcome.VALIDATION_FAILED,
        onset=20,
        episodes=[episode],
        config=Config(vocab_size=32000, grad_accum=accumulation, pretrained=False),
    )


def test_without_accumulation_there_is_nothing_to_scale():
    assert probability(apart(4, 1), "gradient_accumulation_scaling") < 0.05


def test_another_factor_is_another_cause():
    assert probability(apart(2.2, 8), "gradient_accumulation_scaling") < 0.05


def test_a_healthy_run_that_accumulates_is_healthy():
    assert winner(healthy_case(config=Config(grad_accum=4, vocab_size=400))) == "no_failure"


def test_training_at_the_accumulation_times_validation_decides():
    assert winner(apart(4, 4)) == "gradient_accumulation_scaling"
    assert winner(apart(1 / 4, 4)) == "gradient_accumulation_scaling"


def test_a_first_loss_of_accumulation_times_a_guess_speaks_for_it():
    case = make_case(
        4 * LEVEL * np.linspace(1, 0.98, POINTS),
        steady(0.6),
        outcome=Outcome.STALLED,
        onset=1,
        episodes=[plateau(4 * LEVEL, "initial")],
        config=Config(vocab_size=32000, grad_accum=4),
    )
    assert winner(case) == "gradient_accumulation_scaling"


def trained(first, **settings):
    loss = first * np.linspace(1, 0.5, POINTS)
    return make_case(loss, steady(0.6), config=Config(vocab_size=32000, **settings))


def test_a_harmless_scaling_of_a_healthy_run_is_still_named():
    assert winner(trained(4 * LEVEL, grad_accum=4)) == "gradient_accumulation_scaling"


def test_the_low_first_loss_of_a_pretrained_model_is_no_scaling():
    for pretrained in (True, None):
        assert winner(trained(LEVEL / 4, grad_accum=4, pretrained=pretrained)) == "no_failure"


def test_a_first_loss_near_twice_a_guess_is_not_taken_for_two_micro_batches():
    assert winner(trained(1.8 * LEVEL, grad_accum=2)) == "no_failure"


def test_a_classifier_of_texts_guesses_among_its_classes() -> None:
    config = Config(
        model="BertForSequenceClassification", num_classes=4, vocab_size=512, grad_accum=16
    )
    summed = make_case(loss=[16 * np.log(4)] * 20, config=config)
    assert scaling.first_loss_is_multiple(summed).holds
    tokens = make_case(loss=[16 * np.log(4)] * 20, config=replace(config, model="gpt2"))
    assert not scaling.first_loss_is_multiple(tokens).holds
