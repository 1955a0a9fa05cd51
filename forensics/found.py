"""A checkpoint that was found, and what there is to say about the evidence; the least of a run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """Something the user should know about the evidence itself (never about the training)."""

    text: str
    source: str = ""

    def __str__(self) -> str:
        return f"{self.source}: {self.text}" if self.source else self.text


@dataclass(frozen=True)
class FoundCheckpoint:
    """A checkpoint that lies in the run directory; nothing of it has been read."""

    path: str
    step: int | None
    size: int
    modified: float
    """Seconds since the epoch."""
    complete: bool = True
    """False where the name or a missing index says that saving was not finished."""
    epoch: int | None = None
    """The epoch that the name gives, in the framework's own count."""
    number: int | None = None
    """A number in the name that does not say what it counts; the step may be a guess from it."""
    beside: tuple[str, ...] = ()
    """Where it is a file with its optimizer beside it: the other files of the same save."""
