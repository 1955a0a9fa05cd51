"""Says which numbers were seen where none of them can be taken for a loss."""

from collections.abc import Iterable, Iterator, Sequence

from forensics.loading.fetching import fetched
from forensics.loading.intake import Source
from forensics.objectives import objective_of
from forensics.readers._base import Probe
from forensics.readers._tables.blocks import decode_head
from forensics.readers._tables.cells import parse_number
from forensics.readers._tables.dialect import Dialect, find_dialect, split_cells
from forensics.run import FileRecord, Note
from forensics.signals import Signal, signal_of
from forensics.tree import Tree

_JUDGED = frozenset(
    {
        Signal.TRAIN_LOSS,
        Signal.TRAIN_LOSS_EPOCH,
        Signal.EVAL_LOSS,
        Signal.LOSS_COMPONENT,
        Signal.REWARD,
        Signal.RL,
        Signal.TRAIN_ERROR,
        Signal.EVAL_ERROR,
    }
)
_TABLES = (".csv", ".tsv")
_MOST_FILES, _MOST_NAMES = 3, 12
_LONGEST_NAME = 40


def unnamed_losses(
    tree: Tree, sources: Sequence[Source], records: Iterable[FileRecord]
) -> list[Note]:
    """One note for each table or log of numbers, where nothing that was read is a loss or a reward.

    Args:
        tree: The files.
        sources: What readers made of them.
        records: The inventory, with the files that no reader took.
    """
    logged = [(s, [one for one in s.reading.series if len(one.step)]) for s in sources]
    if any(signal_of(o.tag, o.source) in _JUDGED for _, series in logged for o in series):
        return []
    if objective_of(one for _, series in logged for one in series) is not None:
        return []
    seen = [(s.path, [one.tag for one in series]) for s, series in logged if series]
    seen += _unread(tree, records)
    return [_note(path, names) for path, names in seen[:_MOST_FILES] if names]


def _note(path: str, names: Sequence[str]) -> Note:
    shown = ", ".join(name[:_LONGEST_NAME] for name in names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    text = (
        f"none of its numbers is known as a loss (seen: {shown}{more}); "
        "to have one read as the loss, call it 'loss' in a copy of the file"
    )
    return Note(text, path)


def _unread(tree: Tree, records: Iterable[FileRecord]) -> Iterator[tuple[str, list[str]]]:
    """Tables that no reader took, with the names of their columns of numbers."""
    tables = [r for r in records if not r.format and r.size and r.path.endswith(_TABLES)]
    for record in tables[:_MOST_FILES]:
        with fetched(Probe(tree.root / record.path, tree.root, record.size)) as at_hand:
            try:
                head = at_hand.probe.head
            except OSError:
                continue
        text = decode_head(head)
        names = _columns_of_numbers(text, record.size <= len(head)) if text else []
        if len(names) > 1:
            yield record.path, names


def _columns_of_numbers(text: str, whole: bool) -> list[str]:
    dialect = find_dialect(text, whole, _may_be_header)
    if dialect is None:
        return []
    rows = text.splitlines()[dialect.header_line + 1 :][:50]
    cells = [split_cells(row, dialect.delimiter) for row in rows]
    return [n for k, n in enumerate(dialect.columns) if n and _holds_numbers(cells, k, dialect)]


def _holds_numbers(rows: Sequence[Sequence[str]], column: int, dialect: Dialect) -> bool:
    found = [row[column] for row in rows if len(row) == len(dialect.columns)]
    numbers = [parse_number(cell, decimal_comma=dialect.decimal_comma) for cell in found]
    return len(numbers) > 1 and sum(n is not None for n in numbers) > len(numbers) / 2


def _may_be_header(cells: Sequence[str]) -> bool:
    """True for two names or more, none of them a number."""
    named = [cell for cell in cells if cell]
    return len(named) > 1 and not any(parse_number(cell) is not None for cell in named)
