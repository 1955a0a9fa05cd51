"""Looks at how the run ended and when the failure began."""

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import DECISIVE, NOT_APPLICABLE, STRONG, Clue, Look, Seen
from forensics.causes._looks_levels import level_of_no_healthy_run
from forensics.findings import Episode, EpisodeKind, Outcome, Severity
from forensics.phrasing import at_step, stretch
from forensics.quantities import named
from forensics.signals import Signal

BROKE = (Outcome.DIVERGED, Outcome.NON_FINITE, Outcome.SPIKED_UNRECOVERED)
"""Outcomes of an update or a number out of control."""
OUTCOME_FOREIGN = "outcome_foreign"
"""Name of the clue that a cause's mechanism cannot bring the outcome about."""
_ENDED = {
    Outcome.HEALTHY: "trained as it should",
    Outcome.SPIKED_RECOVERED: "spiked and came back by itself",
    Outcome.SPIKED_UNRECOVERED: "spiked and stayed above its old level",
    Outcome.DIVERGED: "diverged",
    Outcome.NON_FINITE: "ended in non-finite numbers",
    Outcome.STALLED: "made no progress",
    Outcome.OVERFIT: "overfitted",
    Outcome.VALIDATION_FAILED: "failed in validation only",
    Outcome.CRASHED: "ended before its time without a numerical failure",
    Outcome.UNKNOWN: "left nothing that tells how it ended",
}


def ended(*outcomes: Outcome) -> Look:
    """A look that holds where the run ended in one of ``outcomes``."""

    def look(case: Case) -> Seen:
        outcome = case.judgement.outcome
        return Seen(outcome in outcomes, f"The run {_ENDED[outcome]}.")

    return look


def explains(fits: tuple[Outcome, ...], rarely: tuple[Outcome, ...] = ()) -> tuple[Clue, ...]:
    """The clues that keep a cause to the outcomes its mechanism can bring about."""
    others = tuple(o for o in Outcome if o not in fits + rarely)
    return (
        Clue(OUTCOME_FOREIGN, _unless_impossible(ended(*others)), -DECISIVE, group="outcome"),
        Clue("outcome_rare", _unless_impossible(ended(*rarely)), -STRONG, group="outcome"),
    )


def _unless_impossible(look: Look) -> Look:
    """The look, silent where too little was logged to tell an end and yet something is wrong."""

    def silenced(case: Case) -> Seen:
        return NOT_APPLICABLE if level_of_no_healthy_run(case).holds else look(case)

    return silenced


def early(case: Case) -> Seen:
    """The failure began while training was only beginning."""
    onset = case.judgement.onset_step
    if onset is None or not facts.counts_steps(case):
        return NOT_APPLICABLE
    sure, limit = facts.surely_early(case), facts.early_limit(case)
    if sure < onset <= limit:
        return NOT_APPLICABLE
    is_early = onset <= sure
    place, bound = ("within", sure) if is_early else ("after", limit)
    return Seen(
        is_early,
        f"The failure began at {at_step(onset)}, {place} the first {stretch(bound)}, which "
        "count as the beginning of this run.",
        (onset,),
    )


def broke_early(case: Case) -> Seen:
    """The same, where the failure is a loss that rose or broke: a plateau always begins early."""
    if case.judgement.outcome not in (*BROKE, Outcome.SPIKED_RECOVERED):
        return NOT_APPLICABLE
    return early(case)


def from_the_start(case: Case) -> Seen:
    """Trouble is there in the first logged points: nothing was ever right."""
    cut_out = facts.counts_steps(case) and not facts.starts_at_beginning(case)
    states = [] if cut_out else [e for e in case.episodes if _is_from_start(e)]
    if states:
        first = states[0]
        return Seen(
            True,
            f"The {first.kind.noun} is there from the first logged points "
            f"({at_step(first.onset_step)}).",
            (first.onset_step,),
        )
    onset = case.judgement.onset_step
    if onset is None:
        return NOT_APPLICABLE
    if not facts.starts_at_beginning(case):
        return Seen(None, "Needs a log that begins with the run.")
    limit = case.timeline.first_step + 2 * case.timeline.interval
    return Seen(
        onset <= limit,
        f"The failure began at {at_step(onset)}; the log begins at "
        f"{at_step(case.timeline.first_step)}.",
        (onset,),
    )


def _is_from_start(episode: Episode) -> bool:
    details = episode.details
    return episode.severity is not Severity.INFO and bool(
        details.get("from_start") or details.get("at_start") or details.get("form") == "from_start"
    )


def before_any_update(case: Case) -> Seen:
    """A number was non-finite in the very first step, before any update was made."""
    first = case.timeline.first_step
    found = [
        e
        for e in case.episodes_of(EpisodeKind.NON_FINITE)
        if e.signal in (Signal.TRAIN_LOSS, Signal.GRAD_NORM) and e.onset_step == first
    ]
    if not case.episodes_of(EpisodeKind.NON_FINITE):
        return NOT_APPLICABLE
    if not facts.counts_steps(case) or first > 1 or case.timeline.interval > 1:
        return Seen(None, "Needs the loss of the very first step.")
    if not found:
        return Seen(False, f"The loss of {at_step(first)} was finite.")
    return Seen(
        True,
        f"The {named(found[0].signal)} of {at_step(first)} was already "
        "non-finite, before any update was made.",
        (first,),
    )
