"""Slow, obvious versions of the fast algorithms; the tests compare the two."""

import numpy as np


def _spread(recent):
    """Median absolute deviation, from the slope where the window is a fall."""
    mad = np.median(np.abs(recent - np.median(recent)))
    third = len(recent) // 3
    drop = np.median(recent[-third:]) - np.median(recent[:third])
    per_point = drop / (len(recent) - third)
    level = [x - per_point * i for i, x in enumerate(recent)]
    rest = np.median(np.abs(level - np.median(level)))
    return rest if drop < 0 and rest < 0.6 * mad else mad


def band(value, k, window, history, floor):
    """The causal robust band, one point at a time."""
    flagged = np.zeros(len(value), bool)
    jumps = [x - sorted(value[max(0, i - 1) : i + 2])[1] for i, x in enumerate(value)]
    jumps[0], jumps[-1] = value[0] - min(value[:2]), value[-1] - min(value[-2:])
    jumps = np.array([max(j, 0) if i in (0, len(value) - 1) else j for i, j in enumerate(jumps)])
    kept: list[int] = []
    high = np.zeros(len(value), bool)
    for i, x in enumerate(value):
        recent = kept[-window:]
        if len(recent) >= history:
            median = np.median(value[recent])
            mad = 1.4826 * _spread(value[recent])
            tail = 1.3 * np.sort(jumps[recent])[int(0.95 * len(recent))] / 1.645
            sigma = max(mad, tail, floor * abs(median))
            flagged[i] = x > median + k * sigma
            high[i] = x > median + 0.6 * k * sigma
        if not flagged[i]:
            kept.append(i)
    for i in range(len(value) - 3):
        if high[i : i + 4].all():
            flagged[i : i + 4] = True
    return flagged
