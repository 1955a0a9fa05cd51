"""Over-long sequence: a batch longer than the model, the memory or the training so far can take.

What it claims:
    A sequence exceeds the positions of the model, or is so much longer than those before that its
    loss and gradient are outliers, above all early in training.

How it shows:
    "index out of range" from the position embedding, a warning about the length, or a single
    spike at the batch with the greatest length so far.

For:
    The warning or the index error; a logged or captured batch half as long again as nearly all
    before it; a configured length above the positions of the model.

Against:
    A batch of ordinary length at the onset; a configured length within the model's.

What to do:
    Truncate or split at the model's length, and drop the longest per mille. Begin with shorter
    sequences if the spikes come early.

References:
    Sequence length warm-up, arXiv 2108.06084. Position tables: the index error is raised by the
    embedding, not by the label.
"""

from forensics.batch_facts import Oddity
from forensics.case import Case
from forensics.causes import _looks_batches as batches
from forensics.causes import _looks_data as data
from forensics.causes._base import DECISIVE, MODERATE, STRONG, Cause, Clue, Family
from forensics.causes._looks_outcome import early, explains
from forensics.causes._looks_spike import gradient_built_up, one_point
from forensics.causes._looks_text import says
from forensics.causes._spikes import suspect_steps
from forensics.causes._where import batch_words
from forensics.findings import Change, Outcome
from forensics.run import TextKind

BEYOND = (Oddity.LABEL_OUT_OF_RANGE, Oddity.TOKEN_OUT_OF_RANGE)


def _verify(case: Case) -> str:
    return (
        f"Print the length of every sample in {batch_words(case)} beside the 95th percentile of "
        "the data, truncate to that, and compute loss and gradient norm again."
    )


def _fix(case: Case) -> list[str]:
    length = case.config.seq_len
    return [
        "Truncate or split samples at the model's number of positions, special tokens included.",
        "Drop or pack the few longest samples"
        + ("." if length is None else f"; the configured length is {length:,}."),
        "Begin with shorter sequences and lengthen them over the warm-up.",
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    limit = data.model_positions(case)
    length = case.config.seq_len
    return (Change("seq_len", length, limit),) if length and limit and length > limit else ()


CAUSE = Cause(
    name="overlong_sequence",
    title="Over-long sequence",
    family=Family.DATA,
    prior=0.2,
    claim="A sequence is longer than the model, or training so far, can take.",
    clues=(
        *explains(
            (Outcome.CRASHED, Outcome.SPIKED_RECOVERED, Outcome.SPIKED_UNRECOVERED),
            (Outcome.NON_FINITE, Outcome.DIVERGED, Outcome.UNKNOWN),
        ),
        Clue("length_named", says(TextKind.SEQUENCE_TOO_LONG), STRONG),
        Clue("index_named", says(TextKind.INDEX_OUT_OF_RANGE), DECISIVE, -MODERATE, group="index"),
        Clue("length_outlier", data.length_outlier, DECISIVE, -STRONG, group="length"),
        Clue("in_batch", batches.shows(Oddity.OVERLONG), DECISIVE, -STRONG, group="length"),
        Clue("label_beyond", batches.shows(*BEYOND), -DECISIVE),
        Clue("beyond_model", data.longer_than_model, STRONG, -MODERATE, group="model"),
        Clue("one_point", one_point, MODERATE, group="shape"),
        Clue("built_up", gradient_built_up, -STRONG, group="shape"),
        Clue("early", early, 0.0, -MODERATE, group="timing"),
        Clue("label_named", says(TextKind.LABEL_OUT_OF_RANGE), -DECISIVE),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    skip=suspect_steps,
    needs=("the sequence length of each batch, logged or from the captured batch",),
)
