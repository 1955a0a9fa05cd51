from dataclasses import replace

from forensics.advice.checkpoints import judge_checkpoints
from forensics.advice.recommendation import recommend
from forensics.causes import rank
from forensics.findings import Change, Hypothesis, Outcome, Status
from forensics.run import Axis
from tests.advice.checkpointed import checkpoint, exploded, with_checkpoints
from tests.causes.cases import healthy_case, make_case
from tests.causes.shapes import falling, spiked_once, steady


def hypothesis(probability, changes=(), skip=()):
    return Hypothesis(
        1, "x", "X", "data", probability, Status.LIKELY, (), (), "", (), tuple(changes), tuple(skip)
    )


def advice(case, hypotheses=(), unexplained=0.1):
    return recommend(case, hypotheses, unexplained, judge_checkpoints(case))


def test_a_weak_hypothesis_changes_nothing():
    weak = hypothesis(0.2, [Change("learning_rate", 1.0, 0.1)], [5])
    for unexplained in (0.5, 0.1):
        made = advice(exploded(), [weak], unexplained)
        assert made.changes == ()
        assert made.skip_steps == ()


def test_a_change_that_changes_nothing_is_left_out():
    same = hypothesis(0.9, [Change("seq_len", 512, 512)])
    assert advice(exploded(), [same]).changes == ()


def test_only_the_first_hypothesis_counts():
    first = hypothesis(0.6, [Change("learning_rate", 1.0, 0.1)])
    second = hypothesis(0.3, [Change("max_grad_norm", None, 1.0)])
    assert advice(exploded(), [first, second]).changes == (Change("learning_rate", 1.0, 0.1),)


def test_without_a_checkpoint_it_says_why():
    made = advice(exploded())
    assert made.resume_from is None
    assert "no checkpoint" in made.resume_reason


def test_a_run_wrong_from_its_first_step_starts_again():
    assert "start again" in advice(with_checkpoints(exploded(onset=1))).resume_reason


def test_checkpoints_that_came_too_late_are_named_as_such():
    made = advice(with_checkpoints(exploded(), [checkpoint(200)]))
    assert made.resume_from is None
    assert "before the failure began at step 151" in made.resume_reason


def test_the_resume_point_says_that_it_was_not_scanned():
    made = advice(with_checkpoints(exploded()))
    assert (made.resume_from, made.resume_step) == ("checkpoint-150", 150)
    assert "not scanned" in made.resume_reason


def test_without_a_gradient_norm_the_last_good_step_stays_in_doubt():
    blind = with_checkpoints(exploded())
    seeing = with_checkpoints(exploded(grad_norm=steady(0.6)))
    assert "may have done the damage" in advice(blind).resume_reason
    assert "may have done the damage" not in advice(seeing).resume_reason


def test_a_crashed_run_goes_on_from_its_latest():
    case = with_checkpoints(healthy_case(outcome=Outcome.CRASHED, onset=300))
    assert advice(case).resume_from == "checkpoint-200"


def test_the_steps_of_a_bad_batch_are_skipped():
    case = spiked_once()
    ranked, unexplained = rank(case)
    assert recommend(case, ranked, unexplained, ()).skip_steps == (150,)


def test_a_broken_validation_throws_no_weights_away():
    case = make_case(falling(), outcome=Outcome.VALIDATION_FAILED, onset=1)
    for known in (case, with_checkpoints(case)):
        reason = advice(known).resume_reason
        assert "keep what was trained" in reason
        assert "start again" not in reason


def test_no_epoch_is_skipped_whole():
    first = hypothesis(0.9, skip=[13, 14])
    case = exploded()
    by_epoch = replace(case, timeline=replace(case.timeline, axis=Axis.EPOCH))
    assert advice(case, [first]).skip_steps == (13, 14)
    assert advice(by_epoch, [first]).skip_steps == ()
