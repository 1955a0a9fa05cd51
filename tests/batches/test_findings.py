"""What each check finds, in one batch among sound ones."""

import numpy as np
import pytest

from forensics.batch_facts import Oddity
from forensics.batches import Limits, audit
from tests.batches import made
from tests.batches.made import SUSPECT, findings, series, survey, the_one


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("kind", "name"), [("images", "x"), ("table", "targets")])
def test_non_finite_values(kind, name, value):
    batches = series(made.SOUND[kind])
    batches[SUSPECT][name][3] = value
    found = the_one(batches)
    assert (found.oddity, found.tensor) == (Oddity.NON_FINITE_INPUT, name)
    assert "NaN" in found.text if np.isnan(value) else "infinity" in found.text
    assert "control batches" in found.text
    assert found.usual == 0


def test_non_finite_values_need_no_control():
    batches = series(made.images, steps=range(SUSPECT, SUSPECT + 1))
    batches[SUSPECT]["x"][0, 0, 0, 0] = np.nan
    assert the_one(batches).share == 1 / 32


def test_missing_values_in_every_batch_are_said_once():
    batches = series(made.table)
    for batch in batches.values():
        batch["inputs"][::4, 2] = np.nan
    found = survey(batches)
    assert [f.oddity for f in found.everywhere] == [Oddity.NON_FINITE_INPUT]
    assert "8 of 8 batches" in found.everywhere[0].text  # those before the suspect
    assert not any(a.findings for a in found.audits)
    batches[SUSPECT]["inputs"][:] = np.nan
    assert [f.share for a in survey(batches).suspects for f in a.findings] == [1.0]


def test_what_stays_broken_from_the_suspect_on_is_the_suspects_fault():
    batches = series(made.images)
    for step in range(SUSPECT, 13):
        batches[step]["x"][:2] = np.nan
    found = survey(batches)
    assert found.everywhere == ()
    assert [f.oddity for a in found.suspects for f in a.findings] == [Oddity.NON_FINITE_INPUT]


@pytest.mark.parametrize("factor", [255.0, 1 / 255])
def test_a_batch_that_was_scaled_otherwise(factor):
    batches = series(made.images)
    batches[SUSPECT]["x"] *= np.float32(factor)
    found = the_one(batches)
    assert found.oddity is Oddity.INPUT_SCALE
    assert found.value / found.usual == pytest.approx(factor, rel=0.5)


def test_one_sample_of_another_scale():
    batches = series(made.images)
    batches[SUSPECT]["x"][5] *= 1000
    found = the_one(batches)
    assert found.oddity is Oddity.INPUT_SCALE
    assert found.share == 1 / 32


def test_inputs_far_from_unit_scale_in_all_batches():
    batches = series(made.images)
    for batch in batches.values():
        batch["x"] = 255 * batch["x"]
    found = survey(batches)
    assert [f.oddity for f in found.everywhere] == [Oddity.INPUT_SCALE]
    assert not any(a.findings for a in found.audits)


@pytest.mark.parametrize("label", [10, 11, -7])
def test_a_label_beyond_the_classes(label):
    batches = series(made.images)
    batches[SUSPECT]["y"][4] = label
    found = the_one(batches)
    assert (found.oddity, found.value) == (Oddity.LABEL_OUT_OF_RANGE, label)
    assert "0 to 9" in found.text


@pytest.mark.parametrize("label", [20, 999, -7])
def test_a_label_far_beyond_all_labels_of_the_controls(label):
    batches = series(made.images)
    batches[SUSPECT]["y"][4] = label
    found = the_one(batches, Limits())
    assert (found.oddity, found.value) == (Oddity.LABEL_OUT_OF_RANGE, label)


def test_the_next_label_may_be_one_more_class():
    batches = series(made.images)
    batches[SUSPECT]["y"][4] = 10
    assert findings(batches, Limits()) == {}


def test_a_label_of_a_text_beyond_the_vocabulary():
    batches = series(made.chat)
    batches[SUSPECT]["labels"][2, 25] = made.VOCABULARY
    assert the_one(batches).oddity is Oddity.LABEL_OUT_OF_RANGE


@pytest.mark.parametrize("token", [made.VOCABULARY, 2**40, -5])
def test_a_token_beyond_the_vocabulary(token):
    batches = series(made.pretraining)
    batches[SUSPECT]["input_ids"][2, 25] = token
    found = the_one(batches)
    assert (found.oddity, found.value) == (Oddity.TOKEN_OUT_OF_RANGE, token)


def test_a_negative_token_needs_no_vocabulary():
    batches = series(made.pretraining)
    batches[SUSPECT]["input_ids"][2, 25] = -100
    assert the_one(batches, Limits()).oddity is Oddity.TOKEN_OUT_OF_RANGE


@pytest.mark.parametrize("ignored", [-100, -1])
def test_labels_that_are_all_masked(ignored):
    batches = series(made.chat)
    for batch in batches.values():
        batch["labels"][batch["labels"] == -100] = ignored
    batches[SUSPECT]["labels"][:] = ignored
    found = the_one(batches, Limits(ignored=frozenset({-100, ignored})))
    assert found.oddity is Oddity.LABELS_ALL_MASKED
    assert 0.4 < found.usual < 0.9


def test_a_configured_value_that_masks_all_labels():
    batches = series(made.images)
    batches[SUSPECT]["y"][:] = 0
    assert the_one(batches, Limits(ignored=frozenset({0}))).oddity is Oddity.LABELS_ALL_MASKED


def test_labels_that_are_all_padding():
    batches = series(made.pretraining)
    batches[SUSPECT]["labels"][:] = 0
    assert the_one(batches).oddity is Oddity.LABELS_ALL_MASKED


def test_labels_masked_in_every_batch_are_said_once():
    batches = series(made.chat)
    for batch in batches.values():
        batch["labels"][:] = -100
    assert [f.oddity for f in survey(batches).everywhere] == [Oddity.LABELS_ALL_MASKED]


@pytest.mark.parametrize("limits", [made.LIMITS, Limits()])
def test_samples_without_a_token(limits):
    batches = series(made.chat)
    batches[SUSPECT]["input_ids"][:5] = 0
    batches[SUSPECT]["attention_mask"][:5] = 0
    found = survey(batches, limits).suspects[0].findings
    assert Oddity.EMPTY_SAMPLE in {f.oddity for f in found}
    assert {f.share for f in found if f.oddity is Oddity.EMPTY_SAMPLE} == {5 / 16}


def test_a_sequence_beyond_the_positions():
    batches = series(made.pretraining, steps=range(SUSPECT, SUSPECT + 1))
    batches[SUSPECT] = {"input_ids": made.words(np.random.default_rng(0), 2, 513)}
    assert "513" in the_one(batches).text


def test_a_sequence_far_longer_than_the_others():
    batches = series(made.chat)
    batches[SUSPECT] = made.pretraining(np.random.default_rng(0))
    for step, batch in batches.items():
        if step != SUSPECT:
            batch["attention_mask"][:, 60:] = 0
    found = the_one(batches, Limits())
    assert (found.oddity, found.value) == (Oddity.OVERLONG, 128)


def test_a_batch_of_one_class():
    batches = series(made.images)
    batches[SUSPECT]["y"][:] = 4
    found = the_one(batches)
    assert (found.oddity, found.share) == (Oddity.CLASS_COUNTS, 1)


def test_classes_that_come_in_order():
    batches = series(made.images)
    for place, batch in enumerate(batches.values()):
        batch["y"] = np.sort(np.full(32, place // 2))
    found = survey(batches)
    assert [f.oddity for f in found.everywhere] == [Oddity.LABELS_SORTED]
    assert not any(a.findings for a in found.audits)
    assert Oddity.LABELS_SORTED in found.checked


def test_shares_of_the_classes():
    found = survey(series(made.of_two), Limits())
    assert found.labels_counted == 12 * 32
    assert found.class_shares[0] > 0.9
    assert sum(found.class_shares) == pytest.approx(1)


def test_a_batch_of_few_samples_over_and_over():
    batches = series(made.images)
    batches[SUSPECT]["x"][8:] = np.tile(batches[SUSPECT]["x"][:8], (3, 1, 1, 1))
    found = the_one(batches)
    assert (found.oddity, found.share) == (Oddity.REPEATED_SAMPLE, 24 / 32)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_same_few_tokens_over_and_over(length):
    batches = series(made.pretraining)
    gram = made.words(np.random.default_rng(5), length)
    gram[-1] = 77
    batches[SUSPECT]["input_ids"][2:8, 10 : 10 + 33 * length] = np.tile(gram, 33)
    assert findings(batches) == {SUSPECT: {Oddity.REPEATED_NGRAM}}
    assert the_one(batches).value >= 32


def test_thirteen_tokens_thirty_two_times_and_no_more():
    rng = np.random.default_rng(0)
    for length, found in ((13, {SUSPECT: {Oddity.REPEATED_NGRAM}}), (14, {})):
        batches = {s: {"input_ids": made.words(rng, 8, 500)} for s in made.STEPS}
        gram = rng.permutation(np.arange(1, 100))[:length]
        batches[SUSPECT]["input_ids"][:4, 3 : 3 + 34 * length] = np.tile(gram, 34)[:497]
        assert findings(batches) == found


def test_images_of_one_value():
    batches = series(made.images)
    batches[SUSPECT]["x"][:6] = 0.5
    found = the_one(batches)
    assert (found.oddity, found.share) == (Oddity.CONSTANT_SAMPLE, 6 / 32)


def test_tokens_that_are_noise():
    batches = series(made.pretraining)
    noise = np.random.default_rng(0).integers(1, made.VOCABULARY, (16, 128))
    batches[SUSPECT] |= {"input_ids": noise, "labels": noise}
    assert the_one(batches).oddity is Oddity.TOKEN_NOISE


def test_what_could_not_be_checked_is_said():
    lonely = audit(series(made.images, steps=range(9, 11)), {9}, Limits())
    assert any("control batches" in text for text in lonely.unchecked)
    assert any("its outputs" in text for text in lonely.unchecked)
    assert lonely.audits[0].checked == (Oddity.NON_FINITE_INPUT,)
    nameless = audit({1: {"a": np.ones((3, 3), np.int64)}}, {1}, Limits())
    assert any("name" in text for text in nameless.unchecked)
