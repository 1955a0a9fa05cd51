"""Which non-finite values are damage, and which are meant."""

from math import prod

import pytest

from forensics.findings import TensorStats


def stats(nan=0, pos_inf=0, neg_inf=0, zero=0, shape=(3, 3), role="param"):
    size = prod(shape)
    return TensorStats(
        "c", 1, "w", role, "F32", shape, size, nan, pos_inf, neg_inf, zero, 1.0, 1.0, 0
    )


@pytest.mark.parametrize(
    "meant",
    [
        stats(),
        stats(zero=9),
        stats(neg_inf=4, zero=5),
        stats(neg_inf=3, zero=2, role="buffer"),
        stats(pos_inf=1, shape=(), role="other"),
        stats(neg_inf=1, shape=(), role="other"),
    ],
    ids=["finite", "zeros", "mask", "mask buffer", "best score", "best score so far"],
)
def test_not_poisoned(meant):
    assert not meant.is_poisoned


@pytest.mark.parametrize(
    "damage",
    [
        stats(nan=1),
        stats(nan=1, role="buffer"),
        stats(nan=1, shape=(), role="other"),
        stats(pos_inf=1),
        stats(neg_inf=1),
        stats(pos_inf=1, role="buffer"),
        stats(pos_inf=1, neg_inf=4, zero=4),
        stats(neg_inf=9),
        stats(neg_inf=1, zero=8, shape=(9,)),
        stats(neg_inf=4, zero=5, role="exp_avg"),
    ],
)
def test_poisoned(damage):
    assert damage.is_poisoned
