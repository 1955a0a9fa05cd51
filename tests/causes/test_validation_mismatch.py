import numpy as np
import pytest

from forensics.findings import EpisodeKind, Outcome
from forensics.run import Config
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case, make_episode
from tests.causes.shapes import falling, probability, steady, winner


def failed(form, held_out=None, **more):
    episode = make_episode(
        EpisodeKind.VALIDATION_FAILURE,
        20,
        signal=Signal.EVAL_LOSS,
        form=form,
        train_level=0.4,
        eval_level=5.0,
    )
    return make_case(
        falling(0.2),
        steady(0.6),
        eval_loss=np.full(10, 5.0) if held_out is None else held_out,
        outcome=Outcome.VALIDATION_FAILED,
        onset=20,
        episodes=[episode],
        **more,
    )


def test_batch_normalisation_explains_a_jump_of_validation_better():
    case = failed("jump", config=Config(normalization="batchnorm"))
    assert winner(case) != "validation_mismatch"


def test_a_healthy_run_is_healthy():
    assert probability(healthy_case(), "validation_mismatch") < 0.01


@pytest.mark.parametrize("form", ["gap_from_start", "flat"])
def test_a_validation_apart_from_the_first_is_a_mismatch(form):
    assert winner(failed(form)) == "validation_mismatch"


def test_a_jump_without_batch_normalisation_is_a_mismatch():
    case = failed("jump", config=Config(normalization="layernorm"))
    assert winner(case) == "validation_mismatch"


def test_a_validation_far_below_training_is_a_leak():
    case = failed("gap_from_start", held_out=falling(0.2)[::20] / 5)
    assert winner(case) == "validation_mismatch"
    assert probability(case, "validation_mismatch") > 0.4
