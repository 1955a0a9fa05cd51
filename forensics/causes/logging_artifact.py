"""Logging artifact: the numbers look wrong, the training is not.

What it claims:
    What looks like a failure was made by the logger: a first gradient norm measured while the
    loss scaler found its level, single batches instead of means, losses rounded to bf16, a capped
    perplexity, a place-holder.

How it shows:
    The suspicious numbers have no consequence: validation goes on improving, and nothing that
    failed stays failed.

For:
    NaN gradient norms in the first logged points only, with mixed precision; a training loss that
    swings while validation falls steadily; losses with eight bits; a perplexity at its cap.

Against:
    A divergence or a NaN that lasts; validation that worsens too.

What to do:
    Log the mean since the last point, in single precision, and the norm of finished steps only.

References:
    JiaquanYe/TableMASTER-mmocr issue 32 (first norm NaN). huggingface/pytorch-image-models issue
    2339 (loss sampled at log steps). IDEFICS-80B chronicles (loss rounded to bf16).
"""

from forensics.case import Case
from forensics.causes import _looks_logging as logs
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_scaling import (
    first_loss_is_multiple,
    training_is_multiple_of_validation,
)
from forensics.causes._looks_spike import tall
from forensics.causes._looks_validation import validation_falls_smoothly
from forensics.findings import Outcome


def _verify(case: Case) -> str:
    interval = round(case.timeline.interval)
    window = "single steps" if interval <= 1 else f"all {interval:,} steps of a log interval"
    return (
        f"Log the mean loss over {window} in single precision for a few hundred steps, beside the "
        "present number: the artifact is gone while the weights are the same."
    )


def _fix(_: Case) -> list[str]:
    return [
        "Leave the training as it is.",
        "Log the mean over all steps since the last point, computed in single precision.",
        "Leave skipped steps out of the logged gradient norm.",
    ]


CAUSE = Cause(
    name="logging_artifact",
    title="Artifact of the logging",
    family=Family.NOTHING_WRONG,
    prior=0.3,
    claim="The logger made what looks like a failure; the training itself is sound.",
    clues=(
        *explains(
            (Outcome.HEALTHY, Outcome.SPIKED_RECOVERED, Outcome.STALLED),
            (Outcome.SPIKED_UNRECOVERED, Outcome.NON_FINITE, Outcome.UNKNOWN),
        ),
        Clue("first_gradient", logs.first_gradient_not_finite, STRONG, group="mark"),
        Clue("noisy", logs.training_noisy_validation_smooth, STRONG, group="swing"),
        Clue("validation_falls", validation_falls_smoothly, MODERATE, -MODERATE),
        Clue("quantised", logs.quantised, STRONG, group="resolution"),
        Clue("capped", logs.perplexity_capped, MODERATE, group="mark"),
        Clue("placeholder", logs.placeholder_metric, WEAK, group="mark"),
        Clue("not_measured", logs.not_measured, WEAK, group="mark"),
        Clue("lasting_damage", logs.lasting_damage, -DECISIVE),
        Clue("no_mark", logs.any_mark, 0.0, -STRONG, group="none"),
        Clue("first_is_multiple", first_loss_is_multiple, -STRONG),
        Clue("scaled", training_is_multiple_of_validation, -STRONG),
        Clue("tall_spike", tall, -MODERATE),
    ),
    verify=_verify,
    fix=_fix,
    needs=("the code that writes the log",),
)
