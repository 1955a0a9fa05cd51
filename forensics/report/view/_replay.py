"""The replay of a run: what was run again, what it settles, what was left out and why."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

from forensics.case import Case
from forensics.findings import Hypothesis, Outcome
from forensics.replay_facts import ReplayFacts
from forensics.replay_reading import read_replay
from forensics.report.view._folding import Folded, fold
from forensics.report.view._headline import Fact
from forensics.report.view._replay_changes import (
    ChangeRow,
    ComparisonRow,
    Operation,
    change_rows,
    comparison_rows,
    operations,
)
from forensics.report.view._replay_checks import CheckRow, check_rows
from forensics.report.view._replay_words import Conclusion, conclusions
from forensics.report.wording import at, number, plural, sentence
from forensics.verdict import Verdict

T = TypeVar("T")
_NOTHING_TO_PROVE = (Outcome.HEALTHY, Outcome.UNKNOWN, Outcome.CRASHED)


@dataclass(frozen=True)
class Cost:
    """Wall time of one experiment."""

    name: str
    seconds: str


@dataclass(frozen=True)
class Replay:
    """The replay as a report tells it."""

    brief: str
    """What it settles, in one line."""
    lede: str
    alignment: str
    facts: tuple[Fact, ...]
    conclusions: tuple[Conclusion, ...]
    changes: Folded[ChangeRow]
    comparisons: Folded[ComparisonRow]
    operations: tuple[Operation, ...]
    checks: Folded[CheckRow]
    costs: Folded[Cost]
    left_out: Folded[str]
    failures: Folded[str]


def replay(facts: ReplayFacts | None, hypotheses: Sequence[Hypothesis]) -> Replay | None:
    """Word a replay; None where nothing was replayed."""
    if facts is None:
        return None
    reading = read_replay(facts)
    settled = conclusions(facts, reading, hypotheses)
    return Replay(
        brief="; ".join(c.brief for c in settled if c.brief),
        lede=_lede(facts),
        alignment=sentence(facts.alignment),
        facts=_facts(facts),
        conclusions=settled,
        changes=fold(change_rows(reading), _same, "change"),
        comparisons=fold(comparison_rows(facts.comparisons), _same, "comparison"),
        operations=operations(facts.searches),
        checks=fold(check_rows(facts, reading), _same, "measurement"),
        costs=fold(_costs(facts), _same, "experiment"),
        left_out=fold(facts.left_out, str, "experiment", shown=12, limit=100),
        failures=fold(facts.failures, str, "failure", shown=12, limit=100),
    )


def _same(row: T) -> T:
    return row


def _lede(facts: ReplayFacts) -> str:
    source = "the run's own model and batches" if facts.source == "auto" else f"`{facts.source}`"
    if not facts.device:
        return f"A replay with {source} was asked for and did not start."
    place = f"`{facts.checkpoint}`" if facts.checkpoint else "freshly built weights"
    step = f" ({at(facts.checkpoint_step)})" if facts.checkpoint_step is not None else ""
    run = facts.as_run
    stretch = ""
    if run is not None and run.trajectory.steps:
        first, last = run.trajectory.steps[0], run.trajectory.steps[-1]
        stretch = f": {at(first)} to {last:,}"
    return (
        f"The run was trained again with {source}, from {place}{step}, on {facts.device}{stretch}."
    )


def _facts(facts: ReplayFacts) -> tuple[Fact, ...]:
    suspect = "none" if facts.suspect_step is None else at(facts.suspect_step)
    first = "unknown" if facts.next_step is None else at(facts.next_step)
    steps = len(facts.as_run.trajectory.steps) if facts.as_run is not None else 0
    device, _, why = facts.device.partition(" ")
    return (
        Fact("Device", device or "none", why.strip("()")),
        Fact("Precision", facts.precision),
        Fact("Suspect", suspect),
        Fact("First step replayed", first),
        Fact("Stretch", plural(steps, "step")),
        Fact("Time", _seconds(facts.seconds), f"of a budget of {_seconds(facts.budget)}"),
    )


def _seconds(value: float) -> str:
    return f"{number(value, 3) if value >= 0.1 else '<0.1'}\u00a0s"


def _costs(facts: ReplayFacts) -> tuple[Cost, ...]:
    slowest = sorted(facts.seconds_of.items(), key=lambda item: -item[1])
    return tuple(Cost(name, _seconds(seconds)) for name, seconds in slowest)


def replay_hint(verdict: Verdict) -> str:
    """One line on how to replay a failed run that was not; '' where nothing is to be proven."""
    case = verdict.case
    if case.replay is not None or case.judgement.outcome in _NOTHING_TO_PROVE:
        return ""
    run = shlex.quote(str(case.run.path))
    if _needs_no_file(case):
        how = f"`forensics replay {run}` takes the model from the checkpoint's config.json"
        how += " and the captured batches"
    else:
        how = f"`forensics replay {run} --replay FILE`, where FILE is a Python file with the"
        how += " functions `build_model`, `load_batch` and `compute_loss`"
    return f"Nothing was replayed. To prove or refute a cause by running it again: {how}."


def _needs_no_file(case: Case) -> bool:
    """True for a Hugging Face run that left a model's configuration and batches."""
    configured = {
        str(PurePath(f.path).parent) for f in case.run.files if f.path.endswith("config.json")
    }
    saved = {c.path for c in case.run.checkpoints}
    hugging = (case.run.config.framework or "").lower() == "transformers"
    return hugging and bool(case.run.batches) and bool(configured & saved)
