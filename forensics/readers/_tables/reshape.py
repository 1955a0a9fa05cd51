"""Tables that name their quantities or runs in the cells or the header, made plain.

Long tables (``step,tag,value``) become wide; the header of a Weights & Biases export
(``my-run - train/loss``) is taken apart; rows of another phase (``mode: val``) get that phase in
their tags; rows of several runs become one table each.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np

from forensics.readers._tables.table import Column, Labels, Rows, Table
from forensics.signals import Signal, classify, normalise

_RUN = frozenset({"run_name", "run_id", "run", "run_uuid", "experiment_name", "trial_id", "trial"})
_REPEAT = frozenset({"seed", "random_seed", "fold", "cv_fold", "repeat", "replicate"})
_FEWEST_ROWS = 3
_MODE = frozenset(
    {"mode", "split", "phase", "stage", "type", "set", "subset", "kind", "prefix", "dataset"}
)
_TAG = frozenset(
    {"tag", "metric", "metric_name", "name", "key", "signal", "variable", "scalar", "variant"}
)
_COUNTERS = frozenset({Signal.STEP, Signal.EPOCH, Signal.WALL_TIME, Signal.TOKENS, Signal.SAMPLES})
_MAX_RUNS = 500  # more are the names of rows
_VALUE = frozenset({"value", "metric_value", "scalar_value"})
_EVAL_WORDS = frozenset(
    {"val", "valid", "validation", "eval", "evaluation", "test", "testing", "dev"}
)


@lru_cache(maxsize=8192)
def is_label(name: str) -> bool:
    """True where the text of a column of this name says what a row belongs to."""
    return _last_part(name) in _RUN | _MODE | _TAG


@lru_cache(maxsize=8192)
def is_run_name(name: str) -> bool:
    """True where a column of this name tells runs apart."""
    return normalise(name) in _RUN


def _last_part(name: str) -> str:
    return normalise(name).rpartition("/")[2]


def widen(table: Table) -> Table:
    """A long table, one quantity a row, as one column per quantity; any other as it is."""
    value = next((n for n in table.columns if _last_part(n) in _VALUE), None)
    tags = [n for n in table.labels if _last_part(n) in _TAG]
    if value is None or not tags or len(table.columns[value].rows) < 0.5 * table.length:
        return table
    column = table.columns[value]
    names = _joined([table.labels[tag] for tag in tags], table.length)
    columns = {name: c for name, c in table.columns.items() if name != value}
    for code, chosen in _groups(names.spread(table.length)[column.rows]):
        columns[names.names[code]] = Column(column.rows[chosen], column.values[chosen])
    return replace(
        table,
        columns=columns,
        labels={name: text for name, text in table.labels.items() if name not in tags},
    )


def _groups(codes: Rows) -> Iterator[tuple[int, Rows]]:
    """Each code from 0 on with shape (n,) the places at which it stands."""
    order = np.argsort(codes, kind="stable")
    present, starts = np.unique(codes[order], return_index=True)
    for code, places in zip(present.tolist(), np.split(order, starts[1:]), strict=True):
        if code >= 0:
            yield code, places


def _joined(parts: list[Labels], length: int) -> Labels:
    """Several label columns as one, joined by ``/``."""
    first, *rest = parts
    for other in rest:
        pairs = np.stack([first.spread(length), other.spread(length)])
        unique, codes = np.unique(pairs, axis=1, return_inverse=True)
        names = tuple(
            "/".join(part.names[c] for part, c in ((first, a), (other, b)) if c >= 0)
            for a, b in unique.T.tolist()
        )
        first = Labels(np.arange(length), codes.ravel().astype(np.int64), names)
    return first


def split_phases(table: Table) -> Table:
    """Put the phase of a row before its tags, unless it is training.

    Where the counter of validation rows starts anew (it counts batches of the validation), it
    says nothing about the step and is dropped: such a row happened after the training row before.
    """
    name = next((n for n, text in table.labels.items() if _is_phase(n, text)), None)
    if name is None:
        return table
    text = table.labels[name]
    phase = text.spread(table.length)
    columns: dict[str, Column] = {}
    for tag, column in table.columns.items():
        of_row = phase[column.rows]
        if classify(tag) is Signal.STEP:
            columns[tag] = _own(column, of_row, text)
            continue
        if classify(tag) in _COUNTERS:
            columns[tag] = column
            continue
        for code in np.unique(of_row).tolist():
            new = tag if code < 0 else _phased(tag, text.names[code].strip().lower())
            if new in columns or (new != tag and new in table.columns):
                new = f"{new} ({text.names[code]})"
            columns[new] = Column(column.rows[of_row == code], column.values[of_row == code])
    return replace(
        table, columns=columns, labels={n: t for n, t in table.labels.items() if n != name}
    )


def _is_phase(name: str, text: Labels) -> bool:
    return _last_part(name) in _MODE and any(_is_evaluation(word) for word in text.names)


def _is_evaluation(word: str) -> bool:
    return word.strip().lower() in _EVAL_WORDS


def is_phase_word(word: str) -> bool:
    """True for ``train``, ``val`` and their like."""
    return _is_evaluation(word) or word.strip().lower() in ("train", "training")


def _phased(tag: str, word: str) -> str:
    if word not in _EVAL_WORDS or normalise(tag).startswith(word):
        return tag
    return f"{word}/{tag}"


def _own(column: Column, phase: Rows, text: Labels) -> Column:
    """A counter without the rows in which another phase counts by itself."""
    evaluation = [code for code, word in enumerate(text.names) if _is_evaluation(word)]
    other = np.isin(phase, evaluation)
    if not other.any() or other.all():
        return column
    before = np.maximum.accumulate(np.where(other, -1, np.arange(len(other))))
    known = other & (before >= 0)
    back = column.values[known] < column.values[before[known]]
    keep = ~other if back.mean() > 0.5 else np.ones(len(other), bool)
    return Column(column.rows[keep], column.values[keep])


def plain_name(name: str) -> str:
    """The tag in a header of a Weights & Biases export, ``my-run - train/loss``."""
    return name.rpartition(" - ")[2]


def split_runs(table: Table) -> Iterator[tuple[str, Table]]:
    """Each run of a table with its name; '' where there is only one."""
    name = next((n for n in table.labels if is_run_name(n)), None)
    if name is None or not 1 < len(table.labels[name].names) <= _MAX_RUNS:
        repeats = _repeats(table)
        yield from _split_headers(table) if repeats is None else repeats
        return
    text = table.labels[name]
    said = np.maximum.accumulate(
        np.where(text.spread(table.length) < 0, 0, np.arange(table.length))
    )
    of_row = text.spread(table.length)[said]  # a row without a name goes on with the one before
    for code, run in enumerate(text.names):
        yield run, table.keep(of_row == code)


def _repeats(table: Table) -> list[tuple[str, Table]] | None:
    """One experiment repeated with several seeds or folds, one below the other or row by row.

    Each must count from the same first step on: a seed that changes at a resume is no new run.
    """
    name = next((n for n in table.columns if _last_part(n) in _REPEAT), None)
    counter = next((n for n in table.columns if classify(n) in (Signal.STEP, Signal.EPOCH)), None)
    if name is None or counter is None or len(table.columns[name].rows) < table.length:
        return None
    number, count = table.columns[name].values, table.columns[counter].spread(table.length)
    kinds = np.unique(number)
    if not 1 < len(kinds) <= min(_MAX_RUNS, table.length // _FEWEST_ROWS):
        return None
    first = [float(np.nanmin(count[number == k], initial=np.inf)) for k in kinds]
    if len(set(first)) > 1:
        return None
    return [(f"{_last_part(name)} {k:g}", table.keep(number == k)) for k in kinds.tolist()]


def _split_headers(table: Table) -> Iterator[tuple[str, Table]]:
    """Columns such as ``my-run - train/loss``, with their ``__MIN`` and ``__MAX`` twins dropped."""
    pairs = {n: n.rpartition(" - ") for n in table.columns}
    runs = dict.fromkeys(run for run, dash, _ in pairs.values() if dash)
    plain = [name for name, (_, dash, _) in pairs.items() if not dash]
    if all(map(is_phase_word, runs)) or any(classify(name) not in _COUNTERS for name in plain):
        yield "", table
        return
    for run in runs:
        columns = {
            tag: table.columns[name]
            for name, (owner, _, tag) in pairs.items()
            if owner in (run, "") and not tag.endswith(("__MIN", "__MAX"))
        }
        yield (run if len(runs) > 1 else ""), replace(table, columns=columns)
