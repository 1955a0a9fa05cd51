"""A weight or a row that stands out of its tensor and did not before."""

from forensics.case import Case
from forensics.checkpoint_facts import CheckpointFacts, WeightFacts
from forensics.phrasing import number, times

FACTOR = 30.0
"""Flipping one of the upper exponent bits multiplies a number by 256 or by far more."""
FEWEST = 64
"""Elements below which nothing can stand out."""


def new_outlier(case: Case, checkpoint: CheckpointFacts, before: CheckpointFacts | None) -> str:
    """A weight or row that stands out and did not in the checkpoint before, in words, or ''."""
    known = {} if before is None else {w.name: w for w in before.weights}
    tops = _largest(case, checkpoint)
    earlier = {} if before is None else _largest(case, before)
    for weights in checkpoint.weights:
        name = weights.name
        text = _outlier(weights, tops.get(name))
        if text and not _outlier(known.get(name), earlier.get(name)):
            return f"{checkpoint.checkpoint}: {text}"
    return ""


def _largest(case: Case, checkpoint: CheckpointFacts) -> dict[str, float]:
    """Largest magnitude of each parameter, from the scan, which reads every element."""
    return {
        t.name: t.abs_max
        for t in case.tensors or ()
        if t.checkpoint == checkpoint.checkpoint and t.role == "param"
    }


def _outlier(weights: WeightFacts | None, top: float | None, factor: float = FACTOR) -> str:
    if weights is None or weights.role != "param" or weights.read < FEWEST:
        return ""
    if weights.runner_up > 0 and weights.abs_max > factor * weights.runner_up:
        return (
            f"element {weights.largest_at:,} of {weights.name} is {number(weights.abs_max)}, "
            f"{times(weights.abs_max / weights.runner_up)} the next largest."
        )
    if top is not None and weights.abs_max > 0 and top > factor * weights.abs_max:
        return (
            f"an element of {weights.name} is {number(top)}; of {weights.read:,} others the "
            f"largest is {number(weights.abs_max)}."
        )
    if weights.row_median > 0 and weights.row_max > factor * weights.row_runner_up > 0:
        return (
            f"row {weights.row_at:,} of {weights.name} has the RMS {number(weights.row_max)}, "
            f"{times(weights.row_max / weights.row_runner_up)} the next largest."
        )
    return ""
