"""Labels of text that stand at another place than their tokens."""

import numpy as np
import pytest

from forensics.batch_facts import Oddity
from tests.batches import made
from tests.batches.made import series, survey


def shifted(places: int, *, wraps: bool = False):
    """Packed text whose labels are the tokens so many places further on."""

    def make(rng):
        ids = made.words(rng, 8, 64)
        labels = np.roll(ids, -places, axis=1)
        if not wraps and places:
            labels[:, slice(-places, None) if places > 0 else slice(None, -places)] = -100
        return {"input_ids": ids, "labels": labels}

    return make


def places(found):
    return [f.value for f in found.everywhere if f.oddity is Oddity.LABELS_SHIFTED]


@pytest.mark.parametrize("right", [0, 1])
def test_labels_at_their_place_are_checked_and_sound(right):
    found = survey(series(shifted(right)))
    assert places(found) == []
    assert all(Oddity.LABELS_SHIFTED in a.checked for a in found.audits)


def masked(rng):
    """Inputs with holes, whose labels fill them."""
    ids = made.words(rng, 8, 64)
    hidden = rng.random(ids.shape) < 0.15
    return {"input_ids": np.where(hidden, 499, ids), "labels": np.where(hidden, ids, -100)}


def tagged(rng):
    return {"input_ids": made.words(rng, 8, 64), "labels": rng.integers(0, 5, (8, 64))}


def repeated(rng):
    return {"input_ids": np.full((8, 64), 7), "labels": np.full((8, 64), 7)}


@pytest.mark.parametrize("make", [masked, tagged, repeated])
def test_other_labels_than_tokens_are_left_alone(make):
    found = survey(series(make))
    assert places(found) == []
    assert not any(Oddity.LABELS_SHIFTED in a.checked for a in found.audits)


@pytest.mark.parametrize("wraps", [False, True])
@pytest.mark.parametrize("wrong", [2, 9, -1])
def test_labels_of_another_place(wrong, wraps):
    found = survey(series(shifted(wrong, wraps=wraps)))
    assert places(found) == [wrong]
    (text,) = (f.text for f in found.everywhere if f.oddity is Oddity.LABELS_SHIFTED)
    assert f"{abs(wrong)} places {'back' if wrong < 0 else 'further on'}" in text
