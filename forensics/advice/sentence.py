"""The verdict in one sentence: what happened, when, the likely cause, and how sure that is."""

from collections.abc import Sequence

import numpy as np

from forensics.advice.unchecked import caveats
from forensics.case import Case
from forensics.findings import Episode, EpisodeKind, Hypothesis, Outcome
from forensics.phrasing import at_step, number, percent, stretch, unit
from forensics.quantities import LOSSES, named
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
}
_SURE = ((0.9, "almost certainly"), (0.7, "most likely"), (0.5, "probably"), (0.25, "possibly"))


def verdict_sentence(case: Case, hypotheses: Sequence[Hypothesis], unexplained: float) -> str:
    """One sentence for the head of the report."""
    outcome = case.judgement.outcome
    headline = case.judgement.headline
    if outcome is Outcome.UNKNOWN:
        return f"{headline or _too_little(case)}."
    happened = headline or _HAPPENED[outcome].format(when=_when(case))
    numbers = "" if headline else _numbers(case)
    told = f"{happened} ({numbers})" if numbers else happened
    if outcome is Outcome.HEALTHY and (open_ends := caveats(case)):
        told = f"{told}, as far as the log tells: {'; '.join(open_ends)}"
    return f"{told}{_cause(outcome, hypotheses, unexplained)}."


def _too_little(case: Case, shown: int = 6) -> str:
    """Too few points, or what was seen instead of a loss."""
    tags = list(dict.fromkeys(series.tag for series in case.run.series if len(series.step)))
    if not tags or any(case.track(signal) is not None for signal in LOSSES):
        return "Too little was logged to say how the run went"
    more = f" and {len(tags) - shown:,} more" if len(tags) > shown else ""
    return (
        f"No loss was recognised among what was logged ({', '.join(tags[:shown])}{more}), so it "
        "cannot be said how the run went"
    )


def _when(case: Case) -> str:
    onset, after = case.judgement.onset_step, case.judgement.after_step
    if onset is None:
        return ""
    if onset <= case.timeline.first_step:
        return f" from its first {unit()}"
    if after is not None and onset - after > 1:
        return f" between {unit()}s {after:,} and {onset:,}"
    return f" at {at_step(onset)}"


def _numbers(case: Case) -> str:
    """The numbers of the decisive episode, else from where to where the loss went."""
    decisive = case.judgement.decisive
    if decisive is not None:
        return _levels(case, decisive)
    track = case.track(Signal.TRAIN_LOSS) or case.track(Signal.TRAIN_LOSS_EPOCH)
    if track is None or track.ends is None:
        return ""
    first, last = track.ends
    if case.judgement.outcome is Outcome.NON_FINITE:
        return f"the training loss that was logged last is {number(last)}"
    return f"training loss {number(first)} to {number(last)} over {stretch(case.timeline.length)}"


def _levels(case: Case, episode: Episode) -> str:
    name = named(episode.signal)
    if episode.kind is EpisodeKind.NON_FINITE:
        return f"{name} {_to_non_finite(case, episode)}"
    before, after = _before(case, episode), _highest(case, episode)
    if before is None or after is None or number(before) == number(after):
        level = before if after is None else after
        return "" if level is None else f"{name} {number(level)}"
    back = "" if episode.recovery_step is None else f", back by {at_step(episode.recovery_step)}"
    return f"{name} {number(before)} to {number(after)}{back}"


def _to_non_finite(case: Case, episode: Episode) -> str:
    """Infinity and NaN by their names, in the order in which they came."""
    track = case.track(episode.signal)
    bad = np.empty(0) if track is None else track.value[(track.step >= episode.onset_step)]
    bad = bad[~np.isfinite(bad)]
    kinds = list(dict.fromkeys(number(float(v)) for v in bad))[:2] or ["NaN"]
    last = episode.details.get("last_finite", episode.baseline)
    known = isinstance(last, int | float) and np.isfinite(last)
    start = f"{number(float(last))} to " if known and not episode.details.get("at_start") else ""
    return start + ", then ".join(kinds)


def _before(case: Case, episode: Episode) -> float | None:
    """Where the quantity stood; of a loss that was best at its very first point, that point."""
    track = case.track(episode.signal)
    if episode.kind is not EpisodeKind.DIVERGENCE or track is None or track.ends is None:
        return episode.baseline
    first = track.ends[0]
    return first if episode.baseline is None else min(first, episode.baseline)


def _highest(case: Case, episode: Episode) -> float | None:
    """Its peak; of a loss that diverged, the highest point where the level shows no rise."""
    peak, track = episode.peak_value, case.track(episode.signal)
    if episode.kind is not EpisodeKind.DIVERGENCE or track is None or peak is None:
        return peak
    if episode.baseline is not None and number(peak) != number(episode.baseline):
        return peak
    late = track.value[track.finite & (track.step >= episode.onset_step)]
    return float(late.max()) if len(late) else peak


def _cause(outcome: Outcome, hypotheses: Sequence[Hypothesis], unexplained: float) -> str:
    first = hypotheses[0] if hypotheses else None
    if first is None:
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
