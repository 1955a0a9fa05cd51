"""What sound batches must not be accused of."""

import numpy as np
import pytest

from forensics.batches import Limits, audit
from tests.batches import made

NOTHING_KNOWN = Limits()


@pytest.mark.parametrize("kind", made.SOUND)
@pytest.mark.parametrize("limits", [made.LIMITS, NOTHING_KNOWN], ids=["known", "unknown"])
@pytest.mark.parametrize("seed", range(4))
def test_sound_batches_have_nothing_odd(kind, limits, seed):
    if kind == "of_two" and limits is made.LIMITS:
        pytest.skip("a label of -1 is no class of ten")
    assert made.findings(made.series(made.SOUND[kind], seed), limits) == {}


@pytest.mark.parametrize("kind", made.SOUND)
def test_few_batches_and_one_alone_have_nothing_odd(kind):
    for steps in (range(9, 10), range(8, 10), range(7, 11)):
        assert made.findings(made.series(made.SOUND[kind], 7, steps), NOTHING_KNOWN) == {}


@pytest.mark.parametrize("kind", made.SOUND)
def test_batches_of_one_sample_have_nothing_odd(kind):
    many = made.series(made.SOUND[kind], 3, range(1, 25))
    single = {
        step: {n: a if "bias" in n else a[:1] for n, a in batch.items()}
        for step, batch in many.items()
    }
    assert made.findings(single, NOTHING_KNOWN) == {}


def test_a_last_batch_that_is_shorter_is_not_odd():
    batches = made.series(made.pretraining)
    batches[made.SUSPECT] = {n: a[:3] for n, a in batches[made.SUSPECT].items()}
    assert made.findings(batches) == {}


def test_lengths_that_vary_from_batch_to_batch_are_not_odd():
    rng = np.random.default_rng(0)
    batches = {
        step: {"input_ids": made.words(rng, 8, int(length))}
        for step, length in zip(made.STEPS, rng.integers(20, 400, 12), strict=True)
    }
    assert made.findings(batches) == {}


def test_several_answers_to_each_prompt_are_not_repeats():
    batches = made.series(made.pretraining)
    for batch in batches.values():
        batch["input_ids"] = np.repeat(batch["input_ids"][:4], 4, axis=0)
    assert made.findings(batches) == {}


def test_dummy_samples_in_every_batch_are_not_odd():
    batches = made.series(made.chat)
    for batch in batches.values():
        batch["input_ids"][-2:] = 0
        batch["attention_mask"][-2:] = 0
    assert made.findings(batches) == {}


def test_whole_numbers_that_are_no_tokens_are_left_alone():
    rng = np.random.default_rng(0)
    batches = {s: {"x": rng.integers(0, 5, (16, 30)), "y": rng.normal(size=16)} for s in made.STEPS}
    batches[made.SUSPECT]["x"][:] = 10**6
    assert made.findings(batches, NOTHING_KNOWN) == {}


def test_numbers_of_samples_under_the_name_of_labels_are_no_classes():
    rng = np.random.default_rng(0)
    batches = {s: {"labels": rng.integers(0, 10**6, 32)} for s in made.STEPS}
    assert made.findings(batches, NOTHING_KNOWN) == {}


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"x": np.zeros((0, 3))},
        {"x": np.float32(3)},
        {"x": np.array(["a", "b"])},
        {"x": np.array([None, {}], object)},
        {"x": np.array([1 + 2j, 3])},
        {"labels": np.zeros(0, np.int64)},
        {"input_ids": np.zeros((3, 0), np.int64), "labels": np.zeros((2, 5), np.int64)},
        {"input_ids": np.ones((2, 2, 2, 2), np.int64), "attention_mask": np.ones((5, 5))},
        {"0": np.ones((2, 3)), "1": np.ones((4, 5, 6), np.int64)},
        {"": np.ones(3), ".": np.ones(2), "a.b/c.labels": np.ones(1, np.int64)},
        {"x": np.full((4, 9), np.iinfo(np.uint64).max, np.uint64), "y": np.ones(4, bool)},
        {"inputs": np.full((4, 9), np.finfo(np.float64).max)},
    ],
)
def test_strange_tensors_break_nothing(odd):
    for limits in (made.LIMITS, NOTHING_KNOWN):
        found = audit({1: odd, 2: odd, 3: {}, 4: odd, 5: odd}, {2}, limits)
        assert [a.step for a in found.audits] == [1, 2, 3, 4, 5]


def test_no_batch_at_all_gives_an_empty_survey():
    found = audit({}, {3}, made.LIMITS)
    assert (found.audits, found.everywhere, found.class_shares) == ((), (), ())
