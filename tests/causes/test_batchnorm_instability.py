import numpy as np

from forensics.causes.batchnorm_instability import CAUSE
from forensics.findings import Change, EpisodeKind, Outcome
from forensics.run import Config
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case, make_episode
from tests.causes.shapes import falling, probability, winner

NAME = "batchnorm_instability"
SMALL = Config(model="resnet50", micro_batch=2)


def validation_broke(form: str = "jump", config: Config = SMALL) -> object:
    broken = make_episode(
        EpisodeKind.VALIDATION_FAILURE,
        80,
        signal=Signal.EVAL_LOSS,
        form=form,
        train_level=2.1,
        eval_level=900.0,
    )
    return make_case(
        falling(),
        eval_loss=[3.0, 2.5, 900.0, 2.4, 8000.0],
        config=config,
        outcome=Outcome.VALIDATION_FAILED,
        onset=80,
        episodes=[broken],
    )


def test_small_batches_that_did_no_harm_are_healthy() -> None:
    assert winner(healthy_case(config=SMALL)) == "no_failure"


def test_not_without_batch_normalisation() -> None:
    for config in (Config(model="llama-7b", micro_batch=1), Config(normalization="layernorm")):
        assert probability(validation_broke(config=config), NAME) < 0.1


def test_large_batches_speak_against_it() -> None:
    large = Config(model="resnet50", micro_batch=64)
    assert probability(validation_broke(config=large), NAME) < probability(validation_broke(), NAME)


def test_not_where_validation_turned_slowly() -> None:
    turned = make_episode(
        EpisodeKind.OVERFIT, 80, signal=Signal.EVAL_LOSS, best_step=80, best_value=2.4,
        last_value=3.1, rise=0.3, train_fall=0.5,
    )  # fmt: skip
    case = make_case(
        falling(),
        eval_loss=np.r_[3.0, 2.4, 2.7, 3.1],
        config=SMALL,
        outcome=Outcome.OVERFIT,
        onset=80,
        episodes=[turned],
    )
    assert probability(case, NAME) < 0.05


def test_wins_where_only_validation_jumps_about() -> None:
    for form in ("jump", "non_finite"):
        assert winner(validation_broke(form)) == NAME
    assert CAUSE.changes(validation_broke()) == (Change("micro_batch", 2, 16),)
