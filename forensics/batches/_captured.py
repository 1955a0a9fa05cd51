"""The batches that a run saved: which are read, and what could not be."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from forensics.batch_facts import BatchAudit, BatchSurvey
from forensics.batches._auditing import audit
from forensics.batches._limits import Limits
from forensics.batches._parts import Named
from forensics.batches._reading import problems_in_short, read_batch
from forensics.errors import UnreadableFile
from forensics.run import Note

MOST_SUSPECTS = 64
MOST_CONTROLS = 32
FEW_CONTROLS = 8
"""Of batches that are large."""
MOST_BYTES = 1 << 30
"""Of more than a few controls: reading them must not take longer than the rest of the analysis."""
_STEP = re.compile(r"step_(\d{1,18})\.[a-z]+$")


class _Files(Mapping[int, Named]):
    """Batches that are read when they are asked for; what is wrong with them is kept as notes."""

    def __init__(self, root: Path, paths: Mapping[int, str]) -> None:
        self._root, self._paths = root, paths
        self.notes: list[Note] = []
        self.unread: set[int] = set()

    def __getitem__(self, step: int) -> Named:
        path = self._paths[step]
        try:
            found = read_batch(self._root / path)
        except UnreadableFile as error:
            why = str(error).removeprefix(f"{self._root / path}: ")
            self.notes.append(Note(f"this batch could not be read: {why}", path))
            self.unread.add(step)
            return {}
        if not found.tensors:
            self.unread.add(step)
        self.notes += [Note(text, path) for text in problems_in_short(found.problems)]
        return found.tensors

    def __iter__(self) -> Iterator[int]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def survey_captured(
    root: Path, paths: Sequence[str], suspects: Collection[int], limits: Limits
) -> tuple[BatchSurvey, tuple[Note, ...]]:
    """Audit the batches that a run saved.

    Args:
        root: The run directory.
        paths: Files in it, as `Run.batches` has them.
        suspects: Steps under suspicion.
        limits: What the model takes.

    Returns:
        What was found, and notes on files that could not be read or were left out.
    """
    by_step = {int(m[1]): path for path in paths if (m := _STEP.search(path))}
    sizes = {step: _size(root / path) for step, path in by_step.items()}
    chosen = _chosen(sizes, suspects)
    files = _Files(root, {step: by_step[step] for step in chosen})
    survey = audit(files, suspects, limits, by_step.__getitem__)
    read = tuple(a for a in survey.audits if a.step not in files.unread)
    survey = replace(
        survey,
        audits=read,
        unchecked=(*_left_out(by_step, chosen, read, suspects), *survey.unchecked),
    )
    return survey, tuple(files.notes)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _chosen(sizes: Mapping[int, int], suspects: Collection[int]) -> list[int]:
    """The suspects, latest first, and the controls nearest to them; without any, all over.

    Args:
        sizes: Step -> bytes of its file.
        suspects: Steps under suspicion.
    """
    suspected = [step for step in sorted(sizes) if step in suspects][-MOST_SUSPECTS:]
    others = [step for step in sorted(sizes) if step not in suspects]
    room = MOST_BYTES // max(*sizes.values(), 1, 1)
    most = min(len(others), MOST_CONTROLS, max(FEW_CONTROLS, room))
    if not suspected:
        return [others[i * len(others) // most] for i in range(most)]
    others.sort(key=lambda step: min(abs(step - suspect) for suspect in suspected))
    return sorted({*suspected, *others[:most]})


def _left_out(
    by_step: Mapping[int, str],
    chosen: Sequence[int],
    read: Sequence[BatchAudit],
    suspects: Collection[int],
) -> Iterator[str]:
    if suspects and not any(a.suspect for a in read):
        yield (
            f"No batch of a suspect step could be looked at; captured are those of "
            f"{_span(sorted(by_step))}."
        )
    if len(chosen) < len(by_step):
        yield (
            f"{len(chosen):,} of {len(by_step):,} captured batches were looked at: those of the "
            "suspect steps and the nearest ones."
        )


def _span(steps: Sequence[int]) -> str:
    if len(steps) == 1:
        return f"step {steps[0]:,}"
    return f"{len(steps):,} steps from {steps[0]:,} to {steps[-1]:,}"
