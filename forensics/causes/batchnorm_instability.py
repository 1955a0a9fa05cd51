"""Batch-normalisation instability: the running statistics do not describe the data.

What it claims:
    In training a batch is normalised by itself, in validation by running averages. With few
    samples a device, a last batch of one, or data that shifts, those averages are wrong, or NaN.

How it shows:
    The training loss is fine, the validation loss jumps about, is orders of magnitude higher, or
    NaN. Evaluating in training mode makes it normal again.

For:
    - A model with batch normalisation and two to six samples a device.
    - Validation that jumps or is non-finite while training is calm.
    - Running statistics in a checkpoint that are not finite, negative, or far off.
    - Running statistics near the 0 and 1 they began with, long after the start.

Against:
    - Layer, group or RMS normalisation.
    - Batches of 16 and more a device.
    - Validation that turned slowly while the training loss fell: that is overfitting.
    - Validation that climbs without jumps.

What to do:
    Use SyncBatchNorm or GroupNorm, drop the last incomplete batch, freeze the statistics of a
    pretrained backbone, or recompute them over 100 batches before validating.

References:
    - S. Ioffe, Batch Renormalization, arXiv 1702.03275: small batches make the two modes differ.
    - Y. Wu, K. He, Group Normalization, arXiv 1803.08494: error rises below 16 samples a device.
    - PyTorch issue 19916: bad results in the small-batch regime are to be expected.
    - TheDeepChecker (TOSEM 2022): a difference above 50 % between the modes.
"""

from forensics.case import Case
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_damage import statistics_bad, statistics_lag
from forensics.causes._looks_model import batchnorm_used
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_replay_state import running_statistics_off
from forensics.causes._looks_settings import batch_per_device_below
from forensics.causes._looks_validation import (
    overfitted,
    validation_climbs_steadily,
    validation_form,
    validation_worse_than_guess,
)
from forensics.findings import Change, Outcome

ENOUGH = 16


def _verify(case: Case) -> str:
    batch = case.config.micro_batch
    size = f" of {batch:,}" if batch else ""
    return (
        f"Evaluate one validation batch{size} twice with the last checkpoint, in model.train() and "
        "in model.eval(): losses that differ by more than half confirm it; so does any NaN in "
        "running_var."
    )


def _fix(case: Case) -> list[str]:
    batch = case.config.micro_batch
    now = f" (now {batch:,})" if batch else ""
    return [
        f"Normalise over at least {ENOUGH} samples: a larger batch a device{now}, or SyncBatchNorm "
        "across devices.",
        "Set drop_last=True, since a batch of one sample has no variance.",
        "Replace BatchNorm by GroupNorm, or freeze its statistics when fine-tuning.",
        "Recompute the running statistics over 100 training batches; the weights may be fine.",
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    batch = case.config.micro_batch
    return (Change("micro_batch", batch, ENOUGH),) if batch and batch < ENOUGH else ()


CAUSE = Cause(
    name="batchnorm_instability",
    title="Batch-normalisation statistics unstable",
    family=Family.MODEL,
    prior=0.25,
    claim="The running statistics of batch normalisation do not describe the data, so the model "
    "that validates is not the one that trained.",
    clues=(
        *explains(
            (Outcome.VALIDATION_FAILED,),
            rarely=(
                Outcome.NON_FINITE,
                Outcome.DIVERGED,
                Outcome.SPIKED_UNRECOVERED,
                Outcome.OVERFIT,
                Outcome.UNKNOWN,
            ),
        ),
        Clue("batchnorm_used", batchnorm_used, MODERATE, -DECISIVE),
        Clue("climbs_steadily", validation_climbs_steadily, -MODERATE),
        Clue("one_or_two_samples", batch_per_device_below(3), STRONG, group="batch"),
        Clue("few_samples", batch_per_device_below(7), MODERATE, group="batch"),
        Clue("enough_samples", batch_per_device_below(ENOUGH), 0.0, -MODERATE, group="batch"),
        Clue("validation_broke", validation_form("jump", "non_finite"), STRONG, group="form"),
        Clue("validation_apart", validation_form("gap_from_start"), MODERATE, group="form"),
        Clue("overfitted", overfitted, -STRONG, group="outcome"),
        Clue("statistics_bad", statistics_bad, STRONG + MODERATE, -WEAK, group="statistics"),
        Clue("statistics_lag", statistics_lag, DECISIVE, -MODERATE, group="statistics"),
        Clue("worse_than_guess", validation_worse_than_guess, MODERATE, group="form"),
        proof("replay", running_statistics_off, refutes=False),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=("The same validation batch in training and in evaluation mode.",),
)
