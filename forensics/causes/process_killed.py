"""Process killed: the run ended for reasons outside the training.

What it claims:
    The process ran out of memory or disk, hit a time limit, lost another process, or was stopped.
    The numbers up to there are sound.

How it shows:
    The log ends before the planned end, with a healthy curve; the output ends with the reason.

For:
    A line that names memory, a signal, a time limit, a lost peer or a full disk; a curve that was
    healthy to its last point; a log that ends before its plan without a word, which one of a run
    that still goes on does as well.

Against:
    An error of the data (a label or an index out of range); a numerical failure.

What to do:
    Resume from the latest checkpoint and remove the reason: smaller micro-batches with more
    accumulation, more time, a cleaned disk.

References:
    Slurm's sacct states OUT_OF_MEMORY, TIMEOUT and NODE_FAIL. NCCL's collective time-out.
"""

from forensics.case import Case
from forensics.causes._base import DECISIVE, MODERATE, STRONG, Cause, Clue, Family
from forensics.causes._looks_health import nothing_failed
from forensics.causes._looks_learning import loss_fell
from forensics.causes._looks_outcome import explains
from forensics.causes._looks_plan import stopped_short
from forensics.causes._looks_text import quote, says
from forensics.findings import Change, Outcome
from forensics.run import TextKind

ENDINGS = (
    TextKind.OUT_OF_MEMORY,
    TextKind.KILLED,
    TextKind.TIME_LIMIT,
    TextKind.LOST_PEER,
    TextKind.DISK_FULL,
)
FAULTS = (
    TextKind.LABEL_OUT_OF_RANGE,
    TextKind.INDEX_OUT_OF_RANGE,
    TextKind.DEVICE_ASSERT,
    TextKind.HARDWARE_ERROR,
)
_REMEDIES = {
    TextKind.OUT_OF_MEMORY: "Halve the micro-batch and double the accumulation, or turn on "
    "activation checkpointing; group or cap lengths if the memory grew with the longest batch.",
    TextKind.KILLED: "Look up who sent the signal (dmesg for the memory killer, the scheduler's "
    "records) and ask for more memory on the host, or fewer loader workers.",
    TextKind.TIME_LIMIT: "Ask for more time, or save on the warning signal and requeue.",
    TextKind.LOST_PEER: "Read the output of the other ranks: the first to fail holds the reason; "
    "the time-out of the others is its echo.",
    TextKind.DISK_FULL: "Free the disk and keep fewer checkpoints (save_total_limit).",
}


def _verify(case: Case) -> str:
    found = case.text_of(*ENDINGS)
    if found:
        return f"Resume and watch that resource. The output says: {quote(found[0])}"
    return (
        "Read the end of the output of every rank, the scheduler's record of the job (sacct -j) "
        "and dmesg of the node. Resume: without a fault in the training it goes on."
    )


def _fix(case: Case) -> list[str]:
    named = dict.fromkeys(t.kind for t in case.text_of(*ENDINGS))
    return [
        "Resume from the latest checkpoint with everything restored.",
        *(_REMEDIES[kind] for kind in named),
    ]


def _changes(case: Case) -> tuple[Change, ...]:
    batch, steps = case.config.micro_batch, case.config.grad_accum or 1
    if not case.text_of(TextKind.OUT_OF_MEMORY) or not batch or batch < 2:
        return ()
    half = batch // 2
    return (
        Change("micro_batch", batch, half),
        Change("grad_accum", steps, -(-steps * batch // half)),
    )


CAUSE = Cause(
    name="process_killed",
    title="Process ended from outside",
    family=Family.CHAIN,
    prior=0.8,
    claim="The process ended for a reason outside the training; its numbers are sound.",
    clues=(
        *explains((Outcome.CRASHED,), (Outcome.UNKNOWN, Outcome.HEALTHY, Outcome.SPIKED_RECOVERED)),
        Clue("reason_named", says(*ENDINGS), DECISIVE, -MODERATE, group="text"),
        Clue("fault_named", says(*FAULTS), -DECISIVE),
        Clue("numbers_failed", nothing_failed, 0.0, -STRONG),
        Clue("interrupted", says(TextKind.INTERRUPTED), MODERATE, group="text"),
        Clue("was_learning", loss_fell, MODERATE, -STRONG),
        Clue("stopped_short", stopped_short, STRONG + MODERATE, -STRONG),
    ),
    verify=_verify,
    fix=_fix,
    changes=_changes,
    needs=("the end of the output of every process, and the scheduler's record of the job",),
)
