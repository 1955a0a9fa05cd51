"""The last line of a file that ends without a line break: it may be cut anywhere.

What is certain is kept. A number at the very end is taken only where it is seen to be whole: by
its decimals, where all before it in the same place had the same, or by being no digits (nan).
"""

import re

from forensics.readers._text.blocks import BlockRow
from forensics.readers._text.counters import Role
from forensics.readers._text.grammar import read_line
from forensics.readers._text.layout import Kind, Layout
from forensics.readers._text.masks import strip_prefix
from forensics.readers._text.numerals import tail_of
from forensics.readers._text.rows import Store
from forensics.readers._text.slow import Slow

_LAST_NUMBER = re.compile(r"\d[\d.,]*(?:[eE][-+]?\d*)?$")
_LONGEST_NUMBER = 60
_REST_OF_NUMBER = re.compile(r"[\d,.eE+-]*\s*$")


def read_last_line(slow: Slow, text: str, number: int, at: int) -> None:
    """Read it as far as it is certain."""
    sure = text[:-_LONGEST_NUMBER] + _LAST_NUMBER.sub("", text[-_LONGEST_NUMBER:])
    slow.events.feed(sure, number, at)
    if slow.overflows.feed(sure, number, at) or slow.in_summary:
        return
    taken, row = slow.table.feed(text)
    if row is not None and text.rstrip().endswith(row.texts[-1]):
        row = _sure_part(row, len(row.texts) - 1, slow.store)
    if row is not None:
        slow.add_block(row, at)
    if taken or slow.headers.feed(strip_prefix(sure), number, at):
        return
    reading = read_line(text)
    if reading is None:
        if slow.first_row is None:
            slow.headers.feed_plain(strip_prefix(sure), number, at)
        return
    row = BlockRow(
        reading.layout,
        tuple(text[a:b] for a, b in reading.spans),
        text[slice(*reading.stamp)] if reading.stamp is not None else None,
    )
    last = max(range(len(reading.spans)), key=lambda k: reading.spans[k][1])
    if _REST_OF_NUMBER.match(text, reading.spans[last][1]):
        row = _sure_part(row, last, slow.store)
    if row is not None:
        slow.add_block(row, at)


def _sure_part(row: BlockRow, last: int, store: Store) -> BlockRow | None:
    """The row without the number at the very end, unless that is seen to be whole."""
    layout, texts = row.layout, row.texts
    tail = tail_of(texts[last])
    fixed = bool(tail) and set(store.tails(layout, last)) == {tail}
    if texts[last].isalpha() or (fixed and layout.kind is not Kind.BAR):
        return row
    if layout.columns[last].role is not Role.VALUE:
        return None
    columns = layout.columns[:last] + layout.columns[last + 1 :]
    if not any(column.role is Role.VALUE for column in columns):
        return None
    return BlockRow(Layout(layout.kind, columns), texts[:last] + texts[last + 1 :], row.stamp)
