"""Looks at gradient norms layer by layer, first against last."""

import re

import numpy as np

from forensics.case import Case
from forensics.causes._base import Seen
from forensics.phrasing import number
from forensics.signals import Signal


def layers_vanish(case: Case, ratio: float = 1e-3) -> Seen:
    """The first layer's gradient is a small part of the last one's (AUTOTRAINER's rule)."""
    ends = _layer_ends(case)
    if ends is None:
        return Seen(None, "Needs the gradient norm of every layer at one step.")
    first, last = ends
    vanish = first < ratio * last and first < 1e-4
    return Seen(
        vanish,
        f"The median gradient norm is {number(first)} in the first layer and {number(last)} in the "
        "last.",
    )


def layers_explode(case: Case, ratio: float = 70.0) -> Seen:
    """The first layer's gradient is many times the last one's (AUTOTRAINER's rule)."""
    ends = _layer_ends(case)
    if ends is None:
        return Seen(None, "Needs the gradient norm of every layer at one step.")
    first, last = ends
    return Seen(
        first > ratio * last > 0,
        f"The median gradient norm is {number(first)} in the first layer and {number(last)} in the "
        "last.",
    )


def _layer_ends(case: Case) -> tuple[float, float] | None:
    """Median norms of the layers with the lowest and the highest number in their names."""
    layers: dict[int, list[float]] = {}
    for track in case.timeline.others:
        # Lightning writes ``grad_2.0_norm/layers.0.weight``: the norm's order is no layer.
        index = re.search(r"\d+", track.tag.partition("/")[2] or track.tag)
        if track.signal is Signal.GRAD_NORM_PARAM and index and track.finite.any():
            median = float(np.median(track.value[track.finite]))
            layers.setdefault(int(index.group()), []).append(median)
    if len(layers) < 2:
        return None
    return max(layers[min(layers)]), max(layers[max(layers)])
