"""No failure: the run trained as it should, or left its band and came back by itself.

What it claims:
    There is nothing to repair. Noise, a first loss that is high, single spikes that recover and
    oscillation with the epoch belong to training.

How it shows:
    The loss ends well below where it began, nothing that left its band stayed outside, validation
    follows.

For:
    No episode that counts as a failure; a loss that fell; every spike back in its band.

Against:
    A failure of whatever kind; a loss that never fell; a loss that is scaled by the accumulation,
    which does no harm by itself and should still be known.

What to do:
    Nothing. The checklist of the report may still hold advice for the next run.

References:
    BLOOM-176B chronicles, 12 April 2022: one spike, recovered within 30 steps, training went on.
    Epochal sawtooth, arXiv 2410.10056.
"""

from forensics.case import Case
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_first_loss import pretrained_at_chance, unloaded_at_chance
from forensics.causes._looks_health import (
    came_to_rest,
    ends_near_best,
    nothing_failed,
    validation_unseen,
)
from forensics.causes._looks_initial import weights_oversized
from forensics.causes._looks_learning import loss_fell
from forensics.causes._looks_learning_rate import lr_above_range, lr_far_above_range
from forensics.causes._looks_levels import level_of_no_healthy_run
from forensics.causes._looks_moments import bound_broken, second_moment_cut
from forensics.causes._looks_outcome import ended
from forensics.causes._looks_plan import stopped_short
from forensics.causes._looks_return import return_rose, where_loss_tells
from forensics.causes._looks_scaling import (
    first_loss_is_multiple,
    training_is_multiple_of_validation,
)
from forensics.causes._looks_schedule import schedule_anew
from forensics.causes._looks_spike import from_the_depths, tall_later
from forensics.causes._looks_text import says
from forensics.causes._looks_validation import validation_falls_smoothly
from forensics.findings import Outcome
from forensics.phrasing import stretch
from forensics.run import TextKind

_FAILURES = tuple(o for o in Outcome if o.is_failure)


def _verify(case: Case) -> str:
    return (
        "Evaluate the last checkpoint on a held-out set and compare it with what the run was "
        f"started for (the log holds {stretch(case.timeline.length)})."
    )


def _fix(_: Case) -> list[str]:
    return ["Nothing to repair: go on, or use the last checkpoint."]


CAUSE = Cause(
    name="no_failure",
    title="No failure",
    family=Family.NOTHING_WRONG,
    prior=1.0,
    claim="The run trained as it should; there is nothing to repair.",
    clues=(
        Clue("healthy", ended(Outcome.HEALTHY), STRONG, group="outcome"),
        Clue("recovered", ended(Outcome.SPIKED_RECOVERED), -WEAK, group="outcome"),
        Clue("tall", where_loss_tells(tall_later), -MODERATE, group="spike"),
        Clue("from_the_depths", where_loss_tells(from_the_depths), -STRONG, group="spike"),
        Clue("hardware_error", says(TextKind.HARDWARE_ERROR), -DECISIVE),
        Clue("rate_anew", schedule_anew, -STRONG),
        Clue("second_moment_cut", second_moment_cut, -STRONG - MODERATE),
        Clue("failed", ended(*_FAILURES), -DECISIVE, group="outcome"),
        Clue("unknown", ended(Outcome.UNKNOWN), -MODERATE, group="outcome"),
        Clue("impossible_level", level_of_no_healthy_run, -DECISIVE - STRONG, group="outcome"),
        Clue("nothing_failed", nothing_failed, MODERATE, -DECISIVE),
        Clue("first_is_multiple", first_loss_is_multiple, -DECISIVE - STRONG, group="scale"),
        Clue("pretrained_at_chance", pretrained_at_chance, -DECISIVE - STRONG, group="loaded"),
        Clue("unloaded_at_chance", unloaded_at_chance, -DECISIVE - STRONG, group="loaded"),
        Clue("ratio", training_is_multiple_of_validation, -DECISIVE, group="scale"),
        Clue("stopped_short", stopped_short, -MODERATE - WEAK),
        Clue("validation_falls", validation_falls_smoothly, WEAK, group="validation"),
        Clue("validation_unseen", where_loss_tells(validation_unseen), -WEAK, group="validation"),
        # What is known to do harm may not yet have done it where the log could show it.
        Clue("rate_above_range", lr_above_range, -MODERATE, group="settings"),
        Clue("rate_far_above_range", lr_far_above_range, -STRONG, group="settings"),
        Clue("weights_oversized", weights_oversized, -STRONG),
        Clue("moments_impossible", bound_broken, -DECISIVE),
        Clue("came_to_rest", where_loss_tells(came_to_rest), -MODERATE, group="rest"),
        Clue("fell", where_loss_tells(loss_fell), MODERATE, -STRONG - MODERATE, group="progress"),
        Clue(
            "ends_near_best",
            where_loss_tells(ends_near_best),
            MODERATE,
            -MODERATE,
            group="progress",
        ),
        Clue("return_rose", return_rose, MODERATE, -MODERATE, group="progress"),
    ),
    verify=_verify,
    fix=_fix,
)
