"""What a walk finds, in a folder or in a store, and where it does not go."""

from dataclasses import dataclass

MAX_DEPTH = 40
TOO_DEEP = f"nested more than {MAX_DEPTH} folders deep; not read"
PASSED_OVER = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".dvc",
        ".cache",
        ".eggs",
        ".idea",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
        ".venv",
        ".vscode",
        "__pycache__",
        "node_modules",
        "site-packages",
        "venv",
    }
)
"""Folders that hold software, never a run."""


@dataclass(frozen=True)
class FoundFile:
    """One regular file."""

    path: str
    """Relative to the root, with ``/``."""
    size: int
    """Bytes."""
    modified: float
    """Seconds since the epoch."""

    @property
    def name(self) -> str:
        """Last component of the path."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """Path of the folder it lies in, '' for the root."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True)
class PassedOver:
    """Something the walk could not or would not look at."""

    path: str
    reason: str
