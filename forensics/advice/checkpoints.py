"""Checkpoints, judged: what was read from them, and whether they were written before the onset."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from forensics.advice._moments import damaged_weights, doubtful_optimizer
from forensics.advice._timing import Place, failed_at, place, wrong_from_start
from forensics.case import Case
from forensics.findings import TensorStats
from forensics.phrasing import at_step, unit
from forensics.run import FoundCheckpoint
from forensics.verdict import CheckpointState, CheckpointVerdict

_ROLES = {"param": "weights", "buffer": "buffers", "master": "weights (32-bit copies)"}
_MOMENTS = "optimizer state"


def judge_checkpoints(case: Case) -> tuple[CheckpointVerdict, ...]:
    """Judge every checkpoint of the run, in step order; those without a known step come last.

    These, and those of one step, stay in the run's order: by the numbers of their names.
    """
    scanned: Mapping[str, list[TensorStats]] = defaultdict(list)
    for tensor in case.tensors or ():
        scanned[tensor.checkpoint].append(tensor)
    order = sorted(case.run.checkpoints, key=lambda c: (c.step is None, c.step or 0))
    return tuple(_judge(case, found, scanned.get(found.path)) for found in order)


def last_healthy(case: Case, checkpoints: Sequence[CheckpointVerdict]) -> CheckpointVerdict | None:
    """The latest usable checkpoint written before the onset; without an onset, the latest.

    Non-finite weights never heal: what was written after a poisoned checkpoint is no candidate,
    scanned or not. None for a run that was wrong from its first step. Where the optimizer state
    alone is in doubt, the weights are still the ones to go back to.
    """
    if wrong_from_start(case):
        return None
    bad = first_bad(checkpoints)
    usable = [
        c
        for c in checkpoints
        if _is_usable(case, c)
        and place(case, c.step) in (Place.BEFORE, Place.BETWEEN, Place.NO_ONSET)
        and (bad is None or bad.step is None or (c.step is not None and c.step < bad.step))
    ]
    latest_first = reversed(usable)
    return max(latest_first, key=lambda c: _preference(case, c), default=None)


def starts(case: Case) -> tuple[list[CheckpointVerdict], list[CheckpointVerdict]]:
    """Finite checkpoints with a known step, written before the onset and after it, by step.

    Before the onset the run was sound, so the latest of them is where a replay begins, even of a
    run that recovered later.
    """
    checkpoints = judge_checkpoints(case)
    bad = first_bad(checkpoints)
    known = [
        (c.step, c)
        for c in checkpoints
        if c.step is not None
        and _is_usable(case, c)
        and (bad is None or bad.step is None or c.step < bad.step)
    ]
    onset, after = case.judgement.onset_step, case.judgement.after_step
    if onset is None:
        return [c for _, c in known], []
    early = [c for step, c in known if step < onset]
    sure = [c for step, c in known if step < onset and (after is None or step <= after)]
    before = [] if wrong_from_start(case) else sure or early
    return before, [c for _, c in known if c not in before]


def first_bad(checkpoints: Sequence[CheckpointVerdict]) -> CheckpointVerdict | None:
    """The earliest checkpoint found to hold non-finite values."""
    return next((c for c in checkpoints if c.state is CheckpointState.POISONED), None)


def _is_usable(case: Case, checkpoint: CheckpointVerdict) -> bool:
    if checkpoint.state is CheckpointState.SUSPECT:
        return not damaged_weights(case, checkpoint.path)
    return checkpoint.state in (CheckpointState.HEALTHY, CheckpointState.NOT_SCANNED)


def _preference(case: Case, checkpoint: CheckpointVerdict) -> tuple[bool, int]:
    """Latest first, but what lies between two logged points only where there is nothing earlier."""
    step = -1 if checkpoint.step is None else checkpoint.step
    return place(case, checkpoint.step) is not Place.BETWEEN, step


def _judge(
    case: Case, found: FoundCheckpoint, tensors: Sequence[TensorStats] | None
) -> CheckpointVerdict:
    bad = [t for t in tensors or () if t.is_poisoned]
    doubt = damaged_weights(case, found.path) or doubtful_optimizer(case, found.path)
    state = _state(case, found, tensors, bad, doubt)
    return CheckpointVerdict(
        path=found.path,
        step=found.step,
        scanned=tensors is not None,
        finite=None if tensors is None else not bad,
        non_finite_tensors=tuple(dict.fromkeys(t.name for t in bad)),
        state=state,
        reason=_reason(case, found, state, bad, doubt),
    )


def _state(
    case: Case,
    found: FoundCheckpoint,
    tensors: Sequence[TensorStats] | None,
    bad: Sequence[TensorStats],
    doubt: str,
) -> CheckpointState:
    if bad:
        return CheckpointState.POISONED
    if not found.complete or _is_unreadable(case, found, tensors):
        return CheckpointState.UNREADABLE
    if tensors is None:
        return CheckpointState.NOT_SCANNED
    late = place(case, found.step) is Place.AFTER
    return CheckpointState.SUSPECT if late or doubt else CheckpointState.HEALTHY


def _is_unreadable(
    case: Case, found: FoundCheckpoint, tensors: Sequence[TensorStats] | None
) -> bool:
    """True where opening it failed, or where a part of its weights could not be read."""
    if tensors is None:
        return found.path in case.unreadable
    return any(t.missing and t.dtype != "OTHER" for t in tensors if t.role == "param")


def _reason(
    case: Case,
    found: FoundCheckpoint,
    state: CheckpointState,
    bad: Sequence[TensorStats],
    doubt: str,
) -> str:
    match state:
        case CheckpointState.UNREADABLE if not found.complete:
            words = "saving it was not finished"
        case CheckpointState.UNREADABLE:
            words = "it cannot be read, or not all of it"
        case CheckpointState.NOT_SCANNED:
            words = "not scanned"
        case CheckpointState.POISONED:
            words = _where(bad)
        case _:
            words = doubt or "finite"
    when = _written(case, found.step)
    return f"{words}; {when}" if when else words


def _where(bad: Sequence[TensorStats]) -> str:
    """How many tensors are not finite, and of what kind."""
    counts: dict[str, int] = defaultdict(int)
    for tensor in bad:
        counts[_ROLES.get(tensor.role, _MOMENTS)] += 1
    if len(bad) == 1:
        return f"1 tensor of the {next(iter(counts))} holds NaN or infinity"
    parts = [f"{count:,} of the {kind}" for kind, count in counts.items()]
    first, *rest = parts
    words = f"{first.replace(' of', ' tensors of', 1)}" + "".join(f", {part}" for part in rest)
    return f"{words} hold NaN or infinity"


def _written(case: Case, step: int | None) -> str:
    onset, after = failed_at(case), case.judgement.after_step
    begun = "" if onset is None else at_step(onset)
    return {
        Place.NO_ONSET: "" if step is not None else f"its {unit()} is not known",
        Place.UNKNOWN: f"its {unit()} is not known, so it may have been written after the failure",
        Place.BEFORE: f"written before the onset at {begun}",
        Place.BETWEEN: f"written between the last good logged {unit()} {after} and the onset at"
        f" {begun}, so it may already hold the damage",
        Place.AFTER: f"written at or after the onset at {begun}",
    }[place(case, step)]
