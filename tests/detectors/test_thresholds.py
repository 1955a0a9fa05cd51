"""A user's thresholds reach the detector they name, and those that build on it."""

import numpy as np
import pytest

from forensics.detectors import all_detectors, detect_all
from forensics.errors import UsageError
from forensics.findings import EpisodeKind
from forensics.run import Config
from tests import synth

BUILT_ON_SPIKES = {"consecutive_spikes", "divergence", "plateau"}


@pytest.fixture
def timeline():
    """A steady loss with five spikes to half as much again."""
    rng = np.random.default_rng(0)
    loss = 2.0 + 0.01 * rng.standard_normal(1_500)
    loss[1_000:1_250:50] = 3.0
    return synth.timeline_of({"loss": loss}, 1)


def kinds(timeline, thresholds):
    episodes, _ = detect_all(timeline, Config(), thresholds)
    return {episode.kind for episode in episodes}


def test_what_is_no_threshold_cannot_be_changed(timeline):
    with pytest.raises(UsageError, match="no threshold 'rule'"):
        detect_all(timeline, Config(), {"divergence": {"rule": None}})


def test_a_rule_under_which_nothing_is_a_spike_leaves_no_run_of_them(timeline):
    spikes = {EpisodeKind.LOSS_SPIKE, EpisodeKind.CONSECUTIVE_SPIKES}
    assert spikes <= kinds(timeline, {})
    assert not spikes & kinds(timeline, {"loss_spike": {"mild": 1.0}})


def test_every_detector_that_builds_on_spikes_says_so():
    assert {d.name for d in all_detectors() if d.builds_on_spikes} == BUILT_ON_SPIKES
