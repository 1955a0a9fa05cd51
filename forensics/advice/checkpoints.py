"""Checkpoints, judged: what was read from them, and whether they were written before the onset."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from forensics.advice._timing import Place, failed_at, place, wrong_from_start
from forensics.case import Case
from forensics.findings import TensorStats
from forensics.run import FoundCheckpoint
from forensics.verdict import CheckpointState, CheckpointVerdict


def judge_checkpoints(case: Case) -> tuple[CheckpointVerdict, ...]:
    """Judge every checkpoint of the run, in step order; those without a known step come last."""
    scanned: Mapping[str, list[TensorStats]] = defaultdict(list)
    for tensor in case.tensors or ():
        scanned[tensor.checkpoint].append(tensor)
    order = sorted(case.run.checkpoints, key=lambda c: (c.step is None, c.step or 0, c.path))
    return tuple(_judge(case, found, scanned.get(found.path)) for found in order)


def last_healthy(case: Case, checkpoints: Sequence[CheckpointVerdict]) -> CheckpointVerdict | None:
    """The latest usable checkpoint written before the onset; without an onset, the latest.

    Non-finite weights never heal: what was written after a poisoned checkpoint is no candidate,
    scanned or not. None for a run that was wrong from its first step.
    """
    if wrong_from_start(case):
        return None
    bad = first_bad(checkpoints)
    usable = [
        c
        for c in checkpoints
        if c.state in (CheckpointState.HEALTHY, CheckpointState.NOT_SCANNED)
        and place(case, c.step) in (Place.BEFORE, Place.BETWEEN, Place.NO_ONSET)
        and (bad is None or bad.step is None or (c.step is not None and c.step < bad.step))
    ]
    return max(usable, key=lambda c: _preference(case, c), default=None)


def first_bad(checkpoints: Sequence[CheckpointVerdict]) -> CheckpointVerdict | None:
    """The earliest checkpoint found to hold non-finite values."""
    return next((c for c in checkpoints if c.state is CheckpointState.POISONED), None)


def _preference(case: Case, checkpoint: CheckpointVerdict) -> tuple[bool, int]:
    """Latest first, but what lies between two logged points only where there is nothing earlier."""
    step = -1 if checkpoint.step is None else checkpoint.step
    return place(case, checkpoint.step) is not Place.BETWEEN, step


def _judge(
    case: Case, found: FoundCheckpoint, tensors: Sequence[TensorStats] | None
) -> CheckpointVerdict:
    bad = tuple(t.name for t in tensors or () if _is_bad(t))
    state = _state(case, found, tensors, bad)
    return CheckpointVerdict(
        path=found.path,
        step=found.step,
        scanned=tensors is not None,
        finite=None if tensors is None else not bad,
        non_finite_tensors=bad,
        state=state,
        reason=_reason(case, found, state, bad),
    )


def _is_bad(tensor: TensorStats) -> bool:
    """A buffer may hold minus infinity on purpose: it is how attention masks are stored."""
    masked = tensor.role == "buffer" and not tensor.nan and not tensor.pos_inf
    return bool(tensor.nan or tensor.pos_inf or tensor.neg_inf) and not masked


def _state(
    case: Case,
    found: FoundCheckpoint,
    tensors: Sequence[TensorStats] | None,
    bad: Sequence[str],
) -> CheckpointState:
    if not found.complete:
        return CheckpointState.UNREADABLE
    if tensors is None:
        return CheckpointState.NOT_SCANNED
    if bad:
        return CheckpointState.POISONED
    late = place(case, found.step) is Place.AFTER
    return CheckpointState.SUSPECT if late else CheckpointState.HEALTHY


def _reason(case: Case, found: FoundCheckpoint, state: CheckpointState, bad: Sequence[str]) -> str:
    words = {
        CheckpointState.UNREADABLE: "saving it was not finished",
        CheckpointState.NOT_SCANNED: "not scanned",
        CheckpointState.POISONED: f"{len(bad):,} tensors hold NaN or infinity",
        CheckpointState.SUSPECT: "finite",
        CheckpointState.HEALTHY: "finite",
    }
    when = _written(case, found.step)
    return f"{words[state]}; {when}" if when else words[state]


def _written(case: Case, step: int | None) -> str:
    onset, after = failed_at(case), case.judgement.after_step
    return {
        Place.NO_ONSET: "" if step is not None else "its step is not known",
        Place.UNKNOWN: "its step is not known, so it may have been written after the failure",
        Place.BEFORE: f"written before the onset at step {onset}",
        Place.BETWEEN: f"written between the last good logged step {after} and the onset at step"
        f" {onset}, so it may already hold the damage",
        Place.AFTER: f"written at or after the onset at step {onset}",
    }[place(case, step)]
