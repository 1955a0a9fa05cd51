"""Lines of JSON, one row each.

LLaMA-Factory's trainer_log.jsonl, mmengine's scalars.json, detectron2's metrics.json, fairseq's
json log, and what people write themselves::

    {"step": 10, "loss": 2.3, "lr": 0.001}
    {"step": 10, "eval_loss": NaN}

Rows may differ in their keys and in the order of their keys. ``null`` was not logged. A damaged
line costs only itself.
"""

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._tables.blocks import before_crash, decode_head, read_blocks
from forensics.readers._tables.columns import table_series
from forensics.readers._tables.jsonl_grammar import JsonLinesGrammar
from forensics.readers._tables.lines import BULK_BYTES, read_lines
from forensics.readers._tables.remarks import evidence
from forensics.readers._tables.reshape import widen
from forensics.readers._tables.training import is_training_table
from forensics.run import Note

_SUFFIXES = frozenset({".jsonl", ".ndjson", ".jsonlines"})


def sniff(probe: Probe) -> bool:
    """True where the first lines are objects, and their keys those of a training."""
    if not probe.head.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0").startswith((b"{", b"[")):
        return False
    text = decode_head(probe.head)
    if text is None:
        return False
    lines = before_crash(text).encode("utf-8", "replace").splitlines(keepends=True)
    if len(lines) > 1 and probe.size > len(probe.head):
        lines.pop()
    if not lines or lines[0].strip() in (b"[", b"{"):  # one document over many lines
        return False
    grammar = JsonLinesGrammar()
    table = read_lines([b"".join(lines)], grammar, bulk=False)
    if grammar.damaged > len(lines) / 2 or not is_training_table(widen(table).columns):
        return False
    return table.length > 1 or probe.path.suffix in _SUFFIXES


def read(probe: Probe, progress: Progress) -> Reading:
    """Read every line; damaged ones are counted in one note."""
    grammar = JsonLinesGrammar()
    bulk = probe.size >= BULK_BYTES
    table = read_lines(read_blocks(probe.path, progress), grammar, bulk)
    if not table.columns:
        raise UnreadableFile(f"{probe.source}: no line of it is a row of a log")
    series, notes = table_series(table, probe.source)
    if grammar.damaged:
        notes += (Note(f"damaged lines that were left out: {grammar.damaged}", probe.source),)
    text = () if bulk else evidence(grammar.remarks, table, probe.source)
    return Reading(series=series, settings=grammar.settings, text=text, notes=notes)


READER = Reader(name="JSON lines", order=30, sniff=sniff, read=read)
