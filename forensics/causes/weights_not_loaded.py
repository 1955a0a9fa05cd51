"""Weights not loaded: a pretrained model that starts from random numbers.

What it claims:
    The checkpoint was not found, its names did not match, a prefix was dropped with
    `strict=False`, or the loaded weights were overwritten by a later initialisation. Fine-tuning
    then runs with a rate and a length meant for a trained model.

How it shows:
    The first loss is that of a uniform guess, where a pretrained model would start well below it,
    and training creeps along above what even short fine-tuning reaches.

For:
    - Fine-tuning whose first loss is ln(vocabulary) or ln(classes).
    - Lines of the log about newly initialised weights or missing keys (for a new classification
      head alone they are normal).
    - The loader named missing weights of a language model, and its first loss is that of a guess.

Against:
    - A first loss well below that of a guess.
    - Training from scratch, on purpose.
    - A failure that begins after a good start.

What to do:
    Load with strict=True, print missing and unexpected keys, and compare one tensor with the file.
    Before training, evaluate: a pretrained language model has 2 to 4 nats on ordinary text.

References:
    - A. Karpathy, A Recipe for Training Neural Networks: verify the loss at initialisation.
    - Transformers documentation, from_pretrained: the report on newly initialized weights.
"""

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import DECISIVE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_first_loss import (
    initial_at_chance,
    pretrained_at_chance,
    unloaded_at_chance,
)
from forensics.causes._looks_model import pretrained
from forensics.causes._looks_outcome import early, explains, from_the_start
from forensics.causes._looks_text import says
from forensics.findings import Outcome
from forensics.phrasing import number
from forensics.run import TextKind


def _verify(case: Case) -> str:
    chance, first = facts.chance_loss(case), facts.initial_loss(case)
    now = f"; this run began at {number(first)}" if first is not None else ""
    level = f" ({number(chance[0])} is a guess{now})" if chance else now.replace(";", ",")
    return (
        "print(model.load_state_dict(state, strict=False)) lists the keys that did not match; then "
        f"evaluate the untrained model on 100 samples{level}."
    )


def _fix(_: Case) -> list[str]:
    return [
        "Load with strict=True and mend the names (a prefix such as 'module.' or 'model.' is the "
        "usual difference).",
        "Make sure that nothing initialises the weights after they were loaded.",
        "Start again: what was learned from random weights is not worth keeping.",
    ]


CAUSE = Cause(
    name="weights_not_loaded",
    title="Pretrained weights not loaded",
    family=Family.MODEL,
    prior=0.1,
    claim="The run was meant to start from pretrained weights, but started from random ones.",
    clues=(
        *explains(
            (Outcome.STALLED, Outcome.DIVERGED),
            rarely=(
                Outcome.SPIKED_UNRECOVERED,
                Outcome.VALIDATION_FAILED,
                Outcome.NON_FINITE,
                Outcome.HEALTHY,
            ),
        ),
        Clue("first_loss_at_chance", initial_at_chance, 0.0, -DECISIVE, group="first"),
        Clue("pretrained_at_chance", pretrained_at_chance, DECISIVE, group="first"),
        Clue("unloaded_at_chance", unloaded_at_chance, DECISIVE, group="first"),
        Clue("pretrained", pretrained, WEAK, -DECISIVE),
        Clue("said_not_loaded", says(TextKind.WEIGHTS_NOT_LOADED), STRONG, -WEAK),
        Clue("from_the_start", from_the_start, WEAK, group="timing"),
        Clue("early", early, 0.0, -DECISIVE, group="timing"),
    ),
    verify=_verify,
    fix=_fix,
    needs=(
        "The lines that the loader printed at the start.",
        "One tensor of the first checkpoint, compared with the pretrained file.",
    ),
)
