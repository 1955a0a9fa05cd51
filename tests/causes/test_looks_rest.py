import numpy as np

from forensics.causes import _looks_rest as rest
from forensics.causes._looks_periodic import jumps_in_step
from forensics.causes._looks_travel import hardly_moved, rate_far_below_range, reach_short
from forensics.findings import Outcome
from forensics.run import Config
from tests.causes.cases import make_case
from tests.causes.facts_of import change, pair, scanned
from tests.causes.shapes import falling, steady

TEN = Config(num_classes=10, optimizer="adamw")
TEXT = Config(vocab_size=128, optimizer="adamw")


def stuck(loss: np.ndarray, config: Config = TEN, rate: float = 1e-3):
    lr = np.full(len(loss), rate)
    return make_case(loss, lr=lr, config=config, outcome=Outcome.STALLED, onset=1)


def test_resting_on_a_guess_is_not_resting_above_it() -> None:
    case = stuck(steady(2.3026, noise=0.01))
    assert rest.rests_above_guess(case).holds is False
    assert rest.rests_on_guessing(case).holds is True


def test_resting_above_a_guess() -> None:
    case = stuck(np.r_[2.3, steady(2.5, noise=0.01)])
    assert rest.rests_above_guess(case).holds is True
    assert rest.rests_on_guessing(case).holds is False


def test_a_level_of_token_frequencies_shows_that_they_were_learned() -> None:
    loss = np.r_[np.linspace(4.85, 2.7, 20), steady(2.7, noise=0.01)]
    assert rest.frequencies_unlearned(stuck(loss, TEXT)).holds is False
    assert rest.frequencies_unlearned(stuck(steady(4.85, noise=0.01), TEXT)).holds is True


def test_only_a_slow_steady_fall_from_the_first_loss_creeps() -> None:
    fast = np.r_[np.linspace(5, 2.7, 20), np.linspace(2.7, 2.6, 200)]
    assert rest.still_falls(stuck(fast, TEXT)).holds is False
    assert rest.still_falls(stuck(np.linspace(4.87, 4.7, 200), TEXT)).holds is True


def test_a_rise_that_falls_back_between_is_the_order_of_the_data() -> None:
    turns = np.tile(np.r_[9.0, np.zeros(9)], 20)
    assert not rest.overshot_at_first(stuck(np.r_[2.3, turns])).holds
    assert rest.overshot_at_first(stuck(np.r_[2.3, np.linspace(40, 3, 100)])).holds is True


def test_noise_and_a_single_spike_are_no_turns() -> None:
    assert jumps_in_step(make_case(falling())).holds is False
    spiked = falling()
    spiked[100] = 50.0
    assert jumps_in_step(make_case(spiked)).holds is False


def test_jumps_in_equal_distances_are_turns() -> None:
    turns = np.tile(np.geomspace(6.0, 0.01, 20), 12)
    assert jumps_in_step(make_case(turns)).holds is True


def test_the_reach_of_ordinary_rates_is_long() -> None:
    assert reach_short(stuck(falling(), rate=1e-3)).holds is False
    assert rate_far_below_range(stuck(falling(), rate=1e-3)).holds is False


def test_fine_tuning_needs_less() -> None:
    tuned = Config(optimizer="adamw", pretrained=True)
    assert reach_short(stuck(falling(), tuned, rate=1e-5)).holds is False
    assert reach_short(stuck(falling(), TEN, rate=1e-5)).holds is True


def test_rates_for_sgd_bound_no_way() -> None:
    assert reach_short(stuck(falling(), Config(optimizer="sgd"), rate=1e-7)).holds is None


def test_weights_that_hardly_moved() -> None:
    assert hardly_moved(scanned()).holds is None
    assert hardly_moved(scanned(pair(change("a", 0.1), change("b", 0.3)))).holds is False
    assert hardly_moved(scanned(pair(change("a", 1e-4), change("b", 3e-4)))).holds is True
