import numpy as np
import pytest

from forensics.causes import _looks_schedule as schedule
from forensics.causes import _looks_warmup as warmups
from forensics.findings import Outcome
from forensics.run import Config
from tests.causes.cases import make_case
from tests.causes.failures import RUN, cosine, diverged, recipe, stalled

EVERY = [
    look
    for room in (schedule, warmups)
    for name, look in vars(room).items()
    if name.startswith(("onset_", "warmup_", "loss_", "lr_st", "lr_j", "never_", "lowered_"))
]


@pytest.mark.parametrize("look", EVERY, ids=lambda f: f.__name__)
def test_nothing_is_said_without_a_schedule(look: object) -> None:
    assert look(make_case(loss=[1.0, 2.0, 3.0])).holds is None


def test_a_constant_rate_is_near_its_peak_without_meaning_it() -> None:
    assert schedule.onset_near_peak(diverged(lr=np.full(RUN, 1e-4))).holds is None


@pytest.mark.parametrize(
    ("onset", "near", "decayed"), [(30, True, False), (200, False, False), (370, False, True)]
)
def test_where_on_the_cosine(onset: int, near: bool, decayed: bool) -> None:
    case = diverged(onset, lr=cosine(1e-3))
    assert schedule.onset_near_peak(case).holds is near
    assert schedule.onset_after_decay(case).holds is decayed


@pytest.mark.parametrize(
    ("onset", "rising", "at_end", "around"),
    [(40, True, False, False), (100, False, True, True), (250, False, False, True)],
)
def test_where_on_the_warmup(onset: int, rising: bool, at_end: bool, around: bool) -> None:
    case = diverged(onset, config=recipe(warmup_steps=100, total_steps=5000))
    assert warmups.onset_while_rising(case).holds is rising
    assert warmups.onset_at_warmup_end(case).holds is at_end
    assert warmups.onset_around_warmup_end(case).holds is around


def test_a_spike_that_heals_at_once_does_not_follow_the_rate() -> None:
    loss = np.full(RUN, 2.0)
    loss[100:105] = 9.0
    case = make_case(loss, lr=cosine(1e-3), onset=101, outcome=Outcome.SPIKED_RECOVERED)
    assert schedule.loss_follows_lr(case).holds is False


def test_a_loss_that_heals_with_the_rate_follows_it() -> None:
    loss = np.r_[np.full(50, 3.0), np.full(250, 40.0), np.linspace(40, 3, 100)]
    case = make_case(loss, lr=cosine(1.0), onset=51, outcome=Outcome.SPIKED_RECOVERED)
    assert schedule.loss_follows_lr(case).holds is True


@pytest.mark.parametrize(("warmup", "short"), [(5, True), (500, False), (0, None)])
def test_short_warmups(warmup: int, short: bool | None) -> None:
    config = Config(warmup_steps=warmup, total_steps=50_000, betas=(0.9, 0.999))
    assert warmups.warmup_short(make_case(config=config)).holds is short


def test_steady_means_within_a_tenth() -> None:
    assert schedule.lr_steady(diverged(300, lr=np.full(RUN, 1e-4))).holds is True
    assert schedule.lr_steady(diverged(300, lr=cosine(1e-4))).holds is False


def test_a_plateau_has_no_place_on_the_schedule() -> None:
    case = stalled(config=recipe(warmup_steps=100))
    for look in (
        schedule.onset_near_peak,
        warmups.onset_while_rising,
        schedule.onset_after_decay,
        schedule.loss_follows_lr,
    ):
        assert look(case).holds is None


def test_held_at_its_peak_is_no_schedule() -> None:
    held = np.r_[np.linspace(0, 1e-3, 20), np.full(RUN - 20, 1e-3)]
    assert schedule.never_decayed(diverged(300, lr=held)).holds is True
    assert schedule.onset_near_peak(diverged(300, lr=held)).holds is None
    assert schedule.never_decayed(diverged(300, lr=cosine(1e-3))).holds is False
    assert schedule.never_decayed(diverged(10, lr=held)).holds is False
