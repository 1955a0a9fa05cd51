"""What a reader is: two functions and a name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from forensics.run import Note, Series, TextEvidence

HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class Probe:
    """A file as ``sniff`` sees it: its path and its first 64 KiB, read at most once."""

    path: Path
    root: Path
    """The run directory."""
    size: int

    @cached_property
    def head(self) -> bytes:
        """The first `HEAD_BYTES` bytes.

        Raises:
            OSError: The file may not be read.
        """
        with self.path.open("rb") as file:
            return file.read(HEAD_BYTES)

    @property
    def source(self) -> str:
        """Path relative to the run directory, with ``/``."""
        return self.path.relative_to(self.root).as_posix()


@dataclass(frozen=True, eq=False)
class Reading:
    """What one file gave. A damaged file gives its good part and a note."""

    series: tuple[Series, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Configuration as written, nested or flat; made canonical by ``readers/_settings.py``."""
    text: tuple[TextEvidence, ...] = ()
    notes: tuple[Note, ...] = ()
    summary: str = ""
    """One line for the inventory; '' lets the caller count series and points."""


Progress = Callable[[int], None]
"""Called with the number of bytes done since the last call."""


def no_progress(_: int) -> None:
    """A `Progress` that shows nothing."""


@dataclass(frozen=True)
class Reader:
    """One log or configuration format."""

    name: str
    """Shown in the inventory and in ``run.formats``, such as ``TensorBoard events``."""
    order: int
    """Asked in this order: 10 exact magic, 20 exact file name, 30 structure, 90 fallback."""
    sniff: Callable[[Probe], bool]
    """Cheap, by content wherever possible; never raises but for OSError."""
    read: Callable[[Probe, Progress], Reading]
    """Raises:
        UnreadableFile: nothing at all could be read from it.
    """
