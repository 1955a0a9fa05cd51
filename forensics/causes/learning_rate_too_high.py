"""Learning rate too high: every update overshoots, however good its gradient.

What it claims:
    An update is the learning rate times a direction. Here the rate is the factor that is too
    large: the weights are thrown past the region in which the gradient means anything, and the
    loss rises instead of falling.

How it shows:
    The loss turns upward, spikes again and again or jumps to a high level while the rate is near
    its peak, typically as the warm-up ends. It recovers, if at all, only as the schedule brings
    the rate down. Clipping acts on most steps. Other data or another seed move the failure but do
    not remove it.

For:
    - A rate above what is documented: 2e-5 for full fine-tuning, 2e-4 for LoRA, 1e-3 for Adam
      from scratch, 0.1 for SGD.
    - The failure begins near the peak of the rate, around the end of the warm-up, or late in a
      run whose rate never decays.
    - Repeated spikes; a loss that drifts, or grows from point to point; more than half of the
      steps clipped; updates above a hundredth of the weights.
    - Matrices that move by some hundredths of themselves a step between checkpoints.
    - A loss that rests above that of a guess, or rose far above its beginning in the first steps.

Against:
    - The failure begins far below the peak, after long calm.
    - It came back although the rate had been lowered.
    - The loss rose evenly to the last while the rate came down, or was too high before any step.
    - A number was non-finite before any update, or from one step to the next with no rise before.
    - A leap out of long calm at a rate that had been in force for hundreds of steps.
    - Output logits that had drifted before anything broke; moments that Adam cannot bring about.

What to do:
    Go back to the last healthy checkpoint with a third of the rate (a fifth less where the loss
    only drifted), keep a warm-up of about 3 % of the run and a decaying schedule. If that only
    delays the failure, the cause lies elsewhere: initialisation, attention logits, data.

References:
    - Google Research, Deep Learning Tuning Playbook: check at five to ten times the best rate; if
      more than half of the updates are clipped, cut the rate.
    - BigScience 104B chronicles: three reductions of the rate only delayed the divergence; the
      initialisation was at fault.
    - Small-scale proxies for large-scale Transformer training instabilities, arXiv 2309.14322.
"""

from forensics.case import Case
from forensics.causes import _changes as changes
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_activations import output_logits_grow
from forensics.causes._looks_break import beyond_reason, never_relearned, out_of_calm
from forensics.causes._looks_clipping import (
    clipping_frequent,
    clipping_saturated,
    clipping_severe,
)
from forensics.causes._looks_depth import last_layer_runs_away
from forensics.causes._looks_first_loss import wrong_before_steps
from forensics.causes._looks_initial import units_alike, weights_oversized
from forensics.causes._looks_last_finite import fell_to_the_last, leapt_in_one_batch
from forensics.causes._looks_learning_rate import (
    lr_above_range,
    lr_far_above_range,
    lr_high_for_batch,
    lr_ordinary,
    lr_tiny,
)
from forensics.causes._looks_levels import lost_at_high_rate
from forensics.causes._looks_loss_shape import (
    drifted,
    grew_step_by_step,
    repeated_events,
    rises_against_rate,
    settled_higher,
)
from forensics.causes._looks_moments import bound_broken
from forensics.causes._looks_non_finite import calm_before_nan, instant, isolated_non_finite
from forensics.causes._looks_outcome import BROKE, before_any_update, ended, explains
from forensics.causes._looks_replay_rate import beyond_critical_rate, lower_rate_removes
from forensics.causes._looks_rest import (
    frequencies_unlearned,
    overshot_at_first,
    rests_above_guess,
    still_falls,
)
from forensics.causes._looks_resume import failed_on_restarted_rate, soon_after_resume
from forensics.causes._looks_scaling import first_loss_is_multiple
from forensics.causes._looks_schedule import (
    loss_follows_lr,
    lowered_in_vain,
    never_decayed,
    onset_after_decay,
    onset_near_peak,
    schedule_anew,
)
from forensics.causes._looks_updates import updates_large
from forensics.causes._looks_warmup import (
    onset_around_warmup_end,
    onset_at_warmup_end,
    onset_while_rising,
)
from forensics.causes._looks_weights import moved_far
from forensics.findings import Change, Outcome


def _verify(case: Case) -> str:
    change, length = changes.lower_lr(case), changes.trial(case)
    rates = "the present one, a half and a tenth of it"
    if change:
        now, lowest = change.before, min(change.before / 10, change.after)
        middle = now / 2 if lowest >= now / 10 else changes.round_to((now * lowest) ** 0.5)
        rates = f"{now:g}, {middle:g} and {lowest:g}"
    return (
        f"From {changes.restart_from(case)}, train {length} on the same data at learning "
        f"rates {rates}: if the instability shrinks with the rate, the rate is the cause; if it "
        "only comes later, it is not."
    )


def _fix(case: Case) -> list[str]:
    clip = changes.clip_norm(case)
    return [
        f"Restart from {changes.restart_from(case)} with the learning rate changed "
        f"{changes.lr_words(case)}.",
        f"Warm up over about {changes.longer_warmup(case).after:,} steps and let the rate decay "
        "afterwards.",
        f"Clip the global gradient norm at {clip.after:g}; if that still acts on more than a fifth "
        "of the steps, lower the rate further.",
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    change = changes.lower_lr(case)
    return () if change is None else (change,)


CAUSE = Cause(
    name="learning_rate_too_high",
    title="Learning rate too high",
    family=Family.OPTIMISATION,
    prior=1.0,
    claim="The learning rate is too high for this model, optimizer and batch, so that ordinary "
    "gradients make updates that overshoot.",
    clues=(
        *explains((*BROKE, Outcome.STALLED), rarely=(Outcome.SPIKED_RECOVERED,)),
        Clue("stalled", ended(Outcome.STALLED), -WEAK, group="outcome"),
        Clue("rate_far_above_range", lr_far_above_range, DECISIVE, group="level"),
        Clue("rate_above_range", lr_above_range, STRONG, -WEAK, group="level"),
        Clue("rate_high_for_batch", lr_high_for_batch, MODERATE, group="level"),
        Clue("rate_ordinary", lr_ordinary, -MODERATE, group="level"),
        Clue("rate_tiny", lr_tiny, -STRONG, group="level"),
        Clue("begins_at_warmup_end", onset_at_warmup_end, STRONG + MODERATE, group="timing"),
        Clue("begins_around_warmup_end", onset_around_warmup_end, STRONG, group="timing"),
        Clue("begins_while_rate_rises", onset_while_rising, MODERATE, group="timing"),
        Clue("begins_near_peak", onset_near_peak, MODERATE, group="timing"),
        Clue("begins_after_decay", onset_after_decay, -STRONG, group="timing"),
        Clue("rate_never_decayed", never_decayed, MODERATE, group="timing"),
        Clue("loss_follows_rate", loss_follows_lr, STRONG),
        Clue("rises_against_rate", rises_against_rate, -STRONG, group="shape"),
        Clue("wrong_before_steps", wrong_before_steps, -STRONG),
        Clue("grew_step_by_step", grew_step_by_step, MODERATE, group="shape"),
        Clue("repeated_spikes", repeated_events, MODERATE, group="shape"),
        Clue("drift", drifted, MODERATE, group="shape"),
        Clue("settled_higher", settled_higher, WEAK, group="shape"),
        Clue("clipping_severe", clipping_severe, MODERATE, group="clipping"),
        Clue("clipping_saturated", clipping_saturated, WEAK, group="clipping"),
        Clue("clipping_frequent", clipping_frequent, WEAK, group="clipping"),
        Clue("updates_large", updates_large, STRONG, -MODERATE, group="updates"),
        Clue("lowered_in_vain", lowered_in_vain, -STRONG),
        Clue("calm_before", calm_before_nan, -MODERATE, group="start"),
        Clue("fell_to_the_last", fell_to_the_last, -MODERATE, group="start"),
        Clue("no_warning", instant, -STRONG, group="start"),
        Clue("leapt_in_one_batch", leapt_in_one_batch, -STRONG, group="start"),
        Clue("out_of_calm", out_of_calm, -MODERATE, group="start"),
        Clue("beyond_reason", beyond_reason, -STRONG, group="start"),
        Clue("rests_above_guess", rests_above_guess, STRONG, group="long_steps"),
        Clue("overshot_at_first", overshot_at_first, STRONG, group="long_steps"),
        Clue("lost_at_high_rate", lost_at_high_rate, STRONG, group="long_steps"),
        Clue("still_falls", still_falls, -MODERATE),
        # A loss that is a sum tells nothing of the updates by its height, and makes them longer.
        Clue("first_is_multiple", first_loss_is_multiple, -STRONG),
        Clue("frequencies_unlearned", frequencies_unlearned, -MODERATE),
        Clue("weights_oversized", weights_oversized, -MODERATE, group="weights"),
        Clue("units_alike", units_alike, -STRONG, group="weights"),
        Clue("never_relearned", never_relearned, -MODERATE),
        Clue("output_logits_grew", output_logits_grow, -STRONG, group="head"),
        Clue("last_layer_runs_away", last_layer_runs_away, -MODERATE, group="head"),
        Clue("moments_impossible", bound_broken, -STRONG),
        Clue("isolated", isolated_non_finite, -MODERATE, group="start"),
        Clue("before_any_update", before_any_update, -DECISIVE, group="start"),
        Clue("after_resume", soon_after_resume, -STRONG, group="resume"),
        Clue("rate_restarted", failed_on_restarted_rate, -DECISIVE, group="resume"),
        # The rate that broke the run is one that it had stood before.
        Clue("rate_anew", schedule_anew, -STRONG, group="resume"),
        Clue("moved_far", moved_far, MODERATE, group="updates"),
        proof("replay", lower_rate_removes),
        Clue("beyond_critical_rate", beyond_critical_rate, MODERATE, -WEAK),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=(
        "The same stretch of training at a lower rate (a replay from the last healthy checkpoint).",
    ),
)
