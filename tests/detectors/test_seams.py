"""Rises at a resume or where the schedule of the learning rate began again; and what is none."""

import numpy as np
import pytest

from forensics.detectors._restarts import schedule_restarts
from forensics.findings import EpisodeKind, Outcome
from tests import synth
from tests.detectors.test_silence import outcome_of


def warmed_up(n, warmup=20):
    return np.minimum(np.arange(1, n + 1) / warmup, 1.0)


def cosine(n, total=None, least=0.0):
    return least + (1 - least) * 0.5 * (1 + np.cos(np.pi * np.arange(n) / (total or n)))


def begun_anew(warmup=20):
    """A cosine over 300 steps of which 210 are done, then the same from its first step."""
    whole = warmed_up(300, warmup) * cosine(300)
    return np.concatenate([whole[:210], whole[:150]])


def restarts(rate, interval=1):
    step = np.arange(len(rate))[::interval]
    return schedule_restarts(step, rate[::interval])


SOUND_RATES = {
    "constant": warmed_up(400),
    "one cosine": warmed_up(400) * cosine(400),
    "warm restarts": np.concatenate([cosine(50), cosine(100), cosine(200)]),
    "warm restarts from a floor": np.concatenate([cosine(150, least=0.2), cosine(250, least=0.2)]),
    "triangles": np.abs((np.arange(400) / 100) % 2 - 1) * 0.75 + 0.25,
    "step decay": np.repeat([1.0, 0.3, 0.1, 0.03], 100),
    "a sawtooth of many cycles": np.tile(np.linspace(1, 0.4, 40), 10),
    "noise of an adaptive rate": 1 + 0.1 * np.random.default_rng(0).standard_normal(400),
}


@pytest.mark.parametrize("name", SOUND_RATES)
@pytest.mark.parametrize("interval", [1, 3, 10])
def test_planned_schedules_do_not_begin_anew(name, interval):
    assert restarts(SOUND_RATES[name], interval) == ()


@pytest.mark.parametrize("interval", [1, 2, 5, 10])
@pytest.mark.parametrize("warmup", [1, 20, 60])
def test_a_rate_cut_off_in_the_middle_of_its_decay_began_anew(interval, warmup):
    found = restarts(begun_anew(warmup), interval)
    assert len(found) == 1
    assert 210 <= found[0] <= 210 + 2 * interval


@pytest.mark.parametrize("seed", range(5))
def test_a_loss_that_goes_on_falling_after_a_restart_did_not_rise(seed):
    loss = synth.power_law(360, np.random.default_rng(seed))
    found, episodes = outcome_of({"loss": loss, "lr": begun_anew()})
    assert found.outcome is Outcome.HEALTHY
    assert EpisodeKind.RESUME_JUMP not in {e.kind for e in episodes}


@pytest.mark.parametrize("seed", range(5))
def test_a_loss_that_rises_by_and_by_as_the_rate_does(seed):
    rng = np.random.default_rng(seed)
    loss = synth.power_law(360, rng)
    loss[210:] *= 1 + 0.4 * np.sin(np.pi * np.arange(150) / 150)
    found, _ = outcome_of({"loss": loss, "lr": begun_anew()})
    assert (found.outcome, found.onset_step) == (Outcome.SPIKED_RECOVERED, 210)


def resumed(after, seed):
    """A rewind from step 170 to 150, and how far the loss stands above its level from there on."""
    rng = np.random.default_rng(seed)
    level = 0.5 + 2 * np.exp(-np.arange(300) / 20)
    first, second = (level + 0.03 * rng.standard_normal(300) for _ in range(2))
    second[150 : 150 + len(after)] += after
    step = np.concatenate([np.arange(170), np.arange(150, 300)])
    return outcome_of({"loss": (step, np.concatenate([first[:170], second[150:]]))})[0]


@pytest.mark.parametrize("seed", range(10))
def test_a_resume_without_a_rise_is_none(seed):
    assert resumed(np.zeros(1), seed).outcome is Outcome.HEALTHY


def test_a_small_rise_of_several_points_at_a_resume_is_told():
    found = [resumed(0.2 * np.exp(-np.arange(20) / 8), seed) for seed in range(10)]
    assert sum(f.outcome is Outcome.SPIKED_RECOVERED for f in found) >= 8
    assert {f.onset_step for f in found} <= {None, 150}
