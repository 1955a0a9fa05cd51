"""Whatever tensors a batch has under whatever names, auditing it breaks nothing."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from forensics.batches import Limits, audit

NAMES = ("input_ids", "labels", "attention_mask", "x", "y", "0", "1", "a.tokens", "inputs", "other")
TYPES = ("f2", "f4", "f8", "i1", "i4", "i8", "u1", "u8", "?")

tensors = st.sampled_from(TYPES).flatmap(
    lambda kind: arrays.arrays(np.dtype(kind), arrays.array_shapes(max_dims=4, max_side=40))
)
batches = st.dictionaries(st.sampled_from(NAMES), tensors, max_size=4)
limits = st.builds(
    Limits,
    classes=st.none() | st.integers(1, 20),
    vocabulary=st.none() | st.integers(1, 200),
    positions=st.none() | st.integers(1, 30),
    padding=st.none() | st.just(0),
)


@given(st.lists(batches, min_size=1, max_size=6), limits)
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_tensors_are_audited(given_batches, known):
    found = audit(dict(enumerate(given_batches)), {1}, known)
    assert len(found.audits) == len(given_batches)
    for finding in (*found.everywhere, *(f for a in found.audits for f in a.findings)):
        assert 0 <= finding.share <= 1
        assert finding.text.endswith(".")
        assert "\n" not in finding.text
