"""Looks at the gradients of each layer that Adam's second moments keep: by depth, by tensor."""

import re
from collections.abc import Callable, Iterable
from math import prod

from forensics.case import Case
from forensics.causes import _checkpoints as saved
from forensics.causes._base import Seen
from forensics.causes._looks_moments import MOMENTS
from forensics.checkpoint_facts import CheckpointFacts, MomentFacts
from forensics.phrasing import number

_TABLE = re.compile(r"(?:embed|position_enc|(?:^|[._])(?:wte|wpe|emb|lookup)(?:[._]|$))", re.I)


def moments_vanish(case: Case, ratio: float = 1e-3) -> Seen:
    """Gradients of the first layers are a small part of the last one's (AUTOTRAINER's rule)."""
    ends = _ends(case, max)
    if ends is None:
        return saved.seen(None, MOMENTS)
    where, first, last = ends
    return saved.seen(
        first < ratio * last,
        f"By the second moments of {where} the root mean square of a gradient entry is "
        f"{number(first)} in the first matrices and {number(last)} in the last.",
    )


def moments_explode(case: Case, ratio: float = 70.0) -> Seen:
    """Gradients of the first layers are many times the last one's (AUTOTRAINER's rule)."""
    ends = _ends(case, min)
    if ends is None:
        return saved.seen(None, MOMENTS)
    where, first, last = ends
    return saved.seen(
        first > ratio * last > 0,
        f"By the second moments of {where} the root mean square of a gradient entry is "
        f"{number(first)} in the first matrices and {number(last)} in the last.",
    )


def only_decay_moves(case: Case, room: float = 0.02) -> Seen:
    """The earlier half of the layers shrinks by one and the same share: no gradient reaches it."""
    for pair in reversed(saved.pairs(case)):
        ways = [
            w.relative
            for w in pair.weights
            if _is_matrix(w.shape) and w.relative == w.relative and w.moved > 0
        ]
        earlier = ways[: len(ways) // 2]
        if len(earlier) < 2:
            continue
        low, high = min(earlier), max(earlier)
        return saved.seen(
            0 < high <= (1 + room) * low and high < 0.5,
            f"From {pair.earlier} to {pair.later} the first {len(earlier):,} matrices moved by "
            f"{number(low)} to {number(high)} of themselves; weight decay alone moves all alike.",
        )
    return saved.seen(None, "Needs the weights of two checkpoints (scan them).")


def all_silent(case: Case, share: float = 0.8) -> Seen:
    """Between two checkpoints nearly all matrices had not one gradient, though the run went on.

    Their second moments shrink by exactly beta2 a step.
    """
    told = [
        (sum(m.no_gradient > 0.9 for m in pair.moments if _is_matrix(m.shape)), matrices, pair)
        for pair in saved.pairs(case)
        if (matrices := sum(_is_matrix(m.shape) and m.compared > 0 for m in pair.moments)) > 1
    ]
    if not told:
        return saved.seen(None, "Needs Adam's second moment in two checkpoints (scan them).")
    silent, matrices, pair = max(told, key=lambda it: it[0] / it[1])
    moved = any(m.compared and m.no_gradient < 0.5 for m in pair.moments)
    return saved.seen(
        silent >= share * matrices and moved,
        f"Between {pair.earlier} and {pair.later} {silent:,} of {matrices:,} matrices "
        "had no gradient at all, while some other tensor had.",
    )


def last_layer_runs_away(case: Case, directed: float = 0.8, more: float = 2.0) -> Seen:
    """The last layer moves in one direction at full length, while the others move at random."""
    found = [c for c in saved.sound(case) if len(c.moments) > 3 and c.step]
    every = saved.finite(() if case.survey is None else case.survey.checkpoints)
    after = [c for c in every if len(c.moments) > 3 and c.step]
    if not after:
        return saved.seen(None, MOMENTS)
    # Without one from before the onset, what still runs away long after it.
    told = [(_last(c), _usual(c), c) for c in found[-2:] or after[:2]]
    last, usual, checkpoint = max(told, key=lambda it: it[0])
    return saved.seen(
        last >= directed and last >= more * usual,
        f"In {checkpoint.checkpoint} Adam's update of the last layers has the RMS {number(last)}, "
        f"that of the median tensor {number(usual)}: 0.23 is that of noise, 1 a constant pull.",
    )


def _last(checkpoint: CheckpointFacts, tensors: int = 4) -> float:
    """The longest update among the last tensors: the output layer and the norm before it."""
    return max((m.update_rms for m in checkpoint.moments[-tensors:]), default=0.0)


def _usual(checkpoint: CheckpointFacts) -> float:
    sizes = sorted(m.update_rms for m in checkpoint.moments if m.update_rms == m.update_rms)
    return sizes[len(sizes) // 2] if sizes else 0.0


def _ends(
    case: Case, of_first: Callable[[Iterable[float]], float]
) -> tuple[str, float, float] | None:
    """Root mean square gradient of the first and the last hidden matrices of the latest save.

    One matrix alone tells nothing of the depth: queries and keys have small gradients everywhere.
    """
    for checkpoint in reversed(saved.with_moments(case)):
        shapes = {w.name: w.shape for w in checkpoint.weights}
        matrices = [m for m in checkpoint.moments if _is_matrix(shapes.get(m.name, ()))]
        matrices = [m for m in matrices if not _is_table(m.name, shapes[m.name], case)]
        if len(matrices) >= 3:
            first = [_entry(m) for m in matrices[: max(1, len(matrices) // 3)]]
            return checkpoint.checkpoint, of_first(first), _entry(matrices[-1])
    return None


def _is_table(name: str, shape: tuple[int, ...], case: Case) -> bool:
    """True for a table whose rows are looked up: most of them go without a gradient.

    Without tokens nothing is looked up, and a matrix of as many rows as classes is the last layer.
    """
    looked_up = bool(case.config.vocab_size) and saved.is_vocabulary(name, shape, case)
    return looked_up or bool(_TABLE.search(name))


def _is_matrix(shape: tuple[int, ...]) -> bool:
    return len(shape) > 1 and prod(shape) >= 64


def _entry(moment: MomentFacts) -> float:
    return float((moment.sum_square / max(moment.size, 1)) ** 0.5)
