"""Output-logit divergence: the logits of the last layer drift where the loss does not look.

What it claims:
    Cross-entropy does not change when all logits move together, so nothing holds them: their common
    level and the norm of the output layer drift, far from zero. In 16 bits the softmax then loses
    its digits, and the loss with them.

How it shows:
    A slow rise, or a failure, late in training when the learning rate is already low, without
    spikes before it; the log of the partition function, or the norm of the last layer, drifted
    long before.

For:
    - A failure far below the peak of the learning rate, late in the run.
    - No weight decay, no z-loss and no cap on the logits.
    - Logged output logits, or log Z, that grow in size.
    - An output layer that grows more than the other weights between checkpoints.
    - A loss that rises evenly to the last while the rate comes down.
    - Last layers that move at full length in one direction while the others move at random.

Against:
    - A z-loss or a logit cap.
    - The peak of the learning rate, or the beginning of training.
    - A problem with few classes.

What to do:
    Add a z-loss of 1e-4 on log Z, put weight decay on the output layer, compute logits and loss in
    fp32, and resume from before the drift.

References:
    - PaLM, arXiv 2204.02311: z-loss of 1e-4 on log Z.
    - Small-scale proxies, arXiv 2309.14322: output logits diverge towards the end of training;
      z-loss or weight decay cure it.
    - Marin 32B retrospective: late divergence at a low rate by growth of the output layer.
"""

from forensics.case import Case
from forensics.causes import _changes as changes
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_activations import output_logits_grow
from forensics.causes._looks_break import out_of_calm
from forensics.causes._looks_depth import last_layer_runs_away
from forensics.causes._looks_growth import head_grew
from forensics.causes._looks_learning_rate import lr_far_above_range
from forensics.causes._looks_loss_shape import drifted, repeated_events, rises_against_rate
from forensics.causes._looks_model import large_vocabulary, logits_restrained
from forensics.causes._looks_outcome import BROKE, early, explains
from forensics.causes._looks_schedule import onset_after_decay, onset_near_peak
from forensics.causes._looks_settings import weight_decay_off
from forensics.findings import Change, Outcome


def _verify(case: Case) -> str:
    return (
        f"With {changes.restart_from(case)} and an earlier checkpoint, compute logsumexp(logits) "
        "of one batch in fp32: a mean beyond 10 that was near 0 before confirms it; subtracting "
        "the mean logit must leave the fp32 loss unchanged."
    )


def _fix(case: Case) -> list[str]:
    return [
        f"Add a z-loss of 1e-4 * log(Z)**2 and resume from {changes.restart_from(case)}.",
        "Compute the logits and the cross-entropy in fp32.",
        "Put weight decay (0.1) on the output layer.",
    ]


def _changes(_: Case) -> tuple[Change, ...]:
    return (Change("z_loss", None, 1e-4),)


CAUSE = Cause(
    name="output_logit_divergence",
    title="Output logits drifting",
    family=Family.MODEL,
    prior=0.1,
    claim="The output logits drifted away from zero, unseen by the loss, until the softmax could "
    "not represent them.",
    clues=(
        *explains(BROKE, rarely=(Outcome.SPIKED_RECOVERED,)),
        Clue("logits_grow", output_logits_grow, DECISIVE + MODERATE, -STRONG, group="logits"),
        Clue("last_layer_runs_away", last_layer_runs_away, STRONG, -MODERATE, group="head"),
        Clue("out_of_calm", out_of_calm, -STRONG),
        Clue("rises_against_rate", rises_against_rate, STRONG + MODERATE, group="timing"),
        Clue("begins_after_decay", onset_after_decay, STRONG, group="timing"),
        Clue("begins_near_peak", onset_near_peak, -WEAK, group="timing"),
        Clue("early", early, -STRONG, WEAK, group="timing"),
        Clue("drift", drifted, MODERATE, group="shape"),
        Clue("repeated_spikes", repeated_events, -WEAK, group="shape"),
        Clue("restrained", logits_restrained, -STRONG - MODERATE, WEAK),
        Clue("decay_off", weight_decay_off, MODERATE, -WEAK),
        Clue("large_vocabulary", large_vocabulary, WEAK, -WEAK),
        Clue("rate_far_above_range", lr_far_above_range, -STRONG),
        Clue("head_grew", head_grew, MODERATE, -WEAK, group="head"),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=("log Z of one batch in two checkpoints (a replay).",),
)
