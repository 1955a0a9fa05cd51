"""One JSON document that holds the history of a training.

::

    [{"step": 10, "loss": 2.3}, …]            {"loss": [2.3, 2.1], "val_loss": [2.4, NaN]}
    {"config": {…}, "metrics": [{…}, …]}      {"train": {"loss": […]}, "val": {"loss": […]}}

A document of single values is a configuration and is left to those readers. A cut document gives
the rows before the cut.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading, no_progress
from forensics.readers._tables.blocks import decode_head
from forensics.readers._tables.columns import table_series
from forensics.readers._tables.file_names import quantity_of
from forensics.readers._tables.json_document import load_document, read_document
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
    with suppress(ValueError):
        if _has_tables(load_document(text)[0], probe):
            return True
    if len(probe.head) < probe.size <= _SEARCHED_BYTES:  # the log may lie far into it
        with suppress(UnreadableFile):
            return _has_tables(read_document(probe, no_progress)[0], probe)
    return False


def _has_tables(document: Any, probe: Probe) -> bool:
    return bool(find_tables(document, quantity_of(probe.source) or ""))


def read(probe: Probe, progress: Progress) -> Reading:
    """Read every table of the document.

    Raises:
        UnreadableFile: It is no JSON.
    """
    document, damage = read_document(probe, progress)
    series, notes = _document_series(document, probe.source)
    return Reading(series=series, settings=_settings(document), notes=(*notes, *damage))


def _document_series(document: Any, source: str) -> tuple[tuple[Series, ...], tuple[Note, ...]]:
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
