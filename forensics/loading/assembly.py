"""Puts together one `Run` from its strands and from what lies around them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from forensics.checkpoints import Discovery
from forensics.loading.distribution import Share
from forensics.loading.intake import Source
from forensics.loading.kept_settings import settings_inside
from forensics.loading.merging import merge
from forensics.loading.ordering import time_in_path
from forensics.loading.placement import placed
from forensics.loading.strands import Strand
from forensics.natural_order import natural_key
from forensics.readers._settings import closeness, conflicts, make_config
from forensics.run import (
    Axis,
    Config,
    FileRecord,
    FoundCheckpoint,
    Note,
    Run,
    TextEvidence,
)

MAX_LISTED = 2_000
_FRAMEWORKS = {
    "Hugging Face trainer_state": "transformers",
    "HF training arguments": "transformers",
    "Lightning metrics.csv": "lightning",
}
_RANKS = re.compile(
    r"rng_state_(\d+)\.pth|(?:bf16_)?zero_pp_rank_(\d+)_.*|__(\d+)_\d+\.distcp|"
    r"random_states_(\d+)\.pkl"
)


def assemble(path: Path, parts: Share, found: Discovery) -> Run:
    """Merge the series, settle the configuration, and place the checkpoints."""
    series = merge(parts.strands)
    config, disagreements = _config(path, parts, found)
    text = _text(parts.own, parts.strands)
    checkpoints, remarks = placed(path, parts.checkpoints, series, text)
    return Run(
        path=path,
        name=parts.name,
        series=series,
        config=config,
        checkpoints=tuple(checkpoints),
        batches=tuple(parts.batches),
        text=text,
        files=tuple(listed(parts.files)),
        notes=(*parts.notes, *disagreements, *remarks),
    )


def _config(path: Path, parts: Share, found: Discovery) -> tuple[Config, tuple[Note, ...]]:
    """Own settings before common ones; of each, those written closest to what ran first."""
    own, common = (_most_trusted_first(sources) for sources in (parts.own, parts.common))
    written = [(s.path, s.reading.settings) for s in own if s.reading.settings]
    shared = [(s.path, s.reading.settings) for s in common]  # made to be overridden
    guessed = [*_world_size(parts.checkpoints, found), *_framework(own)]
    kept = settings_inside(path, parts.checkpoints)
    return make_config([*written, *kept, *shared, *guessed]), conflicts(written)


def _most_trusted_first(sources: Sequence[Source]) -> list[Source]:
    """Closest to what ran first; of those alike, the latest attempt's and checkpoint's."""
    latest_first = sorted(sources, key=lambda source: natural_key(source.path), reverse=True)
    return sorted(latest_first, key=lambda source: closeness(source.path))


def _world_size(
    checkpoints: Iterable[FoundCheckpoint], found: Discovery
) -> list[tuple[str, Mapping[str, Any]]]:
    """How many processes saved: the ranks in the names of their files."""
    paths = {c.path for c in checkpoints}
    ranks: dict[str, set[int]] = {}
    for member, checkpoint in found.members.items():
        rank = _RANKS.fullmatch(member.rpartition("/")[2])
        if rank and checkpoint in paths:
            number = next(int(group) for group in rank.groups() if group)
            ranks.setdefault(checkpoint, set()).add(number)
    largest = max(ranks, key=lambda path: (len(ranks[path]), path), default=None)
    return [] if largest is None else [(largest, {"world_size": len(ranks[largest])})]


def _framework(sources: Iterable[Source]) -> list[tuple[str, Mapping[str, Any]]]:
    known = next((s for s in sources if s.format in _FRAMEWORKS), None)
    return [(known.path, {"framework": _FRAMEWORKS[known.format]})] if known else []


def _text(sources: Sequence[Source], strands: Sequence[Strand]) -> tuple[TextEvidence, ...]:
    """Lines of all logs, log by log in order of time where their names say it.

    A log without steps counts its lines' steps by row; they move as its series were moved.
    """
    moved = {strand.source.path: strand for strand in strands}
    counted = any(s.axis is Axis.STEP for strand in strands for s in strand.series)
    times = {source.path: time_in_path(source.path) or 0.0 for source in sources}
    ordered = sorted(sources, key=lambda s: (times[s.path], natural_key(s.path)))
    return tuple(
        _stepped_line(line, source, moved.get(source.path), counted)
        for source in ordered
        for line in source.reading.text
    )


def _stepped_line(
    line: TextEvidence, source: Source, strand: Strand | None, counted: bool
) -> TextEvidence:
    """The line with its row turned into a step; without one where that cannot be told."""
    rows = max(source.reading.series, key=lambda s: len(s.step), default=None)
    if line.step is None or rows is None or rows.axis is not Axis.ROW:
        return line
    now = max(strand.series, key=lambda s: len(s.step), default=None) if strand else None
    if now is None or now.axis is Axis.ROW or len(now.step) != len(rows.step):
        return replace(line, step=None) if counted else line
    place = int(np.searchsorted(rows.step, line.step, side="right")) - 1
    return replace(line, step=int(now.step[max(place, 0)]))


def listed(records: Sequence[FileRecord], most: int = MAX_LISTED) -> list[FileRecord]:
    """The inventory; of very many files those that were read, and a count for each folder."""
    if len(records) <= most:
        return list(records)
    telling = [r for r in records if r.format not in ("", "checkpoint")][:most]
    shown = {r.path for r in telling}
    rest: dict[str, list[FileRecord]] = {}
    for record in records:
        if record.path not in shown:
            rest.setdefault(record.path.partition("/")[0] if "/" in record.path else "", []).append(
                record
            )
    sums = [
        FileRecord(
            f"{folder}/" if folder else ".",
            sum(r.size for r in some),
            "",
            f"{len(some):,} more files",
        )
        for folder, some in rest.items()
    ]
    return [*telling, *sums[:most]]
