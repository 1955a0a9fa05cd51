"""Starts that blow up, and losses of exactly zero among others that are far from it."""

import numpy as np
import pytest

from forensics.findings import Outcome, Symptom
from tests.detectors.test_silence import outcome_of


def blown_up(end, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(300)
    level = end + (1.0 - end) * np.exp(-t / 60) + 12 * np.exp(-((t - 4) ** 2) / 8)
    level[0] = 1.0
    return level * np.exp(0.2 * rng.standard_normal(300))


def test_a_start_that_overshoots_and_then_trains_is_not_stalled():
    assert not outcome_of({"loss": blown_up(0.2)})[0].outcome.is_failure


@pytest.mark.parametrize("seed", range(3))
def test_a_start_that_blows_up_and_comes_back_to_where_it_began_is_stalled(seed):
    judgement, _ = outcome_of({"loss": blown_up(0.95, seed)})
    assert (judgement.outcome, judgement.symptom) == (Outcome.STALLED, Symptom.NO_PROGRESS)
    assert judgement.onset_step <= 4


def counted(at, norm_there, level=1.0):
    rng = np.random.default_rng(0)
    loss = level * np.exp(0.1 * rng.standard_normal(200))
    norm = np.exp(0.1 * rng.standard_normal(200))
    loss[at], norm[at] = 0.0, norm_there
    return {"loss": loss, "grad_norm": norm}


def test_an_exact_zero_with_a_gradient_or_among_losses_near_zero_is_a_loss():
    hinge = counted([90], 0.0)
    hinge["loss"][80:100:3] *= 0.02
    for tags in (counted([90], 0.9), hinge):
        assert "hidden_non_finite" not in {e.kind for e in outcome_of(tags)[1]}


def test_an_exact_zero_far_from_all_others_is_a_batch_in_which_nothing_counted():
    judgement, _ = outcome_of(counted([90], 0.0))
    assert (judgement.outcome, judgement.onset_step) == (Outcome.SPIKED_RECOVERED, 90)
