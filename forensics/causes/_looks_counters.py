"""Looks at what a checkpoint holds besides tensors: counters, rates, settings, the loss scale."""

from typing import Any

import numpy as np

from forensics.case import Case
from forensics.causes import _checkpoints as saved
from forensics.causes._base import Seen
from forensics.checkpoint_doubts import counted, lost_steps, start_near
from forensics.checkpoint_facts import CheckpointFacts
from forensics.phrasing import at_step, number
from forensics.signals import Signal


def optimizer_counter_restarted(case: Case) -> Seen:
    """Adam's step counter began again where the run was resumed: its moments were lost."""
    found = [c for c in _surveyed(case) if c.state.optimizer_steps and counted(c)]
    if not found:
        return saved.seen(None, "Needs the optimizer's step counter in a checkpoint (scan it).")
    for checkpoint in found:
        if text := lost_steps(case, checkpoint):
            return saved.seen(True, text, (counted(checkpoint),))
    last = found[-1]
    if case.timeline.resumes and counted(last) <= max(r.step for r in case.timeline.resumes):
        return saved.seen(None, "Needs a checkpoint from after the resume (scan it).")
    steps = (last.state.optimizer_steps or (0, 0))[1]
    return saved.seen(
        False,
        f"{last.checkpoint} was written at {at_step(counted(last))}, and its optimizer counts "
        f"{steps:,.0f}.",
    )


def scheduler_restarted(case: Case) -> Seen:
    """The scheduler's counter began again where the run was resumed."""
    found = [c for c in _surveyed(case) if c.state.scheduler_step is not None and counted(c)]
    if not found:
        return saved.seen(None, "Needs the scheduler's state in a checkpoint.")
    for checkpoint in found:
        done = checkpoint.state.scheduler_step or 0
        place = start_near(case, counted(checkpoint) - done, counted(checkpoint))
        if place is not None and done != checkpoint.state.epoch:
            text = (
                f"{checkpoint.checkpoint} was written at {at_step(counted(checkpoint))}, but its "
                f"scheduler counts {done:,}: it began anew at {at_step(place)}."
            )
            return saved.seen(True, text, (counted(checkpoint),))
    last = found[-1]
    return saved.seen(
        False,
        f"{last.checkpoint} was written at {at_step(counted(last))}, and its scheduler counts "
        f"{last.state.scheduler_step:,}.",
    )


def rate_differs(case: Case, room: float = 0.05) -> Seen:
    """No parameter group has the learning rate that was logged around the step of the save."""
    track = case.track(Signal.LR)
    found = [c for c in _surveyed(case) if c.state.lr and c.step is not None]
    if track is None or not found:
        return saved.seen(None, "Needs the learning rate in a checkpoint and in the log.")
    for checkpoint in found:
        at = int(np.searchsorted(track.step, checkpoint.step or 0))
        near = track.value[max(at - 1, 0) : at + 2]
        near = near[np.isfinite(near)]
        rates = (*checkpoint.state.lr, *checkpoint.state.scheduler_lr)
        if len(near) < 2:
            continue
        low, high = near.min() * (1 - room), near.max() * (1 + room)
        if all(not low <= rate <= high for rate in rates):
            text = (
                f"{checkpoint.checkpoint} holds a learning rate of {number(rates[0])}; around its "
                f"step {number(float(near.min()))} to {number(float(near.max()))} was logged."
            )
            return saved.seen(True, text, (checkpoint.step or 0,))
    return saved.seen(False, "The learning rates in the checkpoints are those that were logged.")


def settings_differ(case: Case) -> Seen:
    """Betas, epsilon or weight decay in the optimizer's state are not the configuration's."""
    config = case.config
    named: tuple[Any, ...] = (config.betas, config.eps, config.weight_decay)
    found = [c for c in _surveyed(case) if c.state.betas or c.state.weight_decay]
    if not found or all(value is None for value in named):
        return saved.seen(None, "Needs the optimizer's settings in the configuration and a save.")
    state = found[-1].state
    held: tuple[Any, ...] = (state.betas, state.eps, state.weight_decay)
    names = ("betas", "epsilon", "weight decay")
    for name, value, values in zip(names, named, held, strict=True):
        if value is not None and values and not any(np.allclose(value, v) for v in values):
            text = (
                f"The configuration sets {name} to {value}; {found[-1].checkpoint} holds "
                f"{', '.join(str(v) for v in values)}, and a restored state wins."
            )
            return saved.seen(True, text)
    return saved.seen(False, "The optimizer's state holds the settings of the configuration.")


def scale_collapsed(case: Case, least: float = 1.0) -> Seen:
    """The loss scale in a checkpoint is below 1: there is nothing left to halve."""
    found = [c for c in _surveyed(case) if c.state.scale is not None]
    if not found:
        return saved.seen(None, "Needs the state of the gradient scaler in a checkpoint.")
    low = min(found, key=lambda c: c.state.scale or 0.0)
    scale = low.state.scale or 0.0
    verb = "is" if scale < least else "is at least"
    return saved.seen(
        scale < least,
        f"The loss scale in {low.checkpoint} {verb} {number(scale)}.",
        () if low.step is None else (low.step,),
    )


def _surveyed(case: Case) -> tuple[CheckpointFacts, ...]:
    return () if case.survey is None else case.survey.checkpoints
