"""Weight decay too high: the weights shrink faster than the gradients can hold them.

What it claims:
    Every step takes a share lr * weight_decay of each weight. Where that share is too large the
    norm of the weights falls all through training, and the function they once computed with it.

How it shows:
    The loss falls, stops, and rises slowly, without a spike; the parameter norm falls steadily.
    Embeddings go first: once small, they make the gradients of early layers large.

For:
    - lr * weight_decay of 1e-3 or more (with AdamW), or L2 regularisation of 1e-2 with SGD.
    - A parameter norm that lost a third or more.
    - A gradual rise or an early plateau.
    - Matrices whose norm shrinks from checkpoint to checkpoint.

Against:
    - The usual 0.01 to 0.1 at a usual rate.
    - A parameter norm that grows or stays.
    - A spike, a NaN, or trouble within the first steps: decay acts over 1 / (lr * decay) steps.

What to do:
    Set the decay to 0.1 or below, exempt embeddings, norms and biases, and restart from before
    the turn. In balance, AdamW leaves a weight RMS of about sqrt(lr / (2 wd) * (1-b1)/(1+b1)).

References:
    - I. Loshchilov, F. Hutter, Decoupled Weight Decay Regularization, arXiv 1711.05101.
    - OLMo 2, arXiv 2501.00656: no weight decay on embeddings.
    - Su Jianlin, kexue.fm 11307: the equilibrium weight RMS of AdamW.
"""

from forensics.case import Case
from forensics.causes import _changes as changes
from forensics.causes import _facts as facts
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_gradients import gradient_grew
from forensics.causes._looks_loss_shape import drifted, repeated_events
from forensics.causes._looks_outcome import broke_early, explains
from forensics.causes._looks_replay_rate import no_decay_removes
from forensics.causes._looks_settings import weight_decay_extreme, weight_decay_high
from forensics.causes._looks_updates import weights_shrink
from forensics.causes._looks_weights import weights_shrank
from forensics.findings import Change, Outcome
from forensics.phrasing import number

USUAL_DECAY = 0.1


def _verify(case: Case) -> str:
    lr, decay = facts.highest_lr(case), case.config.weight_decay
    rate = f" (here {number(lr * decay)} of them a step)" if lr and decay else ""
    return (
        "Compare the norm of the weights in an early and in the last checkpoint: if it fell by a "
        f"third or more{rate}, train 500 steps from {changes.restart_from(case)} without weight "
        "decay and see whether the loss stops rising."
    )


def _fix(case: Case) -> list[str]:
    decay = case.config.weight_decay
    now = f"from {number(decay)} " if decay is not None else ""
    return [
        f"Lower the weight decay {now}to {number(_usual(case))} and restart from "
        f"{changes.restart_from(case)}.",
        "Exempt embeddings, normalisation weights and biases from it.",
        "Log the norm of the weights.",
    ]


def _usual(case: Case) -> float:
    decay = case.config.weight_decay
    return USUAL_DECAY if decay is None or decay > USUAL_DECAY else changes.round_to(decay / 10)


def _changes(case: Case) -> tuple[Change, ...]:
    decay = case.config.weight_decay
    return () if not decay else (Change("weight_decay", decay, _usual(case)),)


CAUSE = Cause(
    name="weight_decay_too_high",
    title="Weight decay too high",
    family=Family.OPTIMISATION,
    prior=0.1,
    claim="Weight decay pulls the weights towards zero faster than the gradients push back.",
    clues=(
        *explains((Outcome.STALLED, Outcome.DIVERGED), rarely=(Outcome.SPIKED_UNRECOVERED,)),
        Clue("decay_extreme", weight_decay_extreme, DECISIVE, group="decay"),
        Clue("decay_high", weight_decay_high, STRONG, -STRONG, group="decay"),
        Clue("weights_shrink", weights_shrink, STRONG, -STRONG, group="shrank"),
        Clue("drift", drifted, MODERATE, -MODERATE),
        Clue("repeated_spikes", repeated_events, -MODERATE),
        Clue("gradient_grew", gradient_grew, WEAK),
        Clue("early", broke_early, -MODERATE),
        Clue("weights_shrank", weights_shrank, STRONG, -STRONG, group="shrank"),
        proof("replay", no_decay_removes),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
)
