"""fp16 overflow: a number larger than 65,504, or smaller than 6e-8, in half precision.

What it claims:
    An activation, a logit, a gradient or the scaled loss left the range of fp16. The scaler skips
    such steps and halves its scale; where that happens every step, or the weights themselves are
    fp16, training stops or breaks.

How it shows:
    Skipped steps, a loss scale that falls tens of steps before the loss moves, gradient norms of
    infinity or repeated to the last digit, single NaN losses between ordinary ones, or a loss of
    exactly 0 from the second step on. In bf16 or fp32 the same step is finite.

For:
    - fp16 in the configuration; a model family pretrained in bf16.
    - A loss scale that collapses or sits at its minimum; steps skipped beyond calibration.
    - Infinite gradients; isolated NaN with finite neighbours.
    - A loss scale below 1 in a checkpoint.

Against:
    - bf16, tf32 or fp32: their exponent reaches 3e38.
    - A steady loss scale and no skipped step.
    - A few halvings at the very start, after a resume, or once in every growth interval (2,000
      steps): that is how a scaler finds its level.

What to do:
    Train in bf16. Where the hardware has none: keep weights in fp32 under autocast, compute
    softmax, normalisation and loss in fp32, and lower the rate by a third. Resume from before the
    scale began to fall, not from before the NaN. Adam's epsilon of 1e-8 is 0 in fp16; use 1e-4 or
    fp32 state.

References:
    - Mixed Precision Training, arXiv 1710.03740.
    - PyTorch, automatic mixed precision: scale 65,536, halved at overflow, doubled every 2,000
      steps.
    - GLM-130B log: the scale collapsed 30 steps before the loss.
    - Transformers issue 5651: 66,246 in a feed-forward layer of T5.
"""

from forensics.case import Case
from forensics.causes import _changes as changes
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_counters import scale_collapsed as scale_collapsed_in_save
from forensics.causes._looks_gradients import gradient_infinite
from forensics.causes._looks_growth import gains_grew
from forensics.causes._looks_learning_rate import lr_far_above_range
from forensics.causes._looks_loss_scale import half_unsaid, scale_unchecked
from forensics.causes._looks_non_finite import after_one_update, exact_zero, isolated_non_finite
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_precision import (
    born_in_bf16,
    half_precision,
    overflow_traceless,
    scale_collapsed,
    scale_steady,
    steps_skipped,
    wide_precision,
)
from forensics.causes._looks_replay_precision import finite_in_float32
from forensics.findings import Change, Outcome
from forensics.phrasing import the_batch


def _verify(case: Case) -> str:
    onset = case.judgement.onset_step
    where = the_batch(onset) if onset is not None else "the failing batch"
    return (
        f"Run {where} once from {changes.restart_from(case)} in fp32 and once in fp16, with a hook "
        "that prints the first module whose output exceeds 6e4: finite in fp32 and not in fp16 "
        "confirms it."
    )


def _fix(case: Case) -> list[str]:
    return [
        f"Switch to bf16 and resume from {changes.restart_from(case)}, or from before the loss "
        "scale began to fall.",
        "Without bf16: keep the weights in fp32 under autocast, and compute attention softmax, "
        "normalisation and loss in fp32.",
        f"Lower the learning rate {changes.lr_words(case)}, which keeps activations smaller.",
        "Log the loss scale and the skipped steps; alarm at four halvings within 20 steps.",
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    return (Change("precision", case.config.precision or "fp16", "bf16"),)


CAUSE = Cause(
    name="fp16_overflow",
    title="fp16 overflow",
    family=Family.PRECISION,
    prior=0.5,
    claim="A number left the range of half precision, so that steps were skipped or non-finite "
    "values reached the weights.",
    clues=(
        *explains(
            (Outcome.NON_FINITE, Outcome.DIVERGED, Outcome.SPIKED_UNRECOVERED),
            rarely=(Outcome.SPIKED_RECOVERED, Outcome.STALLED, Outcome.CRASHED),
        ),
        Clue("half_precision", half_precision, STRONG, group="precision"),
        Clue("wide_precision", wide_precision, -DECISIVE, group="precision"),
        Clue("half_unsaid", half_unsaid, -STRONG, group="precision"),
        Clue("born_in_bf16", born_in_bf16, MODERATE),
        Clue("scale_collapsed", scale_collapsed, DECISIVE, group="scale"),
        Clue("scale_steady", scale_steady, -STRONG, group="scale"),
        Clue("scale_unchecked", scale_unchecked, DECISIVE, group="scale"),
        Clue("steps_skipped", steps_skipped, STRONG, group="skipped"),
        Clue("traceless", overflow_traceless, -DECISIVE, group="skipped"),
        Clue("gradient_infinite", gradient_infinite, MODERATE, group="numbers"),
        Clue("isolated", isolated_non_finite, MODERATE, group="numbers"),
        Clue("after_one_update", after_one_update, MODERATE, group="numbers"),
        Clue("hidden_by_logger", exact_zero, WEAK, group="numbers"),
        Clue("rate_far_above_range", lr_far_above_range, -MODERATE),
        Clue("gains_grew", gains_grew, WEAK),
        Clue("scale_in_save", scale_collapsed_in_save, DECISIVE, -MODERATE, group="scale"),
        proof("replay", finite_in_float32),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=(
        "The failing batch in fp32 and in fp16, with the largest activation of each module (a "
        "replay).",
        "The number format of the weights in a checkpoint.",
    ),
)
