"""Adam instability: the second moment is out of date, and the update far too long for it.

What it claims:
    Adam divides by the root of a running mean of squared gradients. After a quiet stretch that
    mean is small; when gradients grow again it follows only over 1 / (1 - beta2) steps, and until
    then the updates of some tensors are several times too long. Epsilon of the size of the
    gradients is the other way in which the quotient stops meaning anything.

How it shows:
    A loss spike in the middle of training at a steady rate, one to eight steps after the squared
    gradients outgrow the second moment, in embeddings or early layers. The global norm shows
    little of it, and clipping does not help. The spikes return and mostly heal.

For:
    - beta2 of 0.999 or more, large batches, spikes at a steady rate.
    - The global gradient norm was ordinary until the loss moved; it had fallen for long before.
    - Gradient entries of the size of epsilon; an epsilon of 1e-4 or more, which stalls a run.
    - In a checkpoint, sqrt(v) below epsilon for most weights.
    - A loss that creeps, or tokens whose frequencies are never learned: epsilon swallows updates.

Against:
    - The optimizer has no second moment, or beta2 is 0.95.
    - One jump of the global norm by a factor of ten or more, a single bad batch.
    - The beginning of training, where a missing warm-up explains more.

What to do:
    Lower beta2 to 0.95-0.99 and resume from before the first spike; use an update that is bounded
    per tensor (StableAdamW). Do not reset the optimizer state without a new warm-up. About
    epsilon the sources disagree: smaller values helped OLMo 2 and others, larger ones were
    reported to calm spikes; decide by the share of entries below epsilon, not by rule. A smaller
    beta2 makes the sawtooth at epoch boundaries stronger, and it did not save BigScience's 104B.

References:
    - Stable and low-precision training, arXiv 2304.13013: spikes follow 1-8 steps after
      RMS_t = sqrt(mean(g^2 / v)) rises.
    - Adaptive preconditioners trigger loss spikes, arXiv 2506.04805.
    - A Theory on Adam Instability in Large-Scale Machine Learning, arXiv 2304.09871.
    - OLMo 2, arXiv 2501.00656: epsilon 1e-5 to 1e-8; Small-scale proxies, arXiv 2309.14322.
"""

from forensics.case import Case
from forensics.causes import _changes as changes
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_break import beyond_reason, never_relearned
from forensics.causes._looks_clipping import clipping_tight
from forensics.causes._looks_depth import all_silent
from forensics.causes._looks_gradients import gradient_jumped, gradient_ordinary, gradient_shrank
from forensics.causes._looks_growth import few_rows_grew
from forensics.causes._looks_learning_rate import lr_far_above_range
from forensics.causes._looks_loss_shape import drifted, repeated_events
from forensics.causes._looks_moments import epsilon_dominates, updates_outrun_memory
from forensics.causes._looks_non_finite import instant
from forensics.causes._looks_outcome import broke_early, explains
from forensics.causes._looks_replay_state import fresh_second_moment_removes, second_moment_stale
from forensics.causes._looks_rest import frequencies_unlearned, still_falls
from forensics.causes._looks_resume import soon_after_resume
from forensics.causes._looks_schedule import lr_steady
from forensics.causes._looks_settings import (
    adaptive_optimizer,
    beta2_long,
    beta2_short,
    epsilon_large,
    gradient_at_epsilon,
    large_batch,
)
from forensics.causes._looks_spike import from_the_depths
from forensics.findings import Change, Outcome

CALMER_BETA2 = 0.95
USUAL_EPSILON = 1e-8


def _verify(case: Case) -> str:
    return (
        f"Load the optimizer state of {changes.restart_from(case)}, take the gradient of the "
        "suspect batch and compute sqrt(mean(g**2 / v)) for each tensor: values above 2 in a few "
        "tensors, against about 1 for a neighbouring batch, confirm it."
    )


def _fix(case: Case) -> list[str]:
    betas = case.config.betas
    now = f" from {betas[1]:g}" if betas else ""
    calmer = f"Lower beta2{now} to {CALMER_BETA2:g} (at most 0.99) and resume from "
    return [
        *_lower_epsilon(case),
        f"{calmer}{changes.restart_from(case)}.",
        "Bound the update of each tensor by dividing its learning rate by max(1, RMS_t), as "
        "StableAdamW does.",
        "Check the share of entries whose second moment is below epsilon before changing epsilon; "
        "advice in the literature points both ways.",
    ]


def _lower_epsilon(case: Case) -> list[str]:
    if not epsilon_large(case).holds:
        return []
    return [f"Lower epsilon from {case.config.eps:g} to {USUAL_EPSILON:g}."]


def _changes(case: Case) -> tuple[Change, ...]:
    if epsilon_large(case).holds:
        return (Change("adam_epsilon", case.config.eps, USUAL_EPSILON),)
    betas = case.config.betas
    if betas is not None and betas[1] <= CALMER_BETA2:
        return ()
    return (Change("adam_beta2", betas[1] if betas else None, CALMER_BETA2),)


CAUSE = Cause(
    name="adam_instability",
    title="Adam's second moment out of date",
    family=Family.OPTIMISATION,
    prior=0.25,
    claim="Adam's second moment (or its epsilon) no longer matched the gradients, which made the "
    "updates of some tensors several times too long.",
    clues=(
        *explains(
            (Outcome.DIVERGED, Outcome.SPIKED_UNRECOVERED, Outcome.SPIKED_RECOVERED),
            rarely=(Outcome.NON_FINITE, Outcome.STALLED),
        ),
        Clue("adaptive_optimizer", adaptive_optimizer, 0.0, -DECISIVE),
        Clue("beta2_long", beta2_long, 0.0, -WEAK, group="settings"),
        Clue("beta2_short", beta2_short, -MODERATE, group="settings"),
        Clue("epsilon_large", epsilon_large, DECISIVE, group="epsilon"),
        Clue("gradient_at_epsilon", gradient_at_epsilon, STRONG, group="epsilon"),
        Clue("gradient_ordinary", gradient_ordinary, WEAK, group="gradient"),
        Clue("gradient_jumped", gradient_jumped, -MODERATE, group="gradient"),
        Clue("quiet_before", gradient_shrank, MODERATE),
        Clue("never_relearned", never_relearned, -WEAK, group="after"),
        Clue("all_silent", all_silent, -STRONG, group="after"),
        Clue("beyond_reason", beyond_reason, -STRONG),
        Clue("soon_after_resume", soon_after_resume, -MODERATE),
        Clue("rate_steady", lr_steady, WEAK, group="rate"),
        Clue("rate_far_above_range", lr_far_above_range, -STRONG, group="rate"),
        Clue("repeated_spikes", repeated_events, MODERATE),
        Clue("from_the_depths", from_the_depths, STRONG, group="spike"),
        Clue("drift", drifted, -WEAK),
        Clue("still_falls", still_falls, MODERATE, group="epsilon"),
        Clue("frequencies_unlearned", frequencies_unlearned, MODERATE, group="epsilon"),
        Clue("large_batch", large_batch, WEAK, group="settings"),
        Clue("clipped_all_the_same", clipping_tight, WEAK, group="settings"),
        Clue("no_warning", instant, -MODERATE),
        Clue("early", broke_early, -MODERATE),
        Clue("epsilon_dominates", epsilon_dominates, STRONG, group="epsilon"),
        Clue("updates_outrun_memory", updates_outrun_memory, MODERATE),
        Clue("few_rows_grew", few_rows_grew, WEAK),
        proof("replay", fresh_second_moment_removes),
        Clue("second_moment_stale", second_moment_stale, MODERATE, -MODERATE),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=("The gradient of the suspect batch and of a neighbour, tensor by tensor (a replay).",),
)
