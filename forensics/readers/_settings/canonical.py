"""Settings of several files -> one `Config`, with the source of each field."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from forensics.readers._settings.fields import FIELDS
from forensics.readers._settings.flat import FlatSettings, flatten
from forensics.readers._settings.model import MODEL_FIELDS, is_about_the_model_alone
from forensics.run import Config, Note

Sources = Sequence[tuple[str, Mapping[str, Any]]]
"""(file, settings as read), the most trusted first."""

COMPARED = {
    "lr_peak": "learning rate",
    "optimizer": "optimizer",
    "precision": "precision",
    "schedule": "schedule",
    "weight_decay": "weight decay",
    "clip_threshold": "clipping threshold",
    "seed": "seed",
    "total_steps": "number of steps",
}
"""Fields whose contradictions a user should know of."""


def make_config(sources: Sources) -> Config:
    """Read every field from the first source that says it.

    Args:
        sources: The most trusted first (see `closeness`).
    """
    chosen: dict[str, Any] = {}
    origin: dict[str, str] = {}
    raw: dict[str, Any] = {}
    for source, settings in sources:
        flat = FlatSettings(source, flatten(settings))
        for name, value in _said(flat).items():
            if name not in chosen:
                chosen[name], origin[name] = value, source
        for key, value in flat.flat.items():
            raw.setdefault(key, value)
    return Config(**chosen, sources=origin, raw=raw)


def conflicts(sources: Sources) -> tuple[Note, ...]:
    """One note for each field of `COMPARED` on which the sources disagree."""
    said = [(source, _said(FlatSettings(source, flatten(s)))) for source, s in sources]
    notes = []
    for name, words in COMPARED.items():
        values = [(source, fields_[name]) for source, fields_ in said if name in fields_]
        other = next((v for v in values[1:] if not _same(v[1], values[0][1])), None)
        if other:
            text = f"{words} {_shown(other[1])} here, {_shown(values[0][1])} in {values[0][0]}"
            notes.append(Note(f"{text}, which was believed", other[0]))
    return tuple(notes)


def _said(settings: FlatSettings) -> dict[str, Any]:
    only = MODEL_FIELDS if is_about_the_model_alone(settings) else FIELDS.keys()
    found = {name: read(settings) for name, read in FIELDS.items() if name in only}
    return {name: value for name, value in found.items() if value is not None}


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6)
    return bool(one == other)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
