"""The timeline of a run: loss, gradient norm and learning rate over one time axis.

The only room that knows matplotlib. Figures are made with its object interface: no window is
opened, no global state of pyplot is touched, and the user's own settings change nothing.
"""

from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from forensics.case import Case
from forensics.report.figures import _marks
from forensics.report.figures._checkpoints import draw_checkpoints
from forensics.report.figures._heat_map import draw_heat_map, has_non_finite
from forensics.report.figures._panels import (
    Panel,
    choose_panels,
    draw_panel,
    drawn,
    points_a_column,
)
from forensics.report.figures._replay import draw_replay
from forensics.report.figures._replay_lines import Line, replay_lines
from forensics.report.figures._style import GRID, INK, MUTED, NARROW, RC, WIDE, Size
from forensics.report.figures._svg import figure_svg, inline_svg
from forensics.report.figures._window import zoom_window
from forensics.report.wording import unit
from forensics.verdict import CheckpointState, CheckpointVerdict, Verdict

_EVENTS, _CHECKPOINTS, _AXIS, _GAP = 34.0, 22.0, 40.0, 24.0
"""Heights in pixels: lane of labels, lane of checkpoints, time axis, space above a panel."""


def draw_timeline(
    subject: Verdict | Case, size: Size = WIDE, window: tuple[int, int] | None = None
) -> Figure:
    """Draw what was logged, stacked over one time axis, with everything that was found marked.

    Args:
        subject: A verdict; or a case, whose checkpoints are then shown as not scanned.
        size: Measures of the figure.
        window: First and last step shown; None: the whole run.
    """
    case = subject.case if isinstance(subject, Verdict) else subject
    view = _view(case, window)
    panels = choose_panels(case)
    with mpl.rc_context(RC):
        if not panels:
            return _empty(size)
        checkpoints = [c for c in _checkpoints(subject) if view[0] <= (c.step or 0) <= view[1]]
        marks = _marks.choose_marks(case, size)
        labels = any(view[0] <= mark.step <= view[1] for mark in marks)
        figure, lane, axes, bottom = _layout(panels, size, labels, checkpoints=bool(checkpoints))
        for panel, own in zip(panels, axes, strict=True):
            signals = {track.signal for track in panel.tracks}
            old = tuple(t for t in case.timeline.superseded if t.signal in signals)
            draw_panel(own, panel, old, view, size)
            _marks.draw_peaks(own, signals, case, view, size)
        _marks.shade_onset(axes, case)
        every = [*axes, bottom] if checkpoints else axes
        _marks.draw_marks(lane, every, marks, view, size)
        if checkpoints:
            draw_checkpoints(bottom, checkpoints, view, size)
        _time_axis(bottom, [lane, *every], case, view, size)
        return figure


def _view(case: Case, window: tuple[int, int] | None) -> tuple[float, float]:
    first, last = window or (case.timeline.first_step, case.timeline.last_step)
    margin = (last - first) * 0.012 or 0.5
    return first - margin, last + margin


def _checkpoints(subject: Verdict | Case) -> Sequence[CheckpointVerdict]:
    if isinstance(subject, Verdict):
        return [c for c in subject.checkpoints if c.step is not None]
    state = CheckpointState.NOT_SCANNED
    return [
        CheckpointVerdict(c.path, c.step, False, None, (), state, "")
        for c in subject.run.checkpoints
        if c.step is not None
    ]


def _empty(size: Size) -> Figure:
    figure = Figure(figsize=(size.width / 72, 60 / 72))
    text = "No loss, gradient norm or learning rate was logged."
    figure.text(0.5, 0.5, text, ha="center", va="center", color=INK, fontsize=size.font)
    return figure


def _layout(
    panels: Sequence[Panel], size: Size, labels: bool, checkpoints: bool
) -> tuple[Figure, Axes, list[Axes], Axes]:
    """Place lane, panels and checkpoints; returns the figure, the lane, the panels, the lowest."""
    heights = [panel.height * size.scale for panel in panels]
    events = _EVENTS if labels else 4.0
    lane_below = _CHECKPOINTS + 8 if checkpoints else 0.0
    total = events + sum(heights) + _GAP * len(heights) + lane_below + _AXIS
    figure = Figure(figsize=(size.width / 72, total / 72))
    top = total

    def place(gap: float, height: float) -> Axes:
        nonlocal top
        top -= gap + height
        box = (size.left / size.width, top / total, size.columns / size.width, height / total)
        return figure.add_axes(box)

    lane = place(2, events - 2)
    lane.set_axis_off()
    lane.set_ylim(0, 1)
    axes = [place(_GAP, height) for height in heights]
    for own in axes:
        _dress(own, size)
    bottom = place(8, _CHECKPOINTS) if checkpoints else axes[-1]
    if checkpoints:
        _dress(bottom, size)
        bottom.set_ylim(0, 1)
        bottom.set_yticks([0.5], ["ckpt" if size.ticks <= 4 else "checkpoint"])
    return figure, lane, axes, bottom


def _dress(axes: Axes, size: Size) -> None:
    axes.set_autoscale_on(False)  # limits are set by hand; autoscaling overflows on 1e308
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(GRID)
    axes.grid(axis="both", color=GRID, lw=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(axis="both", length=0, labelsize=size.font - 1, labelcolor=MUTED, pad=5)


def _time_axis(
    bottom: Axes, every: Sequence[Axes], case: Case, view: tuple[float, float], size: Size
) -> None:
    for axes in every:
        axes.set_xlim(*view)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_locator(MaxNLocator(size.ticks, integer=True))
        axes.tick_params(axis="x", labelbottom=axes is bottom)
    bottom.xaxis.set_major_formatter(lambda step, _: _tick(step, size))
    bottom.set_xlabel(unit(case.timeline.axis), color=MUTED, fontsize=size.font - 0.5, labelpad=3)


def _tick(step: float, size: Size) -> str:
    for bound, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(step) >= bound and (size.ticks <= 4 or bound > 1e3):
            return f"{step / bound:,.6g}{letter}"
    return f"{step:,.0f}"


__all__ = [
    "NARROW",
    "WIDE",
    "Line",
    "draw_heat_map",
    "draw_replay",
    "draw_timeline",
    "drawn",
    "figure_svg",
    "has_non_finite",
    "inline_svg",
    "points_a_column",
    "replay_lines",
    "zoom_window",
]
