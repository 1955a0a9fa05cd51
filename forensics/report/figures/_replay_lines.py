"""Which lines a figure of the replay draws, and how each is told from the others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from forensics.case import Case
from forensics.replay_facts import Counterfactual, Trajectory
from forensics.replay_reading import read_replay
from forensics.run import Steps, Values
from forensics.signals import Signal

EFFECTIVE = ("good", "eval", "grad", "lr", "extra")
"""Names of the colours of changes that removed the failure; further ones are drawn muted."""


@dataclass(frozen=True, eq=False)
class Line:
    """One trajectory: loss and gradient norm over the replayed steps."""

    kind: str
    """``logged``, ``as_run``, ``removed`` or ``kept``."""
    colour: str
    """Name of a colour of the figures."""
    steps: dict[Signal, Steps]
    values: dict[Signal, Values]
    """Per quantity, shape (n,), non-finite kept."""
    change: Counterfactual | None = None


def replay_lines(case: Case) -> tuple[Line, ...]:
    """The lines of a replay, those in front last; none where no stretch was replayed."""
    facts = case.replay
    if facts is None or facts.as_run is None or not facts.as_run.trajectory.steps:
        return ()
    run = facts.as_run.trajectory
    reading = read_replay(facts)
    marked = reading.removed_by[: len(EFFECTIVE)]
    others = [c for c in facts.counterfactuals if c not in marked and c.trajectory.steps]
    return (
        *(_line("kept", "muted", c.trajectory, c) for c in others),
        *_logged(case, run),
        _line("as_run", "ink", run),
        *_removed(marked),
    )


def _removed(changes: Sequence[Counterfactual]) -> Iterator[Line]:
    """The smallest change is drawn last, on top."""
    coloured = list(zip(changes, EFFECTIVE, strict=False))
    for change, colour in reversed(coloured):
        yield _line("removed", colour, change.trajectory, change)


def _line(
    kind: str, colour: str, trajectory: Trajectory, change: Counterfactual | None = None
) -> Line:
    steps = np.asarray(trajectory.steps, np.int64)
    loss = np.asarray(trajectory.loss, np.float64)
    norm = np.asarray(trajectory.grad_norm, np.float64)
    return Line(
        kind,
        colour,
        {Signal.TRAIN_LOSS: steps, Signal.GRAD_NORM: steps},
        {Signal.TRAIN_LOSS: loss, Signal.GRAD_NORM: norm},
        change,
    )


def _logged(case: Case, run: Trajectory) -> Iterator[Line]:
    steps: dict[Signal, Steps] = {}
    values: dict[Signal, Values] = {}
    for signal in (Signal.TRAIN_LOSS, Signal.GRAD_NORM):
        track = case.track(signal)
        if track is None:
            continue
        inside = (track.step >= run.steps[0]) & (track.step <= run.steps[-1])
        if inside.any():
            steps[signal], values[signal] = track.step[inside], track.value[inside]
    if steps:
        yield Line("logged", "loss", steps, values)
