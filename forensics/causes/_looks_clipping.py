"""Looks at gradient clipping: whether it was there, and how often it acted."""

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import Seen
from forensics.causes._looks_outcome import BROKE
from forensics.findings import EpisodeKind
from forensics.phrasing import number, percent, times

UNKNOWN = "Needs the clipping threshold (the configuration does not name one)."


def clipping_off(case: Case) -> Seen:
    """Clipping is switched off by the configuration."""
    threshold = case.config.clip_threshold
    if threshold is None:
        return Seen(None, UNKNOWN, source="configuration")
    off = threshold <= 0
    text = "Gradient clipping is off." if off else f"Gradients are clipped at {number(threshold)}."
    return Seen(off, text, source="configuration")


def clipping_loose(case: Case, factor: float = 10.0) -> Seen:
    """The threshold lies so far above the usual norm that a harmful gradient passes."""
    threshold, usual = case.config.clip_threshold, facts.usual_gradient(case)
    if not threshold or not usual:
        return Seen(None, "Needs the clipping threshold and the gradient norm.")
    ratio = threshold / usual
    return Seen(
        ratio >= factor,
        f"The clipping threshold {number(threshold)} is {times(ratio)} the usual gradient norm "
        f"{number(usual)}.",
    )


def clipping_tight(case: Case, factor: float = 10.0) -> Seen:
    """A threshold near the usual norm was in force, so that no single gradient could do harm."""
    threshold, usual = case.config.clip_threshold, facts.usual_gradient(case)
    if threshold is None:
        return Seen(None, UNKNOWN, source="configuration")
    if threshold <= 0:
        return Seen(False, "Gradient clipping is off.", source="configuration")
    if usual is None:
        # Around 1.0 is what nearly every recipe uses; a larger one cannot be judged without norms.
        near_one = threshold <= 2
        text = f"Gradients are clipped at {number(threshold)}."
        return Seen(True if near_one else None, text, source="configuration")
    return Seen(
        threshold < factor * usual,
        f"Gradients are clipped at {number(threshold)}, and their usual norm is {number(usual)}.",
    )


def clipping_saturated(case: Case, share: float = 0.5) -> Seen:
    """More than ``share`` of the steps were clipped: the norm is always too large."""
    reached = _clipped_share(case)
    if reached is None:
        return Seen(None, "Needs the gradient norm before the onset and the clipping threshold.")
    return Seen(reached > share, f"Clipping acted on {percent(reached)} of the steps.")


def clipping_severe(case: Case, factor: float = 3.0) -> Seen:
    """Most steps were clipped, to a third of their length or less."""
    share, usual, threshold = (
        _clipped_share(case),
        facts.usual_gradient(case),
        case.config.clip_threshold,
    )
    if share is None or usual is None or not threshold:
        return Seen(None, "Needs the gradient norm before the onset and the clipping threshold.")
    severe = share > 0.5 and usual >= factor * threshold
    return Seen(
        severe,
        f"The usual gradient norm is {number(usual)} and is clipped at {number(threshold)} in "
        f"{percent(share)} of the steps.",
    )


def clipping_frequent(case: Case) -> Seen:
    """More than a fifth of the steps were clipped, which makes the learning rate suspect."""
    return clipping_saturated(case, share=0.2)


def clipping_constant(case: Case) -> Seen:
    """Practically every step was clipped."""
    return clipping_saturated(case, share=0.95)


def _clipped_share(case: Case) -> float | None:
    """Share of steps that were clipped, before the onset where that is known.

    After it nearly every step is clipped, which is the failure and not its cause; and in the first
    steps of any run the gradients are large.
    """
    onset = case.judgement.onset_step
    if case.judgement.outcome in BROKE and onset is not None and onset <= facts.surely_early(case):
        return None
    if case.clip is not None:
        return case.clip.share
    found = case.episodes_of(EpisodeKind.CLIP_SATURATION)
    return float(found[0].details["share"]) if found and "share" in found[0].details else None
