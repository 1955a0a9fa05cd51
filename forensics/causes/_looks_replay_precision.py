"""Looks at the first non-finite operation and at the same stretch in other precisions."""

from forensics.batch_facts import Oddity
from forensics.case import Case
from forensics.causes._base import Seen
from forensics.causes._replayed import (
    NO_ANSWER,
    NO_REPLAY,
    calm_until,
    oddities,
    removing,
    replayed,
    told,
    tried,
)
from forensics.replay_facts import NonFiniteOperation, NonFiniteSearch, Phase, Variant

UNSTABLE = frozenset(
    {
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
        "rsqrt",
        "div",
        "true_divide",
        "reciprocal",
        "pow",
        "norm",
        "linalg_vector_norm",
        "acos",
        "asin",
        "atanh",
        "exp",
        "expm1",
        "log_softmax",
        "std",
        "var",
        "mean",
        "cosine_similarity",
        "cdist",
        "xlogy",
        "lgamma",
        "digamma",
        "hypot",
        "atan2",
    }
)
"""Functions that are infinite, or whose slope is, at a value they can be given."""


def finite_in_float32(case: Case) -> Seen:
    """In float32 it does not fail."""
    replay = replayed(case)
    if replay is None:
        return NO_REPLAY
    if replay.precision == "fp32":
        return NO_ANSWER
    pair = _pair(replay.searches)
    if pair is not None and pair[0].found is not None:
        first, wide = pair[0].found, pair[1].found
        words = f"In {pair[0].precision} {told_operation(first)}"
        if wide is None:
            return Seen(
                True, f"{words}; in float32 the same step is finite.", (pair[0].step,), "replay"
            )
        return Seen(False, f"{words}, in float32 as well.", (pair[0].step,), "replay")
    if not tried(case, Variant.FLOAT32):
        return NO_ANSWER
    change = removing(case, Variant.FLOAT32)
    if change is None:
        return Seen(False, "In float32 it fails all the same.", source="replay")
    return Seen(True, f"With {told(change)} the failure does not come.", source="replay")


def unstable_operation(case: Case) -> Seen:
    """A function met an argument at which it, or its slope, is infinite, in float32 too."""
    if case.replay is None:
        return NO_REPLAY
    found = [s for s in case.replay.searches if s.found is not None]
    pair = _pair(case.replay.searches)
    if not found or (pair is not None and pair[1].found is None):
        return NO_ANSWER
    first = found[-1].found
    if first is None or first.phase is Phase.INPUT or _explained(case):
        return NO_ANSWER
    if not calm_until(case, found[-1].step):
        return NO_ANSWER
    name = first.operation.removesuffix("_backward").removesuffix("_").removeprefix("aten::")
    words = f"In the step that fails, {told_operation(first)}."
    if name in UNSTABLE or first.culprit:
        return Seen(True, words, (found[-1].step,), "replay")
    return NO_ANSWER


def told_operation(first: NonFiniteOperation) -> str:
    """``log in loss.py:12 (zeros in the argument) makes the first inf``."""
    where = first.module or first.location or f"the {first.phase}"
    why = f" ({first.culprit})" if first.culprit else ""
    return f"{first.operation} in {where}{why} makes the first {first.kind}"


def _pair(searches: tuple[NonFiniteSearch, ...]) -> tuple[NonFiniteSearch, NonFiniteSearch] | None:
    """The search in the run's precision and the one in float32."""
    wide = [s for s in searches if s.precision == "fp32"]
    narrow = [s for s in searches if s.precision != "fp32"]
    return (narrow[0], wide[0]) if narrow and wide else None


def _explained(case: Case) -> bool:
    """The batch itself explains it: nothing to predict, or values that are not finite."""
    known = (Oddity.LABELS_ALL_MASKED, Oddity.NON_FINITE_INPUT)
    return any(f.oddity in known for f in oddities(case) or ())
