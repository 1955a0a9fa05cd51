from dataclasses import replace

import pytest

from forensics.advice.checkpoints import first_bad, judge_checkpoints, last_healthy
from forensics.findings import Outcome, TensorStats
from forensics.verdict import CheckpointState
from tests.advice.checkpointed import checkpoint, exploded, with_checkpoints
from tests.causes.cases import healthy_case, make_case


def best(case):
    found = last_healthy(case, judge_checkpoints(case))
    return None if found is None else found.path


def stats(path, nan=0, neg_inf=0, role="param"):
    return TensorStats(
        path, None, "w", role, "float32", (4,), 4, nan, 0, neg_inf, 0, 1.0, 0.5, None
    )


def test_no_checkpoint_is_no_verdict():
    assert judge_checkpoints(exploded()) == ()
    assert best(exploded()) is None


def test_a_run_wrong_from_its_first_step_has_none_worth_keeping():
    assert best(with_checkpoints(exploded(onset=1))) is None


def test_checkpoints_written_after_the_onset_are_no_candidates():
    case = with_checkpoints(exploded(), [checkpoint(151), checkpoint(200)])
    assert best(case) is None
    assert "after the onset at step 151" in judge_checkpoints(case)[0].reason


def test_a_checkpoint_whose_step_is_unknown_is_none_of_a_failed_run():
    assert best(with_checkpoints(exploded(), [checkpoint(None)])) is None


def test_an_unfinished_checkpoint_is_none():
    case = with_checkpoints(exploded(), [checkpoint(100), checkpoint(150, complete=False)])
    assert best(case) == "checkpoint-100"
    assert judge_checkpoints(case)[1].state is CheckpointState.UNREADABLE


def test_what_was_not_scanned_is_never_called_finite():
    for verdict in judge_checkpoints(with_checkpoints(healthy_case())):
        assert verdict.state is CheckpointState.NOT_SCANNED
        assert verdict.finite is None
        assert not verdict.scanned
        assert "not scanned" in verdict.reason


def test_the_latest_before_the_onset_is_taken():
    assert best(with_checkpoints(exploded())) == "checkpoint-150"


def test_between_two_logged_points_an_earlier_one_is_preferred():
    case = make_case(
        [3.0, 2.0, 1.5, 9.0], interval=100, first_step=100, outcome=Outcome.DIVERGED, onset=400
    )
    assert best(with_checkpoints(case, [checkpoint(300), checkpoint(350)])) == "checkpoint-300"
    only = with_checkpoints(case, [checkpoint(350)])
    assert best(only) == "checkpoint-350"
    assert "may already hold the damage" in judge_checkpoints(only)[0].reason


@pytest.mark.parametrize("outcome", [Outcome.HEALTHY, Outcome.SPIKED_RECOVERED, Outcome.CRASHED])
def test_a_run_that_did_not_fail_by_itself_goes_on_from_its_latest(outcome):
    assert best(with_checkpoints(healthy_case(outcome=outcome, onset=100))) == "checkpoint-200"


def test_non_finite_weights_never_heal():
    case = replace(
        with_checkpoints(healthy_case()),
        tensors=(stats("checkpoint-50"), stats("checkpoint-100", nan=1)),
    )
    judged = judge_checkpoints(case)
    assert [v.state for v in judged[:3]] == [
        CheckpointState.HEALTHY,
        CheckpointState.POISONED,
        CheckpointState.NOT_SCANNED,
    ]
    bad = first_bad(judged)
    assert bad is not None
    assert bad.path == "checkpoint-100"
    assert bad.non_finite_tensors == ("w",)
    assert best(case) == "checkpoint-50"


def test_a_mask_of_minus_infinity_is_no_damage():
    case = replace(
        with_checkpoints(healthy_case(), [checkpoint(50)]),
        tensors=(stats("checkpoint-50", neg_inf=3, role="buffer"),),
    )
    assert judge_checkpoints(case)[0].state is CheckpointState.HEALTHY


def test_finite_weights_after_the_onset_are_suspect():
    case = replace(
        with_checkpoints(exploded(), [checkpoint(200)]), tensors=(stats("checkpoint-200"),)
    )
    assert judge_checkpoints(case)[0].state is CheckpointState.SUSPECT


def test_verdicts_come_in_step_order_with_unknown_steps_last():
    case = with_checkpoints(exploded(), [checkpoint(None), checkpoint(150), checkpoint(50)])
    assert [v.step for v in judge_checkpoints(case)] == [50, 150, None]


def test_what_was_saved_at_the_best_validation_is_kept_of_an_overfitted_run():
    case = make_case([3.0, 2.0, 1.5, 1.0], interval=50, outcome=Outcome.OVERFIT, onset=100)
    turned = replace(case, judgement=replace(case.judgement, after_step=100))
    assert best(with_checkpoints(turned, [checkpoint(50), checkpoint(100)])) == "checkpoint-100"
    assert best(with_checkpoints(turned, [checkpoint(101)])) is None
