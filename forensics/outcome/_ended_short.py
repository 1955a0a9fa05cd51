"""Runs that ended before their plan without a word: no line of the log tells of it."""

from collections.abc import Callable, Sequence

from forensics.findings import Judgement, Outcome, Symptom
from forensics.outcome.plan import done
from forensics.run import Config, TextEvidence, TextKind
from forensics.signals import Signal
from forensics.timeline import Timeline

FAR_FROM_DONE = 0.9
"""Share of the plan below which a run did not merely round it."""
QUIET = 900.0
"""Seconds without a write after which a run no longer goes on."""


def ended_short(
    timeline: Timeline,
    text: Sequence[TextEvidence],
    config: Config,
    saved: Sequence[int],
    silence: Callable[[], float | None],
) -> Judgement | None:
    """A log that stops far from its plan, in mid-course, and has not been written to since.

    Who ends a run on purpose, or stops it early by rule, ends it with an evaluation or a
    checkpoint; a process that is killed has trained on since the last of each.

    Args:
        timeline: The run.
        text: What its text proves.
        config: Its plan.
        saved: Steps of its checkpoints, where known.
        silence: Seconds since its logs were last written to, looked up where it matters; None: not
            known.
    """
    plan = done(timeline, config)
    said = any(t.kind in (TextKind.RUN_FINISHED, TextKind.INTERRUPTED) for t in text)
    if plan is None or plan.share >= FAR_FROM_DONE or said or not _in_mid_course(timeline, saved):
        return None
    quiet = silence()
    if quiet is None or quiet < QUIET:
        return None
    reason = (
        f"the log stops at {plan.unit} {plan.reached:,.0f} of {plan.planned:,.0f} planned, after "
        f"the last evaluation and the last checkpoint; it was not written to for "
        f"{_duration(quiet)}, and nothing in it says why"
    )
    end = timeline.last_step
    return Judgement(Outcome.CRASHED, Symptom.CRASH, end, None, None, reason)


def _in_mid_course(timeline: Timeline, saved: Sequence[int]) -> bool:
    """True where training went on after the last evaluation and after the last checkpoint."""
    evals = timeline.get(Signal.EVAL_LOSS) or timeline.get(Signal.EVAL_ACCURACY)
    last = [int(evals.step[-1])] if evals is not None and len(evals) > 1 else []
    last += [max(saved)] if saved else []
    return bool(last) and timeline.last_step - max(last) > max(1, 0.5 * timeline.interval)


def _duration(seconds: float) -> str:
    hours = seconds / 3600
    return f"{seconds / 60:.0f} minutes" if hours < 2 else f"{hours:,.0f} hours"
