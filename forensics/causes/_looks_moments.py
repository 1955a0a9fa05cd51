"""Looks at Adam's moments in the checkpoints: what they prove about the gradients and the state."""

from math import isfinite

from forensics.case import Case
from forensics.causes import _checkpoints as saved
from forensics.causes._base import Seen
from forensics.causes._looks_counters import optimizer_counter_restarted
from forensics.checkpoint_doubts import fallen, impossible_moments
from forensics.checkpoint_facts import CheckpointFacts
from forensics.phrasing import count, number, percent

MOMENTS = "Needs Adam's moments in a checkpoint (scan it)."
TWO = "Needs Adam's second moment in two neighbouring checkpoints (scan them)."


def bound_broken(case: Case) -> Seen:
    """Moments that no sequence of gradients can bring about."""
    found = [c for c in _surveyed(case) if any(m.exact for m in c.moments)]
    if not found:
        return saved.seen(None, MOMENTS)
    for checkpoint in found:
        if text := impossible_moments(checkpoint):
            return saved.seen(True, text, _step(checkpoint))
    top = saved.worst(m for c in found for m in c.moments if m.exact)
    return saved.seen(
        False,
        f"|m| / sqrt(v) is at most {number(top.update_max)}, and Adam allows {number(top.bound)}.",
    )


def second_moment_reset(case: Case) -> Seen:
    """In most tensors v fell faster than beta2 lets it: the state was started anew."""
    return _fell(case, widely=True)


def second_moment_cut(case: Case) -> Seen:
    """The second moment fell as if begun anew, but the optimizer's counter went on.

    The state was restored, and its numbers were not those that had been saved.
    """
    fell, anew = second_moment_reset(case), optimizer_counter_restarted(case)
    if fell.holds is None or anew.holds is None:
        return saved.seen(None, "")
    if not fell.holds:
        return fell
    return saved.seen(anew.holds is False, f"{fell.text} {anew.text}")


def second_moment_swapped(case: Case) -> Seen:
    """In a few tensors v fell faster than beta2 lets it: it is the state of others."""
    return _fell(case, widely=False)


def _fell(case: Case, *, widely: bool) -> Seen:
    found = [pair for pair in saved.pairs(case) if pair.moments]
    if not found:
        return saved.seen(None, TWO)
    for pair in found:
        names = fallen(pair)
        if names and (len(names) > len(pair.moments) / 2) is widely:
            text = (
                f"Between {pair.earlier} and {pair.later} the second moment of "
                f"{count(len(names), 'tensor')} of {len(pair.moments):,} fell faster than beta2 "
                f"can make it ({names[0]})."
            )
            return saved.seen(True, text)
    return saved.seen(False, "Between checkpoints no second moment falls faster than beta2 does.")


def units_silent(case: Case, share: float = 0.5) -> Seen:
    """Units of a hidden layer that had not one gradient between two checkpoints."""
    found = [pair for pair in saved.pairs(case) if pair.moments]
    if not found:
        return saved.seen(None, TWO)
    hidden = [
        (m.silent_rows / m.rows, m, pair)
        for pair in found
        for m in pair.moments
        if m.rows > 1 and not saved.is_vocabulary(m.name, m.shape, case) and "expert" not in m.name
    ]
    if not hidden:
        return saved.NOTHING_TO_SEE
    top, tensor, pair = max(hidden, key=lambda it: it[0])
    if not tensor.silent_rows:
        return saved.seen(False, "Every hidden unit had gradients between the checkpoints.")
    return saved.seen(
        top >= share,
        f"Between {pair.earlier} and {pair.later} {tensor.silent_rows:,} of {tensor.rows:,} units "
        f"of {tensor.name} had no gradient at all: their second moment shrinks by exactly beta2.",
    )


def norm_beyond_clip(case: Case, room: float = 1.1) -> Seen:
    """The gradients that reached Adam were longer than clipping leaves any."""
    threshold, found = case.config.clip_threshold, _implied(case)
    if found is None or not threshold:
        return saved.seen(None, MOMENTS if found is None else "")
    norm, checkpoint = found
    return saved.seen(
        norm > room * threshold,
        f"The second moments of {checkpoint.checkpoint} imply gradients of norm {number(norm)} "
        f"after clipping; the threshold is {number(threshold)}.",
    )


def norm_at_clip(case: Case, room: float = 0.05) -> Seen:
    """The gradients that reached Adam had the norm of the threshold: each step was clipped."""
    threshold, found = case.config.clip_threshold, _implied(case)
    if found is None or not threshold:
        return saved.seen(None, MOMENTS if found is None else "")
    norm, checkpoint = found
    return saved.seen(
        abs(norm / threshold - 1) <= room,
        f"The second moments of {checkpoint.checkpoint} imply gradients of norm {number(norm)} "
        f"after clipping at {number(threshold)}.",
    )


def norm_divided_by_scale(case: Case, factor: float = 4.0) -> Seen:
    """The gradients that reached Adam have the norm threshold / loss scale."""
    threshold = case.config.clip_threshold
    found = [c for c in saved.with_moments(case) if (c.state.scale or 0) >= 64]
    if not found or not threshold:
        return saved.seen(None, "Needs Adam's second moment and the loss scale in a checkpoint.")
    last = found[-1]
    norm, scale = last.implied_norm or 0.0, last.state.scale or 1.0
    ratio = norm * scale / threshold
    return saved.seen(
        1 / factor <= ratio <= factor,
        f"The second moments of {last.checkpoint} imply gradients of norm {number(norm)}; the "
        f"threshold {number(threshold)} over the loss scale {number(scale)} is "
        f"{number(threshold / scale)}.",
        _step(last),
    )


def epsilon_dominates(case: Case, share: float = 0.5) -> Seen:
    """For most weights sqrt(v) is smaller than epsilon, so that Adam's update fades away."""
    found = saved.with_moments(case)
    if not found:
        return saved.seen(None, MOMENTS)
    last = found[-1]
    alive = [(m.size * (1 - m.unseen), m.eps_share) for m in last.moments]
    total = sum(size for size, _ in alive)
    if not total:
        return saved.NOTHING_TO_SEE
    reached = sum(size * tiny for size, tiny in alive) / total
    return saved.seen(
        reached > share,
        f"In {last.checkpoint} epsilon is larger than sqrt(v) for {percent(reached)} of the "
        "weights that had a gradient.",
        _step(last),
    )


def updates_outrun_memory(case: Case, limit: float = 1.2, settled: float = 50) -> Seen:
    """Gradients have outgrown the second moment: Adam's update of a whole tensor is above 1.

    Where gradients keep their size it is at most 1, and it is far less where they are noise.
    """
    found = [c for c in saved.sound(case) if c.moments]
    if not found:
        return saved.seen(None, MOMENTS)
    last = found[-1]
    told = [m for m in last.moments if m.read >= 64 and (m.step or last.step or 0) >= settled]
    if not told:
        return saved.NOTHING_TO_SEE
    top = max(told, key=lambda m: m.update_rms if isfinite(m.update_rms) else 0.0)
    return saved.seen(
        top.update_rms >= limit,
        f"In {last.checkpoint} Adam's update of {top.name} has the RMS {number(top.update_rms)}: "
        f"{number(top.noise_floor)} is that of noise, and above 1 the gradients have outgrown "
        "the second moment.",
        _step(last),
    )


def _surveyed(case: Case) -> tuple[CheckpointFacts, ...]:
    return () if case.survey is None else case.survey.checkpoints


def _implied(case: Case) -> tuple[float, CheckpointFacts] | None:
    found = saved.with_moments(case)
    if not found:
        return None
    norm = found[-1].implied_norm
    return None if norm is None else (norm, found[-1])


def _step(checkpoint: CheckpointFacts) -> tuple[int, ...]:
    return () if checkpoint.step is None else (checkpoint.step,)
