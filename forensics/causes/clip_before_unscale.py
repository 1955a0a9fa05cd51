"""Clipping before unscaling: the scaled gradients were clipped, so next to nothing was left.

What it claims:
    With a loss scale of S the gradients are S times too large until the scaler unscales them. Where
    they are clipped first, every step is clipped, and after unscaling the update is about
    threshold / S. The same family of mistakes steps the optimizer twice or on scaled gradients.

How it shows:
    Logged norms of thousands to millions that halve and double with the loss scale, clipping on
    every step, and a run that learns at a few per cent of its pace (SGD) or, with Adam, whose
    second moment is of the size of threshold / S. Where scaled gradients are applied, NaN at every
    learning rate.

For:
    - fp16 with a loss scale, clipping on, every step clipped.
    - A gradient norm that follows the loss scale, or is of its size.
    - In a checkpoint, sqrt(sum(vhat)) near threshold / loss scale.

Against:
    - No fp16, or no clipping.
    - A usual norm near 1.
    - A trainer that does it in the right order (Lightning, Transformers, DeepSpeed).

What to do:
    scaler.unscale_(optimizer), then clip, then scaler.step(optimizer) once, then scaler.update().

References:
    - PyTorch, automatic mixed precision examples: gradient clipping.
    - apex pull request 1512, allennlp pull request 5426: the same mistake elsewhere.
"""

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_clipping import clipping_constant, clipping_off
from forensics.causes._looks_moments import norm_divided_by_scale
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_precision import (
    half_precision,
    norm_follows_scale,
    norm_like_scale,
    ready_made_trainer,
)
from forensics.causes._looks_rest import still_falls
from forensics.findings import Outcome
from forensics.phrasing import number


def _verify(case: Case) -> str:
    usual, threshold = facts.usual_gradient(case), case.config.clip_threshold
    now = f"; the log has {number(usual)}" if usual else ""
    against = f" against the threshold {number(threshold)}" if threshold else ""
    return (
        "Print the gradient norm once before and once after scaler.unscale_(optimizer), "
        f"and see which of the two is clipped{against}{now}."
    )


def _fix(case: Case) -> list[str]:
    threshold = case.config.clip_threshold or 1.0
    return [
        "Order each update so: scaler.scale(loss).backward(); scaler.unscale_(optimizer); "
        f"clip_grad_norm_(parameters, {threshold:g}); scaler.step(optimizer); scaler.update().",
        "Call the optimizer's own step nowhere else.",
        "Expect larger updates afterwards: keep the warm-up, and watch the share of clipped steps.",
    ]


CAUSE = Cause(
    name="clip_before_unscale",
    title="Gradients clipped before unscaling",
    family=Family.PRECISION,
    prior=0.1,
    claim="Gradients were clipped, or applied, while they still carried the loss scale.",
    clues=(
        *explains(
            (Outcome.STALLED,),
            rarely=(Outcome.NON_FINITE, Outcome.DIVERGED, Outcome.SPIKED_UNRECOVERED),
        ),
        Clue("half_precision", half_precision, MODERATE, -DECISIVE),
        Clue("clipping_off", clipping_off, -STRONG, WEAK, group="clipping"),
        Clue("always_clipped", clipping_constant, STRONG, -STRONG, group="clipping"),
        Clue("norm_follows_scale", norm_follows_scale, DECISIVE, -STRONG, group="norm"),
        Clue("norm_like_scale", norm_like_scale, STRONG, -STRONG, group="norm"),
        Clue("ready_made_trainer", ready_made_trainer, -MODERATE),
        Clue("still_falls", still_falls, MODERATE),
        Clue("norm_divided_by_scale", norm_divided_by_scale, DECISIVE, -STRONG),
    ),
    verify=_verify,
    fix=_fix,
    needs=("The training loop: the order of unscale_, clip and step.",),
)
