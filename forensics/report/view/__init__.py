"""View-model: a verdict as strings ready to print. Formats arrange it and add nothing.

Every part is a frozen dataclass; a list that may be long is a `Folded`. Texts that come from the
run are passed on as they are: each format makes them harmless in its own way.
"""

from dataclasses import dataclass

from forensics.phrasing import counted_in
from forensics.report.provenance import SCHEMA_VERSION, version
from forensics.report.view._advice import (
    Actions,
    Alarm,
    Check,
    Loss,
    actions,
    alarms,
    checks,
    loss,
)
from forensics.report.view._batches import Batches, BatchRow, batches
from forensics.report.view._episodes import EpisodeRow, LogLine, episodes, log_lines
from forensics.report.view._folding import Folded
from forensics.report.view._headline import Badge, Fact, Headline, formats, headline, points
from forensics.report.view._hypotheses import Argument, Clue, Hypotheses, hypotheses
from forensics.report.view._records import (
    CheckpointRow,
    Configuration,
    Inventory,
    OtherRow,
    checkpoints,
    configuration,
    damage,
    inventory,
    other_runs,
    warnings,
)
from forensics.report.view._replay import Replay, replay, replay_hint
from forensics.report.view._replay_words import change_words
from forensics.verdict import Verdict


@dataclass(frozen=True)
class Page:
    """Everything a report says, section by section."""

    head: Headline
    hypotheses: Hypotheses
    actions: Actions
    pilot: tuple[str, ...]
    alarms: tuple[Alarm, ...]
    checks: tuple[Check, ...]
    loss: Loss
    episodes: Folded[EpisodeRow]
    log_lines: Folded[LogLine]
    checkpoints: Folded[CheckpointRow]
    damage: str
    """Which roles and how much of them are not finite in the first bad checkpoint, or ''."""
    batches: Batches | None
    """None where no batch was looked at."""
    other_runs: Folded[OtherRow]
    replay: Replay | None
    """None where nothing was replayed."""
    replay_hint: str
    """How to replay the run, where that would settle something and was not done."""
    inventory: Inventory
    configuration: Configuration
    warnings: Folded[str]
    version: str
    schema: str


def build_page(verdict: Verdict) -> Page:
    """Word a verdict, its steps in what the run counts."""
    with counted_in(verdict.case.timeline.axis.noun):
        return _page(verdict)


def _page(verdict: Verdict) -> Page:
    case = verdict.case
    return Page(
        head=headline(verdict),
        hypotheses=hypotheses(verdict),
        actions=actions(verdict),
        pilot=verdict.pilot,
        alarms=alarms(verdict),
        checks=checks(verdict),
        loss=loss(verdict),
        episodes=episodes(case),
        log_lines=log_lines(case),
        checkpoints=checkpoints(verdict),
        damage=damage(verdict),
        batches=batches(case),
        other_runs=other_runs(verdict),
        replay=replay(case.replay, verdict.hypotheses),
        replay_hint=replay_hint(verdict),
        inventory=inventory(case),
        configuration=configuration(case.config),
        warnings=warnings(verdict.warnings),
        version=version(),
        schema=str(SCHEMA_VERSION),
    )


__all__ = [
    "Argument",
    "Badge",
    "BatchRow",
    "Clue",
    "Fact",
    "Folded",
    "Page",
    "Replay",
    "build_page",
    "change_words",
    "formats",
    "points",
    "replay",
]
