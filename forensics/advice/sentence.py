"""The verdict in one sentence: what happened, when, the likely cause, and how sure that is."""

from collections.abc import Sequence

from forensics.case import Case
from forensics.findings import Episode, Hypothesis, Outcome
from forensics.medians import median
from forensics.phrasing import at_step, number, percent
from forensics.signals import Signal

_HAPPENED = {
    Outcome.HEALTHY: "The run trained as it should",
    Outcome.SPIKED_RECOVERED: "The training left its band{when} and came back",
    Outcome.SPIKED_UNRECOVERED: "The training spiked{when} and never fully came back",
    Outcome.DIVERGED: "The training diverged{when}",
    Outcome.NON_FINITE: "The training became non-finite{when}",
    Outcome.STALLED: "The training stopped making progress{when}",
    Outcome.OVERFIT: "The model began to overfit{when}",
    Outcome.VALIDATION_FAILED: "Validation failed{when} while the training loss went on as usual",
    Outcome.CRASHED: "The run ended early{when} without a numerical failure",
    Outcome.UNKNOWN: "Too little was logged to say how the run went",
}
_SURE = ((0.9, "almost certainly"), (0.7, "most likely"), (0.5, "probably"), (0.25, "possibly"))


def verdict_sentence(case: Case, hypotheses: Sequence[Hypothesis], unexplained: float) -> str:
    """One sentence for the head of the report."""
    outcome = case.judgement.outcome
    headline = case.judgement.headline
    happened = headline or _HAPPENED[outcome].format(when=_when(case))
    numbers = "" if headline or outcome is Outcome.UNKNOWN else _numbers(case)
    told = f"{happened} ({numbers})" if numbers else happened
    cause = _cause(outcome, hypotheses, unexplained)
    return f"{told}{cause}."


def _when(case: Case) -> str:
    onset, after = case.judgement.onset_step, case.judgement.after_step
    if onset is None:
        return ""
    if onset <= case.timeline.first_step:
        return " from its first step"
    if after is not None and onset - after > 1:
        return f" between steps {after:,} and {onset:,}"
    return f" at {at_step(onset)}"


def _numbers(case: Case) -> str:
    """The numbers of the decisive episode, else how far the loss fell."""
    decisive = case.judgement.decisive
    if decisive is not None:
        return _levels(decisive)
    track = case.track(Signal.TRAIN_LOSS)
    if track is None or not track.finite.any():
        return ""
    value = track.value[track.finite]
    edge = max(min(len(value) // 4, 5), 1)
    first, last = median(value[:edge]), median(value[-edge:])
    return f"training loss {number(first)} to {number(last)} over {case.timeline.last_step:,} steps"


def _levels(episode: Episode) -> str:
    name = episode.signal.value.replace("_", " ")
    before = "" if episode.baseline is None else f" {number(episode.baseline)}"
    peak = "" if episode.peak_value is None else f" to {number(episode.peak_value)}"
    back = "" if episode.recovery_step is None else f", back by {at_step(episode.recovery_step)}"
    return f"{name}{before}{peak}{back}" if before or peak else ""


def _cause(outcome: Outcome, hypotheses: Sequence[Hypothesis], unexplained: float) -> str:
    first = hypotheses[0] if hypotheses else None
    if first is None or outcome is Outcome.UNKNOWN:
        return ""
    if first.cause == "no_failure":
        return "" if outcome is Outcome.HEALTHY else "; nothing points to a lasting fault"
    title, chance = first.title[:1].lower() + first.title[1:], percent(first.probability)
    if unexplained > first.probability:
        return f"; none of the known causes fits well, the nearest is {title} ({chance})"
    sure = next((words for least, words in _SURE if first.probability >= least), None)
    if sure is None:
        return f"; no cause stands out, the nearest is {title} ({chance})"
    return f"; the cause is {sure} {title} ({chance})"
