"""Steps of dictionaries that tell only a fraction of an epoch, as transformers prints them.

``{'loss': 2.3031, …, 'epoch': 0.01}`` stands beside a progress bar that shows the step: after
each dictionary the bar is drawn anew, with the step at which it was printed. Where there is no
bar, steps per epoch and the logging interval may be known from the settings, or from the last
dictionary, which tells how long all took and how many steps were done a second.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from forensics.readers._text.counters import Role
from forensics.readers._text.layout import Kind
from forensics.readers._text.rows import Ordinals, Rows, Values
from forensics.signals import Signal, classify

_NEAR = 4  # lines after a dictionary within which its bar is drawn anew
_AGREE = 0.9  # share of rows whose epoch has to agree with the step of the bar
_ROUNDED = 0.0051  # epochs are printed with two decimals or four digits


def steps_of_epochs(
    tables: Sequence[Rows], bars: Sequence[Rows], settings: Mapping[str, Any]
) -> list[tuple[Rows, Ordinals]]:
    """Find the step of every dictionary.

    Args:
        tables: Tables without steps; only dictionaries among them are looked at.
        bars: Progress bars that show nothing but their count.
        settings: What the file says about its own run.

    Returns:
        The dictionaries' tables with their steps, shape (n,) each; nothing where they do not
        follow.
    """
    dicts = [rows for rows in tables if rows.layout.kind in (Kind.DICT, Kind.FINAL)]
    training = [rows for rows in dicts if _has_loss(rows)]
    if not training:
        return []
    at = np.concatenate([rows.at for rows in training])
    epoch = np.concatenate([_epoch(rows) for rows in training])
    order = np.argsort(at)
    at, epoch = at[order], epoch[order]
    steps = _from_bars(at, epoch, bars)
    if steps is None:
        steps = _from_settings(epoch, {**_totals(dicts), **settings})
    if steps is None:
        return []
    return [(rows, _at_or_before(rows.at, at, steps)) for rows in dicts]


def _has_loss(rows: Rows) -> bool:
    return rows.layout.kind is Kind.DICT and any(
        classify(column.tag) is Signal.TRAIN_LOSS for column in rows.layout.columns
    )


def _epoch(rows: Rows) -> Values:
    column = rows.layout.find(Role.EPOCH)
    return rows.values[:, column] if column is not None else np.full(len(rows), np.nan)


def _at_or_before(places: Ordinals, at: Ordinals, steps: Ordinals) -> Ordinals:
    index = np.maximum(np.searchsorted(at, places, side="right") - 1, 0)
    return steps[index]


def _from_bars(at: Ordinals, epoch: Values, bars: Sequence[Rows]) -> Ordinals | None:
    """The step that the bar shows when it is drawn anew after each dictionary."""
    drawn = [_counts(rows) for rows in bars if rows.layout.find(Role.TOTAL) is not None]
    if not drawn:
        return None
    table = np.concatenate(drawn)
    table = table[np.argsort(table[:, 0], kind="stable")]
    # drawn anew on the next line; or, where line breaks were lost, glued to the dictionary
    found = [_next_bar(at, epoch, table, side) for side in ("right", "left")]
    agreement, steps = max(found, key=lambda one: one[0])
    return steps if agreement >= _AGREE else None


def _next_bar(
    at: Ordinals, epoch: Values, table: Values, side: Literal["left", "right"]
) -> tuple[float, Ordinals]:
    """The step of the next bar after each dictionary, and the share of them that can be right."""
    following = np.minimum(np.searchsorted(table[:, 0], at, side=side), len(table) - 1)
    ahead = table[following, 0] - at
    near = (ahead >= 0) & (ahead <= _NEAR)
    totals = Counter(table[following[near], 2].tolist())
    good = near & (table[following, 2] == totals.most_common(1)[0][0]) if totals else near
    steps = np.where(good, table[following, 1], np.nan)
    timed = good & (epoch > 0)
    if not timed.any():
        return 0.0, np.zeros(len(at), np.int64)
    per_epoch = float(np.median(steps[timed] / epoch[timed]))
    if not _counts_the_rows(steps[timed], epoch[timed]):
        return 0.0, np.zeros(len(at), np.int64)
    agrees = np.abs(steps - per_epoch * epoch) <= 1 + per_epoch * _tolerance(epoch)
    filled = np.where(good, steps, np.rint(per_epoch * epoch))
    return float(agrees[good].mean()), filled.astype(np.int64)


def _counts_the_rows(steps: Values, epoch: Values) -> bool:
    """False for the bar of something else (files being saved or read): it does not go on.

    Rows whose epochs differ have steps that differ, as far as a bar is that of the training.
    """
    return len(np.unique(steps)) >= _AGREE * len(np.unique(epoch))


def _counts(rows: Rows) -> Values:
    """Shape (n, 3): place, count and total of each drawing of a bar."""
    count, total = rows.layout.find(Role.COUNT), rows.layout.find(Role.TOTAL)
    if count is None or total is None:
        return np.empty((0, 3))
    return np.column_stack([rows.at, rows.values[:, count], rows.values[:, total]])


def _tolerance(epoch: Values) -> Values:
    """How far a printed epoch may be from the true one, shape of ``epoch``."""
    return np.maximum(_ROUNDED, 0.0006 * np.abs(epoch))


def _totals(tables: Sequence[Rows]) -> dict[str, float]:
    """``max_steps`` and ``num_train_epochs`` of a run that printed its summary once."""
    ends = [rows for rows in tables if rows.layout.kind is Kind.FINAL and len(rows) == 1]
    if len(ends) != 1:
        return {}
    tags = [column.tag for column in ends[0].layout.columns]
    told = dict(zip(tags, ends[0].values[0].tolist(), strict=True))
    epochs = float(_epoch(ends[0])[0])
    total = told.get("train_runtime", 0.0) * told.get("train_steps_per_second", 0.0)
    if not (total >= 1 and epochs > 0):
        return {}
    return {"max_steps": float(np.rint(total)), "num_train_epochs": epochs}


def _from_settings(epoch: Values, settings: Mapping[str, Any]) -> Ordinals | None:
    """Multiples of the logging interval that agree with the epochs."""
    interval = _number(settings, "logging_steps")
    per_epoch = _number(settings, "num_update_steps_per_epoch")
    if not per_epoch:
        total, epochs = _number(settings, "max_steps"), _number(settings, "num_train_epochs")
        per_epoch = total / epochs if total > 0 and epochs > 0 else 0.0
    if per_epoch and not interval and len(epoch) > 1:
        interval = float(np.rint((epoch[-1] - epoch[0]) / (len(epoch) - 1) * per_epoch))
    if interval < 1 or not np.isfinite(epoch).all():
        return None
    index = np.arange(1, len(epoch) + 1)
    if per_epoch:
        agrees = np.abs(index * interval - epoch * per_epoch) <= 1 + per_epoch * _tolerance(epoch)
        return (index * interval).astype(np.int64) if agrees.all() else _exact(epoch, per_epoch)
    gap = (epoch[-1] - epoch[0]) / (len(epoch) - 1) if len(epoch) > 1 else epoch[0]
    begins = bool(abs(epoch[0] - gap) <= 0.5 * gap + _ROUNDED)
    return (index * interval).astype(np.int64) if begins else None


def _exact(epoch: Values, per_epoch: float) -> Ordinals | None:
    """Epoch times steps per epoch, where that is exact to a step."""
    if (per_epoch * _tolerance(epoch) > 0.5).any():
        return None
    return np.rint(epoch * per_epoch).astype(np.int64)


def _number(settings: Mapping[str, Any], key: str) -> float:
    value = settings.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
