"""Finds the tables of a training in a JSON document, whatever they are wrapped in.

Lists of objects, objects of lists (Keras ``history``), objects keyed by step, data frames written
by pandas, points (``[[step, value], …]``) and TensorBoard's download
(``[[wall_time, step, value], …]``).
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from forensics.readers._tables.cells import parse_number
from forensics.readers._tables.file_names import bare_name
from forensics.readers._tables.json_rows import rows_table
from forensics.readers._tables.reshape import is_phase_word, plain_name, widen
from forensics.readers._tables.table import Column, Table
from forensics.readers._tables.training import is_counter, is_metric, is_training_table
from forensics.signals import Signal, classify

_MAX_NESTING = 4
_MAX_TABLES = 200
_WRAPPERS = frozenset(
    {"log_history", "metrics", "history", "log", "logs", "data", "results", "records", "scalars"}
)
_POINT = ("wall_time", "step")  # what stands before the value of a point, the last of it first

Lists = dict[str, list[Any]]


@dataclass(frozen=True, eq=False)
class FoundTable:
    """A table of a training and the key under which it lies ('' where that says nothing)."""

    key: str
    table: Table

    @property
    def phase(self) -> str:
        """``val`` where the key is ``val`` or ``val_history``, else ''."""
        words = [word for word in re.split(r"[\W_]+", self.key.lower()) if word not in _WRAPPERS]
        return words[0] if len(words) == 1 and is_phase_word(words[0]) else ""


def find_tables(document: Any, tag: str = "") -> list[FoundTable]:
    """Every table of a training in a document.

    Args:
        document: What ``json.loads`` gives.
        tag: Name of the quantity where the file holds only its points.
    """
    found = islice(_search(document, tag, {}, 0), _MAX_TABLES)
    tables = [item for item in found if _is_training(item.table)]
    return [replace(item, key="" if item.key in _WRAPPERS else item.key) for item in tables]


def _is_training(table: Table) -> bool:
    return table.length > 0 and is_training_table(plain_name(n) for n in widen(table).columns)


def _search(value: Any, key: str, counters: Lists, nesting: int) -> Iterator[FoundTable]:
    """The tables in a value; ``counters`` are lists of steps or epochs that lie above it."""
    if isinstance(value, list):
        yield from _from_list(value, key)
    elif isinstance(value, Mapping) and nesting < _MAX_NESTING:
        rows = _keyed_rows(value) or _split_frame(value)
        if rows:
            yield FoundTable(key, rows_table(rows))
            return
        lists = dict(_lists_of(value))
        counters = counters | {name: numbers for name, numbers in lists.items() if is_counter(name)}
        for table in _from_lists(lists, counters):
            yield FoundTable(key, table)
        for name, inner in value.items():
            if lists.keys().isdisjoint({str(name), bare_name(str(name))}):
                yield from _search(inner, str(name), counters, nesting + 1)


def _from_list(values: list[Any], key: str) -> Iterator[FoundTable]:
    """A list of objects or of points as a table."""
    if any(isinstance(row, Mapping) for row in values[:100]):
        table = rows_table(values)
        if is_metric(key) and "value" in table.columns:
            columns = {key if n == "value" else n: c for n, c in table.columns.items()}
            yield FoundTable("", replace(table, columns=columns))
        else:
            yield FoundTable(key, table)
        return
    width = len(values[0]) if values and isinstance(values[0], list) else 0
    if width in (2, 3) and key and all(isinstance(p, list) and len(p) == width for p in values):
        names = (*_POINT, key)[-width:]
        yield FoundTable("", rows_table(dict(zip(names, p, strict=True)) for p in values))


def _keyed_rows(value: Mapping[str, Any]) -> list[Any]:
    """``{"10": {"loss": 2.3}, "epoch_2": …}`` as rows that name their step or epoch."""
    if not value or not all(isinstance(row, Mapping) for row in value.values()):
        return []
    numbers = [parse_number(str(key).rpartition("_")[2]) for key in value]
    if None in numbers:
        return []
    counter = "epoch" if "epoch" in str(next(iter(value))).lower() else "step"
    return [{counter: n, **row} for n, row in zip(numbers, value.values(), strict=True)]


def _split_frame(value: Mapping[str, Any]) -> list[Any]:
    """A data frame that pandas wrote with ``orient="split"``."""
    names, rows = value.get("columns"), value.get("data")
    if not isinstance(names, list) or not isinstance(rows, list):
        return []
    return [dict(zip(map(str, names), row, strict=False)) for row in rows if isinstance(row, list)]


def _lists_of(value: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Lists of numbers, and columns as pandas writes them (``{"0": 2.3, "1": 2.2}``)."""
    for key, inner in value.items():
        if isinstance(inner, Mapping) and inner and all(str(k).isdigit() for k in inner):
            inner = list(inner.values())
        if isinstance(inner, list) and _is_numbers(inner):
            bare = bare_name(str(key))
            yield (str(key) if bare in value else bare), inner


def _is_numbers(values: list[Any]) -> bool:
    return all(isinstance(item, int | float | str | None) for item in values[:100]) and any(
        isinstance(item, int | float) for item in values
    )


def _from_lists(lists: Lists, counters: Lists) -> Iterator[Table]:
    """Lists of one length make one table, with the counter of that length."""
    for length in dict.fromkeys(len(numbers) for numbers in lists.values()):
        alike = {name: numbers for name, numbers in lists.items() if len(numbers) == length}
        if not any(map(is_counter, alike)):
            alike |= {name: numbers for name, numbers in counters.items() if len(numbers) == length}
        yield _table_of(alike)


def _table_of(lists: Lists) -> Table:
    if all(type(item) is float or type(item) is int for v in lists.values() for item in v):
        length = len(next(iter(lists.values())))
        rows = np.arange(length)
        columns = {name: Column(rows, np.array(v, np.float64)) for name, v in lists.items()}
        return Table(length, columns)
    cells = zip(*lists.values(), strict=True)
    return rows_table(dict(zip(lists, row, strict=True)) for row in cells)


def phased(item: FoundTable) -> Table:
    """The table with its phase before each tag."""
    kept = (Signal.STEP, Signal.EPOCH, Signal.WALL_TIME)
    columns = {}
    for name, column in item.table.columns.items():
        own = not item.phase or classify(name) in kept or name.lower().startswith(item.phase)
        columns[name if own else f"{item.phase}/{name}"] = column
    return replace(item.table, columns=columns)


def are_runs(tables: Sequence[FoundTable]) -> bool:
    """True where tables under several keys log the same quantities: each is a run of its own."""
    keys: dict[str, set[str]] = defaultdict(set)
    for item in tables:
        for name in item.table.columns:
            if item.key and not item.phase and is_metric(name):
                keys[name].add(item.key)
    return any(len(owners) > 1 for owners in keys.values())
