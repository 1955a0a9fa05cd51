"""What to do now: where to resume, which steps to skip, which settings to change."""

from collections.abc import Sequence

from forensics.advice._timing import Place, failed_at, place, wrong_from_start
from forensics.advice.checkpoints import last_healthy
from forensics.advice.optimizer_state import judge_optimizer
from forensics.case import Case
from forensics.findings import Change, Hypothesis, Outcome
from forensics.phrasing import at_step, unit
from forensics.run import Axis
from forensics.signals import Signal
from forensics.verdict import CheckpointState, CheckpointVerdict, Recommendation

LEAST_PROBABILITY = 0.25
"""Below, the sentence says that no cause stands out, and no setting is to be changed."""


def recommend(
    case: Case,
    hypotheses: Sequence[Hypothesis],
    unexplained: float,
    checkpoints: Sequence[CheckpointVerdict],
) -> Recommendation:
    """Merge the resume point with what the first hypothesis would change.

    Only the first hypothesis counts, and only where it stands out: several remedies at once would
    hide which one helped, and a guess is no reason to change a setting.
    """
    least = max(LEAST_PROBABILITY, unexplained)
    first = hypotheses[0] if hypotheses and hypotheses[0].probability >= least else None
    healthy = last_healthy(case, checkpoints)
    # An epoch, or a row of a log, is more than one would leave out.
    by_steps = case.timeline.axis is Axis.STEP
    spared = case.judgement.outcome is Outcome.VALIDATION_FAILED
    keep, why = (None, "") if healthy is None or spared else judge_optimizer(case, healthy)
    return Recommendation(
        resume_from=None if healthy is None else healthy.path,
        resume_step=None if healthy is None else healthy.step,
        resume_reason=_reason(case, healthy, checkpoints),
        skip_steps=() if first is None or not by_steps else tuple(sorted(set(first.skip_steps))),
        changes=() if first is None else _effective(first.changes),
        keep_optimizer=keep,
        optimizer_reason=why,
    )


def _effective(changes: Sequence[Change]) -> tuple[Change, ...]:
    """One change a setting, none that changes nothing."""
    latest = {c.setting: c for c in changes if c.before != c.after}
    return tuple(latest.values())


def _reason(
    case: Case, healthy: CheckpointVerdict | None, checkpoints: Sequence[CheckpointVerdict]
) -> str:
    if case.judgement.outcome is Outcome.VALIDATION_FAILED:
        return _kept(healthy, checkpoints)
    if healthy is not None:
        return _found(case, healthy)
    if wrong_from_start(case):
        return f"the run was wrong from its first {unit()}: start again from the initial weights"
    if not checkpoints:
        return "no checkpoint was found in the run directory"
    if all(c.state is CheckpointState.UNREADABLE for c in checkpoints):
        return "no checkpoint was saved completely"
    onset = failed_at(case)
    if onset is None:
        return "every checkpoint holds non-finite values or was not saved completely"
    return f"no usable checkpoint was written before the failure began at {at_step(onset)}"


def _kept(healthy: CheckpointVerdict | None, checkpoints: Sequence[CheckpointVerdict]) -> str:
    """Of a broken validation: the trained weights are as good as they were."""
    broken = (CheckpointState.POISONED, CheckpointState.UNREADABLE)
    sound = [c for c in checkpoints if c.state not in broken]
    latest = max(sound, key=lambda c: -1 if c.step is None else c.step, default=None)
    which = "wherever its weights are" if latest is None else f"in {latest.path}"
    before = "" if healthy is None else "the latest before validation broke; but "
    return (
        f"{before}the training loss went on as usual: keep what was trained, {which}, repair the "
        "validation and evaluate again"
    )


def _found(case: Case, healthy: CheckpointVerdict) -> str:
    onset = failed_at(case)
    which = (
        "the latest; the training itself did not fail"
        if onset is None
        else f"the latest written before the failure began at {at_step(onset)}"
    )
    checked = "finite" if healthy.scanned else "not scanned"
    return f"{which}; {checked}{_doubt(case, healthy.step)}"


def _doubt(case: Case, step: int | None) -> str:
    """What could still be wrong with weights saved so close to the failure."""
    after = case.judgement.after_step
    if place(case, step) is Place.BETWEEN:
        last = at_step(after or 0)
        return f"; it may already hold the damage, for nothing was logged after {last}"
    if failed_at(case) is not None and step == after and case.track(Signal.GRAD_NORM) is None:
        return "; without a logged gradient norm the step itself may have done the damage"
    return ""
