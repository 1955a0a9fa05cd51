"""One JSON document that holds the history of a training.

::

    [{"step": 10, "loss": 2.3}, …]            {"loss": [2.3, 2.1], "val_loss": [2.4, NaN]}
    {"config": {…}, "metrics": [{…}, …]}      {"train": {"loss": […]}, "val": {"loss": […]}}

A document of single values is a configuration and is left to those readers. A cut document gives
the rows before the cut.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._tables.blocks import decode_head, encoding_of
from forensics.readers._tables.columns import table_series
from forensics.readers._tables.file_names import quantity_of
from forensics.readers._tables.json_document import load_document
from forensics.readers._tables.json_tables import are_runs, find_tables, phased
from forensics.run import Note, Series

_SEARCHED_BYTES = 1 << 24
_SETTINGS = ("config", "args", "hparams", "hyperparameters", "params", "settings", "training_args")


def sniff(probe: Probe) -> bool:
    """True for a document that starts like JSON and in which there are tables of a training."""
    if not probe.head.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0").startswith((b"{", b"[")):
        return False
    text = decode_head(probe.head)
    if text is None:
        return False
    if _has_tables(text, probe):
        return True
    if not len(probe.head) < probe.size <= _SEARCHED_BYTES:
        return False
    return _has_tables(_text_of(probe), probe)


def _has_tables(text: str, probe: Probe) -> bool:
    try:
        document, _ = load_document(text)
    except ValueError:
        return False
    return bool(find_tables(document, quantity_of(probe.source) or ""))


def _text_of(probe: Probe) -> str:
    data = probe.path.read_bytes()
    encoding, mark = encoding_of(data[:4096])
    return data[mark:].decode(encoding, "replace")


def read(probe: Probe, progress: Progress) -> Reading:
    """Read every table of the document."""
    text = _text_of(probe)
    progress(probe.size)
    try:
        document, whole = load_document(text)
    except ValueError as error:
        raise UnreadableFile(f"{probe.source}: {error}") from error
    series, notes = document_series(document, probe.source)
    if not whole:
        notes += (Note("the file is cut or damaged: the rows before that were read", probe.source),)
    return Reading(series=series, settings=_settings(document), notes=notes)


def document_series(document: Any, source: str) -> tuple[tuple[Series, ...], tuple[Note, ...]]:
    """The series of every table in a document; several tables under other keys are several runs."""
    series: list[Series] = []
    notes: dict[str, Note] = {}
    found = find_tables(document, quantity_of(source) or "")
    several = are_runs(found)
    for item in found:
        part, said = table_series(phased(item), source)
        own = several and item.key and not item.phase
        series += [replace(one, run=item.key) for one in part] if own else part
        notes |= {note.text: note for note in said}
    return tuple(series), tuple(notes.values())


def _settings(document: Any) -> dict[str, Any]:
    """Single values of the document, and the configuration that it holds."""
    if not isinstance(document, Mapping):
        return {}
    settings = {
        key: value
        for key, value in document.items()
        if value is None or isinstance(value, str | int | float)
    }
    for key in _SETTINGS:
        if isinstance(document.get(key), Mapping):
            settings |= document[key]
    return settings


READER = Reader(name="JSON log", order=35, sniff=sniff, read=read)
