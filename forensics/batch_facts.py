"""What was found in the contents of batches, captured or loaded. Values only."""

from dataclasses import dataclass, field
from enum import StrEnum


class Oddity(StrEnum):
    """What may be wrong with one batch, against its controls."""

    NON_FINITE_INPUT = "non_finite_input"
    INPUT_SCALE = "input_scale"  # an input's range is orders of magnitude off the controls'
    LABEL_OUT_OF_RANGE = "label_out_of_range"
    LABELS_ALL_MASKED = "labels_all_masked"
    TOKEN_OUT_OF_RANGE = "token_out_of_range"
    EMPTY_SAMPLE = "empty_sample"
    OVERLONG = "overlong"
    REPEATED_SAMPLE = "repeated_sample"
    REPEATED_NGRAM = "repeated_ngram"
    TOKEN_NOISE = "token_noise"  # ids spread far more evenly than the controls'
    CONSTANT_SAMPLE = "constant_sample"
    CLASS_COUNTS = "class_counts"  # classes far from the controls' (one class only)
    LABELS_SHIFTED = "labels_shifted"  # tokens of another place than the same or the next
    LABELS_SORTED = "labels_sorted"  # of all batches together: one class after the other


@dataclass(frozen=True)
class BatchFinding:
    """One oddity of one batch."""

    oddity: Oddity
    tensor: str
    """Name of the tensor it was found in."""
    text: str
    """One sentence with numbers: what, how much of the batch, and the controls for comparison."""
    share: float
    """Share of the batch's samples (or tokens) that show it, 0 to 1."""
    value: float | None = None
    """The number that gives it away, such as the largest magnitude or the largest label."""
    usual: float | None = None
    """The same number in the controls (median), None where there is none."""


@dataclass(frozen=True)
class BatchAudit:
    """One batch, looked at without running a model."""

    step: int
    source: str
    """Its file, relative to the run directory, or ``load_batch(step)``."""
    suspect: bool
    """True for the batches of the suspect steps, False for controls."""
    findings: tuple[BatchFinding, ...] = ()
    checked: tuple[Oddity, ...] = ()
    """What it could be checked for; a finding that is absent says nothing about the others."""


@dataclass(frozen=True)
class BatchSurvey:
    """Every batch that was looked at."""

    audits: tuple[BatchAudit, ...] = ()
    """By step."""
    everywhere: tuple[BatchFinding, ...] = ()
    """What all batches show alike: a fault of the whole data, or how the data are meant to be."""
    class_shares: tuple[float, ...] = ()
    """Of each label over all batches, largest first; empty where the labels are not classes."""
    labels_counted: int = 0
    """Labels behind `class_shares`."""
    checked: tuple[Oddity, ...] = ()
    """What the batches could be checked for together."""
    unchecked: tuple[str, ...] = field(default=())
    """What could not be checked, each with its reason."""

    @property
    def suspects(self) -> tuple[BatchAudit, ...]:
        """The batches of the suspect steps."""
        return tuple(a for a in self.audits if a.suspect)
