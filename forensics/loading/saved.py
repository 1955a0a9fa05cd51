"""What the checkpoints themselves say of when they were written: their headers are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forensics.checkpoints import TrainingState, open_found
from forensics.errors import UnreadableFile
from forensics.remote import is_remote
from forensics.run import FoundCheckpoint

MOST_OPENED = 64
"""Of very many checkpoints only so many are opened, evenly spread."""


@dataclass(frozen=True)
class Saved:
    """How far training was when a checkpoint was written, as it says itself."""

    step: int | None = None
    """The step, as it was saved."""
    updates: int | None = None
    """Updates of any parameter, as the optimizer counts them."""
    epoch: int | None = None
    """In the script's own count."""


def saved_inside(root: Path, checkpoints: Sequence[FoundCheckpoint]) -> Mapping[str, Saved]:
    """What checkpoints say of when they were written; only their headers are read.

    Args:
        root: The run directory.
        checkpoints: Those whose names leave it open; unfinished ones are passed over.

    Returns:
        By path, of those that say anything.
    """
    if is_remote(str(root)):
        return {}
    whole = [c for c in checkpoints if c.complete]
    chosen = whole[:: max(1, -(-len(whole) // MOST_OPENED))]
    found = {c.path: _open(root, c) for c in chosen}
    return {path: saved for path, saved in found.items() if saved != Saved()}


def _open(root: Path, found: FoundCheckpoint) -> Saved:
    try:
        return _saved(open_found(root, found).state)
    except (UnreadableFile, OSError):
        return Saved()


def _saved(state: TrainingState) -> Saved:
    updates = max(state.optimizer_steps.values(), default=None)
    return Saved(state.global_step, _whole(updates), _whole(state.epoch))


def _whole(value: float | None) -> int | None:
    return int(value) if value is not None and 0 <= value < 1e15 and value == int(value) else None
