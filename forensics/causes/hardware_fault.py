"""Hardware fault: a device computed or stored a wrong number.

What it claims:
    A flipped bit, a failing memory cell or a bad link changed a value. The software would have
    computed another one.

How it shows:
    A single outlier or NaN without any precursor, on one rank, that does not come again from the
    same checkpoint and batch on another device. One flipped exponent bit is a factor that is a
    power of two. The system log names Xid or ECC errors.

For:
    A hardware error in the output; one isolated jump by a power of two; nothing before it.
    - A single weight or row of a checkpoint that stands out, or a weight that is NaN while
      its moments are finite.
    - A loss that leaps by orders of magnitude from one step to the next, out of calm.

Against:
    A gradient norm that grew over several steps; several events; the same place of each epoch.

What to do:
    Recompute the step on another device. Run ``dcgmi diag -r 4`` and drain the node. Resume from
    the checkpoint before.

References:
    Megatron-LM's rerun state machine. Silent data corruption in training, arXiv 2502.12340; six of
    the interruptions of Llama 3's 54 days.
"""

from forensics.case import Case
from forensics.causes import _looks_spike as spike
from forensics.causes._base import DECISIVE, MODERATE, STRONG, WEAK, Cause, Clue, Family, proof
from forensics.causes._looks_break import beyond_reason, out_of_calm
from forensics.causes._looks_damage import (
    broken_behind_optimizer,
    few_elements_differ,
    one_tensor_broken,
    value_stands_out,
)
from forensics.causes._looks_data import non_finite_each_epoch, power_of_two_jump
from forensics.causes._looks_depth import all_silent
from forensics.causes._looks_last_update import moved_without_optimizer
from forensics.causes._looks_loss_shape import repeated_events
from forensics.causes._looks_non_finite import instant
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_replay_state import does_not_happen_again
from forensics.causes._looks_resume import soon_after_resume
from forensics.causes._looks_text import says
from forensics.causes._where import onset_words
from forensics.findings import Outcome
from forensics.run import TextKind


def _verify(case: Case) -> str:
    return (
        f"Compute {onset_words(case)} three times from the checkpoint before it, twice on the same "
        "device and once on another. Equal everywhere: software. Different on one device: hardware."
    )


def _fix(_: Case) -> list[str]:
    return [
        "Take the device or node out and test it (dcgmi diag -r 4; nvidia-smi -q -d ECC).",
        "Resume from the checkpoint before the event, with the same data.",
        "Watch the gradient norm of each rank: a faulty one stands out before the sum hides it.",
    ]


CAUSE = Cause(
    name="hardware_fault",
    title="Hardware fault",
    family=Family.CHAIN,
    prior=0.1,
    claim="A device computed or stored a wrong number.",
    clues=(
        *explains(
            (
                Outcome.HEALTHY,  # a wrong number may do no harm that can be seen
                Outcome.CRASHED,
                Outcome.NON_FINITE,
                Outcome.SPIKED_RECOVERED,
                Outcome.SPIKED_UNRECOVERED,
                Outcome.DIVERGED,
            ),
            (Outcome.UNKNOWN,),
        ),
        Clue("named", says(TextKind.HARDWARE_ERROR), DECISIVE + STRONG, -WEAK),
        Clue("beyond_reason", beyond_reason, STRONG, -WEAK, group="break"),
        Clue("out_of_calm", out_of_calm, WEAK, -STRONG, group="break"),
        Clue("all_silent", all_silent, -MODERATE),
        Clue("soon_after_resume", soon_after_resume, -MODERATE),
        Clue("power_of_two", power_of_two_jump, MODERATE),
        Clue("one_point", spike.one_point, WEAK, group="shape"),
        Clue("built_up", spike.gradient_built_up, -STRONG, group="shape"),
        Clue("instant", instant, WEAK, -STRONG, group="shape"),
        Clue("repeated", repeated_events, -STRONG, group="recurrence"),
        Clue("each_epoch", non_finite_each_epoch, -STRONG, group="recurrence"),
        Clue("spikes_each_epoch", spike.recurs_each_epoch, -STRONG, group="recurrence"),
        Clue("value_stands_out", value_stands_out, STRONG + MODERATE, -WEAK, group="values"),
        Clue("one_tensor_broken", one_tensor_broken, STRONG, -MODERATE, group="values"),
        Clue("broken_behind_optimizer", broken_behind_optimizer, DECISIVE, group="values"),
        Clue("moved_without_optimizer", moved_without_optimizer, STRONG, group="values"),
        Clue("few_elements_differ", few_elements_differ, DECISIVE, group="copies"),
        proof("replay", does_not_happen_again),
    ),
    verify=_verify,
    fix=_fix,
    needs=(
        "the system log of the node (Xid, ECC) or dcgmi diag -r 4",
        "a replay of the step on another device",
    ),
)
