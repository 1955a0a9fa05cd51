"""Objects to rows: numbers and labels, one level of names per level of nesting."""

from collections.abc import Iterable, Mapping
from typing import Any

from forensics.readers._tables.cells import is_not_logged, parse_number, parse_time
from forensics.readers._tables.lines import Row
from forensics.readers._tables.reshape import is_label, is_run_name
from forensics.readers._tables.table import Table, TableBuilder
from forensics.signals import Signal, classify

_MAX_NESTING = 4
_LARGEST = 2**1023


def flat_row(values: Mapping[str, Any], prefix: str = "", nesting: int = 0) -> Row:
    """The numbers and labels of one object; ``{"train": {"loss": 1}}`` becomes ``train/loss``.

    ``null``, lists and text of no interest are left out: they were not logged as a number.
    """
    row: Row = []
    for key, value in values.items():
        name = f"{prefix}/{key}" if prefix else str(key)
        if isinstance(value, Mapping):
            if nesting < _MAX_NESTING:
                row += flat_row(value, name, nesting + 1)
        else:
            row += _cell(name, value)
    return row


def _cell(name: str, value: Any) -> Row:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, int | float):
        if is_run_name(name):
            return [(name, str(value))]
        return [(name, float(value))] if isinstance(value, float) or abs(value) < _LARGEST else []
    if not isinstance(value, str) or is_not_logged(value):
        return []
    number = parse_number(value)
    if number is not None and not is_run_name(name):
        return [(name, number)]
    if classify(name) is Signal.WALL_TIME:
        moment = parse_time(value)
        return [] if moment is None else [(name, moment)]
    return [(name, value)] if is_label(name) else []


def rows_table(rows: Iterable[Any]) -> Table:
    """Objects as a table; what is no object is left out."""
    builder = TableBuilder()
    for row in rows:
        if isinstance(row, Mapping):
            builder.add_row(flat_row(row))
    return builder.table()


def is_settings(values: Mapping[str, Any]) -> bool:
    """True for an object that counts nothing and holds no loss: a configuration, not a row."""
    names = [name for name, cell in flat_row(values) if not isinstance(cell, str)]
    counted = {classify(name) for name in names} & {Signal.STEP, Signal.EPOCH, Signal.TOKENS}
    return not counted and not any("loss" in name.lower() for name in names)
