"""Vanishing gradients: the error signal dies on its way to the first layers.

What it claims:
    From layer to layer the gradient shrinks, by saturating activations, missing residual
    connections or too small weights, until the first layers receive nothing. What is learned is
    what the last layers can know by themselves.

How it shows:
    The loss falls quickly to the level of the label frequencies, which a bias alone can reach, and
    stays there, however long one trains. The gradient norm is tiny and flat from the start. Nothing
    is unstable.

For:
    - A median gradient norm below 1e-3, still more below 1e-6.
    - The first layer's gradient below a thousandth of the last one's and below 1e-4.
    - Sigmoid or tanh activations, no residual connections, no normalisation.
    - A plateau at the entropy of the labels.
    - Between checkpoints, first layers that stay while the last ones move.
    - Second moments a thousandth in the first layers of what they are in the last.
    - First layers that shrink all by the same share, as weight decay alone makes them.

Against:
    - An ordinary gradient norm (of the whole model: the last layers may hide the first).
    - A learning rate of zero or nearly so.
    - Spikes: something large does reach the weights.

What to do:
    Add residual connections and normalisation before each sub-layer, replace saturating
    activations, and initialise by depth. Then check that the ratio between the layers' norms is
    near 1.

References:
    - S. Hochreiter et al., Gradient Flow in Recurrent Nets: the Difficulty of Learning Long-Term
      Dependencies (2001).
    - AUTOTRAINER (ICSE 2021): first / last below 1e-3 with the first below 1e-4.
    - TheDeepChecker (TOSEM 2022): a mean below 1e-6 that goes on falling.
"""

from forensics.case import Case
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_depth import moments_vanish, only_decay_moves
from forensics.causes._looks_gradients import gradient_alive, gradient_negligible, gradient_tiny
from forensics.causes._looks_initial import units_alike
from forensics.causes._looks_layers import layers_vanish
from forensics.causes._looks_learning_rate import (
    lr_decayed_early,
    lr_far_above_range,
    lr_tiny,
    lr_zero,
)
from forensics.causes._looks_loss_shape import plateau_level, repeated_events
from forensics.causes._looks_model import (
    attention_used,
    normalisation_off,
    residual_off,
    saturating,
)
from forensics.causes._looks_outcome import explains, from_the_start
from forensics.causes._looks_rest import rests_above_guess
from forensics.causes._looks_settings import epsilon_large
from forensics.causes._looks_travel import reach_short
from forensics.causes._looks_weights import first_layers_still
from forensics.findings import Outcome
from forensics.phrasing import count


def _verify(case: Case) -> str:
    layers = case.config.num_layers
    depth = f" ({count(layers, 'layer')} here)" if layers else ""
    return (
        "Run one backward pass on one batch and print the gradient norm of each layer from last "
        f"to first{depth}: a first layer below 1e-4 and below a thousandth of the last confirms it."
    )


def _fix(_: Case) -> list[str]:
    return [
        "Add residual connections around each block, and normalise before it.",
        "Replace sigmoid and tanh in hidden layers by GELU, SiLU or ReLU.",
        "Initialise by fan-in (He or Xavier) and check that all layers' gradient norms lie within "
        "a factor of ten.",
    ]


CAUSE = Cause(
    name="vanishing_gradients",
    title="Vanishing gradients",
    family=Family.MODEL,
    prior=0.2,
    claim="The gradient dies on its way through the layers, so that the first ones never learn.",
    clues=(
        *explains((Outcome.STALLED,)),
        Clue("gradient_negligible", gradient_negligible, DECISIVE, group="gradient"),
        Clue("gradient_tiny", gradient_tiny, STRONG, group="gradient"),
        Clue("gradient_ordinary", gradient_alive, -MODERATE, group="gradient"),
        Clue("layers_vanish", layers_vanish, DECISIVE, -DECISIVE, group="gradient"),
        Clue("moments_vanish", moments_vanish, DECISIVE, -STRONG, group="gradient"),
        Clue("units_alike", units_alike, -STRONG),
        Clue("rests_above_guess", rests_above_guess, -MODERATE),
        Clue("attention_used", attention_used, -WEAK, group="design"),
        Clue("residual_off", residual_off, STRONG, -WEAK, group="design"),
        Clue("saturating", saturating, STRONG, group="design"),
        Clue("normalisation_off", normalisation_off, MODERATE, group="design"),
        Clue("at_label_entropy", plateau_level("label_entropy"), MODERATE, group="level"),
        Clue("from_the_start", from_the_start, WEAK, group="level"),
        Clue("rate_zero", lr_zero, -DECISIVE, group="rate"),
        Clue("rate_tiny", lr_tiny, -STRONG, group="rate"),
        Clue("reach_short", reach_short, -STRONG, group="rate"),
        Clue("rate_far_above_range", lr_far_above_range, -STRONG, group="rate"),
        Clue("epsilon_large", epsilon_large, -STRONG),
        Clue("rate_decayed_early", lr_decayed_early, -STRONG, group="rate"),
        Clue("repeated_spikes", repeated_events, -MODERATE),
        Clue("first_layers_still", first_layers_still, STRONG, -MODERATE, group="moved"),
        Clue("only_decay_moves", only_decay_moves, DECISIVE, group="moved"),
    ),
    verify=_verify,
    fix=_fix,
    needs=("The gradient norm of each layer on one batch (a replay).",),
)
