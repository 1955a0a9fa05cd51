"""Distributed reduction: gradients or losses are combined wrongly across processes.

What it claims:
    With several processes, gradients are summed instead of averaged, averaged twice, clipped by a
    local norm, or not exchanged at all, so that the copies of the model drift apart.

How it shows:
    One device is fine, several are not. Loss or gradient norm change with the number of processes;
    the processes log different gradient norms; the curve is smooth and validation does not follow.

For:
    Synchronised quantities that differ between ranks; a gradient norm that changed by the number
    of processes or its root.
    - Checkpoints of several ranks whose replicated parameters differ.
    - A loss that rests above that of a guess or overshoots at first, on several processes.

Against:
    A single process; ranks that agree to the last digit.

What to do:
    Compare one batch on one process with the same batch split over all of them: loss and gradient
    norm must agree. Compare the weights of the ranks after ten steps.

References:
    BLOOM-176B (BF16Optimizer did not clip on all ranks; 15 days to notice), after TrainCheck.
    icefall issue 226 and kohya-ss/sd-scripts issue 924 (forward past the wrapper).
"""

from forensics.case import Case
from forensics.causes import _looks_scaling as scaling
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_damage import copies_differ
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_replay_scale import scaled_by_ranks
from forensics.causes._looks_rest import overshot_at_first, rests_above_guess
from forensics.causes._looks_resume import gradient_rescaled
from forensics.causes._looks_validation import validation_form
from forensics.findings import Outcome


def _verify(case: Case) -> str:
    size = case.config.world_size
    several = "all processes" if size is None else f"{size:,} processes"
    return (
        f"Run ten steps on one process and on {several} with the same global batch and seed: loss "
        "and gradient norm must agree to 0.1 %. Then compare a checksum of the weights of all "
        "ranks."
    )


def _fix(_: Case) -> list[str]:
    return [
        "Call the wrapped model (DDP, FSDP), never the module inside it.",
        "Average gradients exactly once, weighted by the number of valid labels of each rank.",
        "Compute the norm for clipping over all shards, and once.",
    ]


CAUSE = Cause(
    name="distributed_reduction",
    title="Wrong reduction across processes",
    family=Family.CHAIN,
    prior=0.15,
    claim="Gradients or losses are combined wrongly across processes.",
    clues=(
        *explains(
            (
                Outcome.DIVERGED,
                Outcome.STALLED,
                Outcome.VALIDATION_FAILED,
                Outcome.SPIKED_UNRECOVERED,
            ),
            (Outcome.NON_FINITE, Outcome.SPIKED_RECOVERED, Outcome.OVERFIT),
        ),
        Clue("several_processes", scaling.several_processes, MODERATE, -DECISIVE),
        Clue("rests_above_guess", rests_above_guess, STRONG, group="long_steps"),
        Clue("overshot_at_first", overshot_at_first, STRONG, group="long_steps"),
        Clue("ranks_disagree", scaling.ranks_disagree, DECISIVE, -STRONG),
        Clue("scaled", scaling.gradient_scaled_by_processes, STRONG, group="scale"),
        Clue("rescaled", gradient_rescaled, WEAK, -WEAK, group="scale"),
        Clue("validation_flat", validation_form("flat", "gap_from_start"), WEAK),
        Clue("copies_differ", copies_differ, DECISIVE, -STRONG),
        proof("replay", scaled_by_ranks),
    ),
    verify=_verify,
    fix=_fix,
    needs=(
        "the logs or checkpoints of several ranks",
        "one batch replayed on one device, to compare its gradient norm with the logged one",
    ),
)
