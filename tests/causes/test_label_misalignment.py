from dataclasses import replace

import numpy as np

from forensics.batch_facts import BatchAudit, BatchFinding, BatchSurvey, Oddity
from forensics.findings import EpisodeKind, Outcome
from forensics.run import Config
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case, make_episode
from tests.causes.shapes import POINTS, plateau, probability, steady, winner

TEN = Config(num_classes=10, optimizer="adamw")


def stuck_at_chance(gradient=1.1, lr=1e-3, **more):
    return make_case(
        steady(2.3026, noise=0.005),
        steady(gradient),
        np.full(POINTS, lr),
        outcome=Outcome.STALLED,
        onset=1,
        episodes=[plateau(2.3026, "ln_classes")],
        config=TEN,
        **more,
    )


def test_a_dead_gradient_is_another_cause():
    assert winner(stuck_at_chance(gradient=1e-7)) != "label_misalignment"


def test_a_rate_of_zero_is_another_cause():
    assert winner(stuck_at_chance(lr=0.0)) != "label_misalignment"


def test_high_accuracy_is_another_cause():
    case = stuck_at_chance(tracks={Signal.TRAIN_ACCURACY: steady(0.9, noise=0.001)})
    assert probability(case, "label_misalignment") < 0.2


def test_a_healthy_run_is_healthy():
    assert probability(healthy_case(), "label_misalignment") < 0.01


def test_chance_level_with_a_healthy_gradient_is_misalignment():
    case = stuck_at_chance(tracks={Signal.TRAIN_ACCURACY: steady(0.1)})
    assert winner(case) == "label_misalignment"
    assert winner(stuck_at_chance()) == "label_misalignment"


def test_a_loss_that_vanishes_at_once_is_misalignment():
    loss = np.concatenate([np.linspace(10, 0.02, 10), steady(0.01, POINTS - 10)])
    apart = make_episode(
        EpisodeKind.VALIDATION_FAILURE, 20, form="gap_from_start", train_level=0.01, eval_level=11.0
    )
    case = make_case(
        loss,
        steady(0.6),
        eval_loss=np.full(10, 11.0),
        outcome=Outcome.VALIDATION_FAILED,
        onset=20,
        episodes=[apart],
        config=Config(vocab_size=32000),
    )
    assert winner(case) == "label_misalignment"


def captured(*found):
    """Text whose loss rests at the frequencies of its tokens, with batches that were looked at."""
    audits = (BatchAudit(1, "batches/step_1.pt", False, (), (Oddity.LABELS_SHIFTED,)),)
    case = make_case(
        steady(2.8, noise=0.01),
        steady(0.5),
        np.full(POINTS, 1e-3),
        outcome=Outcome.STALLED,
        onset=1,
        episodes=[plateau(2.8, "token_entropy")],
        config=Config(vocab_size=128, optimizer="adamw"),
    )
    return replace(case, batches=BatchSurvey(audits, everywhere=tuple(found)))


def test_labels_that_stand_where_they_belong_clear_it():
    assert probability(captured(), "label_misalignment") < 0.1


def test_labels_of_another_place_name_it():
    found = BatchFinding(Oddity.LABELS_SHIFTED, "labels", "9 places further on.", 1.0, 9.0, None)
    assert winner(captured(found)) == "label_misalignment"
    assert probability(captured(found), "label_misalignment") > 0.8
