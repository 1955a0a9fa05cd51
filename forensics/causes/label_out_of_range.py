"""Label out of range: a target names a class that the model does not have.

What it claims:
    A label is negative or at least the number of classes (labels from 1, a class added to the
    data, an ignore value that the loss does not know, a token beyond the vocabulary).

How it shows:
    On a GPU: "device-side assert triggered", reported some calls too late, and the process ends.
    On a CPU: an index error that names the label. The curve before it is healthy.

For:
    The assertion or the index error in the output; such a label in a captured batch.

Against:
    Output that was kept and says nothing of the kind.

What to do:
    Compare the smallest and the largest label with the number of outputs. Run one epoch on the
    CPU, or with CUDA_LAUNCH_BLOCKING=1, for the true line.

References:
    huggingface/transformers issue 10449. PyTorch's ClassNLLCriterion: t >= 0 && t < n_classes.
"""

from forensics.batch_facts import Oddity
from forensics.case import Case
from forensics.causes import _looks_batches as batches
from forensics.causes._base import DECISIVE, STRONG, Cause, Clue, Family
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_text import says
from forensics.causes._where import onset_words
from forensics.findings import Outcome
from forensics.run import TextKind

BEYOND = (Oddity.LABEL_OUT_OF_RANGE, Oddity.TOKEN_OUT_OF_RANGE)


def _verify(case: Case) -> str:
    outputs = case.config.num_classes or case.config.vocab_size
    most = "the number of outputs minus 1" if outputs is None else f"{outputs - 1:,}"
    return (
        f"Over the data set, print the smallest and the largest label other than the ignored one; "
        f"they must lie in 0 to {most}. Begin with {onset_words(case)}, on the CPU."
    )


def _fix(_: Case) -> list[str]:
    return [
        "Map the labels to 0 … number of classes - 1 when the data set is built, and check it "
        "there.",
        "Give the loss the value that the data uses for 'ignore'.",
        "After adding tokens, resize the embedding and the output layer.",
    ]


CAUSE = Cause(
    name="label_out_of_range",
    title="Label out of range",
    family=Family.DATA,
    prior=0.3,
    claim="A target names a class or token that the model has no output for.",
    clues=(
        *explains((Outcome.CRASHED,), (Outcome.NON_FINITE, Outcome.UNKNOWN)),
        Clue("label_named", says(TextKind.LABEL_OUT_OF_RANGE), DECISIVE, -STRONG),
        Clue("device_assert", says(TextKind.DEVICE_ASSERT), DECISIVE),
        Clue("index_named", says(TextKind.INDEX_OUT_OF_RANGE), -STRONG),
        Clue("in_batch", batches.shows(*BEYOND), DECISIVE + STRONG, -STRONG, group="batch"),
        Clue("in_all_batches", batches.in_all_batches(*BEYOND), STRONG, group="batch"),
    ),
    verify=_verify,
    fix=_fix,
    needs=("the labels of the last batches, or the same run on a CPU",),
)
