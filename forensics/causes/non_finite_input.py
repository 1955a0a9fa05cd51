"""Non-finite input: a sample with NaN or infinity entered the model.

What it claims:
    An input or a target holds NaN or infinity (a missing measurement, a division in the
    preprocessing, a broken image). The forward pass turns non-finite in that one batch.

How it shows:
    Loss and gradient norm become NaN in the same step, without anything unusual before. Without a
    guard the update poisons the weights and all later losses are NaN; with one, single steps are
    NaN and training goes on. A lower learning rate does not help.

For:
    NaN or infinity in the captured batch of the step; no precursor; loss and gradient in the same
    step; isolated NaN losses; the same place of each epoch.

Against:
    A captured batch that is finite; a gradient norm that grew before; a loss that is NaN while the
    gradient is finite (see ``labels_all_masked``); the very first step, where every batch is
    affected alike.
    - A gradient that was not finite while the loss still was.

What to do:
    Check every sample with ``isfinite`` before training, inputs and targets alike. Repair or drop.

References:
    prs-eth/Marigold issue 111 (NaN in depth maps). pytorch/vision issue 997 (degenerate boxes).
"""

from forensics.batch_facts import Oddity
from forensics.case import Case
from forensics.causes import _looks_batches as batches
from forensics.causes import _looks_data as data
from forensics.causes import _looks_non_finite as broken
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_gradients import gradient_broke_first
from forensics.causes._looks_last_finite import fell_to_the_last, leapt_in_one_batch
from forensics.causes._looks_model import reads_tokens
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_replay_data import input_not_finite
from forensics.causes._spikes import non_finite_steps
from forensics.causes._where import broken_words
from forensics.findings import Outcome


def _verify(case: Case) -> str:
    return (
        f"Load {broken_words(case)} and print torch.isfinite(x).all() of every tensor in it. On "
        "the whole data set: for i, sample in enumerate(dataset): assert all values are finite, "
        "else print i."
    )


def _fix(case: Case) -> list[str]:
    return [
        f"Find the non-finite samples, beginning with {broken_words(case)}, and repair or drop "
        "them.",
        "Add the check to the loader, so that a sample fails there with its number and not in the "
        "model.",
        "Look for divisions by a standard deviation of 0 and logarithms of 0 in the preprocessing.",
        "Resume from the checkpoint before the first non-finite loss.",
    ]


CAUSE = Cause(
    name="non_finite_input",
    title="Non-finite input",
    family=Family.DATA,
    prior=0.5,
    claim="A sample holds NaN or infinity, and the loss of its batch became non-finite.",
    clues=(
        *explains(
            (Outcome.NON_FINITE, Outcome.SPIKED_RECOVERED),
            (Outcome.VALIDATION_FAILED, Outcome.CRASHED),
        ),
        Clue("any_non_finite", broken.any_non_finite, 0.0, -DECISIVE, refutes=True),
        Clue("instant", broken.instant, STRONG, -STRONG, group="onset"),
        Clue("calm_before", broken.calm_before_nan, MODERATE, group="onset"),
        Clue("fell_to_the_last", fell_to_the_last, MODERATE, group="onset"),
        Clue("leapt_in_one_batch", leapt_in_one_batch, -STRONG),
        Clue(
            "gradient_with_loss", data.gradient_broke_with_loss, MODERATE, -STRONG, group="forward"
        ),
        Clue("gradient_first", gradient_broke_first, -DECISIVE, group="forward"),
        Clue("reads_tokens", reads_tokens, -STRONG),
        Clue("isolated", broken.isolated_non_finite, MODERATE, group="recurrence"),
        Clue("each_epoch", data.non_finite_each_epoch, STRONG, -WEAK, group="recurrence"),
        Clue(
            "in_batch",
            batches.shows(Oddity.NON_FINITE_INPUT),
            DECISIVE,
            -DECISIVE,
            group="batch",
        ),
        Clue(
            "in_all_batches",
            batches.in_all_batches(Oddity.NON_FINITE_INPUT),
            MODERATE,
            group="batch",
        ),
        proof("replay", input_not_finite),
    ),
    verify=_verify,
    fix=_fix,
    skip=non_finite_steps,
    needs=(
        "the batch of the first non-finite step (batches/step_<N>.safetensors or a replay file)",
        "a replay of that batch: the first non-finite tensor is then an input",
    ),
)
