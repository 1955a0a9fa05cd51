"""The mechanism in numpy: the numbers that the sample run of thirty lines promises."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

SOURCE = Path(__file__).parents[1] / "sample_runs" / "mechanism.py"


@pytest.fixture(scope="module")
def mechanism() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mechanism", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def runs(mechanism):
    return mechanism.experiments()


def test_gradient_is_the_slope_of_the_loss(mechanism):
    network, nudge = mechanism.fresh_network(), 1e-6
    _, gradient = mechanism.loss_and_gradient(network)
    for weights, slope in zip(network.arrays(), gradient.arrays(), strict=True):
        weights.flat[0] += nudge
        above, _ = mechanism.loss_and_gradient(network)
        weights.flat[0] -= 2 * nudge
        below, _ = mechanism.loss_and_gradient(network)
        weights.flat[0] += nudge
        assert (above - below) / (2 * nudge) == pytest.approx(slope.flat[0], rel=1e-5, abs=1e-8)


def test_it_repeats_to_the_last_bit(mechanism):
    start = mechanism.fresh_network()
    first = mechanism.train(start, learning_rate=0.01, steps=20)
    again = mechanism.train(mechanism.fresh_network(), learning_rate=0.01, steps=20)
    assert np.array_equal(first.loss, again.loss)


def test_a_low_rate_converges(runs):
    loss = runs["lr 0.01"].loss
    assert loss[0] == pytest.approx(1.3355, rel=1e-4)
    assert loss[-1] < 0.0012
    assert np.all(np.diff(loss[50:]) < 0)


def test_a_high_rate_is_infinite_within_about_a_hundred_steps(runs):
    loss = runs["lr 1.0"].loss
    (first_bad, *_) = np.flatnonzero(~np.isfinite(loss))
    assert 90 <= first_bad <= 120
    assert not np.isfinite(loss[first_bad:]).any()


def test_clipping_keeps_the_same_rate_finite(runs):
    clipped = runs["lr 1.0, clipped at 1.0"]
    assert np.isfinite(clipped.loss).all()
    assert all(np.isfinite(w).all() for w in clipped.network.arrays())
    assert clipped.loss[-100:].max() < clipped.loss[0]
    assert (clipped.grad_norm > 1.0).mean() > 0.2, "it is the clipping that holds it"


def test_one_spike_is_not_survived(runs, mechanism):
    loss = runs["lr 0.1, one gradient x 10,000"].loss
    before, after = loss[mechanism.SPIKE_STEP], loss[mechanism.SPIKE_STEP + 1]
    assert before < 0.001
    assert after > 1000 * before
    assert loss[-1] > loss[0]


def test_resuming_before_the_spike_at_a_lower_rate_converges(runs, mechanism):
    loss = runs["resumed before it, lr 0.05"].loss
    spiked = runs["lr 0.1, one gradient x 10,000"].loss
    assert loss[0] == spiked[mechanism.CHECKPOINT_STEP], "the checkpoint is of the same run"
    assert loss[-1] < 0.0002
    assert np.all(np.diff(loss) < 0)
