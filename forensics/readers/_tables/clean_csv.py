"""Large files of nothing but plain numbers, read by the C parser of pandas.

It is asked to be strict: an empty cell, a short row, a word or a header in the middle is an error,
and the file is then read by the common loop, which tells all these apart. So every NaN that comes
out of it was spelled in the file.
"""

import warnings
from typing import Any

import numpy as np

from forensics.readers._base import Probe, Progress
from forensics.readers._tables.blocks import decode_head, encoding_of
from forensics.readers._tables.dialect import Dialect, split_cells
from forensics.readers._tables.layouts import may_skip
from forensics.readers._tables.reshape import is_label
from forensics.readers._tables.table import Column, Table

_SAMPLE_LINES = 100
_NAN = ["nan", "NaN", "NAN"]
_DELIMITERS = frozenset({",", "\t", ";"})
_EXACT_SINCE = (3, 1)  # from this version of pandas on, every number is read as ``float`` does


def read_clean(probe: Probe, progress: Progress, dialect: Dialect) -> Table | None:
    """The table, or None where the file holds anything but plain numbers in what is of interest."""
    columns = _numeric_columns(probe, dialect)
    if not columns:
        return None
    import pandas as pd

    version = tuple(int(part) for part in pd.__version__.split(".")[:2])
    options: dict[str, Any] = {}
    if version < _EXACT_SINCE:
        options["float_precision"] = "round_trip"
    if len(columns) < len(dialect.columns):  # costs a third of the time
        options["usecols"] = columns
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                probe.path,
                sep=dialect.delimiter,
                decimal="," if dialect.decimal_comma else ".",
                header=None,
                names=list(dialect.columns),
                index_col=False,
                skiprows=dialect.header_line + 1,
                dtype=np.float64,
                keep_default_na=False,
                na_values=_NAN,
                **options,
            )
    except (ValueError, pd.errors.ParserWarning):
        return None
    progress(probe.size)
    rows = np.arange(len(frame))
    return Table(len(frame), {name: Column(rows, frame[name].to_numpy()) for name in columns})


def _numeric_columns(probe: Probe, dialect: Dialect) -> list[str]:
    """The columns of plain numbers; none where another column is of interest as well."""
    text = decode_head(probe.head)
    plain = dialect.delimiter in _DELIMITERS and encoding_of(probe.head) == ("utf-8", 0)
    if text is None or not plain or any(map(is_label, dialect.columns)):
        return []
    first = dialect.header_line + 1
    lines = [line for line in text.splitlines()[first : first + _SAMPLE_LINES] if line.strip()]
    rows = [split_cells(line, dialect.delimiter, len(dialect.columns)) for line in lines]
    if not rows or any(len(cells) != len(dialect.columns) for cells in rows):
        return []
    numeric = []
    for name, cells in zip(dialect.columns, zip(*rows, strict=True), strict=True):
        if all(_is_plain(cell, dialect.decimal_comma) for cell in cells):
            numeric.append(name)
        elif not all(may_skip(name, cell) for cell in cells):
            return []
    return numeric


def _is_plain(cell: str, decimal_comma: bool) -> bool:
    try:
        float(cell.replace(",", ".") if decimal_comma else cell)
    except ValueError:
        return False
    return "_" not in cell
