"""Poor initialization: the first weights make activations or gradients of the wrong size.

What it claims:
    The scale of the initial weights does not suit depth and width (or a new embedding or head was
    left at zero or at random size), so that signals grow or shrink from layer to layer before
    anything is learned. Missing normalisation has the same effect.

How it shows:
    The first loss is far above that of a uniform guess, or the gradient norm of the first steps is
    out of all proportion. The run breaks within its first steps or as the rate rises, or creeps
    along on the level of a guess. A lower rate only delays it.

For:
    - A first loss well above ln(classes) or ln(vocabulary).
    - Gradients that grow seventyfold from the last layer to the first.
    - Trouble from the first steps, at an ordinary learning rate; no normalisation.
    - Lowering the rate moved the failure but did not remove it.
    - Matrices in an early checkpoint several times as large as any common initialisation makes
      them, and larger than all steps together can have made them.
    - Units that are all zero, or copies of each other.

Against:
    - A first loss at ln(classes) or ln(vocabulary), as it should be.
    - Long calm before the failure.
    - Training from pretrained weights (unless tokens or a head were added).
    - Matrices of ordinary size in an early checkpoint.

What to do:
    Initialise with a standard deviation of 0.02, or sqrt(2 / (5 width)) for deep transformers,
    scale residual branches by 1 / sqrt(2 layers), normalise before each sub-layer, and set the
    last bias to the class frequencies. Give added embedding rows the mean of the others.

References:
    - K. He et al., Delving Deep into Rectifiers, arXiv 1502.01852.
    - BigScience 104B chronicles: every lower rate diverged later, until the standard deviation
      went from 0.02 to 0.006.
    - OLMo 2, arXiv 2501.00656: N(0, 0.02) cut the gradient-spike score from 0.40 to 0.03.
    - AUTOTRAINER (ICSE 2021): a ratio of 70 between first and last layer means explosion.
"""

from forensics.batch_facts import Oddity
from forensics.case import Case
from forensics.causes import _changes as changes
from forensics.causes import _facts as facts
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_batches import in_all_batches
from forensics.causes._looks_data import first_gradient_huge
from forensics.causes._looks_depth import moments_explode
from forensics.causes._looks_first_loss import initial_far_above_chance, wrong_before_steps
from forensics.causes._looks_gradients import gradient_large_at_first
from forensics.causes._looks_initial import units_alike, weights_oversized
from forensics.causes._looks_layers import layers_explode
from forensics.causes._looks_learning_rate import lr_far_above_range, lr_tiny
from forensics.causes._looks_model import normalisation_off, pretrained
from forensics.causes._looks_outcome import BROKE, broke_early, explains, from_the_start
from forensics.causes._looks_schedule import lowered_in_vain
from forensics.causes._looks_settings import epsilon_large
from forensics.causes._looks_travel import reach_short
from forensics.findings import Outcome
from forensics.phrasing import number


def _verify(case: Case) -> str:
    chance, first = facts.chance_loss(case), facts.initial_loss(case)
    aim = f"{number(chance[0])}, {chance[1]}" if chance else "ln(number of classes)"
    now = f" (this run began at {number(first)})" if first is not None else ""
    return (
        "Build the model anew and compute the loss of one batch and the gradient norm of each "
        f"layer without training: the loss should be near {aim}{now}, and no layer's norm more "
        "than 70 times another's."
    )


def _fix(case: Case) -> list[str]:
    width, layers = case.config.hidden_size, case.config.num_layers
    deep = f" (here {(2 / (5 * width)) ** 0.5:.2g})" if width else ""
    branch = f" (here {(2 * layers) ** -0.5:.2g})" if layers else ""
    return [
        "Initialise weights with a standard deviation of 0.02, or sqrt(2 / (5 width))"
        f"{deep} in a deep transformer.",
        f"Scale the last layer of each residual branch by 1 / sqrt(2 layers){branch} and normalise "
        "before each sub-layer.",
        "Set the bias of the last layer to the logarithm of the class frequencies, and added "
        "embedding rows to the mean of the old ones.",
        f"Start again from new weights, with a warm-up of {changes.longer_warmup(case).after:,} "
        "steps.",
    ]


CAUSE = Cause(
    name="poor_initialization",
    title="Poor initialization",
    family=Family.MODEL,
    prior=0.3,
    claim="The initial weights make activations or gradients of a size from which training cannot "
    "recover.",
    clues=(
        *explains((*BROKE, Outcome.STALLED), rarely=(Outcome.SPIKED_RECOVERED,)),
        Clue("wrong_before_steps", wrong_before_steps, STRONG + MODERATE, group="first"),
        Clue("first_loss_high", initial_far_above_chance, STRONG, -MODERATE, group="first"),
        Clue("gradient_large_at_first", gradient_large_at_first, WEAK, group="gradient"),
        Clue("gradient_huge_at_first", first_gradient_huge, MODERATE, group="gradient"),
        Clue("layers_explode", layers_explode, STRONG, -MODERATE, group="depth"),
        Clue("moments_explode", moments_explode, MODERATE, group="depth"),
        Clue("weights_oversized", weights_oversized, DECISIVE, -STRONG, group="weights"),
        Clue("units_alike", units_alike, DECISIVE + STRONG, group="weights"),
        Clue("inputs_off", in_all_batches(Oddity.INPUT_SCALE), -STRONG),
        Clue("epsilon_large", epsilon_large, -STRONG),
        Clue("from_the_start", from_the_start, WEAK, group="timing"),
        Clue("early", broke_early, WEAK, -STRONG, group="timing"),
        Clue("pretrained", pretrained, -MODERATE, WEAK),
        Clue("normalisation_off", normalisation_off, STRONG, -WEAK),
        Clue("lowered_in_vain", lowered_in_vain, MODERATE),
        Clue("rate_far_above_range", lr_far_above_range, -STRONG, group="rate"),
        Clue("reach_short", reach_short, -STRONG, group="rate"),
        Clue("rate_tiny", lr_tiny, -STRONG, group="rate"),
    ),
    verify=_verify,
    fix=_fix,
    needs=(
        "The gradient norm of each layer on one batch at the initial weights (a replay).",
        "The norms of embedding rows in the first checkpoint: rows near zero are new tokens.",
    ),
)
