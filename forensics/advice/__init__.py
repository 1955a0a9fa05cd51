"""Advice: what to conclude from a ranked case, and what to do before the next start.

`advise` assembles the verdict that the report shows; one file each judges the checkpoints, says
where to resume, counts the cost, and proposes alarms, a pilot run and a checklist.
"""

from collections.abc import Sequence

from forensics.advice.checklist import checklist_for
from forensics.advice.checkpoints import first_bad, judge_checkpoints, last_healthy
from forensics.advice.cost import cost_of
from forensics.advice.monitors import monitors_for
from forensics.advice.pilot import pilot_run
from forensics.advice.recommendation import recommend
from forensics.advice.sentence import verdict_sentence
from forensics.advice.unchecked import without_data
from forensics.case import Case
from forensics.findings import Hypothesis
from forensics.phrasing import counted_in
from forensics.verdict import OtherRun, Verdict


def advise(
    case: Case,
    hypotheses: Sequence[Hypothesis],
    unexplained: float,
    other_runs: Sequence[OtherRun] = (),
) -> Verdict:
    """Turn a case and its ranked hypotheses into everything the report shows.

    Args:
        case: The evidence.
        hypotheses: By rank, the first being the diagnosis.
        unexplained: Probability of none of them.
        other_runs: Runs of the same folder that are not the one diagnosed.
    """
    with counted_in(case.timeline.axis.noun):
        return _advised(case, hypotheses, unexplained, other_runs)


def _advised(
    case: Case,
    hypotheses: Sequence[Hypothesis],
    unexplained: float,
    other_runs: Sequence[OtherRun],
) -> Verdict:
    checkpoints = judge_checkpoints(case)
    recommendation = recommend(case, hypotheses, unexplained, checkpoints)
    return Verdict(
        case=case,
        sentence=verdict_sentence(case, hypotheses, unexplained),
        hypotheses=tuple(hypotheses),
        unexplained=unexplained,
        checkpoints=checkpoints,
        last_healthy=last_healthy(case, checkpoints),
        first_bad=first_bad(checkpoints),
        recommendation=recommendation,
        checklist=checklist_for(case),
        pilot=pilot_run(case, recommendation.changes),
        monitors=monitors_for(case),
        cost=cost_of(case),
        other_runs=tuple(other_runs),
        warnings=(*(str(note) for note in case.run.notes), *without_data(case.skipped)),
    )


__all__ = ["advise"]
