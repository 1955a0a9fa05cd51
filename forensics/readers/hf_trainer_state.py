"""Hugging Face ``trainer_state.json``: the log history and the settings beside it.

::

    {"global_step": 20, "log_history": [
        {"epoch": 0.5, "grad_norm": 1.2, "learning_rate": 5e-05, "loss": 2.3031, "step": 10},
        {"epoch": 1.0, "eval_loss": 2.2, "eval_runtime": 3.1, "step": 20},
        {"train_loss": 2.25, "train_runtime": 60.1, "step": 20}]}

Rows of training and of evaluation alternate; the last row sums up the run. ``loss`` is the mean
over the steps since the row before it, ``grad_norm`` that of the last of these steps, before
clipping. transformers 4.x rounds ``loss`` to four decimals. ``null`` was not logged.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._tables.columns import table_series
from forensics.readers._tables.json_document import read_document
from forensics.readers._tables.json_rows import rows_table
from forensics.run import Note, Series

_SETTINGS = (
    "logging_steps",
    "max_steps",
    "num_train_epochs",
    "save_steps",
    "eval_steps",
    "train_batch_size",
    "best_metric",
    "best_global_step",
    "best_model_checkpoint",
)
_PRINTED_DIGITS = 4  # transformers before 5.0


def sniff(probe: Probe) -> bool:
    """True for a JSON object that has the Trainer's name, or its log history and its counter."""
    if not probe.head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return False
    named = probe.path.name == "trainer_state.json"
    return named or all(key in probe.head for key in (b'"log_history"', b'"global_step"'))


def read(probe: Probe, progress: Progress) -> Reading:
    """Read the history; a cut file gives its whole rows.

    Raises:
        UnreadableFile: It is no JSON object.
    """
    state, damage = read_document(probe, progress)
    if not isinstance(state, Mapping):
        raise UnreadableFile(f"{probe.source}: not the state of a Trainer")
    history = state.get("log_history")
    rows = (
        [_row(row) for row in history if isinstance(row, Mapping)]
        if isinstance(history, list)
        else []
    )
    series, notes = table_series(rows_table(rows), probe.source, spells_nan=True)
    empty = () if rows else (Note("the log history is empty", probe.source),)
    return Reading(
        series=tuple(_rounded(one) for one in series),
        settings={key: state[key] for key in _SETTINGS if state.get(key) is not None},
        notes=(*notes, *damage, *empty),
    )


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the history; the mean loss of the whole run is told from the loss of a step."""
    summary = "train_runtime" in row and "loss" not in row
    return {"train_loss_epoch" if k == "train_loss" and summary else k: v for k, v in row.items()}


def _rounded(series: Series) -> Series:
    if series.tag != "loss":
        return replace(series, digits=None)
    within = series.digits is not None and series.digits <= _PRINTED_DIGITS
    return replace(series, digits=_PRINTED_DIGITS if within else None)


READER = Reader(name="Hugging Face trainer_state", order=20, sniff=sniff, read=read)
