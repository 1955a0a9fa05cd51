"""Merges the channels of one run into the series that the timeline reads.

Two channels are two views of the same run. Where they agree on a quantity, the better view stays,
with the points that only the other has; where they do not, the weaker keeps its points under a
tag that says where they come from, so that the series of one tag are always attempts in a row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forensics.loading.channels import View, views
from forensics.loading.curves import Relation, curve_of, relate
from forensics.loading.joining import Pieces, are_disjoint, by_order, joined
from forensics.loading.strands import Strand
from forensics.run import Axis, Series
from forensics.signals import Signal, classify, normalise

_ONE_A_RUN = frozenset(
    {
        *(Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH, Signal.EVAL_LOSS, Signal.LR),
        *(Signal.GRAD_NORM, Signal.LOSS_SCALE, Signal.TRAIN_ACCURACY, Signal.EVAL_ACCURACY),
    }
)
"""Quantities that two channels may log under different tags."""


def merge(strands: Sequence[Strand]) -> tuple[Series, ...]:
    """All series of a run: of each tag one sequence, without copies, attempts in order."""
    merged: list[View] = []
    for view in views(strands):
        _add(merged, view)
    return tuple(piece for view in merged for piece in view.pieces)


def _add(merged: list[View], new: View) -> None:
    for number, old in enumerate(merged):
        together = _together(old, new)
        if together is not None:
            pieces = [replace(piece, tag=old.tag) for piece in together]
            merged[number] = replace(old, pieces=pieces)
            return
    taken = {view.tag: view for view in merged}
    merged.append(new if new.tag not in taken else _renamed(new, taken))


def _together(old: View, new: View) -> Pieces | None:
    """One sequence for two views of one quantity, or None where they are not that."""
    if old.channel == new.channel:
        return None
    if normalise(old.tag) == normalise(new.tag):
        return (
            joined(old.pieces, new.pieces)
            or _counted(old.pieces, new.pieces)
            or _in_a_row(old, new)
        )
    signal = classify(old.tag)
    if signal in _ONE_A_RUN and signal is classify(new.tag):
        one, other = curve_of(old.pieces), curve_of(new.pieces)
        if relate(one, other) is Relation.COPY:
            return joined(old.pieces, new.pieces)
        return _counted(old.pieces, new.pieces)
    return None


def _counted(old: Pieces, new: Pieces) -> Pieces | None:
    """Both by step, where one of them was logged without steps."""
    counted = by_order(old, new)
    if counted is not None:
        return joined(old, counted)
    counted = by_order(new, old)
    return None if counted is None else joined(counted, new)


def _in_a_row(old: View, new: View) -> Pieces | None:
    """One after the other, where one log ends before the other begins."""
    if new.words.startswith("rank ") or not are_disjoint(old.pieces, new.pieces):
        return None
    return sorted((*old.pieces, *new.pieces), key=lambda piece: int(piece.step[0]))


def _renamed(view: View, taken: Mapping[str, View]) -> View:
    """The view under a tag of its own: a mean by epoch beside the same by step says so."""
    coarser = view.pieces[0].axis is Axis.EPOCH and taken[view.tag].pieces[0].axis is not Axis.EPOCH
    tag = f"{view.tag}_epoch" if coarser else f"{view.words}: {view.tag}"
    number = 2
    while tag in taken:
        tag, number = f"{view.words} {number}: {view.tag}", number + 1
    return replace(view, tag=tag, pieces=[replace(piece, tag=tag) for piece in view.pieces])
