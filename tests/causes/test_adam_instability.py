import numpy as np

from forensics.causes._looks_spike import from_the_depths
from forensics.causes.adam_instability import CAUSE
from forensics.findings import Change, Outcome
from tests.causes.cases import healthy_case, make_case
from tests.causes.failures import (
    RUN,
    diverged,
    gradient_jump,
    lasting_spike,
    recipe,
    settled,
    stalled,
)
from tests.causes.shapes import POINTS, loss_spike, probability, spiked_once, winner

NAME = "adam_instability"
LONG = recipe(betas=(0.9, 0.999), global_batch=4096, total_steps=1000, warmup_steps=10)


def quiet(**more: object) -> dict[str, object]:
    spikes = [loss_spike(s, 3.0) for s in (200, 270)]
    return {
        "grad_norm": np.r_[np.linspace(3, 0.3, 100), np.full(RUN - 100, 0.3)],
        "lr": np.r_[np.linspace(0, 3e-4, 10), np.full(RUN - 10, 3e-4)],
        "config": LONG,
        "episodes": [*spikes, lasting_spike(330, 1.5)],
        **more,
    }


def test_a_healthy_run_with_a_long_memory_is_healthy() -> None:
    assert winner(healthy_case(config=LONG)) == "no_failure"


def test_not_without_a_second_moment() -> None:
    case = settled(330, **quiet(config=recipe(optimizer="sgd", betas=None)))
    assert probability(case, NAME) < 0.05


def test_a_short_memory_speaks_against_it() -> None:
    short = settled(330, **quiet(config=recipe(total_steps=1000)))
    assert probability(short, NAME) < probability(settled(330, **quiet()), NAME)


def test_a_gradient_that_jumped_speaks_against_it() -> None:
    jumped = settled(330, **quiet(episodes=[gradient_jump(328), lasting_spike(330)]))
    assert probability(jumped, NAME) < 0.3


def test_wins_after_a_quiet_phase_at_a_steady_rate() -> None:
    case = settled(330, **quiet())
    assert winner(case) == NAME
    assert probability(case, NAME) < 0.95  # only the optimizer state could prove it
    assert CAUSE.changes(case)[0].after == 0.95


def test_beta2_is_not_lowered_twice() -> None:
    assert CAUSE.changes(diverged()) == ()


def test_a_huge_epsilon_stalls_a_run() -> None:
    usual, huge = (stalled(config=recipe(eps=e, num_classes=10)) for e in (1e-8, 0.1))
    assert probability(huge, NAME) > 5 * probability(usual, NAME)
    assert CAUSE.changes(huge) == (Change("adam_epsilon", 0.1, 1e-8),)
    assert "epsilon" in CAUSE.fix(huge)[0]


def test_a_spike_from_an_ordinary_level_is_not_one_from_the_depths():
    assert not from_the_depths(spiked_once(height=400.0)).holds


def test_a_spike_by_orders_of_magnitude_from_next_to_nothing_kept_its_step_length():
    loss = np.geomspace(4.0, 1e-7, POINTS)
    loss[150:153] = 0.02, 0.01, 0.001
    spike = loss_spike(151, 0.02, base=float(loss[149]))
    case = make_case(loss, outcome=Outcome.SPIKED_RECOVERED, onset=151, episodes=[spike])
    assert from_the_depths(case).holds
    assert probability(case, "adam_instability") > probability(case, "no_failure")
