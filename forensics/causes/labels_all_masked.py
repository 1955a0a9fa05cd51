"""Labels all masked: a batch had no label left to learn from, and its mean loss was 0/0.

What it claims:
    In some batches every label is the ignored value (prompts longer than the window, answers cut
    off, filters that emptied a batch). The mean over no label is NaN; the gradient is zero or
    finite, so the weights keep their values.

How it shows:
    Single NaN losses (or exact zeros, where the sum is divided by at least one) with ordinary
    neighbours and a finite gradient norm, more often with small batches. Validation stays finite.
    Where no sample has a label, every loss and every gradient is exactly zero.

For:
    A captured batch without a label that counts; isolated NaN or zero losses; a finite gradient
    norm beside them; finite validation. A loss of exactly zero from the first step on.

Against:
    NaN that stays; a gradient norm that is NaN too; anything unusual before it.

What to do:
    Count the labels that are not ignored, in every batch. Drop samples without any, truncate from
    the left or lengthen the window, and divide by at least one.

References:
    pytorch/pytorch issues 70348, 75181 and 116349: the mean over no target is NaN since 1.11.
"""

from forensics.batch_facts import Oddity
from forensics.case import Case
from forensics.causes import _looks_batches as batches
from forensics.causes import _looks_data as data
from forensics.causes import _looks_non_finite as broken
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_gradients import gradient_broke_first
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_replay_data import all_labels_masked
from forensics.causes._looks_settings import batch_per_device_below
from forensics.causes._where import broken_words
from forensics.findings import Outcome

MASKED = Oddity.LABELS_ALL_MASKED


def _verify(case: Case) -> str:
    return f"For {broken_words(case)}, print (labels != -100).sum(): it is 0 where the loss is NaN."


def _fix(case: Case) -> list[str]:
    length = case.config.seq_len
    window = "the window" if length is None else f"the window of {length:,}"
    return [
        "Drop samples whose labels are all ignored when the data set is built.",
        f"Keep the answer when a sample does not fit {window}: truncate the prompt, not the end.",
        "Divide the summed loss by max(number of labels, 1).",
    ]


CAUSE = Cause(
    name="labels_all_masked",
    title="All labels of a batch masked",
    family=Family.DATA,
    prior=0.2,
    claim="Some batches hold no label to learn from, so their mean loss is 0/0.",
    clues=(
        *explains((Outcome.SPIKED_RECOVERED, Outcome.NON_FINITE), rarely=(Outcome.STALLED,)),
        Clue("isolated", broken.isolated_non_finite, STRONG, -WEAK, group="isolated"),
        Clue("isolated_zero", data.isolated_zero_loss, DECISIVE, group="isolated"),
        Clue("always_zero", data.always_zero_loss, DECISIVE + STRONG, group="isolated"),
        Clue("loss_alone", data.loss_broke_alone, STRONG, -WEAK),
        Clue("gradient_first", gradient_broke_first, -STRONG),
        Clue("instant", broken.instant, WEAK, -STRONG),
        Clue("validation_finite", broken.validation_still_finite, MODERATE),
        Clue("small_batch", batch_per_device_below(3), WEAK),
        Clue("in_batch", batches.shows(MASKED), DECISIVE + STRONG, -DECISIVE, group="batch"),
        Clue("in_all_batches", batches.in_all_batches(MASKED), STRONG, group="batch"),
        proof("replay", all_labels_masked),
    ),
    verify=_verify,
    fix=_fix,
    needs=("the labels of the batches whose loss is NaN",),
)
