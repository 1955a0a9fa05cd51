"""Unstable loss function: an operation without a finite value or derivative at this input.

What it claims:
    Somewhere in model or loss stands a log of 0, a root or norm at 0, a division by 0, an empty
    mean, or an exponential too large for any format. An input met that point; weights, rate and
    precision were in order.

How it shows:
    NaN from one step to the next, with loss and gradient norm ordinary up to the step before.
    Often the loss is still finite and only the gradient is not: a masked branch, or a root at 0,
    is fine forward and infinite backward. It happens in fp32 as well.

For:
    - No warning in the logged points before the NaN.
    - Gradients non-finite at a finite loss; one component of the loss broke first.
    - bf16 or fp32; validation stays finite.

Against:
    - A rise of loss or gradient norm before, a falling loss scale.
    - fp16, where the same picture is an overflow.
    - A learning rate far above its range.

What to do:
    Replay the batch with anomaly detection to find the operation. Put epsilon inside the root,
    clamp before log and division, mask the input of the operation and not its output, divide by
    max(count, 1). Resume from the last finite checkpoint.

References:
    - PyTorch issues 2421 (norm at 0) and 4132 (NaN gradients through a masked branch).
    - PyTorch issue 75181: cross-entropy with every label ignored is 0 / 0.
    - PyTorch, torch.autograd.detect_anomaly.
"""

from forensics.case import Case
from forensics.causes import _changes as changes
from forensics.causes._base import DECISIVE, MODERATE, STRONG, Cause, Clue, Family, proof
from forensics.causes._looks_gradients import gradient_broke_first
from forensics.causes._looks_last_finite import (
    fell_to_the_last,
    fits_perfectly,
    leapt_in_one_batch,
)
from forensics.causes._looks_learning_rate import lr_above_range, lr_far_above_range
from forensics.causes._looks_loss_scale import scale_unchecked
from forensics.causes._looks_non_finite import (
    calm_before_nan,
    instant,
    one_part_broke,
    validation_still_finite,
)
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_precision import (
    float8,
    half_precision,
    scale_collapsed,
    wide_precision,
)
from forensics.causes._looks_replay_precision import unstable_operation
from forensics.causes._looks_text import says
from forensics.causes._looks_told import singular_loss
from forensics.findings import Outcome
from forensics.phrasing import the_batch
from forensics.run import TextKind


def _verify(case: Case) -> str:
    onset = case.judgement.onset_step
    where = the_batch(onset) if onset is not None else "the failing batch"
    return (
        f"with torch.autograd.detect_anomaly(): run forward and backward on {where} in fp32 from "
        f"{changes.restart_from(case)}; an error that names SqrtBackward, LogBackward, PowBackward "
        "or DivBackward confirms it."
    )


def _fix(case: Case) -> list[str]:
    return [
        "Put epsilon inside roots and norms, clamp the argument of log and division, and divide "
        "means by max(count, 1).",
        "Mask the input of a dangerous operation, not its result: torch.where passes NaN "
        "gradients of the branch it did not take.",
        f"Resume from {changes.restart_from(case)}; a checkpoint written after the NaN is lost.",
        "Stop on a non-finite loss or gradient before the optimizer step.",
    ]


CAUSE = Cause(
    name="unstable_loss_function",
    title="Operation without a finite value or gradient",
    family=Family.PRECISION,
    prior=0.4,
    claim="An operation in the model or loss has no finite value or derivative at an input that "
    "occurred.",
    clues=(
        *explains((Outcome.NON_FINITE,), rarely=(Outcome.SPIKED_RECOVERED, Outcome.CRASHED)),
        Clue("no_warning", instant, STRONG, -STRONG, group="onset"),
        Clue("calm_before", calm_before_nan, MODERATE, group="onset"),
        Clue("fell_to_the_last", fell_to_the_last, MODERATE, group="onset"),
        Clue("fits_perfectly", fits_perfectly, MODERATE),
        Clue("leapt_in_one_batch", leapt_in_one_batch, -STRONG),
        Clue("gradient_broke_first", gradient_broke_first, STRONG, group="backward"),
        Clue("one_part_broke", one_part_broke, MODERATE, group="backward"),
        Clue("validation_finite", validation_still_finite, MODERATE),
        Clue("singular_loss", singular_loss, MODERATE),
        Clue("float8", float8, MODERATE, group="precision"),
        Clue("wide_precision", wide_precision, MODERATE, group="precision"),
        Clue("half_precision", half_precision, -MODERATE, group="precision"),
        Clue("scale_collapsed", scale_collapsed, -STRONG, group="precision"),
        Clue("scale_unchecked", scale_unchecked, -STRONG, group="precision"),
        Clue("rate_far_above_range", lr_far_above_range, -DECISIVE, group="rate"),
        Clue("rate_above_range", lr_above_range, -MODERATE, group="rate"),
        Clue(
            "other_reason_named",
            says(TextKind.LABEL_OUT_OF_RANGE, TextKind.INDEX_OUT_OF_RANGE, TextKind.DEVICE_ASSERT),
            -STRONG,
        ),
        proof("replay", unstable_operation),
    ),
    verify=_verify,
    fix=_fix,
    needs=(
        "The failing batch under anomaly detection, in fp32 (a replay).",
        "The weights of the last checkpoint before it: finite weights speak for the operation.",
    ),
)
