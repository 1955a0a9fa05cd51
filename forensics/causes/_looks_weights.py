"""Looks at weights over the checkpoints: what never moved, what moved far, what shrank."""

from forensics.case import Case
from forensics.causes import _checkpoints as saved
from forensics.causes import _facts as facts
from forensics.causes._base import Seen
from forensics.checkpoint_facts import CheckpointFacts, CheckpointPair, WeightChange
from forensics.phrasing import number, percent, stretch
from forensics.run import Axis

TWO = "Needs the weights of two checkpoints (scan them)."


def never_updated(case: Case, share: float = 0.9) -> Seen:
    """Nearly every trained tensor is the same bit for bit in all checkpoints.

    In some of them alone it is no sign: a run that became NaN skips its steps and stands still.
    """
    found = [(pair, _trained(pair, case)) for pair in saved.pairs(case)]
    told = [(pair, weights) for pair, weights in found if weights]
    if not told:
        return saved.seen(None, TWO)
    pair, weights = min(told, key=lambda it: sum(w.identical for w in it[1]) / len(it[1]))
    still = sum(w.identical for w in weights)
    if still >= share * len(weights):
        text = (
            f"{still:,} of {len(weights):,} tensors are the same bit for bit in {pair.earlier} "
            f"and {pair.later}, {stretch(pair.steps)} apart."
        )
        return saved.seen(True, text)
    moved = len(weights) - still
    return saved.seen(
        False, f"{moved:,} of {len(weights):,} tensors moved from {pair.earlier} to {pair.later}."
    )


def rounded_away(case: Case, share: float = 0.5) -> Seen:
    """Weights in 16 bits without wider copies, most of which do not move from save to save."""
    survey = case.survey
    narrow = survey is not None and all(c.narrow and not c.masters for c in survey.checkpoints)
    found = [(p, w) for p in saved.pairs(case) if (w := _trained(p, case))]
    if not found:
        return saved.seen(None, TWO)
    if not narrow:
        return saved.NOTHING_TO_SEE
    pair, weights = found[-1]
    moved = sum(w.moved * w.read for w in weights) / sum(w.read for w in weights)
    return saved.seen(
        moved < share,
        f"Of the 16-bit weights {percent(moved)} moved in {stretch(pair.steps)} from "
        f"{pair.earlier} to {pair.later}, and no wider copies are kept.",
    )


def moved_far(case: Case, limit: float = 3e-2) -> Seen:
    """Before the onset the weights moved by some hundredths of themselves in a usual step."""
    onset = facts.break_onset(case)
    steps = {} if case.survey is None else {c.checkpoint: c.step for c in case.survey.checkpoints}
    early = [
        pair for pair in saved.pairs(case) if onset is None or (steps.get(pair.later) or 0) < onset
    ]
    found = [(p, way) for p in early if (way := _way(p)) is not None]
    if not found:
        return saved.seen(None, "Needs the weights of two neighbouring checkpoints.")
    pair, way = found[-1]
    updates = _updates_between(case, pair)
    if updates is None:
        return saved.seen(None, "Needs the number of optimizer steps between two checkpoints.")
    rate = way / updates
    return saved.seen(
        rate > limit,
        f"From {pair.earlier} to {pair.later} the median matrix moved by at least "
        f"{percent(rate)} of itself an optimizer step ({percent(way)} in all).",
    )


def first_layers_still(case: Case, ratio: float = 1e-3) -> Seen:
    """The first layer's weights hardly move while the last one's do."""
    for pair in saved.pairs(case):
        layers = _by_layer(_trained(pair, case))
        if len(layers) < 2 or not layers[max(layers)]:
            continue
        first, last = layers[min(layers)], layers[max(layers)]
        return saved.seen(
            first < ratio * last,
            f"From {pair.earlier} to {pair.later} the first layer moved by {number(first)} of "
            f"itself and the last by {number(last)}.",
        )
    return saved.seen(None, TWO)


def _by_layer(weights: list[WeightChange], *, deep: int = 4) -> dict[int, float]:
    """Number of a layer -> relative change of its last matrix.

    Where names carry no numbers of layers, the order of the model tells, if the model is deep.
    """
    told = [w for w in weights if len(w.shape) > 1 and w.relative == w.relative]
    layers = {n: w.relative for w in told if (n := saved.layer_of(w.name)) is not None}
    if layers or len(told) < deep:
        return layers
    return {at: w.relative for at, w in enumerate(told)}


def weights_shrank(case: Case, share: float = 0.3) -> Seen:
    """The norm of all matrices fell by ``share`` or more."""
    ends = _ends(case)
    if ends is None:
        return saved.seen(None, "Needs the weights of two checkpoints (scan them).")
    first, last = ends
    before, after = _norm(first), _norm(last)
    pull = (case.config.weight_decay or 0.0) * (facts.highest_lr(case) or 0.0)
    if not before or pull * (first.step or 0) > 1:
        # What shrinks to a third in 1 / (rate x decay) steps had shrunk before the first save.
        return saved.NOTHING_TO_SEE
    return saved.seen(
        after <= (1 - share) * before,
        f"The norm of the matrices went from {number(before)} in {first.checkpoint} to "
        f"{number(after)} in {last.checkpoint}.",
    )


def _ends(case: Case) -> tuple[CheckpointFacts, CheckpointFacts] | None:
    """First and last checkpoint with finite weights."""
    found = saved.finite(() if case.survey is None else case.survey.checkpoints)
    return (found[0], found[-1]) if len(found) > 1 else None


def _norm(checkpoint: CheckpointFacts) -> float:
    sizes = [(w.rms**2, w.shape) for w in saved.matrices(checkpoint)]
    return float(sum(square * _size(shape) for square, shape in sizes) ** 0.5)


def _size(shape: tuple[int, ...]) -> int:
    total = 1
    for length in shape:
        total *= length
    return total


def _trained(pair: CheckpointPair, case: Case) -> list[WeightChange]:
    """The tensors that an optimizer updates; none where that cannot be told from frozen ones.

    What is zero (a fresh adapter, a padding row) or not finite in both is left out.
    """
    told = [w for w in pair.weights if w.moved or w.relative == 0]
    if pair.trained:
        return [w for w in told if w.name in pair.trained]
    return [] if case.config.lora else told


def _way(pair: CheckpointPair) -> float | None:
    """Median over the matrices of the way from one save to the next, relative to them."""
    sizes = sorted(w.relative for w in pair.weights if len(w.shape) > 1 and w.relative > 0)
    return sizes[len(sizes) // 2] if sizes else None


def _updates_between(case: Case, pair: CheckpointPair) -> int | None:
    """Optimizer steps between two saves: as the optimizer counts, else as the run does.

    A log by epoch or row does not tell how many updates its unit holds.
    """
    told = [None if case.survey is None else case.survey.of(p) for p in (pair.earlier, pair.later)]
    counts = [None if c is None else c.state.optimizer_steps for c in told]
    if counts[0] is not None and counts[1] is not None and counts[1][1] > counts[0][1]:
        return int(counts[1][1] - counts[0][1])
    return max(pair.steps, 1) if case.timeline.axis is Axis.STEP else None
