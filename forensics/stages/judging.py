"""From a run's logs to a case, and once more when checkpoints have told its settings."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from time import time

from forensics.case import Case
from forensics.causes import all_causes
from forensics.causes._completed import completed
from forensics.causes._looks_learning import loss_fell
from forensics.causes._looks_outcome import OUTCOME_FOREIGN
from forensics.causes._looks_weights import never_updated
from forensics.detectors import (
    Thresholds,
    clip_facts,
    detect_all,
    learning_rate_facts,
    plateau_again,
)
from forensics.findings import (
    Episode,
    EpisodeKind,
    Hypothesis,
    Judgement,
    Outcome,
    Symptom,
)
from forensics.outcome import ended_short, judge
from forensics.run import Run
from forensics.timeline import Timeline, build

LIKELY = 0.5
"""Probability from which a cause outweighs a loss that shows no failure."""


def judged(run: Run, thresholds: Thresholds | None) -> Case:
    """What the logs of a run tell."""
    timeline = build(run)
    episodes, skipped = detect_all(timeline, run.config, thresholds)
    judgement = _judged(run, timeline, episodes)
    case = Case(
        run=run,
        timeline=timeline,
        episodes=episodes,
        judgement=judgement,
        lr=learning_rate_facts(timeline),
        clip=clip_facts(timeline, run.config, judgement.onset_step),
        skipped=skipped,
    )
    return completed(case)


def judged_again(case: Case, thresholds: Thresholds | None) -> Case:
    """The completed case judged with what only checkpoints and batches tell.

    A run that seemed to have gone well may have stopped far from done, or never have trained.
    """
    if case.judgement.outcome.is_failure or (case.survey is None and case.batches is None):
        return case
    line, run = case.timeline, case.run
    unmoved = never_updated(case)
    if unmoved.holds and not loss_fell(case).holds:
        return _stalled(case, unmoved.text)
    found = plateau_again(line, run.config, case.survey, case.batches, thresholds)
    if not found:
        return case
    kept = [e for e in case.episodes if e.kind is not EpisodeKind.PLATEAU]
    episodes = tuple(sorted([*kept, *found], key=lambda e: (e.onset_step, e.kind)))
    judgement = _judged(run, line, episodes)
    clip = clip_facts(line, case.config, judgement.onset_step)
    return replace(case, episodes=episodes, judgement=judgement, clip=clip)


def agreed(case: Case, hypotheses: Sequence[Hypothesis]) -> Case:
    """The case, stalled where its loss looks sound and what it left proves a cause of stalls.

    A floor that nobody can know from the loss alone is told by its cause; a verdict that names one
    and calls the run healthy would contradict itself.
    """
    first = hypotheses[0]
    if case.judgement.outcome is not Outcome.HEALTHY or first.probability < LIKELY:
        return case
    shown = next((e.text for e in first.evidence if e.supports), "")
    stalled = _stalled(case, shown)
    cause = next(c for c in all_causes() if c.name == first.cause)
    foreign = (clue.look for clue in cause.clues if clue.name == OUTCOME_FOREIGN)
    fits = any(look(case).holds and not look(stalled).holds for look in foreign)
    return stalled if fits and shown else case


def _stalled(case: Case, reason: str) -> Case:
    """The case as one that was stalled from its first step."""
    began = case.timeline.first_step
    judgement = Judgement(Outcome.STALLED, Symptom.NO_PROGRESS, began, None, None, reason)
    return replace(case, judgement=judgement)


def _judged(run: Run, timeline: Timeline, episodes: Sequence[Episode]) -> Judgement:
    """By what was logged; of a sound run also by whether it did all that it was to do."""
    found = judge(timeline, episodes, run.text, run.config.total_steps)
    if found.outcome not in (Outcome.HEALTHY, Outcome.SPIKED_RECOVERED):
        return found
    saved = [c.step for c in run.checkpoints if c.step is not None]
    return ended_short(timeline, run.text, run.config, saved, lambda: _quiet(run)) or found


def _quiet(run: Run) -> float | None:
    """Seconds since a log of the run was last written to; None: not known."""
    home, written = run.home, []
    for source in {s.source for s in run.series}:
        with suppress(OSError):
            written.append((home / source).stat().st_mtime)
    return time() - max(written) if written and max(written) > 0 else None
