"""Looks at whether a run scales its loss at all, and whether it checks what comes of it."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._looks_precision import half_precision, steps_skipped
from forensics.phrasing import at_step, number
from forensics.signals import Signal


def half_unsaid(case: Case) -> Seen:
    """Nothing speaks of half precision: a run that uses it names it, scales its loss or skips."""
    config = case.config
    if half_precision(case).holds is not None or not (config.optimizer or config.lr_peak):
        return NOT_APPLICABLE
    saved = () if case.survey is None else case.survey.checkpoints
    if any(c.narrow or c.state.scale is not None for c in saved):
        return NOT_APPLICABLE
    wide = ", and its weights are saved in 32 bits" if saved else ""
    text = "Neither its settings nor its log name half precision, a loss scale or skipped steps"
    return Seen(True, f"{text}{wide}.", source="configuration")


def scale_unchecked(case: Case, growth: float = 2.0) -> Seen:
    """The loss scale grew up to the first non-finite gradient, and went on as if there were none.

    A scaler that looks for overflows skips the step and lowers the scale.
    """
    scale, onset = facts.points(case.track(Signal.LOSS_SCALE)), facts.first_non_finite(case)
    norm = case.track(Signal.GRAD_NORM)
    if scale is None or onset is None or norm is None:
        return NOT_APPLICABLE
    earlier, later = scale.value[scale.step <= onset], scale.value[scale.step >= onset]
    broken = norm.step[~norm.finite]
    if len(earlier) < 3 or len(later) < 2 or not len(broken) or steps_skipped(case).holds:
        return NOT_APPLICABLE
    grew = bool(earlier[-1] >= growth * earlier[0]) and bool(np.all(np.diff(scale.value) >= 0))
    return Seen(
        grew,
        f"The loss scale grew from {number(float(earlier[0]))} to {number(float(earlier[-1]))} by "
        f"{at_step(onset)}; the gradient is not finite from {at_step(int(broken[0]))}, and yet no "
        f"step was skipped and the scale ends at {number(float(later[-1]))}.",
        (onset,),
    )
