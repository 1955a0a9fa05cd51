from dataclasses import replace

import pytest

from forensics.batch_facts import BatchAudit, BatchFinding, BatchSurvey, Oddity
from forensics.case import Case
from forensics.causes import _looks_batches as looks
from forensics.findings import Outcome
from forensics.run import TextKind
from tests.causes.cases import healthy_case, make_case
from tests.causes.shapes import probability, spiked_once, winner

ALL = tuple(Oddity)
OTHERS = tuple(range(140, 149))


def finding(oddity: Oddity, share: float = 0.5) -> BatchFinding:
    return BatchFinding(oddity, "x", "Half of it is odd.", share)


def audited(
    case: Case,
    *found: Oddity,
    everywhere: tuple[Oddity, ...] = (),
    checked: tuple[Oddity, ...] = ALL,
    suspects: tuple[int, ...] = (149, 150),
    shares: tuple[float, ...] = (),
) -> Case:
    """The case with captured batches; the last suspect shows what was found."""
    findings = tuple(finding(o) for o in found)
    audits = [BatchAudit(s, f"batches/step_{s}.pt", False, (), checked) for s in OTHERS]
    audits += [
        BatchAudit(s, f"batches/step_{s}.pt", True, findings if s == max(suspects) else (), checked)
        for s in suspects
    ]
    survey = BatchSurvey(
        tuple(audits), tuple(finding(o) for o in everywhere), shares, 1000, checked
    )
    return replace(case, batches=survey)


def test_no_batches_are_no_evidence_and_no_complaint():
    for look in (looks.shows(Oddity.OVERLONG), looks.is_sound, looks.classes_unbalanced):
        seen = look(spiked_once())
        assert (seen.holds, seen.text) == (None, "")
    empty = replace(spiked_once(), batches=BatchSurvey())
    assert looks.shows(Oddity.OVERLONG)(empty).holds is None
    assert looks.is_sound(empty).holds is None


def test_a_suspect_that_was_not_captured_acquits_nobody():
    case = audited(spiked_once(), suspects=(149,))
    assert looks.shows(Oddity.NON_FINITE_INPUT)(case).holds is None
    assert looks.is_sound(case).holds is None


def test_what_could_not_be_checked_is_not_absent():
    case = audited(spiked_once(), checked=(Oddity.NON_FINITE_INPUT,))
    assert looks.shows(Oddity.NON_FINITE_INPUT)(case).holds is False
    seen = looks.shows(Oddity.LABEL_OUT_OF_RANGE)(case)
    assert seen.holds is None
    assert "step 150" in seen.text
    assert looks.is_sound(case).holds is None


def test_a_finding_names_its_file_and_step():
    seen = looks.shows(Oddity.INPUT_SCALE)(audited(spiked_once(), Oddity.INPUT_SCALE))
    assert (seen.holds, seen.steps, seen.source) == (True, (150,), "batches")
    assert "step_150.pt" in seen.text


def test_sound_batches_shift_the_odds_from_bad_to_hard():
    bare, sound = spiked_once(height=2.9), audited(spiked_once(height=2.9))
    assert probability(sound, "bad_batch") < probability(bare, "bad_batch")
    assert probability(sound, "hard_but_valid_batch") > probability(bare, "hard_but_valid_batch")


@pytest.mark.parametrize("oddity", looks.DAMAGE)
def test_damage_in_the_suspect_batch_is_a_bad_batch(oddity):
    case = audited(spiked_once(height=2.9), oddity)
    assert winner(case) == "bad_batch"
    assert probability(case, "hard_but_valid_batch") < 0.02


def test_an_overlong_batch_is_no_plain_bad_batch():
    assert winner(audited(spiked_once(), Oddity.OVERLONG)) == "overlong_sequence"


@pytest.mark.parametrize("oddity", [Oddity.LABEL_OUT_OF_RANGE, Oddity.TOKEN_OUT_OF_RANGE])
def test_a_crash_at_a_batch_with_labels_out_of_range(oddity):
    case = make_case(
        [2.0] * 150, outcome=Outcome.CRASHED, onset=150, text=[TextKind.INDEX_OUT_OF_RANGE]
    )
    assert winner(case) == "overlong_sequence"
    assert winner(audited(case, oddity)) == "label_out_of_range"


def test_a_crash_at_sound_labels_is_not_theirs():
    case = make_case([2.0] * 150, outcome=Outcome.CRASHED, onset=150, text=[TextKind.DEVICE_ASSERT])
    bare = probability(case, "label_out_of_range")
    died_later = probability(audited(case), "label_out_of_range")
    assert died_later == pytest.approx(bare, abs=0.01)
    sound = audited(case, suspects=(150, 151))
    assert probability(sound, "label_out_of_range") < bare


def test_labels_one_class_after_the_other_are_an_order():
    case = make_case([2.0] * 200, outcome=Outcome.STALLED, onset=1)
    ordered = audited(case, everywhere=(Oddity.LABELS_SORTED,))
    assert probability(ordered, "data_order") > 0.5
    assert probability(audited(case), "data_order") < probability(case, "data_order")


def test_labels_of_one_class_are_an_imbalance():
    case = make_case([0.4] * 200, outcome=Outcome.STALLED, onset=1)
    one, even = audited(case, shares=(0.95, 0.05)), audited(case, shares=(0.5, 0.5))
    assert probability(one, "class_imbalance") > probability(case, "class_imbalance")
    assert probability(even, "class_imbalance") < probability(case, "class_imbalance")


def test_a_healthy_run_stays_healthy_whatever_its_batches_hold():
    case = audited(healthy_case(), *looks.DAMAGE, everywhere=(Oddity.INPUT_SCALE,))
    assert winner(case) == "no_failure"
