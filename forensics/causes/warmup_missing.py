"""Warm-up missing: full-sized updates before the optimizer knows the gradients.

What it claims:
    Training begins at, or rushes to, its full learning rate. Adam's second moment is still that of
    a handful of batches and the loss surface near new weights is steep, so the first updates are
    far too long. The same peak rate would be safe after a warm-up.

How it shows:
    The loss turns up or jumps within the first steps, or just as a short warm-up ends, and either
    breaks or stays on a level it would have passed. The gradient norm is largest at the start.

For:
    - The failure lies within the first 5 % of the run (100 steps where its length is not known),
      or within three warm-ups.
    - The first logged rate is the peak, or the warm-up is shorter than 1 % of the run.
    - The rate itself is within the documented range.
    - A loss that rises far above its beginning in the first steps.

Against:
    - Training went well long after the second moment had filled, in 2 / (1 - beta2) steps.
    - A warm-up of ordinary length was there.
    - The rate is so high that no warm-up would make it safe.
    - A number was non-finite before any update.

What to do:
    Start again from the initial weights (or the first checkpoint) with a linear warm-up of about
    3 % of the steps, 100 to 2,000, at the same peak rate. Auxiliary losses at full weight from
    step 0 need a ramp of their own.

References:
    - J. Ma, D. Yarats, On the Adequacy of Untuned Warmup, arXiv 1910.04209: 2 / (1 - beta2) steps.
    - Why Warmup the Learning Rate?, arXiv 2406.09405: warm-up lets a higher peak be tolerated.
    - Google Research, Deep Learning Tuning Playbook: up to 10 % of the steps, rarely more.
"""

from forensics.case import Case
from forensics.causes import _changes as changes
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_gradients import gradient_large_at_first
from forensics.causes._looks_learning_rate import lr_above_range, lr_far_above_range, lr_ordinary
from forensics.causes._looks_model import attention_used
from forensics.causes._looks_non_finite import isolated_non_finite
from forensics.causes._looks_outcome import BROKE, before_any_update, early, explains
from forensics.causes._looks_replay_rate import warmup_removes
from forensics.causes._looks_rest import frequencies_unlearned, overshot_at_first
from forensics.causes._looks_resume import failed_on_restarted_rate, resumed
from forensics.causes._looks_scaling import first_loss_is_multiple
from forensics.causes._looks_settings import adaptive_optimizer
from forensics.causes._looks_travel import rate_far_below_range
from forensics.causes._looks_warmup import onset_around_warmup_end, warmup_absent, warmup_short
from forensics.findings import Change, Outcome


def _verify(case: Case) -> str:
    warmup = changes.longer_warmup(case)
    return (
        f"Start again from {changes.restart_from(case)} with a linear warm-up of "
        f"{warmup.after:,} steps and everything else unchanged, for "
        f"{changes.failing_stretch(case) + int(warmup.after):,} steps: a stable loss at the same "
        "peak rate shows that the warm-up was missing."
    )


def _fix(case: Case) -> list[str]:
    warmup = changes.longer_warmup(case)
    return [
        f"Warm the learning rate up over {warmup.after:,} steps from {changes.restart_from(case)}.",
        f"Clip the global gradient norm at {changes.clip_norm(case).after:g} to bound the first "
        "updates.",
        "If the failure only moves to the end of the warm-up, the peak rate is too high: lower it "
        f"{changes.lr_words(case)}.",
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    return (changes.longer_warmup(case),)


CAUSE = Cause(
    name="warmup_missing",
    title="Learning-rate warm-up missing or too short",
    family=Family.OPTIMISATION,
    prior=0.3,
    claim="Training reached its full learning rate before the optimizer and the weights could "
    "stand it.",
    clues=(
        *explains(BROKE, rarely=(Outcome.SPIKED_RECOVERED, Outcome.STALLED)),
        Clue("rate_above_range", lr_above_range, WEAK, group="rate"),
        Clue("rate_ordinary", lr_ordinary, -MODERATE, group="rate"),
        Clue("rate_tiny", rate_far_below_range, -STRONG, group="rate"),
        Clue("frequencies_unlearned", frequencies_unlearned, -MODERATE),
        Clue("overshot_at_first", overshot_at_first, STRONG),
        # A loss that is a sum tells nothing of the updates by its height, and makes them longer.
        Clue("first_is_multiple", first_loss_is_multiple, -STRONG),
        Clue("early", early, MODERATE, -DECISIVE, group="timing"),
        Clue("around_warmup_end", onset_around_warmup_end, MODERATE, group="timing"),
        Clue("warmup_absent", warmup_absent, MODERATE, -MODERATE, group="warmup"),
        Clue("warmup_short", warmup_short, STRONG, -STRONG, group="warmup"),
        Clue("rate_far_above_range", lr_far_above_range, -STRONG, group="rate"),
        Clue("gradient_large_at_first", gradient_large_at_first, WEAK),
        Clue("adaptive_optimizer", adaptive_optimizer, 0.0, -WEAK),
        Clue("attention_used", attention_used, WEAK, -MODERATE),
        Clue("isolated", isolated_non_finite, -STRONG),
        Clue("before_any_update", before_any_update, -DECISIVE),
        Clue("resumed", resumed, -MODERATE, group="resume"),
        Clue("rate_restarted", failed_on_restarted_rate, -DECISIVE, group="resume"),
        proof("replay", warmup_removes, refutes=False),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=("A restart with a longer warm-up, for a few hundred steps.",),
)
