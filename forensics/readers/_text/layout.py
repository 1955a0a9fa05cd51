"""What a line is read as: its layout, and where its numbers stand."""

from dataclasses import dataclass
from enum import StrEnum

from forensics.readers._text.counters import Role
from forensics.signals import Signal, classify

Span = tuple[int, int]
MEASURED = frozenset(
    {
        Signal.TRAIN_LOSS,
        Signal.TRAIN_LOSS_EPOCH,
        Signal.LOSS_COMPONENT,
        Signal.EVAL_LOSS,
        Signal.GRAD_NORM,
        Signal.GRAD_NORM_CLIPPED,
        Signal.GRAD_NORM_PARAM,
        Signal.LOSS_SCALE,
        Signal.SKIPPED_STEPS,
        Signal.NAN_ITERATIONS,
        Signal.CLIP_FRACTION,
        Signal.PARAM_NORM,
        Signal.UPDATE_RATIO,
        Signal.ACTIVATION,
        Signal.TRAIN_ACCURACY,
        Signal.EVAL_ACCURACY,
        Signal.EVAL_ERROR,
        Signal.TRAIN_ERROR,
        Signal.REWARD,
        Signal.RL,
        Signal.LR,
    }
)


class Kind(StrEnum):
    """What printed a line, as far as that matters."""

    LINE = "line"
    DICT = "dict"  # HF's dictionary, which counts by a fraction of epochs
    BAR = "bar"  # repaints
    KERAS = "keras"  # repaints a mean over the epoch
    BOX = "box"  # several lines
    FINAL = "final"  # HF's last dictionary
    UNNAMED = "unnamed"  # counts, with one number that it gives no name
    EVALUATION = "evaluation"  # means over the part of an evaluation that is done


@dataclass(frozen=True)
class Column:
    """One number of a line."""

    tag: str
    role: Role
    scale: float = 1.0


@dataclass(frozen=True)
class Layout:
    """What lines of one make have in common."""

    kind: Kind
    columns: tuple[Column, ...]
    """In the order in which their digits stand on the line."""

    def find(self, role: Role) -> int | None:
        """Index of the first column with that role."""
        return next((k for k, column in enumerate(self.columns) if column.role is role), None)

    @property
    def tags(self) -> list[str]:
        """The quantities, without what only counts."""
        return [column.tag for column in self.columns if column.role is Role.VALUE]

    @property
    def counts(self) -> bool:
        """Whether such a line tells a step, an epoch or the like."""
        return any(column.role not in (Role.VALUE, Role.PART) for column in self.columns)

    @property
    def measures(self) -> bool:
        """Whether such a line tells how training goes, not only how fast or how far."""
        return self.kind is not Kind.UNNAMED and any(classify(tag) in MEASURED for tag in self.tags)


@dataclass(frozen=True)
class Reading:
    """One line, read."""

    layout: Layout
    spans: tuple[Span, ...]
    """Where the digits of each column stand."""
    names: tuple[Span, ...]
    """Where names stand, which is what the learned template has to keep."""
    stamp: Span | None = None
    open_parts: tuple[tuple[Span, str], ...] = ()
    learnable: bool = True
    """Whether lines that look alike mean alike."""
