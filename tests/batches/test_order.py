"""The order of the samples in a batch is an accident: it must not matter."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.batches import audit
from tests.batches import made


def damage(batch: made.Batch, kind: str, rng: np.random.Generator) -> None:
    """Something odd in some of the samples."""
    for array in batch.values():
        rows = rng.random(len(array)) < 0.4
        if kind == "blank":
            array[rows] = 0
        elif kind == "repeat":
            array[rows] = array[0]
        elif kind == "large":
            array[rows] = 100 * array[rows]
        elif kind == "broken" and array.dtype.kind == "f":
            array[rows] = np.nan


def told(batches: dict[int, made.Batch]) -> list[tuple[object, ...]]:
    found = audit(batches, {made.SUSPECT}, made.LIMITS)
    of_batches = [(a.step, f) for a in found.audits for f in a.findings]
    return [
        (step, f.oddity, f.tensor, f.text, f.share)
        for step, f in [*of_batches, *((None, f) for f in found.everywhere)]
    ]


@given(
    st.sampled_from(sorted(made.SOUND)),
    st.sampled_from(["none", "blank", "repeat", "large", "broken"]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=40, deadline=None)
def test_permuting_samples_changes_no_finding(kind, fault, seed):
    rng = np.random.default_rng(seed)
    batches = made.series(made.SOUND[kind], seed % 1000, range(6, 12))
    batches[made.SUSPECT].pop("batch.bias", None)
    damage(batches[made.SUSPECT], fault, rng)
    mixed = {}
    for step, batch in batches.items():
        count = min(len(a) for a in batch.values())
        order = rng.permutation(count)
        mixed[step] = {n: a[order] if len(a) == count else a for n, a in batch.items()}
    assert told(mixed) == told(batches)
