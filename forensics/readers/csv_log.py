"""Delimited text: CSV, TSV and tables printed with bars or blanks, from any framework or hand.

::

    step,loss,grad_norm,lr          step  | loss   | grad_norm
    0,11.06,6.17,                   10    | 2.6030 | 9.9375
    100,nan,0.50,1e-4               11    | nan    | -

An empty cell (``NA``, ``-``) was not logged; ``nan`` was, and is kept. A header that comes again
marks a restart, a new header renames the columns from there on, and rows keep their order.
"""

from collections.abc import Sequence
from dataclasses import replace
from os import SEEK_END

from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._tables.axis import without_cut_counter
from forensics.readers._tables.blocks import decode_head, read_blocks
from forensics.readers._tables.clean_csv import read_clean
from forensics.readers._tables.columns import table_series
from forensics.readers._tables.csv_grammar import CsvGrammar
from forensics.readers._tables.dialect import Dialect, find_dialect
from forensics.readers._tables.file_names import holds_one_metric, quantity_of
from forensics.readers._tables.headerless import guess_without_header, known_without_header
from forensics.readers._tables.lines import BULK_BYTES, read_lines
from forensics.readers._tables.remarks import evidence
from forensics.readers._tables.training import is_counter, is_metric
from forensics.readers._unprefixed import of_validation
from forensics.run import Axis, Note
from forensics.signals import Signal, classify

_LONGEST_HEADER = 1 << 22
_SETTINGS = (".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".py", ".sh")
"""Suffixes of files that hold no table, though ``lr_scheduler: step`` looks like a header."""
_NOT_TABLES = (b"{", b"[", b"\x89", b"PK", b"%PDF", b"<")


def sniff(probe: Probe) -> bool:
    """True for a table whose header, or whose name and numbers, are those of a training."""
    return dialect_of(probe) is not None


def dialect_of(probe: Probe) -> Dialect | None:
    """How the file is written, None where it is no table of a training."""
    if not probe.size or probe.head.lstrip().startswith(_NOT_TABLES):
        return None
    if probe.path.suffix.lower() in _SETTINGS or decode_head(probe.head) is None:
        return None
    head = probe.head if b"\n" in probe.head else _first_lines(probe)
    text = decode_head(head)
    if text is None:
        return None
    if known := known_without_header(text, probe.source):
        return known
    whole = probe.size <= len(head)
    return (
        find_dialect(text, whole)
        or find_dialect(text, whole, lambda names: _is_single(names, probe.source))
        or guess_without_header(text, probe.source)
    )


def _first_lines(probe: Probe) -> bytes:
    """More of a file whose header alone is longer than the head."""
    with probe.path.open("rb") as file:
        return file.read(_LONGEST_HEADER)


def _is_single(names: Sequence[str], source: str) -> bool:
    """A counter, a value and perhaps a time: one metric, which the file's name tells."""
    if not holds_one_metric(source) and not is_metric(quantity_of(source) or ""):
        return False
    kinds = [classify(name) for name in names if classify(name) is not Signal.WALL_TIME]
    return len(kinds) == 2 and any(map(is_counter, names)) and kinds.count(Signal.OTHER) == 1


def read(probe: Probe, progress: Progress) -> Reading:
    """Read every row; what can't be read is counted in one note."""
    dialect = dialect_of(probe)
    if dialect is None:
        return Reading(notes=(Note("a table, but of no training", probe.source),))
    return read_table(probe, progress, dialect)


def read_table(
    probe: Probe, progress: Progress, dialect: Dialect, spells_nan: bool = False
) -> Reading:
    """Read a file of a known dialect."""
    dialect = _named_by_file(dialect, probe.source)
    grammar = CsvGrammar(dialect)
    bulk = probe.size >= BULK_BYTES
    table = read_clean(probe, progress, dialect) if bulk else None
    if table is None:
        table = read_lines(read_blocks(probe.path, progress), grammar, bulk)
    if not _ends_with_newline(probe):
        table = without_cut_counter(table)
    if not spells_nan:  # Lightning names what it is told to
        names = of_validation(tuple(table.columns))
        table = replace(table, columns=dict(zip(names, table.columns.values(), strict=True)))
    axis = Axis.SAMPLES if "Train_Samples_" in probe.path.name else None
    series, notes = table_series(table, probe.source, axis, spells_nan)
    if not series:
        notes = (Note("the table has a header and no values", probe.source),)
    elif not holds_one_metric(probe.source) and not any(is_metric(one.tag) for one in series):
        text = "a table, but none of its columns is one that a training is judged by"
        return Reading(notes=(Note(text, probe.source),))
    return Reading(
        series=series,
        settings={"max_steps": grammar.total_steps} if grammar.total_steps else {},
        text=() if bulk or dialect.in_prose else evidence(grammar.remarks, table, probe.source),
        notes=(*notes, *_notes(grammar, dialect, probe.source)),
    )


def _ends_with_newline(probe: Probe) -> bool:
    with probe.path.open("rb") as file:
        file.seek(-1, SEEK_END)
        return file.read() in b"\r\n"


def _named_by_file(dialect: Dialect, source: str) -> Dialect:
    """The one value of a store's file, or one only called ``value``, is named by the file."""
    tag = quantity_of(source)
    values = [n for n in dialect.columns if classify(n) not in (Signal.STEP, Signal.WALL_TIME)]
    if tag is None or len(values) != 1:
        return dialect
    if not holds_one_metric(source) and values[0].strip().lower() != "value":
        return dialect
    columns = tuple(tag if name == values[0] else name for name in dialect.columns)
    return replace(dialect, columns=columns)


def _notes(grammar: CsvGrammar, dialect: Dialect, source: str) -> tuple[Note, ...]:
    counts = grammar.counts
    texts = []
    if dialect.guessed:
        texts.append(f"no header: columns taken to be {', '.join(dialect.columns)}")
    if counts["repeated"]:
        texts.append(f"restarts, at which the header comes again: {counts['repeated']}")
    if counts["unreadable"]:
        texts.append(f"lines that are no rows and were left out: {counts['unreadable']}")
    if counts["long"]:
        texts.append(f"rows whose cells beyond the header were left out: {counts['long']}")
    return tuple(Note(text, source) for text in texts)


READER = Reader(name="CSV", order=40, sniff=sniff, read=read)
