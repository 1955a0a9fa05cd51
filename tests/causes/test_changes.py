import numpy as np
import pytest

from forensics.causes import _changes as changes
from forensics.findings import Outcome
from forensics.phrasing import counted_in
from forensics.run import Axis, Config, FoundCheckpoint
from tests.causes.cases import make_case
from tests.causes.failures import diverged, recipe


def with_checkpoints(*steps: int, complete: bool = True, onset: int | None = 100) -> str:
    case = make_case(loss=np.ones(300), onset=onset)
    found = tuple(FoundCheckpoint(f"checkpoint-{s}", s, 1, 0.0, complete) for s in steps)
    object.__setattr__(case.run, "checkpoints", found)
    return changes.restart_from(case)


def test_restarts_from_the_latest_checkpoint_before_the_onset() -> None:
    assert with_checkpoints(40, 80, 120) == "checkpoint-80 (step 80)"
    assert with_checkpoints(120) == "the initial weights"
    assert with_checkpoints(80, complete=False) == "the initial weights"
    assert with_checkpoints(80, onset=None) == "the last checkpoint"


def test_checkpoints_may_lie_elsewhere() -> None:
    assert with_checkpoints(onset=200) == "the last checkpoint before step 200"
    assert with_checkpoints(onset=1) == "the initial weights"


def test_unknown_rate_is_not_invented() -> None:
    assert changes.lower_lr(diverged(config=Config())) is None
    assert "third" in changes.lr_words(diverged(config=Config()))


@pytest.mark.parametrize(
    ("config", "after"),
    [
        (Config(total_steps=300), 30),  # 3 % would be 9: too short to help
        (Config(total_steps=10_000), 300),
        (Config(total_steps=1_000_000), 2000),
        (Config(total_steps=10_000, warmup_steps=400), 800),
        (Config(betas=(0.9, 0.95)), 40),
        (Config(optimizer="sgd"), 200),
        (Config(), 1000),
    ],
)
def test_warmup_is_three_percent_within_reason(config: Config, after: int) -> None:
    assert changes.longer_warmup(make_case(config=config)).after == after


def test_clipping_follows_this_run_s_norms() -> None:
    gradient = np.r_[np.linspace(0.1, 1.0, 50), np.full(50, 900.0)]
    case = make_case(grad_norm=gradient, onset=51, config=recipe(clip_threshold=0.0))
    assert changes.clip_norm(case).after == pytest.approx(0.91)


def test_a_threshold_is_never_raised() -> None:
    case = make_case(grad_norm=np.full(50, 5.0), config=recipe(clip_threshold=1.0))
    assert changes.clip_norm(case).after == 1.0


def test_numbers_are_ones_a_person_would_set() -> None:
    assert changes.round_to(6.666666e-5) == 6.7e-5
    assert changes.round_to(0.0) == 0.0


def test_a_rate_that_broke_the_run_on_its_way_up_changes_the_peak() -> None:
    rising = np.linspace(0.0, 1.0, 100)
    case = make_case(loss=np.ones(100), lr=rising, onset=6, outcome=Outcome.DIVERGED)
    change = changes.lower_lr(case)
    assert change is not None
    assert change.before == 1.0
    assert change.after < rising[5]


def test_a_setting_that_the_recipe_multiplies_is_scaled_alike() -> None:
    config = recipe(lr_peak=0.1)
    case = make_case(loss=np.ones(100), lr=np.full(100, 0.4), onset=50, config=config)
    plain = make_case(loss=np.ones(100), lr=np.full(100, 0.4), onset=50, config=recipe(lr_peak=0.4))
    scaled, logged = changes.lower_lr(case), changes.lower_lr(plain)
    assert scaled is not None
    assert logged is not None
    assert scaled.before == 0.1
    assert scaled.after == pytest.approx(logged.after / 4, rel=0.1)


def test_a_trial_of_epochs_ends_past_the_failure() -> None:
    by_epoch = make_case(loss=np.ones(20), onset=4, axis=Axis.EPOCH, outcome=Outcome.DIVERGED)
    with counted_in("epoch"):
        assert changes.trial(by_epoch) == "until past epoch 4"
    assert changes.trial(make_case(loss=np.ones(20), onset=4)).endswith(" steps")
