"""Dead units: an oversized step pushed ReLU units where no input reaches them.

What it claims:
    A unit whose pre-activation is negative for every input passes neither signal nor gradient, and
    stays so. After one large update whole layers can end like this.

How it shows:
    A jump, or a spike of the learning rate, then a flat loss on a higher level at a gradient norm
    that is a small part of what it was. Lower rates do not bring it back.

For:
    - ReLU, or another activation that is exactly zero on one side.
    - A plateau after a jump; a gradient norm that fell to 1 % or less of what it was.
    - Ever more gradient entries that are exactly zero.
    - Between two checkpoints, units whose second moment shrinks by exactly beta2.
    - A loss that rests at the level of an untrained model from the break on.
    - A gradient norm that fell while the loss rose.
    - Nearly all matrices without one gradient between two checkpoints.

Against:
    - GELU, SiLU, SwiGLU, tanh: these have no dead side.
    - An ordinary gradient norm on the plateau.
    - A flat loss from the very first step.
    - A loss that learns again after the break.

What to do:
    Go back to before the jump with a lower rate, clipping and a warm-up; use a leaky activation or
    GELU; re-initialise dead units if the run must go on. A second moment that shrinks by exactly
    beta2 a step between two checkpoints marks each dead unit.

References:
    - L. Lu et al., Dying ReLU and Initialization, arXiv 1903.06733.
    - AUTOTRAINER (ICSE 2021): 70 % of gradient entries exactly zero.
    - TheDeepChecker (TOSEM 2022): more than half of the units below 1e-5.
"""

from forensics.case import Case
from forensics.causes import _changes as changes
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_break import gradient_quiet_after, never_relearned, overshot_its_rest
from forensics.causes._looks_depth import all_silent
from forensics.causes._looks_gradients import gradient_died
from forensics.causes._looks_initial import units_alike
from forensics.causes._looks_learning_rate import lr_far_above_range
from forensics.causes._looks_loss_shape import settled_higher
from forensics.causes._looks_model import rectified
from forensics.causes._looks_moments import units_silent
from forensics.causes._looks_outcome import explains, from_the_start
from forensics.causes._looks_schedule import lr_jumped
from forensics.causes._looks_updates import zero_gradients_rise
from forensics.findings import Change, Outcome


def _verify(case: Case) -> str:
    return (
        "Run 1,000 samples through the last checkpoint and count, layer by layer, the units that "
        "are zero for all of them: more than half in a layer, against few in "
        f"{changes.restart_from(case)}, confirms it."
    )


def _fix(case: Case) -> list[str]:
    return [
        f"Resume from {changes.restart_from(case)} with the learning rate changed "
        f"{changes.lr_words(case)} and the gradient norm clipped at "
        f"{changes.clip_norm(case).after:g}.",
        "Replace ReLU by GELU, SiLU or a leaky ReLU.",
        "If the run must go on from here, re-initialise the weights of the dead units and their "
        "optimizer state.",
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    change = changes.lower_lr(case)
    return () if change is None else (change,)


CAUSE = Cause(
    name="dead_units",
    title="Dead units",
    family=Family.MODEL,
    prior=0.1,
    claim="A large step left most ReLU units silent for every input, and silence is for good.",
    clues=(
        *explains((Outcome.STALLED, Outcome.SPIKED_UNRECOVERED, Outcome.DIVERGED)),
        Clue("never_relearned", never_relearned, MODERATE, -STRONG, group="shape"),
        Clue("rectified", rectified, MODERATE, -STRONG),
        Clue("settled_higher", settled_higher, MODERATE, group="shape"),
        Clue("from_the_start", from_the_start, -MODERATE, group="shape"),
        Clue("gradient_died", gradient_died, STRONG, group="gradient"),
        Clue("gradient_quiet", gradient_quiet_after, STRONG, -STRONG, group="gradient"),
        Clue("all_silent", all_silent, DECISIVE, -MODERATE, group="silent"),
        Clue("units_alike", units_alike, -STRONG),
        Clue("overshot_its_rest", overshot_its_rest, -MODERATE),
        Clue("zero_gradients_rise", zero_gradients_rise, STRONG, -MODERATE, group="silent"),
        Clue("rate_jumped", lr_jumped, WEAK, group="rate"),
        Clue("rate_far_above_range", lr_far_above_range, -STRONG, group="rate"),
        Clue("units_silent", units_silent, STRONG, -MODERATE, group="silent"),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=("The activations of one batch in the last checkpoint (a replay).",),
)
