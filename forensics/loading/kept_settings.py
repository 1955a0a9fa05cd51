"""Settings that a run's own checkpoints keep: those of the process that wrote them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forensics.checkpoints import told_by
from forensics.remote import is_remote
from forensics.run import FoundCheckpoint

_SUFFIXES = (".pt", ".pth", ".ckpt", ".tar", ".pkl", ".model")
MOST = 8
"""Where so many of the latest keep no settings, the others are not asked."""


def settings_inside(
    root: Path, checkpoints: Sequence[FoundCheckpoint]
) -> list[tuple[str, Mapping[str, Any]]]:
    """The settings of the latest checkpoint that keeps any: (its path, as kept).

    Args:
        root: The run directory; nothing is fetched from a remote one.
        checkpoints: Found there; only those that are one file of torch's are opened.
    """
    if is_remote(str(root)):
        return []
    folder = root if root.is_dir() else root.parent
    files = [c for c in checkpoints if c.complete and c.path.lower().endswith(_SUFFIXES)]
    files = [c for c in files if (folder / c.path).is_file()]
    for one in sorted(files, key=lambda c: c.modified, reverse=True)[:MOST]:
        settings = told_by(folder / one.path).settings
        if settings:
            return [(one.path, settings)]
    return []
