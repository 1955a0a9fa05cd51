import numpy as np

from forensics.causes import rank
from forensics.findings import Change, Ending, EpisodeKind, Outcome, Severity
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Resume
from tests.causes.cases import healthy_case, make_case, make_episode
from tests.causes.shapes import (
    POINTS,
    built_up,
    falling,
    loss_spike,
    plateau,
    probability,
    steady,
    winner,
)


def shifted(moved, **more):
    loss = falling()
    loss[119:] += 0.4
    shift = make_episode(
        EpisodeKind.LEVEL_SHIFT,
        120,
        severity=Severity.WARNING,
        ending=Ending.SETTLED,
        before=2.1,
        after=2.5,
        direction="up",
        validation_moved=moved,
    )
    return make_case(
        loss,
        steady(0.6),
        eval_loss=(loss if moved else falling())[::20],
        outcome=Outcome.SPIKED_UNRECOVERED,
        onset=120,
        episodes=[shift],
        **more,
    )


def stalled_with(accuracy):
    tracks = {Signal.TRAIN_ACCURACY: accuracy}
    flat = [plateau(2.3, "initial")]
    return make_case(steady(2.3), tracks=tracks, outcome=Outcome.STALLED, onset=1, episodes=flat)


def test_small_batches_are_right_or_wrong_as_a_whole_in_any_order():
    accuracy = np.random.default_rng(0).binomial(2, 0.5, POINTS) / 2
    assert probability(stalled_with(accuracy), "data_order") < 0.1


def test_accuracies_around_chance_are_not_the_order_of_the_data():
    accuracy = np.random.default_rng(0).binomial(32, 0.1, POINTS) / 32
    assert probability(stalled_with(accuracy), "data_order") < 0.1


def test_stretches_of_one_class_are_the_order_of_the_data():
    share = np.tile(np.repeat([0.0, 0.3, 0.6, 1.0], [12, 2, 2, 4]), POINTS // 20)
    accuracy = np.random.default_rng(0).binomial(32, share) / 32
    assert winner(stalled_with(accuracy)) == "data_order"


def test_a_validation_that_moves_too_is_not_the_order_of_the_data():
    assert probability(shifted(True), "data_order") < 0.1


def test_a_gradient_that_built_up_is_not_the_order_of_the_data():
    assert probability(built_up(), "data_order") < 0.05


def test_a_healthy_run_is_healthy():
    assert winner(healthy_case(config=Config(shuffle=False))) == "no_failure"


def test_a_shift_of_the_training_loss_alone_is_the_order_of_the_data():
    assert winner(shifted(False)) == "data_order"


def test_shuffling_is_switched_on():
    case = shifted(False, config=Config(shuffle=False))
    assert rank(case)[0][0].changes == (Change("shuffle", False, True),)


def test_a_drop_at_a_resume_and_a_rise_at_the_old_end_are_repeated_data():
    loss = falling()
    loss[99:140] -= 0.5
    drop = make_episode(
        EpisodeKind.RESUME_JUMP,
        100,
        severity=Severity.WARNING,
        ending=Ending.RECOVERED,
        before=2.1,
        after=1.6,
        direction="down",
        rewound_from=140,
        lr_before=3e-4,
        lr_after=3e-4,
        grad_ratio=1.0,
        recovery_steps=40,
    )
    rise = loss_spike(141, 2.1, 1.6, ending=Ending.SETTLED, recovery=None, points=59)
    case = make_case(
        loss,
        steady(0.6),
        np.full(POINTS, 3e-4),
        outcome=Outcome.SPIKED_UNRECOVERED,
        onset=141,
        episodes=[drop, rise],
        resumes=[Resume(100, 140, 1)],
    )
    assert winner(case) == "data_order"
