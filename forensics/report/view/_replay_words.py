"""What a replay proves and what it does not, in words."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forensics.findings import Hypothesis, Status
from forensics.replay_facts import AsRun, Counterfactual, ReplayFacts, Role
from forensics.replay_reading import Blame, Repeat, ReplayReading
from forensics.report.names import Tone
from forensics.report.view._replay_changes import excess
from forensics.report.wording import at, listing, number, plural, sentence, sentence_case, words


@dataclass(frozen=True)
class Conclusion:
    """One thing the replay settles, or fails to settle."""

    label: str
    text: str
    tone: Tone
    brief: str = ""
    """The same in a few words; '' where a short report does without it."""


def conclusions(
    facts: ReplayFacts, reading: ReplayReading, hypotheses: Sequence[Hypothesis]
) -> tuple[Conclusion, ...]:
    """What the replay settles, the most important first."""
    return (
        *_proven(hypotheses),
        *_repeated(facts, reading),
        *_changes(reading),
        *_blamed(facts, reading),
        *_precision(reading),
        *_not_proven(hypotheses),
    )


def _proven(hypotheses: Sequence[Hypothesis]) -> Iterator[Conclusion]:
    proven = [h.title for h in hypotheses if h.status is Status.CONFIRMED]
    if proven:
        yield Conclusion(
            "Proven", sentence(listing(proven)), Tone.GOOD, f"proven: {listing(proven)}"
        )


def _not_proven(hypotheses: Sequence[Hypothesis]) -> Iterator[Conclusion]:
    if any(h.status is Status.CONFIRMED for h in hypotheses):
        return
    for first in hypotheses[:1]:
        if first.cause != "no_failure":
            text = f"{first.title} stays {words(first.status.value)}"
            yield Conclusion("Not proven", sentence(text), Tone.WARN, "not proven")


def _repeated(facts: ReplayFacts, reading: ReplayReading) -> Iterator[Conclusion]:
    run = facts.as_run
    match reading.repeat:
        case Repeat.REPRODUCED if run is not None:
            told = f"on the same data with the run's own settings {_failure(facts, run)}."
            meaning = "That leaves the data or the settings, not chance, parallelism or hardware."
            text = f"{sentence_case(told)} {_against_log(run)} {meaning}"
            yield Conclusion("Reproduced", text, Tone.BAD, "reproduced")
        case Repeat.NOT_REPRODUCED if run is not None:
            told = "On the same data with the run's own settings the failure does not come."
            meaning = "That points at randomness, parallelism, lost state or hardware."
            text = f"{told} {_against_log(run)} {meaning}"
            yield Conclusion("Not reproduced", text, Tone.WARN, "not reproduced")
        case Repeat.NOT_REACHED if run is not None:
            last = at(run.trajectory.steps[-1]) if run.trajectory.steps else "no step"
            told = f"The budget ended the stretch at {last}, before the onset"
            text = f"{told}: whether the failure comes again is open. A larger --budget tells."
            yield Conclusion("Not settled", text, Tone.WARN, "the budget ended before the onset")
        case Repeat.NOTHING_FAILED if run is not None:
            told = f"There was no failure to reproduce. {_against_log(run)}"
            yield Conclusion("Replayed", told.strip(), Tone.NEUTRAL, "no failure to reproduce")
        case _:
            text = "The stretch was not replayed; the lines below say why."
            yield Conclusion("Not settled", text, Tone.WARN, "the stretch was not replayed")


def _failure(facts: ReplayFacts, run: AsRun) -> str:
    """What comes again, with its height beside the logged one."""
    step = run.trajectory.first_non_finite
    if step is not None:
        return f"the failure comes again: {at(step)} is the first that is not finite"
    where = "" if facts.suspect_step is None else f" around {at(facts.suspect_step)}"
    logged = f"; logged {excess(run.logged_excess)}" if math.isfinite(run.logged_excess) else ""
    height = f"{excess(run.trajectory.excess)} nats above the level before it{logged}"
    return f"the failure comes again{where}, {height}"


def _against_log(run: AsRun) -> str:
    if not run.compared:
        return "No loss was logged in the stretch to compare with."
    if run.exact == run.compared:
        logged = plural(run.compared, "logged loss")
        return f"Of {logged} in the stretch every one is equal to the last digit."
    same = f"{run.exact:,} of {plural(run.compared, 'logged loss')} come out to the last digit"
    if run.parts_at is None:
        return f"{same}, the others within rounding."
    return f"{same}; from {at(run.parts_at)} on replay and log differ by more than rounding."


def _changes(reading: ReplayReading) -> Iterator[Conclusion]:
    if reading.closest:
        change = ", or ".join(change_words(c) for c in reading.closest)
        left = number(reading.closest[0].matches_log or 0.0, 3)
        text = f"{change}: with it the replay stays within {left} nats of the log (median)."
        yield Conclusion(
            "Comes closest to the log", text, Tone.BAD, f"closest to the log: {change}"
        )
    if reading.removed_by:
        text = "; ".join(change_words(c) for c in reading.removed_by)
        first = " (the smallest change first)" if len(reading.removed_by) > 1 else ""
        brief = f"removed by {change_words(reading.removed_by[0])}"
        yield Conclusion("Removed by", f"{text}{first}.", Tone.GOOD, brief)
    elif reading.kept_by:
        text = "none of the changes that were tried makes the failure go away."
        brief = "removed by no change that was tried"
        yield Conclusion("Removed by", sentence_case(text), Tone.WARN, brief)
    if reading.kept_by and reading.removed_by:
        text = "; ".join(change_words(c) for c in reading.kept_by)
        yield Conclusion("Not removed by", f"{text}.", Tone.NEUTRAL)


def change_words(change: Counterfactual) -> str:
    """A change in a few words."""
    return f"{change.setting}: {change.before} → {change.after}"


_BLAMED = {
    Blame.DATA: (
        "The data",
        "the suspect batch stands out from its controls at both checkpoints, so the batch itself"
        " is bad or hard.",
        Tone.BAD,
    ),
    Blame.BOTH: (
        "Data and state",
        "the suspect batch stands out at the weights just before the onset, not at the earlier"
        " ones: an ordinary batch met weights in a fragile state.",
        Tone.BAD,
    ),
    Blame.STATE: (
        "The state",
        "the control batches fare as badly at these weights: the state was bad before the suspect"
        " batch came.",
        Tone.BAD,
    ),
    Blame.NEITHER: (
        "Neither data nor state",
        "the suspect batch is like its controls at these weights: no single batch is to blame.",
        Tone.NEUTRAL,
    ),
    Blame.DATA_OR_BOTH: (
        "The data, perhaps the state",
        "the suspect batch stands out from its controls; whether at other weights too was not tried"
        " or is not clear.",
        Tone.BAD,
    ),
    Blame.OPEN: (
        "Data or state",
        "the suspect batch is not clearly unlike its controls: whether it is to blame stays open.",
        Tone.NEUTRAL,
    ),
}


def _blamed(facts: ReplayFacts, reading: ReplayReading) -> Iterator[Conclusion]:
    if reading.blame is None:
        return
    label, text, tone = _BLAMED[reading.blame]
    here = facts.comparison(Role.BEFORE) or facts.comparison(Role.INITIAL)
    numbers = ""
    if here is not None and here.controls:
        own, usual = number(here.suspect.loss, 3), number(here.control_loss, 3)
        numbers = f" Its loss is {own}, theirs {usual}."
    yield Conclusion(label, sentence_case(text) + numbers, tone)


def _precision(reading: ReplayReading) -> Iterator[Conclusion]:
    if reading.needs_precision is None:
        return
    if reading.needs_precision:
        text = "The same step at the same weights is finite in fp32: the run's precision is it."
        yield Conclusion("Precision", text, Tone.BAD, "finite in fp32")
    else:
        text = "The same step is not finite in fp32 either: it is not the precision."
        yield Conclusion("Not precision", text, Tone.NEUTRAL, "not finite in fp32 either")
