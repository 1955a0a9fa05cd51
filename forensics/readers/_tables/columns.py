"""A table to series: one per numeric column, on the x-axis that the table offers."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from forensics.readers._tables.axis import XAxis, choose_axis
from forensics.readers._tables.left_out import LeftOut, find_left_out, with_left_out
from forensics.readers._tables.reshape import split_phases, split_runs, widen
from forensics.readers._tables.table import Column, Numbers, Table
from forensics.run import Axis, Note, Series
from forensics.signals import LOWER_IS_BETTER, Signal, classify

_FIRST_MOMENT, _LAST_MOMENT = 1e8, 5e9  # 1973 and 2128, in seconds since the epoch
_MOST_DIGITS = 6
_ROUNDED_POINTS = 4  # fewer can be round by chance


def table_series(
    table: Table, source: str, axis: Axis | None = None, spells_nan: bool = False
) -> tuple[tuple[Series, ...], tuple[Note, ...]]:
    """Every numeric column of a table as a series, and what is to be said about the x-axis.

    Args:
        table: Rows in file order; long tables and several runs are taken apart.
        source: The file, for the series.
        axis: What the counter counts, where the file's name says so (samples).
        spells_nan: True where the writer is known to write a NaN as such.
    """
    series: list[Series] = []
    notes: dict[str, None] = {}
    for run, part in split_runs(split_phases(widen(table))):
        if not part.columns:
            continue
        x = choose_axis(part)
        if x.note:
            notes[x.note] = None
        left_out = [] if spells_nan else find_left_out(part)
        for one in left_out:
            notes[_words(one, x)] = None
        series += _series_of(with_left_out(part, left_out), x, source, run, axis)
    return tuple(series), tuple(Note(text, source) for text in notes)


def _words(left_out: LeftOut, x: XAxis) -> str:
    place = f"{x.axis} {x.place[left_out.rows[0]]}"
    return (
        f"{left_out.tag} is empty from {place} on while {left_out.companion} goes on: "
        "taken for NaN, which some writers leave out"
    )


def _series_of(
    table: Table, x: XAxis, source: str, run: str, axis: Axis | None
) -> Iterator[Series]:
    clock = _wall_clock(table)
    places: dict[int, NDArray[np.int64]] = {}  # columns of the same rows share one array
    for name, column in table.columns.items():
        if name in (x.column, clock) and classify(name) is not Signal.EPOCH:
            continue
        if _is_index(name):
            continue
        if id(column.rows) not in places:
            places[id(column.rows)] = x.place[column.rows]
        yield Series(
            tag=name.strip(),
            step=places[id(column.rows)],
            value=column.values,
            source=source,
            wall_time=_moments(table.columns[clock], column, table.length) if clock else None,
            axis=axis if axis and x.axis is Axis.STEP else x.axis,
            run=run,
            digits=printed_digits(column.values) if _is_loss(name) else None,
        )


def _is_index(name: str) -> bool:
    """True for the numbers of rows that pandas and R write before them."""
    return not name.strip() or name.startswith("Unnamed: ")


def _is_loss(name: str) -> bool:
    signal = classify(name)
    return signal in LOWER_IS_BETTER or signal is Signal.LOSS_COMPONENT


def _wall_clock(table: Table) -> str | None:
    """The column that holds moments (not a time since the start), if there is one."""
    for name, column in table.columns.items():
        if classify(name) is Signal.WALL_TIME and len(column.rows):
            seconds = _seconds(column.values)
            if np.all((seconds > _FIRST_MOMENT) & (seconds < _LAST_MOMENT)):
                return name
    return None


def _seconds(values: Numbers) -> Numbers:
    """Seconds from moments written in seconds, milli-, micro- or nanoseconds."""
    size = float(np.nanmedian(values)) if np.isfinite(values).any() else 0.0
    unit = next((unit for unit in (1e9, 1e6, 1e3) if size / unit > _FIRST_MOMENT), 1.0)
    return values / unit


def _moments(clock: Column, column: Column, length: int) -> Numbers:
    """Shape (n,): when each point of a column was logged, NaN where that was not said."""
    seconds = _seconds(clock.values)
    if len(clock.rows) == length:
        return seconds[column.rows]
    return Column(clock.rows, seconds).spread(length)[column.rows]


def printed_digits(values: Numbers) -> int | None:
    """Decimals to which every finite value was rounded before it was logged, or None.

    Args:
        values: Shape (n,).
    """
    values = values[np.isfinite(values)]
    if len(values) < _ROUNDED_POINTS:
        return None
    for digits in range(_MOST_DIGITS + 1):
        for part in (values[:100], values):  # most columns are not rounded: ask a few first
            if not np.array_equal(np.round(part, digits), part):
                break
        else:
            return digits or None
    return None
