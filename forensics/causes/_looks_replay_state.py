"""Looks at what the replay says about optimizer state, hardware and running statistics."""

from forensics.case import Case
from forensics.causes._base import Seen
from forensics.causes._replayed import (
    NO_ANSWER,
    NO_REPLAY,
    meeting_the_log,
    not_tried,
    removing,
    replayed,
    reproduces,
    stands_out,
    told,
    tried,
)
from forensics.phrasing import at_step, number, percent
from forensics.replay_facts import Variant

STALE = 2.3
"""RMS of the gradient over sqrt(vhat) from which a second moment is stale (arXiv 2304.13013)."""


def fresh_second_moment_removes(case: Case) -> Seen:
    """With fresh moments, or a beta2 that forgets sooner, it does not fail."""
    adam = (Variant.FRESH_MOMENTS, Variant.BETA2)
    if not tried(case, *adam):
        return not_tried(case)
    change = removing(case, *adam) or removing(case, Variant.EPSILON)
    if change is None:
        return Seen(
            False,
            "Fresh moments, beta2 0.95 and a larger epsilon fail all the same.",
            source="replay",
        )
    if removing(case, Variant.FLOAT32) or (
        removing(case, Variant.SKIP_BATCH) and stands_out(case) is not False
    ):
        return NO_ANSWER
    return Seen(True, f"With {told(change)} the failure does not come.", source="replay")


def second_moment_stale(case: Case) -> Seen:
    """The suspect gradient is far above what the second moment expects, unlike its neighbours'."""
    moments = case.replay.moments if case.replay is not None else None
    if moments is None or not moments.suspect_rms:
        return NO_ANSWER
    name, worst = next(iter(moments.suspect_rms.items()))
    usual = moments.control_rms.get(name, 1.0)
    return Seen(
        worst >= STALE and worst >= 2 * usual,
        f"RMS of the gradient over sqrt(v) in {name}: {number(worst)} for the suspect batch, "
        f"{number(usual)} for its neighbours.",
        source="replay",
    )


def lost_state_brings_it(case: Case) -> Seen:
    """With the saved optimizer state it does not fail; without it the log is met."""
    replay = replayed(case)
    if replay is None:
        return NO_REPLAY
    change = meeting_the_log(case, Variant.FRESH_MOMENTS, Variant.FROM_STEP_ONE)
    if change is None:
        return NO_ANSWER
    own = replay.as_run.matches_log if replay.as_run is not None else None
    return Seen(
        True,
        f"With {told(change)} the replay comes within {number(change.matches_log or 0.0)} of the "
        f"logged losses, with the saved state only within {number(own or 0.0)}: what the "
        "checkpoint holds was not restored.",
        source="replay",
    )


def does_not_happen_again(case: Case) -> Seen:
    """The same data, state and settings do not fail, though the replay met the log until then."""
    replay = replayed(case)
    if replay is None or replay.as_run is None or reproduces(case) is None:
        return NO_REPLAY if replay is None else NO_ANSWER
    run = replay.as_run
    if run.reproduces:
        return Seen(False, "Replayed, it fails again: no accident of the machine.", source="replay")
    step = case.judgement.onset_step
    same = replay.determinism is None or replay.determinism.equal_share == 1.0
    met = run.parts_at is not None and step is not None and _meets_until(case, run.parts_at)
    if not met or not same or meeting_the_log(case, *Variant):
        return NO_ANSWER
    return Seen(
        True,
        "Replayed with the same data, state and settings it does not fail; up to "
        f"{_before(run.parts_at)} the replayed losses are the logged ones, and no other setting "
        "brings the failure about.",
        (run.parts_at,) if run.parts_at is not None else (),
        "replay",
    )


def running_statistics_off(case: Case) -> Seen:
    """BatchNorm's running statistics do not fit: evaluation is off, taken anew it is not."""
    modes = case.replay.modes if case.replay is not None else None
    if modes is None:
        return NO_ANSWER
    worse = modes.eval_loss / modes.train_loss if modes.train_loss > 0 else 1.0
    mended = modes.recomputed_loss is not None and modes.recomputed_loss < 0.7 * modes.eval_loss
    size = f" with {modes.batch_size} samples at a time" if modes.batch_size else ""
    words = (
        f"The same batch costs {number(modes.train_loss)} in training mode{size} and "
        f"{number(modes.eval_loss)} in evaluation mode"
    )
    if modes.recomputed_loss is not None:
        words += f", {number(modes.recomputed_loss)} with the running statistics taken anew"
    return Seen(not worse <= 1.5 and (mended or not worse <= 3), f"{words}.", source="replay")


def trains_when_replayed(case: Case) -> Seen:
    """The run stood still; the replay, whose optimizer holds the model's weights, does not."""
    overfit = case.replay.overfit if case.replay is not None else None
    if overfit is None or len(overfit.losses) < 5:
        return NO_ANSWER
    fall = 1 - min(overfit.losses) / overfit.losses[0] if overfit.losses[0] else 0.0
    words = f"Trained alone, one batch's loss falls by {percent(max(0.0, fall))} in "
    return Seen(overfit.falls, f"{words}{len(overfit.losses)} steps.", source="replay")


def _meets_until(case: Case, parts_at: int) -> bool:
    onset, after = case.judgement.onset_step, case.judgement.after_step
    return onset is not None and parts_at >= (onset if after is None else min(after, onset))


def _before(parts_at: int | None) -> str:
    return at_step(parts_at) if parts_at is not None else "the end"
