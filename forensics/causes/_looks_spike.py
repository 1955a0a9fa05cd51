"""Looks at the shape of the main spike: what one batch does looks unlike what an update does."""

import numpy as np

from forensics.case import Case
from forensics.causes import _epochs as epochs
from forensics.causes import _facts as facts
from forensics.causes import _spikes as spikes
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.findings import Ending
from forensics.phrasing import at_step, count, listing, number, percent, stretch, times
from forensics.quantities import named
from forensics.signals import Signal

NO_SPIKE = NOT_APPLICABLE


def one_point(case: Case, fine: int = 5) -> Seen:
    """The spike covers a single logged point, and not many steps by that."""
    spike = spikes.main_spike(case)
    points = None if spike is None else spikes.spike_points(case, spike)
    if spike is None or points is None:
        return NO_SPIKE
    if points <= 1 and case.timeline.interval > fine:
        return Seen(None, "Needs the loss of the steps between the logged points.")
    return Seen(
        points <= 1,
        f"The spike at {at_step(spike.onset_step)} covers {count(points, 'logged point')}.",
        (spike.onset_step,),
    )


def sudden(case: Case) -> Seen:
    """The spike stands at its full height in its first point, with nothing unusual before it."""
    spike = spikes.main_spike(case)
    if spike is None or spike.peak_step is None:
        return NO_SPIKE
    lead = spike.first_mover_step
    if lead is not None and lead < spike.onset_step:
        name = "another quantity" if spike.first_mover is None else _name(spike.first_mover)
        return Seen(
            False, f"The {name} left its band at {at_step(lead)} already.", (lead, spike.onset_step)
        )
    points = round((spike.peak_step - spike.onset_step) / max(case.timeline.interval, 1))
    if points <= 0:
        return Seen(
            True,
            f"The spike at {at_step(spike.onset_step)} has its full height in its first point.",
            (spike.onset_step,),
        )
    return Seen(
        False,
        f"The spike took {count(points, 'logged point')} from {at_step(spike.onset_step)} to its "
        "peak.",
        (spike.onset_step, spike.peak_step),
    )


def gradient_same_step(case: Case, factor: float = 3.0) -> Seen:
    """The gradient norm jumped in the very step of the loss, not before."""
    spike, usual = spikes.main_spike(case), facts.usual_gradient(case)
    if spike is None:
        return NO_SPIKE
    track = case.track(Signal.GRAD_NORM)
    if track is None or not usual or case.timeline.interval > facts.FINE_INTERVAL:
        return Seen(None, "Needs the gradient norm of every step around the spike.")
    here = track.value[track.step == spike.onset_step]
    before = facts.before(case, Signal.GRAD_NORM, spike.onset_step)
    if not len(here) or before is None:
        return Seen(None, "Needs the gradient norm of the step of the spike.")
    jumped = not np.isfinite(here[0]) or float(here[0]) >= factor * usual
    last = float(before.value[-1])
    calm = last < factor * usual
    return Seen(
        bool(jumped and calm),
        f"At {at_step(spike.onset_step)} the gradient norm was {number(float(here[0]))}, in the "
        f"logged point before {number(last)}, its median {number(usual)}.",
        (spike.onset_step,),
    )


def gradient_built_up(case: Case, factor: float = 1.5, points: int = 3) -> Seen:
    """The gradient norm rose over the logged points before the spike."""
    spike, usual = spikes.main_spike(case), facts.usual_gradient(case)
    if spike is None:
        return NO_SPIKE
    before = facts.before(case, Signal.GRAD_NORM, spike.onset_step, points + 1)
    if before is None or not usual or case.timeline.interval > facts.FINE_INTERVAL:
        return Seen(None, "Needs the gradient norm of every step before the spike.")
    last = before.value[-points:]
    rose = bool(np.all(np.diff(last) > 0)) and float(last[-1]) >= factor * usual
    led = spike.first_mover is Signal.GRAD_NORM and (
        spike.first_mover_step is not None and spike.first_mover_step < spike.onset_step
    )
    shown = ", ".join(number(float(v)) for v in last)
    return Seen(
        rose or led,
        f"Before {at_step(spike.onset_step)} the gradient norm was {shown} (median "
        f"{number(usual)}).",
        (int(before.step[-points]), spike.onset_step),
    )


def tall(case: Case, ratio: float = 2.0) -> Seen:
    """The loss at least doubled."""
    spike = spikes.main_spike(case)
    jump = None if spike is None else spikes.jump_ratio(spike)
    if spike is None or jump is None:
        return NO_SPIKE
    return Seen(
        jump >= ratio,
        f"The spike reaches {times(jump)} the level before it.",
        (spike.peak_step or spike.onset_step,),
    )


def tall_later(case: Case) -> Seen:
    """The same, after the first points of the run, where losses overshoot in health."""
    high, opening = tall(case), in_first_points(case)
    return high if opening.holds is not True else Seen(False, opening.text, opening.steps)


def above_untrained(case: Case, factor: float = 1.1) -> Seen:
    """At its peak the loss is above that of an untrained model.

    What is merely hard is at worst unknown to the model; damaged samples contradict what it knows.
    """
    spike, first = spikes.main_spike(case), facts.initial_loss(case)
    chance = facts.chance_loss(case)
    levels = [v for v in (first, chance[0] if chance else None) if v is not None]
    if spike is None or spike.peak_value is None or not levels:
        return NO_SPIKE if spike is None else Seen(None, "Needs the first loss of the run.")
    return Seen(
        spike.peak_value > factor * max(levels),
        f"The spike reaches {number(spike.peak_value)}; an untrained model costs "
        f"{number(max(levels))}.",
        (spike.onset_step,),
    )


def modest(case: Case, ratio: float = 1.5) -> Seen:
    """The loss rose by less than half."""
    spike = spikes.main_spike(case)
    jump = None if spike is None else spikes.jump_ratio(spike)
    if spike is None or jump is None:
        return NO_SPIKE
    return Seen(
        jump < ratio,
        f"The spike lies {percent(jump - 1)} above the level before it.",
        (spike.peak_step or spike.onset_step,),
    )


def recovered_soon(case: Case, steps: int = 50) -> Seen:
    """The loss was back within 50 steps, which is quick for any size of run."""
    spike = spikes.main_spike(case)
    if spike is None:
        return NO_SPIKE
    if spike.recovery_step is None:
        if spike.ending is Ending.CENSORED:
            return Seen(None, "Needs the steps after the spike: the log ends too early.")
        return Seen(False, "The loss did not come back to its level.", (spike.onset_step,))
    took = spike.recovery_step - spike.onset_step
    return Seen(
        took <= max(steps, 2 * case.timeline.interval),
        f"The loss was back {stretch(took)} after {at_step(spike.onset_step)}.",
        (spike.recovery_step,),
    )


def recurs_each_epoch(case: Case) -> Seen:
    """The spikes lie at the same place of different epochs: the same samples."""
    steps = tuple(s.onset_step for s in spikes.loss_spikes(case))
    if not steps:
        return NO_SPIKE
    same = epochs.same_place(case, steps)
    if same is None:
        return Seen(None, "Needs the length of an epoch.", steps) if len(steps) > 1 else NO_SPIKE
    verb = "lie" if same else "do not lie"
    return Seen(
        same, f"The spikes ({listing(steps)}) {verb} at the same place of each epoch.", steps
    )


def validation_unmoved(case: Case, share: float = 0.02) -> Seen:
    """The first validation after the spike is no worse than the last one before it."""
    spike = spikes.main_spike(case)
    if spike is None:
        return NO_SPIKE
    before = facts.before(case, Signal.EVAL_LOSS, spike.onset_step)
    after = facts.since(case, Signal.EVAL_LOSS, spike.onset_step)
    if before is None or after is None:
        return Seen(None, "Needs a validation before and after the spike.")
    was, now = float(before.value[-1]), float(after.value[0])
    return Seen(
        now <= was + share * abs(was),
        f"The validation loss was {number(was)} before the spike and {number(now)} after it.",
        (int(after.step[0]),),
    )


def lengths_grouped(case: Case) -> Seen:
    """Batches are made of samples of similar length, so the loss follows the length."""
    grouped = facts.flag(case, "group_by_length", "length_grouped", "bucket_by_length")
    if grouped is None:
        return Seen(None, "Needs the setting of the sampler.", source="configuration")
    verb = "" if grouped else "not "
    return Seen(
        grouped, f"Batches are {verb}grouped by length (group_by_length).", source="configuration"
    )


def in_first_points(case: Case, points: int = 16) -> Seen:
    """The spike came and went in the first logged points, where losses overshoot in health."""
    spike, loss = spikes.main_spike(case), facts.points(case.track(Signal.TRAIN_LOSS))
    if spike is None or loss is None or not facts.starts_at_beginning(case):
        return NO_SPIKE if spike is None else Seen(None, "Needs the log of the first steps.")
    end = spike.recovery_step or spike.peak_step or spike.onset_step
    place, last = (int(np.searchsorted(loss.step, s)) + 1 for s in (spike.onset_step, end))
    return Seen(
        last <= points,
        f"The spike at {at_step(spike.onset_step)} is in logged points {place:,} to {last:,} of "
        "the run.",
        (spike.onset_step,),
    )


def from_the_depths(case: Case, ratio: float = 100.0, depth: float = 1e-3) -> Seen:
    """The loss spiked by orders of magnitude from next to nothing.

    There the gradients are next to nothing as well, so that steps in proportion to them could not
    lead away: these kept their length.
    """
    spike, first = spikes.main_spike(case), facts.initial_loss(case)
    jump = None if spike is None else spikes.jump_ratio(spike)
    if spike is None or jump is None or first is None or spike.baseline is None:
        return NO_SPIKE
    return Seen(
        jump >= ratio and spike.baseline <= depth * abs(first),
        f"From {number(spike.baseline)} (training began at {number(first)}) the loss rose to "
        f"{number(spike.baseline * jump)}.",
        (spike.onset_step,),
    )


def _name(signal: Signal) -> str:
    return named(signal)
