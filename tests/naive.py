"""Slow, obvious versions of the fast algorithms; the tests compare the two."""

import numpy as np


def band(value, k, window, history, floor):
    """The causal robust band, one point at a time."""
    flagged = np.zeros(len(value), bool)
    kept: list[float] = []
    for i, x in enumerate(value):
        recent = np.array(kept[-window:])
        if len(recent) >= history:
            median = np.median(recent)
            mad = 1.4826 * np.median(np.abs(recent - median))
            tail = (np.sort(recent)[int(0.95 * len(recent))] - median) / 1.645
            sigma = max(mad, tail, floor * abs(median))
            flagged[i] = x > median + k * sigma
        if not flagged[i]:
            kept.append(x)
    return flagged
