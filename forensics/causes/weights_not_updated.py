"""Weights not updated: gradients are computed, but the weights stay as they are.

What it claims:
    The optimizer works on other tensors than the model (it was built before wrapping or moving
    it), the gradient never reaches the parameters, `step` is never called, or each update is
    smaller than the number format can hold.

How it shows:
    The loss shows only the noise of the batches, from the first step, while the gradient norm is
    ordinary and the learning rate is not zero. Validation gives the same number every time.

For:
    - Validation losses, or a parameter norm, that agree to the last digit.
    - A loss that rests on the very level at which it began, not on that of a guess.
    - An ordinary gradient norm and a rate in the usual range beside a flat loss.
    - Weights kept in bf16 without fp32 copies at a small rate: an update below 2^-8 of a weight
      is rounded away.
    - Checkpoints whose weights are the same bit for bit.

Against:
    - Validation or the parameter norm moves.
    - The loss had fallen before it stopped.
    - The rate is zero or tiny, or the gradient is.

What to do:
    Build the optimizer after the model is wrapped and moved, keep fp32 master weights, and make
    a test of it: after one step at least 99 % of the trainable tensors must have changed.

References:
    - TrainCheck (OSDI 2025): silent training errors of this kind, among them an optimizer bound
      to tensors that FSDP replaced.
    - torchao issue 1124: no weight of 768 moved in 100 steps of bf16 training at 6e-4.
    - PyTorch, torch.utils.checkpoint: with use_reentrant=True and inputs that need no gradient,
      the layers inside get none.
"""

from forensics.case import Case
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_data import always_zero_loss
from forensics.causes._looks_gradients import gradient_alive
from forensics.causes._looks_learning_rate import lr_tiny, lr_zero
from forensics.causes._looks_loss_shape import (
    fell_first,
    moved_at_all,
    plateau_level,
    repeated_events,
    validation_frozen,
)
from forensics.causes._looks_outcome import explains, from_the_start
from forensics.causes._looks_precision import updates_rounded_away
from forensics.causes._looks_replay_state import trains_when_replayed
from forensics.causes._looks_rest import still_falls
from forensics.causes._looks_text import says
from forensics.causes._looks_updates import weights_frozen
from forensics.causes._looks_weights import never_updated, rounded_away
from forensics.findings import Outcome
from forensics.run import TextKind


def _verify(_: Case) -> str:
    return (
        "before = [p.detach().clone() for p in model.parameters()]; train one step; then "
        "sum(not torch.equal(a, b) for a, b in zip(before, model.parameters())): 0 or a small "
        "part of all parameters confirms it."
    )


def _fix(case: Case) -> list[str]:
    fixes = [
        "Build the optimizer after the model is wrapped, moved or cast, from the wrapped model's "
        "parameters.",
        "Check that every trainable parameter has a gradient after backward, and that step is "
        "called once an accumulation.",
    ]
    narrow = case.config.precision in ("bf16", "fp16")
    advice = "Keep the weights in fp32 and compute in bf16, or use stochastic rounding."
    return [advice, *fixes] if narrow and updates_rounded_away(case).holds else [*fixes, advice]


CAUSE = Cause(
    name="weights_not_updated",
    title="Weights not updated",
    family=Family.OPTIMISATION,
    prior=0.2,
    claim="The updates never reach the weights that the model computes with.",
    clues=(
        *explains((Outcome.STALLED,), rarely=(Outcome.UNKNOWN, Outcome.CRASHED)),
        # Frozen parts under checkpointing bring the same warning, and no harm.
        Clue("gradients_absent", says(TextKind.GRADIENTS_ABSENT), STRONG),
        # First, and so before the others of its group: bits leave no room for rounding.
        Clue("never_updated", never_updated, DECISIVE, -DECISIVE, group="frozen"),
        Clue("validation_frozen", validation_frozen, DECISIVE, -DECISIVE, group="frozen"),
        Clue("weights_frozen", weights_frozen, DECISIVE, -DECISIVE, group="frozen"),
        Clue("gradient_ordinary", gradient_alive, WEAK, -STRONG),
        Clue("rate_tiny", lr_tiny, -STRONG, WEAK, group="rate"),
        Clue("rate_zero", lr_zero, -DECISIVE, group="rate"),
        Clue("loss_moved", moved_at_all, -STRONG, WEAK, group="shape"),
        Clue("fell_first", fell_first, -STRONG, group="shape"),
        Clue("still_falls", still_falls, -STRONG, group="shape"),
        Clue("from_the_start", from_the_start, WEAK, group="shape"),
        Clue("rests_where_it_began", plateau_level("initial"), MODERATE),
        Clue("updates_rounded_away", updates_rounded_away, MODERATE),
        Clue("repeated_spikes", repeated_events, -STRONG),
        Clue("rounded_away", rounded_away, STRONG),
        # Where no sample has a label there is no gradient either, and nothing to apply.
        Clue("always_zero", always_zero_loss, -STRONG - MODERATE),
        Clue("trains_when_replayed", trains_when_replayed, WEAK, -MODERATE),
    ),
    verify=_verify,
    fix=_fix,
)
