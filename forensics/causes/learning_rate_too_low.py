"""Learning rate too low: the weights hardly move, or stop moving too early.

What it claims:
    The rate is zero, tiny, or decayed to nothing long before the end, so that correct gradients
    change the weights too little to be seen.

How it shows:
    The loss is flat or falls along a nearly straight line, smoothly, while the gradient norm stays
    at an ordinary, constant level. Nothing is ever unstable. A schedule stepped once a batch
    instead of once an epoch, or one planned for fewer steps than the run has, is the usual reason.

For:
    - A logged rate of exactly 0, or below about 1e-7 for Adam.
    - A rate below 1 % of its peak while much of the run is still to come.
    - Updates below a hundred-thousandth of the weights.
    - Rates that add up to less than the size of a weight: Adam moves none further than that.
    - Weights that moved by less than a few thousandths from save to save.
    - A loss that falls to the last, steadily and by next to nothing.

Against:
    - A rate in the documented range at the time of the plateau.
    - A gradient norm near zero: then the rate has nothing to work on.
    - Validation that is the same to the last digit although the rate is not zero: then the
      optimizer holds other weights than the model.

What to do:
    Log the rate of every parameter group, correct the unit in which the schedule counts, and
    raise the rate into the documented range with a warm-up. Find the upper end with a short sweep
    of three rates, a factor of three apart.

References:
    - UMLAUT, CHI 2021: warns below 1e-7 for Adam-type optimizers.
    - CS231n, Learning and Evaluation: an update should be about a thousandth of the weights.
    - A. Karpathy, A Recipe for Training Neural Networks: default decay can end learning early.
"""

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_gradients import gradient_alive
from forensics.causes._looks_initial import units_alike
from forensics.causes._looks_learning_rate import lr_decayed_early, lr_tiny, lr_zero
from forensics.causes._looks_loss_shape import plateau_level, repeated_events, validation_frozen
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_replay_rate import higher_rate_removes
from forensics.causes._looks_rest import frequencies_unlearned, overshot_at_first, still_falls
from forensics.causes._looks_settings import epsilon_large
from forensics.causes._looks_told import decay_unseen
from forensics.causes._looks_travel import hardly_moved, rate_far_below_range, reach_short
from forensics.causes._looks_updates import updates_small, weights_frozen
from forensics.causes._lr_ranges import documented_range
from forensics.findings import Change, Outcome
from forensics.phrasing import number


def _verify(case: Case) -> str:
    known = documented_range(case)
    return (
        "Print the rate of every parameter group at steps 1, 10 and 100, then train 200 steps at a "
        f"constant {number(known.low)} from the same weights: if the loss falls, the rate was the "
        "cause."
    )


def _fix(case: Case) -> list[str]:
    known, total = documented_range(case), case.config.total_steps
    length = f"{total:,} steps" if total else "the whole run"
    return [
        f"Set the peak learning rate between {number(known.low)} and {number(known.usual)}, as is "
        f"usual for {known.name}.",
        f"Let the schedule count optimizer steps and last for {length}; step it once an update, "
        "not once a micro-batch or an epoch.",
        "Log the learning rate, so that a rate of 0 is seen on the first page.",
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    lr, known = facts.highest_lr(case), documented_range(case)
    if lr is None or lr > known.tiny:
        return ()
    return (Change("learning_rate", lr, known.low),)


CAUSE = Cause(
    name="learning_rate_too_low",
    title="Learning rate too low or zero",
    family=Family.OPTIMISATION,
    prior=0.3,
    claim="The learning rate is zero or far too small for most of the run, so that the weights "
    "hardly move.",
    clues=(
        *explains((Outcome.STALLED,)),
        Clue("rate_zero", lr_zero, DECISIVE, group="level"),
        Clue("rate_tiny", lr_tiny, DECISIVE, -WEAK, group="level"),
        Clue("reach_short", reach_short, DECISIVE, -STRONG, group="level"),
        Clue("far_below_range", rate_far_below_range, STRONG + MODERATE, -STRONG, group="level"),
        Clue("hardly_moved", hardly_moved, STRONG, -STRONG, group="moved"),
        Clue("rests_where_it_began", plateau_level("initial"), WEAK, group="moved"),
        Clue("decay_unseen", decay_unseen, MODERATE, group="level"),
        Clue("units_alike", units_alike, -STRONG),
        Clue("still_falls", still_falls, STRONG, group="creeps"),
        Clue("frequencies_unlearned", frequencies_unlearned, MODERATE, group="creeps"),
        Clue("overshot_at_first", overshot_at_first, -STRONG),
        Clue("rate_decayed_early", lr_decayed_early, DECISIVE, -WEAK, group="level"),
        Clue("updates_small", updates_small, STRONG, -MODERATE, group="moved"),
        Clue("epsilon_large", epsilon_large, -STRONG),
        Clue("gradient_ordinary", gradient_alive, WEAK, -MODERATE),
        Clue("weights_frozen", weights_frozen, WEAK, group="frozen"),
        Clue("validation_frozen", validation_frozen, WEAK, -WEAK, group="frozen"),
        Clue("repeated_spikes", repeated_events, -STRONG),
        proof("replay", higher_rate_removes),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=("The learning rate of each parameter group in the optimizer state of a checkpoint.",),
)
