"""Runs judged by something else than one loss: a policy's return, a game of two networks."""

from collections.abc import Sequence
from dataclasses import replace

from forensics.detectors._context import is_adversarial
from forensics.detectors._returns import ENOUGH, Course, course_of, return_track
from forensics.findings import Ending, Episode, EpisodeKind, Judgement, Outcome, Symptom
from forensics.outcome._chain import judgement
from forensics.phrasing import at_step
from forensics.signals import Signal
from forensics.timeline import Timeline


def collapsed(episodes: Sequence[Episode]) -> Judgement | None:
    """A return that collapsed, or a game that the discriminator won."""
    for episode in episodes:
        if episode.kind is EpisodeKind.RETURN_COLLAPSE:
            return _return_lost(episode, episodes)
        if episode.kind is EpisodeKind.DISCRIMINATOR_WON:
            return _game_over(episode, episodes)
    return None


def _return_lost(episode: Episode, episodes: Sequence[Episode]) -> Judgement:
    d, away = episode.details, episode.ending is Ending.DIVERGED
    why = " with an entropy of zero" if d["entropy_vanished"] else ""
    reason = (
        f"the return was best at {at_step(d['best_step'])} ({d['best']:.4g}), left that level at "
        f"{at_step(episode.onset_step)} and ends at {d['final']:.4g}{why}"
    )
    outcome = Outcome.DIVERGED if away else Outcome.SPIKED_UNRECOVERED
    symptom = Symptom.SPIKE_NEVER_RECOVERS
    found = judgement(outcome, symptom, episodes, episode, episode.onset_step, reason)
    fell = f"from {d['best']:.4g} to {d['final']:.4g}"
    return replace(
        found, headline=f"The return collapsed at {at_step(episode.onset_step)} ({fell})"
    )


def _game_over(episode: Episode, episodes: Sequence[Episode]) -> Judgement:
    d = episode.details
    seen = (
        f"its loss is {d['discriminator_last']:.3g}"
        if d["real"] is None
        else f"it says {d['real']:.3g} of real inputs and {d['fake']:.3g} of generated ones"
    )
    reason = (
        f"the discriminator has won from {at_step(episode.onset_step)} on ({seen}), and the "
        f"generator's loss rose from {d['generator_first']:.4g} to {d['generator_last']:.4g}"
    )
    outcome, symptom = Outcome.DIVERGED, Symptom.NO_PROGRESS
    found = judgement(outcome, symptom, episodes, episode, episode.onset_step, reason)
    won = f"The discriminator has won from {at_step(episode.onset_step)} on"
    return replace(found, headline=f"{won} and the generator learns nothing more")


def judged_by_play(timeline: Timeline) -> Judgement | None:
    """How a run without a collapse went, where its loss does not say; None where it does."""
    course = course_of(timeline)
    if course is not None:
        return _by_return(course)
    losses = (Signal.TRAIN_LOSS, Signal.EVAL_LOSS)
    played = return_track(timeline)
    if (
        played is not None
        and len(played) < ENOUGH
        and not any(s in timeline.tracks for s in losses)
    ):
        return _open(
            f"only {len(played)} points of a return were logged",
            "Too little of the return was logged to say how the run went",
        )
    if is_adversarial(timeline) and Signal.TRAIN_LOSS not in timeline.tracks:
        return _open(
            "the losses are those of two networks that play against each other",
            "Nothing became non-finite and neither network has won; adversarial losses swing by "
            "design and are not judged as one loss is",
        )
    return None


def _by_return(course: Course) -> Judgement:
    steps = f"over {len(course.value):,} logged points"
    if course.rose:
        reason = f"the return rose from {course.start:.4g} to {course.final:.4g} {steps}"
        headline = f"The run trained as it should: {reason}"
        return Judgement(Outcome.HEALTHY, Symptom.NONE, None, None, None, reason, headline=headline)
    moved = f"the return was {course.start:.4g} at first"
    if course.fell:
        moved += f", {course.best:.4g} at its best"
    reason = f"{moved} and is {course.final:.4g} at last, {steps}"
    word = (
        "fell from its best, but the policy may still come back" if course.fell else "did not rise"
    )
    return _open(reason, f"The return {word}; whether that is good enough cannot be told from it")


def _open(reason: str, headline: str) -> Judgement:
    return Judgement(Outcome.UNKNOWN, Symptom.NONE, None, None, None, reason, headline=headline)
