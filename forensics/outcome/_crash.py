"""Runs whose process ended for reasons outside the training."""

from collections.abc import Sequence

from forensics.findings import Judgement, Outcome, Symptom
from forensics.phrasing import at_step
from forensics.run import TextEvidence, TextKind
from forensics.signals import Signal
from forensics.timeline import Timeline

CRASHES = (
    TextKind.OUT_OF_MEMORY,
    TextKind.KILLED,
    TextKind.TIME_LIMIT,
    TextKind.LOST_PEER,
    TextKind.DISK_FULL,
    TextKind.LABEL_OUT_OF_RANGE,
    TextKind.INDEX_OUT_OF_RANGE,
    TextKind.DEVICE_ASSERT,
    TextKind.HARDWARE_ERROR,
    TextKind.TRACEBACK,
)
"""Ends of a process, the most telling first."""

LAST_SHARE = 0.02
"""Of a run: its end, to a line of text whose step is that of a coarser log."""


def of_last_attempt(text: Sequence[TextEvidence]) -> list[TextEvidence]:
    """Lines that belong to the attempt that ended the run, in file order.

    A restart within the same file supersedes what the file said before.
    """
    kept: list[TextEvidence] = []
    for line in text:
        if line.kind in (TextKind.RUN_STARTED, TextKind.RESUMED):
            kept = [k for k in kept if k.source != line.source]
        kept.append(line)
    return kept


def crashed(
    timeline: Timeline, text: Sequence[TextEvidence], planned: int | None = None
) -> Judgement | None:
    """A process that did not end by itself; a finish line after the crash line cancels it.

    Args:
        timeline: The run.
        text: What its text proves.
        planned: Steps it was to do, where known.
    """
    ends = {t.source: t.line for t in text if t.kind is TextKind.RUN_FINISHED}
    crashes = [t for t in text if t.kind in CRASHES and t.line > ends.get(t.source, 0)]
    crashes = [t for t in crashes if t.step is None or t.step >= _end(timeline)]
    if not crashes or (_only_hardware(crashes) and _reached_its_end(timeline, planned)):
        return None
    telling = min(crashes, key=lambda t: CRASHES.index(t.kind))
    step = telling.step if telling.step is not None else timeline.last_step
    reason = f"the process ended at {at_step(step)}: {telling.text}"
    return Judgement(Outcome.CRASHED, Symptom.CRASH, step, None, None, reason)


def _end(timeline: Timeline) -> float:
    """First step that counts as the end: lines are dated by whole epochs, or by rows before them.

    A crash long before the last point was got over by a later attempt.
    """
    return timeline.last_step - max(3 * timeline.interval + 1, LAST_SHARE * timeline.last_step)


def _only_hardware(crashes: Sequence[TextEvidence]) -> bool:
    """True where nothing says that the process ended, only that the machine had an error."""
    return all(t.kind is TextKind.HARDWARE_ERROR for t in crashes)


def _reached_its_end(timeline: Timeline, planned: int | None) -> bool:
    """True where all planned steps were done; of a plan not told, where validation came last."""
    if planned is not None:
        return timeline.last_step >= planned - timeline.interval
    evals = timeline.get(Signal.EVAL_LOSS)
    return evals is not None and len(evals) >= 2 and int(evals.step[-1]) >= timeline.last_step
