"""Counters of a checkpoint that began anew after its run did."""

from forensics.case import Case
from forensics.checkpoint_facts import CheckpointFacts
from forensics.phrasing import at_step


def lost_steps(case: Case, checkpoint: CheckpointFacts) -> str:
    """Why a checkpoint's optimizer began anew after its run did, or ''."""
    counters = checkpoint.state.optimizer_steps
    if counters is None:
        return ""
    begun = counted(checkpoint) - counters[1]
    place = start_near(case, begun, counted(checkpoint))
    if place is None:
        return ""
    return (
        f"{checkpoint.checkpoint} was written at {at_step(counted(checkpoint))}, but its "
        f"optimizer counts {counters[1]:,.0f} steps: it began anew at {at_step(place)}."
    )


def counted(checkpoint: CheckpointFacts) -> int:
    """Steps of the run at the save, by the save itself or its name."""
    inside = checkpoint.state.global_step
    return inside if inside is not None else checkpoint.step or 0


def start_near(case: Case, step: int | float, before: int) -> int | None:
    """The resume, or the checkpoint from which one could be, that lies at a step.

    Counters stay behind for good reasons too (skipped steps, micro-steps, epochs), so a lag
    alone says nothing; one that is the step of a resume does.
    """
    room = max(2, round(0.002 * before))
    resumes = [resume.step for resume in case.timeline.resumes]
    saves = [c.step for c in case.run.checkpoints if c.step is not None]
    places = [p for p in (*resumes, *saves) if room < p < before]
    near = [p for p in places if abs(p - step) <= room and before - p > room]
    return min(near, key=lambda p: abs(p - step), default=None)
