"""What the records of a ``.wandb`` file say: rows of the history, settings, how the run ended.

Numbers of the fields are those of ``wandb_internal.proto``; every value is JSON.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from forensics.readers._event_file.wire import BYTES, VARINT, MalformedMessageError, Walk
from forensics.readers._tables.table import TableBuilder

_HISTORY, _CONFIG, _RUN, _EXIT = 2, 5, 17, 18
_ITEM, _STEP, _UPDATE, _CONFIG_OF_RUN, _EXIT_CODE = 1, 2, 1, 4, 1
_KEY, _NESTED_KEY, _VALUE = 1, 2, 16
_SPELLED = {"NaN", "Infinity", "-Infinity"}
_LONGEST_VALUE = 1 << 20


@dataclass
class Log:
    """What has been read so far."""

    rows: TableBuilder = field(default_factory=TableBuilder)
    settings: dict[str, Any] = field(default_factory=dict)
    exit_code: int | None = None
    """None: the run never said that it ended."""
    foreign: int = 0
    """Records that are no messages."""

    def add(self, record: bytes) -> None:
        """Take what a record says; records of other kinds say nothing here."""
        walk = Walk(record)
        try:
            for number, wire, at in list(walk.fields(walk.whole)):
                if wire == BYTES and number == _HISTORY:
                    self._add_row(walk, at)
                elif wire == BYTES and number == _CONFIG:
                    self.settings.update(_updates(walk, at))
                elif wire == BYTES and number == _RUN:
                    for inner in _parts(walk, at, _CONFIG_OF_RUN):
                        self.settings.update(_updates(walk, inner))
                elif wire == BYTES and number == _EXIT:
                    self.exit_code = _number(walk, at, _EXIT_CODE)
        except MalformedMessageError:
            self.foreign += 1

    def _add_row(self, walk: Walk, at: slice) -> None:
        items = (_item(walk, part) for part in _parts(walk, at, _ITEM))
        row = [(key, number) for key, value in items for number in _as_number(value)]
        if not any(key == "_step" for key, _ in row):
            row += [("_step", float(_number(walk, part, 1))) for part in _parts(walk, at, _STEP)]
        if row:
            self.rows.add_row(row)


def _updates(walk: Walk, at: slice) -> Iterator[tuple[str, Any]]:
    for part in _parts(walk, at, _UPDATE):
        key, value = _item(walk, part)
        if key and not key.startswith("_wandb"):
            yield key, value


def _parts(walk: Walk, at: slice, wanted: int) -> list[slice]:
    return [value for number, wire, value in walk.fields(at) if number == wanted and wire == BYTES]


def _number(walk: Walk, at: slice, wanted: int) -> int:
    """A field that is a number; 0 is left unwritten."""
    found = (v for n, wire, v in walk.fields(at) if n == wanted and wire == VARINT)
    return next((walk.number(value) for value in found), 0)


def _item(walk: Walk, at: slice) -> tuple[str, Any]:
    """Key, nested ones joined with '.', and value of an item."""
    key, nested, value = "", [], None
    for number, wire, part in walk.fields(at):
        if wire != BYTES or part.stop - part.start > _LONGEST_VALUE:
            continue
        text = walk.data[part].decode("utf-8", "replace")
        if number == _KEY:
            key = text
        elif number == _NESTED_KEY:
            nested.append(text)
        elif number == _VALUE:
            value = _read(text)
    return key or ".".join(nested), value


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_number(value: Any) -> Iterator[float]:
    """The value as a number, where it is one: pictures, tables and histograms are none."""
    if isinstance(value, str) and value in _SPELLED:
        yield float(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        try:
            yield float(value)
        except OverflowError:
            yield float("inf") if value > 0 else float("-inf")
