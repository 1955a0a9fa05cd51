"""Gradient clipping missing: one exceptional gradient was applied at full length.

What it claims:
    The gradients are ordinary but for a few that are ten to a thousand times longer, and nothing
    bounds them: clipping is off, or its threshold lies far above the usual norm. A single such
    step does the damage.

How it shows:
    The gradient norm is quiet, jumps within one to a few steps, and the loss follows in the same
    step or the next ones. It may come back slowly, break for good, or spike again at the next such
    gradient. Recurrent networks and deep ones without normalisation are the usual places.

For:
    - Clipping is configured off, or its threshold is ten times the usual norm.
    - Isolated jumps of the norm of ten times its median or more, just before the loss.
    - The norm left its band before the loss did, or before the loss came to rest too early.
    - In a checkpoint, sqrt(sum(vhat)) above the threshold that should bound it.

Against:
    - Clipping was on, with a threshold near the usual norm: a single step cannot have done it.
    - The norm stayed smooth up to the failure, or rose over a long stretch.
    - The learning rate is far above its range: then clipping would only hide it.

What to do:
    Clip the global norm at 1.0, or at the 90th percentile of this run's healthy norms, and resume
    from the last healthy checkpoint. Clipping is a seat belt: if it acts on more than a fifth of
    the steps, the rate is the cause. With mixed precision unscale first, then clip.

References:
    - R. Pascanu et al., On the Difficulty of Training Recurrent Neural Networks, arXiv 1211.5063.
    - Google Research, Deep Learning Tuning Playbook: clip at the 90th percentile of the norms.
    - SPAM, arXiv 2501.06842: gradient spikes of up to a thousand times the usual size.
    - PaLM, arXiv 2204.02311: some twenty spikes in spite of clipping; it does not help against
      all of them.
"""

from forensics.case import Case
from forensics.causes import _changes as changes
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_break import out_of_calm
from forensics.causes._looks_clipping import (
    clipping_loose,
    clipping_off,
    clipping_saturated,
    clipping_tight,
)
from forensics.causes._looks_gradients import (
    gradient_grew,
    gradient_jumped,
    gradient_led,
    gradient_spiked,
)
from forensics.causes._looks_jolt import jolted_to_rest
from forensics.causes._looks_learning_rate import lr_above_range, lr_far_above_range
from forensics.causes._looks_loss_shape import drifted, repeated_events
from forensics.causes._looks_model import recurrent
from forensics.causes._looks_moments import norm_at_clip, norm_beyond_clip
from forensics.causes._looks_outcome import BROKE, before_any_update, explains, from_the_start
from forensics.causes._looks_replay_rate import clipping_removes
from forensics.causes._looks_resume import soon_after_resume
from forensics.findings import Change, Outcome


def _verify(case: Case) -> str:
    clip = changes.clip_norm(case)
    return (
        f"From {changes.restart_from(case)}, replay {changes.trial(case)} over the "
        f"failure with the same batches twice, once as before and once clipped at {clip.after:g}: "
        "if only the clipped one goes through, clipping was missing."
    )


def _fix(case: Case) -> list[str]:
    clip = changes.clip_norm(case)
    return [
        f"Clip the global gradient norm at {clip.after:g} and resume from "
        f"{changes.restart_from(case)}.",
        "Log the norm before clipping and the share of clipped steps; above 20 % lower the "
        "learning rate instead of the threshold.",
        "Look at the batches whose gradient jumped: what they hold decides whether to keep them.",
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    return (changes.clip_norm(case),)


CAUSE = Cause(
    name="gradient_clipping_missing",
    title="Gradient clipping missing or out of reach",
    family=Family.OPTIMISATION,
    prior=0.4,
    claim="A few exceptional gradients were applied without a bound, and one such update broke "
    "the run.",
    clues=(
        *explains(BROKE, rarely=(Outcome.SPIKED_RECOVERED, Outcome.STALLED)),
        Clue("out_of_calm", out_of_calm, -WEAK),
        Clue("soon_after_resume", soon_after_resume, -STRONG),
        Clue("clipping_off", clipping_off, MODERATE, group="clipping"),
        Clue("clipping_loose", clipping_loose, MODERATE, group="clipping"),
        Clue("clipping_tight", clipping_tight, -STRONG, group="clipping"),
        Clue("clipping_saturated", clipping_saturated, -DECISIVE, group="clipping"),
        Clue("jolted_to_rest", jolted_to_rest, STRONG + MODERATE, group="gradient"),
        Clue("gradient_jumped", gradient_jumped, STRONG, -MODERATE, group="gradient"),
        Clue("gradient_spiked", gradient_spiked, MODERATE, -MODERATE, group="gradient"),
        Clue("gradient_led", gradient_led, MODERATE, group="gradient"),
        Clue("gradient_grew", gradient_grew, -MODERATE, group="slow"),
        Clue("drift", drifted, -MODERATE, group="slow"),
        Clue("repeated_spikes", repeated_events, WEAK),
        Clue("recurrent", recurrent, MODERATE),
        Clue("rate_far_above_range", lr_far_above_range, -STRONG, group="rate"),
        Clue("rate_above_range", lr_above_range, -MODERATE, group="rate"),
        Clue("from_the_start", from_the_start, -MODERATE, group="start"),
        Clue("before_any_update", before_any_update, -DECISIVE, group="start"),
        Clue("norm_beyond_clip", norm_beyond_clip, STRONG, group="implied"),
        Clue("norm_at_clip", norm_at_clip, -STRONG, group="implied"),
        proof("replay", clipping_removes),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=("The gradient norm of the failing step, before clipping, from a replay.",),
)
