"""The lane of checkpoints under the panels."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from forensics.report.figures._style import BAD, GOOD, MUTED, PAPER, WARN, Size
from forensics.verdict import CheckpointState, CheckpointVerdict

_MARKS = {
    CheckpointState.HEALTHY: ("o", GOOD, GOOD),
    CheckpointState.SUSPECT: ("D", WARN, PAPER),
    CheckpointState.POISONED: ("X", BAD, BAD),
    CheckpointState.UNREADABLE: ("s", BAD, PAPER),
    CheckpointState.NOT_SCANNED: ("o", MUTED, PAPER),
}
_ROOM = 7
"""Pixels that a mark takes."""
_WORST_LAST = (
    CheckpointState.NOT_SCANNED,
    CheckpointState.HEALTHY,
    CheckpointState.SUSPECT,
    CheckpointState.UNREADABLE,
    CheckpointState.POISONED,
)


def draw_checkpoints(
    lane: Axes, checkpoints: Sequence[CheckpointVerdict], view: tuple[float, float], size: Size
) -> None:
    """One mark a checkpoint, shaped and coloured by its state; where they crowd, the worst."""
    worst: dict[int, CheckpointVerdict] = {}
    for checkpoint in checkpoints:
        if checkpoint.step is None or not view[0] <= checkpoint.step <= view[1]:
            continue
        column = int((checkpoint.step - view[0]) / (view[1] - view[0]) * size.columns / _ROOM)
        rival = worst.get(column)
        if rival is None or _WORST_LAST.index(checkpoint.state) >= _WORST_LAST.index(rival.state):
            worst[column] = checkpoint
    for state, (shape, edge, face) in _MARKS.items():
        steps = [c.step for c in worst.values() if c.state is state and c.step is not None]
        lane.plot(
            steps,
            [0.5] * len(steps),
            ls="none",
            marker=shape,
            ms=6,
            mec=edge,
            mfc=face,
            mew=1.2,
            clip_on=False,
        )
