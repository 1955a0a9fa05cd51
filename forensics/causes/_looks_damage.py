"""Looks for damage in checkpoints: values that stand out, copies that differ, bad statistics."""

import re

from forensics.case import Case
from forensics.causes import _checkpoints as saved
from forensics.causes._base import Seen
from forensics.checkpoint_doubts import FEWEST, new_outlier
from forensics.checkpoint_facts import CheckpointFacts, WeightFacts
from forensics.phrasing import at_step, count, number, percent, stretch

_VARIANCE = re.compile(r"(?:running|moving)_var(?:iance)?$")
_STATISTIC = re.compile(r"(?:running|moving)_(?:mean|var|variance)$")


def value_stands_out(case: Case) -> Seen:
    """One weight or row is larger than all others by orders of magnitude, and was not before."""
    survey = case.survey
    found = () if survey is None else saved.finite(survey.checkpoints)
    if not found:
        return saved.seen(None, "Needs the weights of a checkpoint (scan it).")
    for before, checkpoint in zip((None, *found), found, strict=False):
        if text := new_outlier(case, checkpoint, before):
            return saved.seen(True, text, () if checkpoint.step is None else (checkpoint.step,))
    return saved.seen(False, "No single weight and no row stands out of its tensor.")


def one_tensor_broken(case: Case) -> Seen:
    """In the first poisoned checkpoint a single tensor is not finite, and only in few elements."""
    broken = [t for t in case.tensors or () if t.is_poisoned]
    if not broken:
        return saved.seen(None, "" if case.tensors else "Needs the checkpoints (scan them).")
    earliest = min(broken, key=lambda t: (t.step is None, t.step or 0))
    first, onset = earliest.checkpoint, case.judgement.onset_step
    later = onset is not None and earliest.step is not None and earliest.step > onset + 1
    if later and len({t.name for t in broken if t.checkpoint == first}) > 1:
        # By the next update whatever broke one tensor has reached all others.
        return saved.NOTHING_TO_SEE
    here = [t for t in broken if t.checkpoint == first]
    bad = here[0].nan + here[0].pos_inf + here[0].neg_inf
    names = {t.name for t in here}
    few = len(names) == 1 and bad <= max(1, here[0].size // 100) and here[0].size >= FEWEST
    if few:
        text = f"Of all values in {first} only {count(bad, 'element')} of {here[0].name}"
    else:
        text = f"In {first} {count(len(names), 'tensor')}"
    one = (bad if few else len(names)) == 1
    return saved.seen(few, f"{text} {'is' if one else 'are'} not finite.")


def broken_behind_optimizer(case: Case) -> Seen:
    """A weight is not finite though both its moments are: no update can have made it so."""
    one = one_tensor_broken(case)
    if not one.holds:
        return saved.seen(None, "")
    broken = [t for t in case.tensors or () if t.is_poisoned]
    first = min(broken, key=lambda t: (t.step is None, t.step or 0))
    moments = [
        t
        for t in case.tensors or ()
        if t.checkpoint == first.checkpoint
        and t.name == first.name
        and t.role in ("exp_avg", "exp_avg_sq")
    ]
    if first.role != "param" or not moments:
        return saved.seen(None, "")
    return saved.seen(
        not any(t.is_poisoned for t in moments),
        f"In {first.checkpoint} {first.name} is not finite while its moments are: no update of the "
        "optimizer leaves that behind.",
    )


def copies_differ(case: Case) -> Seen:
    """Parameters that every rank should hold alike are not the same."""
    found = () if case.survey is None else case.survey.replicas
    if not found:
        return saved.seen(None, "Needs the checkpoints of several ranks, with the same parameters.")
    for copies in found:
        split = copies.norms_compared and not copies.norms_differing
        if copies.differing and not (split and len(copies.differing) > copies.compared / 4):
            name, share = max(copies.differing.items(), key=lambda it: it[1])
            text = (
                f"At {at_step(copies.step or 0)} {len(copies.differing):,} of {copies.compared:,} "
                f"parameters differ between ranks {', '.join(copies.ranks)}; in {name} "
                f"{percent(share)} of the elements."
            )
            return saved.seen(True, text, () if copies.step is None else (copies.step,))
    last = found[-1]
    return saved.seen(
        False,
        f"{count(last.compared, 'parameter')} compared between {len(last.ranks)} ranks agree.",
    )


def few_elements_differ(case: Case, share: float = 1e-3) -> Seen:
    """Copies of ranks differ in a handful of elements of one or two tensors: a damaged memory."""
    differs = copies_differ(case)
    if not differs.holds or case.survey is None:
        return differs
    facts = next(c for c in case.survey.replicas if c.differing)
    few = len(facts.differing) <= 2 and max(facts.differing.values()) <= share
    return saved.seen(few, differs.text, differs.steps)


def statistics_bad(case: Case, far: float = 1e6) -> Seen:
    """Running statistics that are not finite beside finite weights, negative, or far off."""
    survey = case.survey
    every = () if survey is None else survey.checkpoints
    told = [(c, [w for w in c.weights if _STATISTIC.search(w.name)]) for c in every]
    told = [(c, statistics) for c, statistics in told if statistics]
    if not told:
        needed = "" if every else "Needs running_mean and running_var in a checkpoint (scan it)."
        return saved.seen(None, needed)
    for checkpoint, statistics in told:
        rest = [w for w in checkpoint.weights if not _STATISTIC.search(w.name)]
        sound = not any(w.non_finite for w in rest)
        for held in statistics:
            if text := _bad_statistic(held, sound, far):
                return saved.seen(True, f"{checkpoint.checkpoint}: {text}")
    return saved.seen(
        False, f"The running statistics of {count(len(told[-1][1]), 'tensor')} are in order."
    )


def statistics_lag(case: Case, room: float = 0.15) -> Seen:
    """Running statistics still stand near the 0 and 1 they began with, long after the start.

    With the usual momentum of 0.1 nothing is left of the beginning after fifty steps.
    """
    survey = case.survey
    late = [c for c in (() if survey is None else survey.checkpoints) if (c.step or 0) >= 50]
    told = [(c, _began_as(c)) for c in late if _began_as(c) is not None]
    if not told:
        return saved.seen(None, "Needs running_mean and running_var in a checkpoint (scan it).")
    checkpoint, off = min(told, key=lambda it: it[1] or 0.0)
    near = off is not None and off <= room
    state = "still near" if near else "no longer near"
    return saved.seen(
        near,
        f"In {checkpoint.checkpoint}, {stretch(checkpoint.step or 0)} in, the running "
        f"statistics are {state} the 0 and 1 they began with (off by {number(off or 0.0)}).",
    )


def _began_as(checkpoint: CheckpointFacts) -> float | None:
    """Largest distance of any running statistic from what it began with; None without any."""
    off = [
        abs(w.rms - 1) if _VARIANCE.search(w.name) else w.rms
        for w in checkpoint.weights
        if _STATISTIC.search(w.name)
    ]
    return max(off, default=None)


def _bad_statistic(held: WeightFacts, sound: bool, far: float) -> str:
    if held.non_finite and sound:
        return f"{held.name} is not finite, while the weights are."
    if _VARIANCE.search(held.name) and held.negative:
        return f"{held.name} has {count(held.negative, 'negative variance')}."
    if held.abs_max > far:
        return f"{held.name} reaches {number(held.abs_max)}."
    return ""
