"""Chooses what the x-axis of a table counts: steps before epochs before amounts before rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forensics.readers._tables.table import Column, Numbers, Table
from forensics.readers._tables.training import is_counter, is_metric
from forensics.run import Axis
from forensics.signals import Signal, classify, normalise

_RANKS = (
    ("global_step", "global_steps", "optimizer_step", "opt_step"),
    ("total_timesteps", "num_updates"),
    ("step", "steps", "current_step", "current_steps", "global_step/max_steps", "train_step"),
    ("iteration", "iterations", "iter", "iters", "update", "updates", "training_iteration"),
    ("it", "n_iter", "step_idx", "s", "timesteps", "num_timesteps"),
    ("batch_idx", "batch"),
)
"""Names of counters, the surest first; a counter of logger calls such as ``_step`` comes last."""

_UNKNOWN, _LOGGER_CALLS = len(_RANKS), len(_RANKS) + 1
_OTHER_COUNTERS = (
    (Signal.EPOCH, Axis.EPOCH),
    (Signal.SAMPLES, Axis.SAMPLES),
    (Signal.TOKENS, Axis.SAMPLES),
)
_POSITIONS = frozenset({"idx", "index", "#", "no", "row"})
_LARGEST = 2.0**62  # beyond it no counter fits into 64 bits
_FEW = 8  # a crash at one step, again and again, may log no other
_MIN_COVERAGE = 0.5  # share of the rows with a metric that a counter must name


@dataclass(frozen=True, eq=False)
class XAxis:
    """The place of every row."""

    axis: Axis
    place: NDArray[np.int64]
    """Shape (rows,)."""
    column: str | None
    """The column it came from, None for the position in the file."""
    note: str = ""


def choose_axis(table: Table) -> XAxis:
    """The x-axis that says most about where in the training each row belongs."""
    counted = _rows_with_metric(table)
    for name in _by_rank(table):
        column = table.columns[name]
        if _counts(column, counted):
            return _steps(table, name)
    for signal, axis in _OTHER_COUNTERS:
        for name, column in table.columns.items():
            if classify(name) is not signal or _is_setting(name, column):
                continue
            if _counts(column, counted):
                place = _filled(column.rows, column.values, table.length)
                if _moves(place, table):
                    return XAxis(axis, place, name)
    return _positions(table)


def _by_rank(table: Table) -> list[str]:
    names = [name for name in table.columns if classify(name) is Signal.STEP]
    return sorted(names, key=_rank)


def _rank(name: str) -> int:
    if name.strip() == "_step":
        return _LOGGER_CALLS
    whole = normalise(name)
    spellings = {whole, whole.rpartition("/")[2]}
    return next((i for i, group in enumerate(_RANKS) if spellings & {*group}), _UNKNOWN)


def _rows_with_metric(table: Table) -> NDArray[np.bool_]:
    """Shape (rows,), True where a metric was logged (anywhere a number was, if none is)."""
    names = [name for name in table.columns if is_metric(name)] or list(table.columns)
    if any(len(table.columns[name].rows) == table.length for name in names):
        return np.ones(table.length, bool)
    logged = np.zeros(table.length, bool)
    for name in names:
        logged[table.columns[name].rows] = True
    return logged


def _counts(column: Column, counted: NDArray[np.bool_]) -> bool:
    """True for whole numbers that move and stand on most rows that count."""
    finite = np.isfinite(column.values)
    values = column.values if finite.all() else column.values[finite]
    if not len(values) or (values != np.floor(values)).any() or np.abs(values).max() > _LARGEST:
        return False
    if len(values) > _FEW and values.min() == values.max():
        return False
    whole = len(column.rows) == len(counted)
    return whole or bool(counted[column.rows].sum() >= _MIN_COVERAGE * counted.sum())


def _is_setting(name: str, column: Column) -> bool:
    """True for the ``epochs`` of a sweep, which do not only rise."""
    return normalise(name) == "epochs" and bool((np.diff(column.values) <= 0).any())


def _moves(place: NDArray[np.int64], table: Table) -> bool:
    """True where some metric has about one point per place (an epoch of many rows says little)."""
    metrics = [column for name, column in table.columns.items() if is_metric(name)]
    steps = [np.diff(place[column.rows]) for column in metrics or table.columns.values()]
    return any(not len(step) or float(np.mean(step != 0)) >= 0.5 for step in steps)


def _filled(rows: NDArray[np.int64], values: Numbers, length: int) -> NDArray[np.int64]:
    """Shape (length,): each row's own count, else that of the row before, else of the next."""
    finite = np.isfinite(values)
    rows, values = rows[finite], values[finite]
    if len(rows) == length:
        return values.astype(np.int64)
    source = np.full(length, -1, np.int64)
    source[rows] = np.arange(len(rows))
    source = np.maximum(np.maximum.accumulate(source), 0)
    filled: NDArray[np.int64] = values.astype(np.int64)[source]
    return filled


def _steps(table: Table, name: str) -> XAxis:
    column = table.columns[name]
    epoch = next((c for n, c in table.columns.items() if classify(n) is Signal.EPOCH), None)
    if epoch is not None and len(epoch.rows) > 1:
        column = _without_epoch_rows(column, epoch, table.length)
        whole = _through_epochs(column, epoch, table.length)
        if whole is not None:
            place = _filled(whole.rows, whole.values, table.length)
            note = f"{name} starts anew in each epoch; counted through"
            return XAxis(Axis.STEP, place, name, note)
    return XAxis(Axis.STEP, _filled(column.rows, column.values, table.length), name)


def _without_epoch_rows(column: Column, epoch: Column, length: int) -> Column:
    """The counter without validation rows that put the epoch there (mmengine does)."""
    step, current = column.spread(length), epoch.spread(length)
    alone = ~np.isnan(step) & np.isnan(current)
    if not alone.any():
        return column
    last_epoch = _filled(epoch.rows, epoch.values, length)
    training = column.rows[~np.isnan(current[column.rows])]
    if not len(training):
        return column
    last_step = _filled(training, step[training], length)
    same = (step[alone] == last_epoch[alone]) & (step[alone] < last_step[alone])
    if same.mean() < 0.9:
        return column
    keep = ~alone[column.rows]
    return Column(column.rows[keep], column.values[keep])


def _through_epochs(column: Column, epoch: Column, length: int) -> Column | None:
    """A counter that starts anew in each epoch, counted through; None for any other counter."""
    epochs = epoch.spread(length)[column.rows]
    known = np.isfinite(epochs) & np.isfinite(column.values)
    step, number = column.values[known], epochs[known]
    falls = np.flatnonzero(np.diff(step) < 0)
    turns = np.flatnonzero(np.diff(number) > 0)
    if not len(falls) or (number != np.floor(number)).any() or len(turns) < len(falls):
        return None
    if np.isin(falls, turns).mean() < 0.9 or np.isin(turns, falls).mean() < 0.9:
        return None
    per_epoch = step.max() + (1 if step.min() == 0 else 0)
    return Column(column.rows[known], step + (number - number.min()) * per_epoch)


def _positions(table: Table) -> XAxis:
    """Count by the position in the file, or by a column that does nothing else."""
    for name, column in table.columns.items():
        if normalise(name) in _POSITIONS and len(column.rows) == table.length:
            values = column.values
            if np.isfinite(values).all() and (np.diff(values) > 0).all():
                return XAxis(Axis.ROW, values.astype(np.int64), name)
    return XAxis(Axis.ROW, np.arange(table.length), None, "no step was logged: counted by row")


def without_cut_counter(table: Table) -> Table:
    """A table whose last line may have been cut, without its last row where the counter fell."""
    last = table.length - 1
    for name, column in table.columns.items():
        if is_counter(name) and len(column.rows) > 1 and column.rows[-1] == last:
            before, after = column.values[-2:]
            if after < before:
                return table.keep(np.arange(table.length) < last)
    return table
