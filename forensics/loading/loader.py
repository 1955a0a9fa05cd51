"""The one function that turns a folder, or a single file, into runs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from forensics.checkpoints import discover
from forensics.errors import NothingToAnalyse
from forensics.loading.assembly import assemble
from forensics.loading.distribution import distribute
from forensics.loading.intake import Intake, all_readers, take_in
from forensics.loading.iterations import joined_iterations
from forensics.loading.unnamed import unnamed_losses
from forensics.readers._base import Progress, Reader, no_progress
from forensics.remote import locate
from forensics.run import Note, Run
from forensics.tree import Tree, grow

LOOKED_FOR = (
    "TensorBoard event files, CSV, JSON and text logs of a training, trainer_state.json, "
    "configurations, checkpoints"
)


def load_runs(
    path: str | Path,
    *,
    progress: Progress = no_progress,
    readers: Sequence[Reader] | None = None,
    strict: bool = False,
) -> list[Run]:
    """Read everything in a folder, or one file, and tell its runs apart.

    Args:
        path: A folder, a single log, or an fsspec address of one.
        progress: Called with the number of bytes done since the last call.
        readers: Those to ask, in order; None: all there are.
        strict: Let a fault of a reader through instead of noting it.

    Returns:
        At least one run, in the natural order of their files; the only one is called ''.

    Raises:
        NothingToAnalyse: The path is missing, may not be read, or holds nothing known.
        UsageError: What is needed for this kind of address is not installed.
        UnreadableFile: The store cannot be reached.
    """
    root = locate(path)
    tree = _tree(root)
    found = discover(tree)
    intake = take_in(
        tree, found, all_readers() if readers is None else readers, progress, strict=strict
    )
    intake = joined_iterations(intake, [file.path for file in tree.files])
    unnamed = unnamed_losses(tree, intake.sources, intake.records)
    intake = replace(intake, notes=(*intake.notes, *unnamed))
    passed_over = [Note(p.reason, p.path) for p in tree.passed_over if not _is_of_wandb(p.path)]
    useful = [s for s in intake.sources if s.reading.series or s.reading.settings or s.reading.text]
    if not useful and not found.checkpoints:
        raise NothingToAnalyse(_nothing(root, tree, intake))
    notes = [*passed_over, *found.notes, *intake.notes]
    shares = distribute(useful, found, intake.records, notes)
    return [assemble(root, share, found) for share in shares]


def _is_of_wandb(path: str) -> bool:
    """True for the link that every W&B run has to a log of the library itself."""
    return path.endswith("/logs/debug-core.log")


def _tree(root: Path) -> Tree:
    try:
        if not root.exists():
            raise NothingToAnalyse(f"{root}: no such file or folder")
        if not root.is_dir() and not root.is_file():
            raise NothingToAnalyse(f"{root}: neither a folder nor a regular file")
        return grow(root)
    except OSError as error:
        raise NothingToAnalyse(f"{root}: may not be read ({error.strerror or error})") from error


def _nothing(root: Path, tree: Tree, intake: Intake) -> str:
    """One line on what was looked for and why nothing of it was found."""
    if not tree.files and not tree.passed_over:
        return f"{root}: the folder is empty"
    reasons = [str(note) for note in intake.notes[:2]] or [
        f"{p.path}: {p.reason}" if p.path else p.reason for p in tree.passed_over[:2]
    ]
    why = f" ({'; '.join(reasons)})" if reasons else ""
    return (
        f"{root}: nothing to analyse among {len(tree.files):,} files{why}; looked for {LOOKED_FOR}"
    )
