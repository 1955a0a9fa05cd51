"""Validation-only outcomes: overfitting, and validation broken for another reason."""

from collections.abc import Sequence

from forensics.findings import Episode, EpisodeKind, Judgement, Outcome, Severity, Symptom
from forensics.outcome._chain import judgement
from forensics.phrasing import at_step
from forensics.signals import Signal


def validation(episodes: Sequence[Episode]) -> Judgement | None:
    """The first validation episode that is a failure.

    One that turned is told as overfitted, though it is far behind by then as well.
    """
    failures = [e for e in episodes if e.severity is Severity.FAILURE]
    turned = any(e.kind is EpisodeKind.OVERFIT for e in failures)
    for episode in failures:
        if not (turned and episode.details.get("form") == "gap_from_start"):
            found = _outcome(episode)
            if found is not None:
                outcome, reason = found
                return judgement(
                    outcome, Symptom.VALIDATION_ONLY, episodes, episode, episode.onset_step, reason
                )
    return None


def _outcome(episode: Episode) -> tuple[Outcome, str] | None:
    d, step = episode.details, episode.onset_step
    if episode.kind is EpisodeKind.NON_FINITE and episode.signal is Signal.EVAL_LOSS:
        return Outcome.VALIDATION_FAILED, (
            f"the validation loss became non-finite at {at_step(step)} while the training loss "
            "stayed finite"
        )
    if episode.kind is EpisodeKind.VALIDATION_FAILURE:
        return Outcome.VALIDATION_FAILED, (
            f"validation loss {d['eval_level']:.4g} against a training loss of "
            f"{d['train_level']:.4g}, from {at_step(step)}"
        )
    if episode.kind is EpisodeKind.OVERFIT:
        return Outcome.OVERFIT, (
            f"validation was best at {at_step(d['best_step'])} ({d['best_value']:.4g}) and rose "
            f"by {d['rise']:.0%} while training fell by another {d['train_fall']:.0%}"
        )
    return None
