"""From a path or an address to its checkpoints, scanned."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.checkpoints import open_found
from forensics.errors import NothingToAnalyse, UnreadableFile
from forensics.found import FoundCheckpoint
from forensics.remote import locate
from forensics.scan.counting import worth_compiling
from forensics.scan.engine import CheckpointScan, Progress, no_progress, scan_checkpoint
from forensics.scan.series import ScanMode, SeriesScan, scan_series

if TYPE_CHECKING:
    from concurrent.futures import Executor


def scan_path(
    path: str | Path,
    mode: ScanMode = ScanMode.ALL,
    *,
    dask: str | None = None,
    progress: Progress = no_progress,
) -> SeriesScan:
    """Scan a checkpoint, or the checkpoints of a folder.

    Args:
        path: A file, the folder of one save, a folder that holds several, or an address of one.
        mode: Which of several.
        dask: Address of a Dask scheduler that does the work; by default threads here.
        progress: Called with the number of bytes done since the last call.

    Raises:
        UnreadableFile: None of it could be read.
        NothingToAnalyse: The folder holds no checkpoint.
    """
    root = locate(path)
    found = _found(root)
    with ExitStack() as stack:
        executor = None
        if dask is not None:
            from forensics.scan.cluster import dask_executor

            executor = stack.enter_context(dask_executor(dask))
        scan = scan_found(root, found, mode, executor=executor, progress=progress)
    if not scan.scanned and mode is not ScanMode.NONE:
        raise UnreadableFile("; ".join(str(note) for note in scan.notes[:3]))
    tensors = (replace(t, checkpoint=str(path)) if t.checkpoint == "." else t for t in scan.tensors)
    return replace(scan, tensors=tuple(tensors))


def scan_found(
    root: Path,
    checkpoints: Sequence[FoundCheckpoint],
    mode: ScanMode = ScanMode.BISECT,
    *,
    onset_step: int | None = None,
    executor: "Executor | None" = None,
    progress: Progress = no_progress,
) -> SeriesScan:
    """Scan checkpoints of a run directory; see `scan_series`.

    Args:
        root: The run directory; the paths of the checkpoints are relative to it.
        checkpoints: As found there.
        mode: Which of them.
        onset_step: Where the logs say that the failure began.
        executor: Who does the work; by default threads here.
        progress: Called with the number of bytes done since the last call.
    """
    sizes = sorted(found.size for found in checkpoints)
    scans = len(sizes) if mode is ScanMode.ALL else len(sizes).bit_length() + 1
    compiled = worth_compiling(sum(sizes[-scans:])) or None

    def scan_one(found: FoundCheckpoint) -> CheckpointScan:
        opened = open_found(root, found)
        scan = scan_checkpoint(
            opened, executor, progress, name=found.path, step=found.step, compiled=compiled
        )
        return CheckpointScan(scan.tensors, (*opened.notes, *scan.notes))

    return scan_series(checkpoints, scan_one, mode, onset_step=onset_step)


def _found(root: Path) -> Sequence[FoundCheckpoint]:
    """What lies at the path: itself, or the checkpoints below it."""
    try:
        if root.is_dir():
            from forensics.checkpoints import discover
            from forensics.tree import grow

            found = discover(grow(root)).checkpoints
            if not found:
                raise NothingToAnalyse(f"{root}: holds no checkpoint")
            return found
        stat = root.stat()
    except OSError as error:
        raise UnreadableFile(f"{root}: {(error.strerror or str(error)).lower()}") from error
    return [FoundCheckpoint(".", None, stat.st_size, stat.st_mtime)]
