"""Looks at what the data did: lengths, order, single batches that are not finite."""

import numpy as np

from forensics.case import Case
from forensics.causes import _epochs as epochs
from forensics.causes import _facts as facts
from forensics.causes import _spikes as spikes
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._looks_non_finite import isolated_non_finite
from forensics.causes._looks_periodic import jumps_in_step
from forensics.findings import Episode, EpisodeKind
from forensics.medians import median
from forensics.phrasing import at_step, count, listing, number, times
from forensics.signals import Signal

_POSITIONS = ("max_position_embeddings", "n_positions", "n_ctx")


def loss_broke_alone(case: Case) -> Seen:
    """Where the loss is non-finite the gradient norm is finite: no sample gave a gradient."""
    return _gradient_beside(case, finite=True)


def gradient_broke_with_loss(case: Case) -> Seen:
    """Loss and gradient norm became non-finite in the same step."""
    return _gradient_beside(case, finite=False)


def _gradient_beside(case: Case, finite: bool) -> Seen:
    loss, norm = case.track(Signal.TRAIN_LOSS), case.track(Signal.GRAD_NORM)
    if loss is None or loss.finite.all():
        return NOT_APPLICABLE
    steps = loss.step[~loss.finite]
    if norm is None or case.timeline.interval > facts.FINE_INTERVAL:
        return Seen(None, "Needs the gradient norm of the steps whose loss is non-finite.")
    # Only the first: once the weights are poisoned, everything is non-finite.
    beside = norm.value[norm.step == steps[0]]
    if not len(beside):
        return Seen(None, f"Needs the gradient norm of {at_step(int(steps[0]))}.")
    return Seen(
        bool(np.isfinite(beside[0])) is finite,
        f"At {at_step(int(steps[0]))}, the first with a non-finite loss, the gradient norm is "
        f"{number(float(beside[0]))}.",
        (int(steps[0]),),
    )


def non_finite_each_epoch(case: Case) -> Seen:
    """The isolated non-finite losses lie at the same place of different epochs."""
    steps = spikes.non_finite_steps(case)
    if not isolated_non_finite(case).holds:
        return NOT_APPLICABLE
    same = epochs.same_place(case, steps)
    if same is None:
        return Seen(None, "Needs the length of an epoch, and NaN losses in two of them.", steps)
    verb = "lie" if same else "do not lie"
    return Seen(
        same, f"The NaN losses ({listing(steps)}) {verb} at the same place of each epoch.", steps
    )


def isolated_zero_loss(case: Case) -> Seen:
    """Single losses are exactly zero between ordinary ones: batches without anything to learn."""
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    if found is None or len(found) < 20:
        return Seen(None, "Needs twenty training losses.")
    ordinary = np.abs(found.value) > 0.05 * median(np.abs(found.value))
    lonely = (found.value[1:-1] == 0) & ordinary[:-2] & ordinary[2:]
    steps = tuple(int(s) for s in found.step[1:-1][lonely][:8])
    if not steps:
        return Seen(False, "No loss is exactly zero between ordinary ones.")
    return Seen(
        True, f"The loss is exactly zero at {listing(steps)}, with ordinary neighbours.", steps
    )


def always_zero_loss(case: Case) -> Seen:
    """Every loss is exactly zero from the first on, and no gradient contradicts it."""
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    if found is None or len(found) < 3:
        return Seen(None, "Needs three training losses.")
    norm = facts.points(case.track(Signal.GRAD_NORM))
    alive = norm is not None and bool(np.any(norm.value != 0))
    nothing = not np.any(found.value) and not alive
    beside = "" if norm is None else ", and so is every gradient norm"
    said = f"Every loss is exactly zero from the first on{beside}."
    return Seen(nothing, said if nothing else "Not every loss is exactly zero.")


def length_outlier(case: Case, factor: float = 1.5) -> Seen:
    """The batch at the onset was longer than nearly all batches before it."""
    onset, track = case.judgement.onset_step, case.track(Signal.SEQ_LEN)
    if onset is None or track is None:
        return Seen(None, "Needs the sequence length of each batch.")
    before = facts.before(case, Signal.SEQ_LEN, onset, 8)
    here = facts.value_at(case, Signal.SEQ_LEN, onset)
    if before is None or here is None:
        return Seen(None, "Needs eight sequence lengths from before the onset.")
    usual = float(np.quantile(before.value, 0.95))
    longer = usual > 0 and here >= factor * usual
    return Seen(
        longer,
        f"The batch of {at_step(onset)} is {number(here)} long; 95 % of those before are at most "
        f"{number(usual)}.",
        (onset,),
    )


def model_positions(case: Case) -> int | None:
    """Positions that the model has, as its configuration says."""
    known = {k.rpartition(".")[2].lower(): v for k, v in case.config.raw.items()}
    limits = [v for n in _POSITIONS if isinstance(v := known.get(n), int | float) and v > 0]
    return int(min(limits)) if limits else None


def longer_than_model(case: Case) -> Seen:
    """The configured sequence length exceeds the positions that the model has."""
    length, most = case.config.seq_len, model_positions(case)
    if length is None or most is None:
        need = "Needs the sequence length and the number of positions of the model."
        return Seen(None, need, source="configuration")
    verb = "more than" if length > most else "within"
    return Seen(
        length > most,
        f"Sequences of {length:,} are {verb} the {most:,} positions of the model.",
        source="configuration",
    )


def first_loss_huge(case: Case, level: float = 30.0) -> Seen:
    """The first loss is far above what a guess costs, with any number of classes."""
    first = facts.initial_loss(case)
    if first is None:
        return Seen(None, "Needs the first training loss.")
    verb = "more" if first > level else "not more"
    return Seen(
        first > level,
        f"The first loss is {number(first)}, {verb} than {number(level)}: a uniform guess costs 12 "
        "even among 160,000 classes.",
    )


def first_gradient_huge(case: Case, level: float = 100.0) -> Seen:
    """The gradient norm is above ``level`` before anything was learned."""
    found = facts.points(case.track(Signal.GRAD_NORM))
    if found is None or not facts.starts_at_beginning(case) or not np.any(found.value):
        return Seen(None, "Needs the gradient norm of the first step.")
    first = float(found.value[0])
    return Seen(
        first > level, f"The first gradient norm is {number(first)}.", (int(found.step[0]),)
    )


def level_shift_train_only(case: Case) -> Seen:
    """The training loss stepped up to another level and validation did not."""
    shift = _step_up(case)
    if shift is None:
        return NOT_APPLICABLE
    moved = shift.details.get("validation_moved")
    if moved and jumps_in_step(case).holds:
        return NOT_APPLICABLE  # What one class teaches is unlearned in the turn of the next.
    before, after = shift.details.get("before"), shift.details.get("after")
    levels = (
        f" from {number(float(before))} to {number(float(after))}"
        if before is not None and after is not None
        else ""
    )
    what = f"The training loss stepped up{levels} at {at_step(shift.onset_step)}"
    if moved is None:
        return Seen(None, f"{what}; needs a validation on either side of it.")
    state = "moved with it" if moved else "did not"
    return Seen(not moved, f"{what}, validation {state}.", (shift.onset_step,))


def began_as_step(case: Case) -> Seen:
    """The failure is that step: it began there."""
    shift, onset = _step_up(case), case.judgement.onset_step
    if shift is None or onset is None:
        return NOT_APPLICABLE
    near = abs(shift.onset_step - onset) <= 2 * case.timeline.interval
    return Seen(
        near,
        f"The failure began at {at_step(onset)}, the step up is at {at_step(shift.onset_step)}.",
        (shift.onset_step,),
    )


def _step_up(case: Case) -> Episode | None:
    """The largest upward shift of the training loss; a fall is no complaint."""
    ups = [
        e
        for e in case.episodes_of(EpisodeKind.LEVEL_SHIFT)
        if e.signal is not Signal.EVAL_LOSS and e.details.get("direction") == "up"
    ]
    return max(ups, key=lambda e: float(e.details.get("after") or 0.0), default=None)


def not_shuffled(case: Case) -> Seen:
    """The loader was told not to shuffle."""
    shuffle = case.config.shuffle
    if shuffle is None:
        return Seen(None, "Needs the setting of the sampler.", source="configuration")
    state = "shuffled" if shuffle else "not shuffled"
    return Seen(not shuffle, f"The training data is {state}.", source="configuration")


def events_at_epoch_starts(case: Case) -> Seen:
    """Spikes and shifts of the loss begin where epochs begin."""
    events = (
        *spikes.loss_spikes(case),
        *case.episodes_of(EpisodeKind.LEVEL_SHIFT, EpisodeKind.DIVERGENCE),
    )
    placed = [(e.onset_step, epochs.at_epoch_start(case, e.onset_step)) for e in events]
    known = [(step, near) for step, near in placed if near is not None]
    if not known:
        return Seen(None, "Needs the length of an epoch.") if events else NOT_APPLICABLE
    near = tuple(step for step, at_start in known if at_start)
    length = epochs.steps_per_epoch(case) or 0.0
    return Seen(
        len(near) > len(known) / 2,
        f"{len(near):,} of {count(len(known), 'event')} of the loss begin at the start of an epoch "
        f"of {number(length)} steps.",
        near[:8],
    )


def power_of_two_jump(case: Case, tolerance: float = 0.01) -> Seen:
    """A single point is a power of two times its neighbours: what one flipped exponent bit does."""
    spike = spikes.main_spike(case)
    if spike is None or spikes.spike_points(case, spike) != 1 or not spike.baseline:
        return NOT_APPLICABLE
    ratio = spikes.jump_ratio(spike)
    if ratio is None or ratio < 3:
        return Seen(False, "The spike is not a large jump of a single point.")
    nearest = 2.0 ** round(float(np.log2(ratio)))
    exact = abs(ratio / nearest - 1) <= tolerance
    return Seen(
        exact,
        f"The single point at {at_step(spike.onset_step)} is {times(ratio)} its neighbours; the "
        f"nearest power of two is {number(nearest)}.",
        (spike.onset_step,),
    )
