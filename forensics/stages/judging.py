"""From a run's logs to a case, and once more when checkpoints have told its settings."""

from dataclasses import replace

from forensics.case import Case
from forensics.causes._completed import completed
from forensics.detectors import (
    Thresholds,
    clip_facts,
    detect_all,
    learning_rate_facts,
    plateau_again,
)
from forensics.findings import EpisodeKind
from forensics.outcome import judge
from forensics.run import Run
from forensics.timeline import build


def judged(run: Run, thresholds: Thresholds | None) -> Case:
    """What the logs of a run tell."""
    timeline = build(run)
    episodes, skipped = detect_all(timeline, run.config, thresholds)
    judgement = judge(timeline, episodes, run.text, run.config.total_steps)
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
    """The completed case judged with the labels too that only checkpoints and batches tell.

    A run that seemed to have gone well may have stopped far from done.
    """
    if case.judgement.outcome.is_failure or (case.survey is None and case.batches is None):
        return case
    line, run = case.timeline, case.run
    found = plateau_again(line, run.config, case.survey, case.batches, thresholds)
    if not found:
        return case
    kept = [e for e in case.episodes if e.kind is not EpisodeKind.PLATEAU]
    episodes = tuple(sorted([*kept, *found], key=lambda e: (e.onset_step, e.kind)))
    judgement = judge(line, episodes, run.text, run.config.total_steps)
    clip = clip_facts(line, case.config, judgement.onset_step)
    return replace(case, episodes=episodes, judgement=judgement, clip=clip)
