import numpy as np
import pytest

from forensics.detectors._band import LONG, band
from forensics.detectors._trigger import excursions
from tests import naive, synth

ARGS = {"k": 7.0, "window": 64, "history": 32, "floor": 0.005}


@pytest.mark.parametrize("seed", range(5))
def test_short_runs_agree_with_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    loss = synth.plant_spike(synth.power_law(600, rng), 300, 2.0, 4)
    assert np.array_equal(band(loss, **ARGS).flagged, naive.band(loss, **ARGS))


def test_long_runs_flag_the_same_bursts_as_the_slow_twin():
    rng = np.random.default_rng(0)
    loss = synth.power_law(LONG + 5_000, rng)
    for at in (5_000, 9_000, 9_400, 20_000):
        loss[at : at + 8] += 2.0
    fast, slow = band(loss, **ARGS).flagged, naive.band(loss, **ARGS)
    bursts = [i for at in (5_000, 9_000, 9_400, 20_000) for i in range(at, at + 8)]
    assert fast[bursts].all()
    assert slow[bursts].all()
    assert fast.sum() <= slow.sum() + 2


def test_a_burst_does_not_hide_its_own_second_half():
    rng = np.random.default_rng(1)
    loss = synth.power_law(1_000, rng)
    loss[500:540] += 1.0
    assert band(loss, **ARGS).flagged[500:540].all()


def test_an_event_that_settles_ends_where_its_level_is_the_new_baseline():
    rng = np.random.default_rng(2)
    loss = 2.0 + 0.02 * rng.standard_normal(3_000)
    loss[1_000:] += 1.0
    step = np.arange(3_000)
    events = excursions(step, loss, band(loss, **ARGS), merge=10, settle=16)
    assert [e.onset for e in events] == [1_000]
    assert events[0].recovery is None
    assert events[0].until < 3_000


def test_onset_and_recovery_of_one_event():
    rng = np.random.default_rng(3)
    loss = 2.0 + 0.02 * rng.standard_normal(1_000)
    loss[400:420] += np.linspace(2.0, 0.5, 20)
    step = np.arange(0, 10_000, 10)
    events = excursions(step, loss, band(loss, **ARGS), merge=20, settle=16)
    assert [(e.onset, e.peak, e.recovery) for e in events] == [(400, events[0].peak, 420)]
    assert 400 <= events[0].peak <= 405
