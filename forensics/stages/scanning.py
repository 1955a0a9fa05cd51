"""What the checkpoints and the captured batches of a run hold."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from forensics.batches import limits_of, survey_captured, suspect_steps
from forensics.case import Case
from forensics.causes._completed import completed
from forensics.run import Note
from forensics.scan import ScanMode
from forensics.scan.cluster import dask_executor
from forensics.scan.engine import no_progress
from forensics.scan.moments import survey
from forensics.scan.paths import scan_found

Progress = Callable[[int], None]


def scanned(case: Case, mode: ScanMode, dask: str | None, progress: Progress | None) -> Case:
    """The case with what its checkpoints and captured batches hold, and the settings they tell."""
    return completed(_audited(_scanned(case, mode, dask, progress)))


def _scanned(case: Case, mode: ScanMode, dask: str | None, progress: Progress | None) -> Case:
    """The case with what its checkpoints hold; as it is where there are none."""
    if mode is ScanMode.NONE or not case.run.checkpoints:
        return case
    run, onset = case.run, case.judgement.onset_step
    root = run.home
    advance = progress or no_progress
    with ExitStack() as stack:
        executor = None
        if dask is not None:
            executor = stack.enter_context(dask_executor(dask))
        scan = scan_found(
            root, run.checkpoints, mode, onset_step=onset, executor=executor, progress=advance
        )
    facts = survey(
        root, run.checkpoints, mode, onset_step=onset, betas=run.config.betas, progress=advance
    )
    blamed = {note.source for note in scan.notes} - set(scan.scanned)
    return replace(
        case,
        run=replace(run, notes=(*run.notes, *_relative(scan.notes, root))),
        tensors=scan.tensors if scan.scanned else None,
        unreadable=tuple(c.path for c in run.checkpoints if c.path in blamed),
        survey=facts,
    )


def _audited(case: Case) -> Case:
    """The case with what its captured batches hold; as it is where there are none."""
    run = case.run
    if not run.batches:
        return case
    suspects = suspect_steps(case.timeline, case.episodes, case.judgement)
    found, notes = survey_captured(
        run.home,
        run.batches,
        suspects,
        limits_of(run.config, case.tensors),
    )
    return replace(case, run=replace(run, notes=(*run.notes, *notes)), batches=found)


def _relative(notes: Sequence[Note], root: Path) -> list[Note]:
    """Notes on files by their place in the run; what is said of many of them is said once."""
    kept: dict[str, Note] = {}
    for note in notes:
        inside = note.source.removeprefix(str(root)).lstrip("/")
        kept.setdefault(note.text, Note(note.text, inside or note.source))
    return list(kept.values())
