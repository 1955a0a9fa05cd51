import numpy as np
import pytest

from forensics.advice.cost import cost_of
from forensics.findings import Outcome
from forensics.signals import Signal
from forensics.verdict import Cost
from tests.advice.checkpointed import exploded
from tests.causes.cases import healthy_case, make_case, make_track

NOTHING = Cost(None, None, None)


def timed(seconds, onset=51, resumes=()):
    """A hundred steps, each written at the given second."""
    from dataclasses import replace

    case = make_case(np.ones(100), outcome=Outcome.DIVERGED, onset=onset, resumes=resumes)
    track = make_track(Signal.TRAIN_LOSS, np.arange(1, 101), np.ones(100), wall_time=seconds)
    line = replace(case.timeline, tracks={Signal.TRAIN_LOSS: track})
    return replace(case, timeline=line)


def test_a_run_that_did_not_fail_cost_nothing():
    assert cost_of(healthy_case()) == NOTHING
    assert cost_of(healthy_case(outcome=Outcome.SPIKED_RECOVERED, onset=100)) == NOTHING
    assert cost_of(healthy_case(outcome=Outcome.CRASHED, onset=300)) == NOTHING


def test_without_any_clock_hours_are_unknown():
    cost = cost_of(exploded())
    assert cost.steps_after_onset == 49
    assert cost.hours_after_onset is None
    assert cost.share_of_run == pytest.approx(49 / 199)


def test_the_pause_before_a_resume_is_no_training():
    seconds = 36.0 * np.arange(100)
    paused = seconds + np.where(np.arange(1, 101) >= 70, 1e6, 0.0)
    assert cost_of(timed(paused, resumes=[70])).hours_after_onset == pytest.approx(0.48)


def test_times_of_writing_give_the_hours():
    assert cost_of(timed(36.0 * np.arange(100))).hours_after_onset == pytest.approx(0.49)


@pytest.mark.parametrize(("tag", "value"), [("step_time", 36.0), ("iteration time (ms)", 36000.0)])
def test_the_time_of_a_step_gives_the_hours(tag, value):
    from dataclasses import replace

    case = exploded()
    track = make_track(Signal.STEP_TIME, np.arange(1, 201), np.full(200, value), tag=tag)
    line = replace(case.timeline, tracks={**case.timeline.tracks, Signal.STEP_TIME: track})
    assert cost_of(replace(case, timeline=line)).hours_after_onset == pytest.approx(0.49)


def test_an_elapsed_time_is_not_the_time_of_a_step():
    case = exploded(tracks={Signal.STEP_TIME: 36.0 * np.arange(1, 201)})
    assert cost_of(case).hours_after_onset == pytest.approx(0.49)


def test_one_point_and_an_empty_clock_break_nothing():
    assert cost_of(make_case([1.0], outcome=Outcome.NON_FINITE, onset=1)).share_of_run is None
    assert cost_of(timed(np.full(100, np.nan))).hours_after_onset is None
