"""What to do now, what to watch before the restart, what the failure cost."""

from dataclasses import dataclass

from forensics.findings import Change, Outcome
from forensics.report.names import Tone
from forensics.report.view._headline import Fact
from forensics.report.wording import (
    at,
    hours,
    percent,
    plural,
    sentence,
    setting,
    step_list,
    step_ranges,
    stretch,
    unit,
)
from forensics.verdict import CheckItem, Monitor, Scale, Verdict

SKIPPED_RANGES = 400


@dataclass(frozen=True)
class Row:
    """One setting to change."""

    setting: str
    before: str
    after: str


@dataclass(frozen=True)
class Actions:
    """What to do now."""

    resume_title: str
    """``Resume from``, ``Go on from`` or why neither, to be followed by ``resume``."""
    resume: str
    """Path of the checkpoint, '' where there is none to resume from."""
    resume_step: str
    reason: str
    optimizer_title: str
    """May the optimizer state be kept, in three words."""
    optimizer: str
    """Why; '' where there is nothing to resume from."""
    changes: tuple[Row, ...]
    skip: str
    skip_unit: str
    """What ``skip`` counts: ``step``, ``steps``."""
    skip_all: str
    """Every step to skip, where ``skip`` is cut short."""


@dataclass(frozen=True)
class Alarm:
    """One monitor."""

    scale: str
    rule: str
    stops: str
    early: bool
    """True where it would have stopped this run."""


@dataclass(frozen=True)
class Check:
    """One line of the stability checklist."""

    name: str
    advice: str
    found: str
    mark: str
    verdict: str
    tone: Tone


@dataclass(frozen=True)
class Loss:
    """What the failure cost."""

    facts: tuple[Fact, ...]
    earliest: tuple[str, ...]
    """One sentence for each scale of monitor that would have stopped the run."""


_KEEP = {
    True: "Keep its optimizer state",
    False: "Leave its optimizer state",
    None: "Optimizer state: unknown",
}


def actions(verdict: Verdict) -> Actions:
    """Word the recommendation."""
    advice = verdict.recommendation
    ranges, step = step_ranges(advice.skip_steps), advice.resume_step
    more = (
        f" and {len(ranges) - SKIPPED_RANGES:,} more ranges" if len(ranges) > SKIPPED_RANGES else ""
    )
    outcome = verdict.case.judgement.outcome
    title = "Resume from" if outcome.is_failure else "Go on from"
    if not advice.resume_from:
        title = "No checkpoint to resume from"
    # Nothing is to be trained again: the reason says where the weights are.
    kept = outcome is Outcome.VALIDATION_FAILED
    return Actions(
        resume_title="Keep the trained weights" if kept else title,
        resume="" if kept else advice.resume_from or "",
        resume_step="" if step is None or kept else at(step, verdict.case.timeline.axis_of(step)),
        reason=sentence(advice.resume_reason),
        optimizer_title=_KEEP[advice.keep_optimizer],
        optimizer=sentence(advice.optimizer_reason) if advice.optimizer_reason else "",
        changes=tuple(_row(change) for change in advice.changes),
        skip=step_list(advice.skip_steps),
        skip_unit=plural(len(advice.skip_steps), unit()).rpartition(" ")[2],
        skip_all=", ".join(ranges[:SKIPPED_RANGES]) + more if len(ranges) > 6 else "",
    )


def _row(change: Change) -> Row:
    return Row(change.setting, setting(change.before), setting(change.after))


def alarms(verdict: Verdict) -> tuple[Alarm, ...]:
    """Word the monitors."""
    failed = verdict.case.judgement.outcome.is_failure
    return tuple(_alarm(monitor, failed) for monitor in verdict.monitors)


def _alarm(monitor: Monitor, failed: bool) -> Alarm:
    step = monitor.would_stop_at
    never = "would not have" if failed else "stays silent"
    return Alarm(
        monitor.scale.value,
        sentence(monitor.rule),
        never if step is None else at(step),
        step is not None,
    )


_MARKS = {
    True: ("✓", "good", Tone.GOOD),
    False: ("✗", "to mend", Tone.BAD),
    None: ("?", "unknown", Tone.NEUTRAL),
}


def checks(verdict: Verdict) -> tuple[Check, ...]:
    """Word the checklist."""
    return tuple(_check(item) for item in verdict.checklist)


def _check(item: CheckItem) -> Check:
    mark, word, tone = _MARKS[item.good]
    return Check(item.name, sentence(item.advice), item.found, mark, word, tone)


def loss(verdict: Verdict) -> Loss:
    """Word the cost; empty where nothing failed."""
    cost = verdict.cost
    facts = [
        Fact("after the onset", stretch(cost.steps_after_onset))
        if cost.steps_after_onset is not None
        else None,
        Fact("of machine time", hours(cost.hours_after_onset))
        if cost.hours_after_onset is not None
        else None,
        Fact("of the run", percent(cost.share_of_run)) if cost.share_of_run is not None else None,
    ]
    kept = tuple(fact for fact in facts if fact is not None)
    return Loss(kept, _earliest(verdict) if kept else ())


def _earliest(verdict: Verdict) -> tuple[str, ...]:
    last = verdict.case.timeline.last_step
    stops = {
        scale: min(
            (
                m.would_stop_at
                for m in verdict.monitors
                if m.scale is scale and m.would_stop_at is not None
            ),
            default=None,
        )
        for scale in Scale
    }
    return tuple(
        f"A {scale.value.replace(' ', '-')} monitor would have stopped it at {at(stop)},"
        f" {stretch(max(last - stop, 0))} before the log ends."
        for scale, stop in stops.items()
        if stop is not None
    )
