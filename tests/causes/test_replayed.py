from dataclasses import replace

import numpy as np
import pytest

from forensics.causes import _replayed as looks
from forensics.causes._looks_replay_rate import lower_rate_removes
from forensics.findings import Outcome
from forensics.replay_facts import ReplayFacts, Variant
from forensics.replay_reading import Blame, read_replay
from tests import replay_facts_of as of
from tests.causes.cases import make_case


def replayed(facts: ReplayFacts):
    loss = np.full(400, 0.3)
    loss[of.SUSPECT - 1] = 16.7
    case = make_case(loss=loss, outcome=Outcome.SPIKED_UNRECOVERED, onset=of.SUSPECT)
    return replace(case, replay=facts)


def test_what_the_budget_cut_short_has_not_failed_to_help():
    cut = of.change(Variant.RATE_TENTH, removes=False, trajectory=of.trajectory(complete=False))
    assert lower_rate_removes(replayed(of.facts(counterfactuals=(cut,)))).holds is None
    whole = of.change(Variant.RATE_TENTH, removes=False)
    assert lower_rate_removes(replayed(of.facts(counterfactuals=(whole,)))).holds is False


def test_a_failure_that_comes_again_needs_no_other_setting_to_meet_the_log():
    near = of.change(Variant.RANKS_SUMMED, removes=False, matches_log=0.0)
    assert looks.meeting_the_log(replayed(of.facts(counterfactuals=(near,))), *Variant) is None


def test_the_change_that_meets_the_log_is_the_one_the_report_names():
    run = of.as_run(reproduces=False, matches_log=1.0)
    near = of.change(Variant.FRESH_MOMENTS, removes=False, matches_log=0.1)
    less = of.change(Variant.RANKS_SUMMED, removes=False, matches_log=0.2)
    case = replayed(of.facts(as_run=run, counterfactuals=(less, near)))
    assert looks.meeting_the_log(case, Variant.FRESH_MOMENTS) is near
    assert looks.meeting_the_log(case, Variant.RANKS_SUMMED) is None


@pytest.mark.parametrize("z", [-1.0, 2.9, 3.0, 4.5, 5.9, 6.0, 40.0])
def test_the_report_and_the_causes_agree_on_the_suspect_batch(z):
    facts = of.facts(comparisons=(of.comparison(loss=0.5, z=z),))
    blame, out = read_replay(facts).blame, looks.stands_out(replayed(facts))
    assert (blame is Blame.NEITHER) is (out is False)
    assert (blame is Blame.OPEN) is (out is None)
