"""Numbers that a line gives no name, told by what else the file logs.

``Epoch 0: 1.07`` is the loss, where such lines are many and nothing in the file is called a loss;
``Loss: 0.5, Train: 0.9, Val: 0.8, Test: 0.7`` names the loss and three accuracies.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from forensics.readers._text.counters import Role
from forensics.readers._text.layout import Column, Kind, Layout, Span
from forensics.readers._text.masks import HIDDEN
from forensics.readers._text.numerals import NUMBER
from forensics.readers._text.rows import Rows, Values
from forensics.signals import LOWER_IS_BETTER, Signal, classify, normalise

LEAST = 5
"""Lines of one make from which on a number without a name is taken for the loss."""
_ONLY = re.compile(
    rf"^(?:{HIDDEN}+ ?[\w.]+ ?(?={HIDDEN}))?"  # the logger between the time and the level
    rf"(?:[\s:|,;=>–\]]|-(?=[\s>]))*+(?P<number>{NUMBER})\s*$"
)
_RISING = 0.8
_LIKE_A_CLOCK = 0.995
_PERCENT = 20.0  # accuracies that never pass it are no percentages
_PARTS = {"train", "training", "val", "valid", "validation", "test"}
_TRAIN = {"train", "training"}


def find_unnamed(text: str) -> Span | None:
    """Where the one number of a line stands, whose counters and noise are hidden."""
    match = _ONLY.match(text)
    if match is None or match["number"].lstrip("+-").isdigit():
        return None
    return match.span("number")


def with_names(tables: Sequence[Rows]) -> list[Rows]:
    """The tables, with the unnamed numbers named or left out."""
    told = any(
        _is_loss(tag) for rows in tables if not _is_unnamed(rows) for tag in rows.layout.tags
    )
    named = [_settled(rows, told) if _is_unnamed(rows) else _scored(rows) for rows in tables]
    return [rows for rows in named if rows is not None]


def _is_unnamed(rows: Rows) -> bool:
    return rows.layout.kind is Kind.UNNAMED


def _is_loss(tag: str) -> bool:
    signal = classify(tag)
    return signal in LOWER_IS_BETTER or signal is Signal.LOSS_COMPONENT


def _settled(rows: Rows, told: bool) -> Rows | None:
    if not told and _are_losses(rows):
        return replace(rows, layout=replace(rows.layout, kind=Kind.LINE))
    if rows.layout.find(Role.EPOCH) is None:
        return None
    kept = [k for k, column in enumerate(rows.layout.columns) if column.role is not Role.VALUE]
    layout = Layout(Kind.LINE, tuple(rows.layout.columns[k] for k in kept))
    tails = tuple(rows.tails[k] for k in kept)
    return replace(rows, layout=layout, values=rows.values[:, kept], tails=tails)


def _are_losses(rows: Rows) -> bool:
    """Many lines that count up, and numbers that are neither a clock nor a score."""
    if len(rows) < LEAST:
        return False
    columns = rows.layout.columns
    value = rows.values[:, next(k for k, c in enumerate(columns) if c.role is Role.VALUE)]
    counters = [k for k, c in enumerate(columns) if c.role not in (Role.VALUE, Role.TOTAL)]
    steps = np.diff(rows.values[:, counters], axis=0)
    if np.mean((steps > 0).any(axis=1)) < _RISING:
        return False
    return not _is_clock(value) and not _is_score(value)


def _is_clock(value: Values) -> bool:
    if not np.isfinite(value).all() or np.any(np.diff(value) <= 0):
        return False
    return bool(np.corrcoef(np.arange(len(value)), value)[0, 1] > _LIKE_A_CLOCK)


def _is_score(value: Values) -> bool:
    """True for shares that rise, as no loss does throughout."""
    third = max(1, len(value) // 3)
    shares = bool(np.all((value >= 0) & (value <= 1)))
    return shares and bool(np.median(value[-third:]) > np.median(value[:third]))


def _scored(rows: Rows) -> Rows:
    """With the accuracies called so that a line only names by the part of the data."""
    columns = rows.layout.columns
    places = [k for k, c in enumerate(columns) if normalise(c.tag) in _PARTS]
    parts = {normalise(columns[k].tag) for k in places if columns[k].role is Role.VALUE}
    beside = any(classify(tag) is Signal.TRAIN_LOSS for tag in rows.layout.tags)
    if (
        not beside
        or len(parts) < 2
        or not parts & _TRAIN
        or not _are_shares(rows.values[:, places])
    ):
        return rows
    renamed = tuple(
        Column(f"{c.tag} accuracy", c.role, c.scale) if k in places else c
        for k, c in enumerate(columns)
    )
    return replace(rows, layout=replace(rows.layout, columns=renamed))


def _are_shares(values: Values) -> bool:
    """Whether all lie in 0..1, or in 0..100 and not all near its beginning."""
    finite = values[np.isfinite(values)]
    if not len(finite) or finite.min() < 0:
        return False
    highest = float(finite.max())
    return highest <= 1 or _PERCENT < highest <= 100
