"""The head of a report: the verdict, the diagnosis and the facts that place them."""

from dataclasses import dataclass

from forensics.case import Case
from forensics.findings import Hypothesis, Outcome, Status
from forensics.report import names
from forensics.report.names import Tone
from forensics.report.wording import (
    at,
    listing,
    number,
    percent,
    plural,
    sentence,
    sentence_case,
    words,
)
from forensics.signals import Signal
from forensics.verdict import Verdict


@dataclass(frozen=True)
class Badge:
    """A word with a colour."""

    text: str
    tone: Tone


@dataclass(frozen=True)
class Fact:
    """One labelled value; ``note`` adds what the value alone does not say."""

    label: str
    value: str
    note: str = ""
    code: bool = False
    """True where the value is a path or another literal."""
    long: bool = False
    """True where the value may run over several lines."""


@dataclass(frozen=True)
class Diagnosis:
    """The first hypothesis in short."""

    title: str
    cause: str
    probability: str
    fill: str
    """The probability as a width for a bar, such as ``84.0%``."""
    status: Badge


@dataclass(frozen=True)
class Headline:
    """The first screen of the report."""

    run: str
    """Last part of the path, and the run's name where the folder holds several."""
    sentence: str
    outcome: Badge
    meaning: str
    symptom: str
    reason: str
    diagnosis: Diagnosis | None
    facts: tuple[Fact, ...]


def headline(verdict: Verdict) -> Headline:
    """Word the head of the report."""
    case = verdict.case
    label, tone, meaning = names.outcome(case.judgement.outcome)
    path = str(case.run.path)
    short = path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path
    return Headline(
        run=f"{short}: {case.run.name}" if case.run.name else short,
        sentence=verdict.sentence,
        outcome=Badge(label, tone),
        meaning=meaning,
        symptom=names.symptom(case.judgement.symptom),
        reason=sentence(case.judgement.reason),
        diagnosis=_diagnosis(verdict.hypotheses[0]) if verdict.hypotheses else None,
        facts=_facts(verdict),
    )


def _diagnosis(first: Hypothesis) -> Diagnosis:
    return Diagnosis(
        first.title,
        first.cause,
        percent(first.probability),
        width(first.probability),
        status_badge(first),
    )


def width(share: float) -> str:
    """A share of 0 to 1 as the width of a bar; what is not a number gives none."""
    return f"{min(max(share, 0.0), 1.0) * 100:.1f}%" if share == share else "0%"


def status_badge(hypothesis: Hypothesis) -> Badge:
    """The status of a hypothesis; that nothing is wrong is good news."""
    settled = hypothesis.status in (Status.CONFIRMED, Status.LIKELY)
    good = hypothesis.cause == "no_failure" and settled
    tone = Tone.GOOD if good else names.status_tone(hypothesis.status)
    return Badge(words(hypothesis.status.value), tone)


def _facts(verdict: Verdict) -> tuple[Fact, ...]:
    case = verdict.case
    return (
        _onset(case),
        _checkpoint(verdict),
        _steps(case),
        _framework(case),
        Fact("Run", str(case.run.path), case.run.name, code=True),
        Fact("Read from", listing(formats(case)) or "no log", _points(case), long=True),
    )


def _onset(case: Case) -> Fact:
    judgement, axis = case.judgement, case.timeline.axis
    if judgement.onset_step is None:
        fine = judgement.outcome in (Outcome.HEALTHY, Outcome.UNKNOWN)
        return Fact("Onset", "none" if fine else "not in what was logged")
    notes = []
    if judgement.after_step is not None and judgement.after_step < judgement.onset_step:
        notes.append(f"{at(judgement.after_step, axis)} was still normal")
    mover = judgement.first_mover
    if mover is not None and mover is not Signal.TRAIN_LOSS:
        notes.append(f"{names.signal(mover)} moved first")
    return Fact("Onset", at(judgement.onset_step, axis), "; ".join(notes))


def _checkpoint(verdict: Verdict) -> Fact:
    label, last = "Last healthy checkpoint", verdict.last_healthy
    if last is not None:
        step = "" if last.step is None else at(last.step, verdict.case.timeline.axis_of(last.step))
        checked = "" if last.scanned else "not scanned"
        return Fact(label, last.path, ", ".join(filter(None, (step, checked))), code=True)
    found = len(verdict.checkpoints)
    return Fact(
        label, "none", f"{plural(found, 'checkpoint')} found" if found else "none was found"
    )


def _steps(case: Case) -> Fact:
    line = case.timeline
    if not line.tracks:
        return Fact("Logged", "nothing")
    unit = sentence_case(plural(2, case.timeline.axis.noun).partition(" ")[2])
    span = f"{line.first_step:,} to {line.last_step:,}"
    every = "" if line.interval <= 1 else f"every {number(line.interval)}"
    attempts = plural(len(line.attempts), "attempt") if len(line.attempts) > 1 else ""
    return Fact(unit, span, ", ".join(filter(None, (every, attempts))))


def _framework(case: Case) -> Fact:
    config = case.config
    notes = [config.model, config.optimizer, config.precision]
    return Fact("Framework", config.framework or "unknown", ", ".join(filter(None, notes)))


def formats(case: Case) -> list[str]:
    """The formats that were read, in the order of the inventory."""
    return list(dict.fromkeys(record.format for record in case.run.files if record.format))


def points(case: Case) -> int:
    """How many values the run logged, superseded ones included."""
    return sum(len(series.step) for series in case.run.series)


def _points(case: Case) -> str:
    series = len(case.run.series)
    return f"{plural(points(case), 'point')} in {series:,} series" if series else ""
