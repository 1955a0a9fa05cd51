"""Tables of numbers without a header: known stores, and a cautious guess."""

import re
from collections.abc import Sequence
from itertools import pairwise

from forensics.readers._tables.cells import parse_number
from forensics.readers._tables.dialect import Dialect, split_cells
from forensics.readers._tables.file_names import quantity_of
from forensics.readers._tables.training import is_metric
from forensics.signals import Signal, classify

_MLFLOW = re.compile(r"\d{13} \S+ \d+(?: .*)?")  # milliseconds, value, step; data set and digest
_MONITOR = re.compile(r"#\{.*\}\s*\nr,l,t\b")  # Stable-Baselines3: reward, length, time
_TELLING = re.compile(r"loss|log|train|metric|histor|result|progress|curve", re.IGNORECASE)
_LEAST_ROWS = 5
_MOST_COLUMNS = 8


def known_without_header(text: str, source: str) -> Dialect | None:
    """The dialect of a store whose files name no columns, or whose names say nothing."""
    if _MONITOR.match(text):
        return Dialect(",", ("episode_reward", "episode_length", "relative_time"), 1)
    first, _, _ = text.partition("\n")
    if _MLFLOW.fullmatch(first.strip()):
        tag = quantity_of(source) or "metric"
        return Dialect(" ", ("timestamp", tag, "step", "dataset_name", "dataset_digest"), -1)
    return None


def guess_without_header(text: str, source: str) -> Dialect | None:
    """A dialect for plain numbers in a file whose name tells of a log.

    The first column has to count; the second is called by what the file's name says, else
    ``loss``. One column alone is taken only for the metric that the name says.
    """
    name = source.rpartition("/")[2]
    lines = [line for line in text.splitlines()[:-1] if line.strip() and line[0] != "#"][:200]
    if not _TELLING.search(name) or len(lines) < _LEAST_ROWS:
        return None
    tag = quantity_of(source)
    if tag is not None and classify(tag) is Signal.LOSS_COMPONENT:  # my_loss.txt
        tag = "loss"
    for delimiter in (",", "\t", ";", " "):
        rows = [[parse_number(cell) for cell in split_cells(line, delimiter)] for line in lines]
        width = len(rows[0])
        if width > _MOST_COLUMNS or any(len(row) != width or None in row for row in rows):
            continue
        if width == 1 and tag is not None and is_metric(tag):
            return Dialect(delimiter, (tag,), -1, guessed=True)
        if width > 1 and _counts([row[0] or 0.0 for row in rows]):
            others = [f"column {place}" for place in range(3, width + 1)]
            return Dialect(delimiter, ("step", tag or "loss", *others), -1, guessed=True)
    return None


def _counts(first: Sequence[float]) -> bool:
    """True for whole numbers that only rise."""
    whole = all(number == int(number) for number in first if abs(number) < 2**53)
    return whole and all(a < b for a, b in pairwise(first))
