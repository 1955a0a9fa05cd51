"""The replayed trajectories over each other and over the log: loss above, gradient norm below."""

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from forensics.case import Case
from forensics.report import names
from forensics.report.figures._envelope import envelope
from forensics.report.figures._replay_lines import Line
from forensics.report.figures._scale import set_scale
from forensics.report.figures._style import BAD, COLOURS, GRID, INK, MUTED, PAPER, RC, Size
from forensics.report.wording import sentence_case, unit
from forensics.run import Values
from forensics.signals import Signal

_PANELS = ((Signal.TRAIN_LOSS, 210.0), (Signal.GRAD_NORM, 120.0))
_TOP, _GAP, _AXIS = 20.0, 26.0, 40.0
"""Heights in pixels: room for the suspect's label, space above a panel, the time axis."""
_FIRST_MARK, _MARK_ROW = 0.95, 9.0
"""Height of the topmost mark of a non-finite point as a share of the panel; pixels to the next."""
_STYLES: dict[str, Any] = {
    "kept": {"lw": 0.9, "alpha": 0.55},
    "logged": {"lw": 3.6, "alpha": 0.4},
    "as_run": {"lw": 1.2},
    "removed": {"lw": 1.6},
}


def draw_replay(case: Case, lines: Sequence[Line], size: Size) -> Figure:
    """Draw the lines that `replay_lines` chose for a case; there is at least one."""
    panels = [
        (signal, height * size.scale)
        for signal, height in _PANELS
        if any(np.isfinite(line.values[signal]).any() for line in lines if signal in line.values)
    ]
    total = _TOP + sum(height + _GAP for _, height in panels) + _AXIS
    view = _view(lines)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(size.width / 72, total / 72))
        top = total - _TOP
        every = []
        for signal, height in panels:
            top -= _GAP + height
            box = (size.left / size.width, top / total, size.columns / size.width, height / total)
            axes = figure.add_axes(box)
            _draw_panel(axes, lines, signal, view, height, size)
            every.append(axes)
        _mark_suspect(every, case, view, size)
        _time_axis(every, case, view, size)
        return figure


def _view(lines: Sequence[Line]) -> tuple[float, float]:
    steps = [line.steps[signal] for line in lines for signal in line.steps]
    first, last = min(int(s[0]) for s in steps), max(int(s[-1]) for s in steps)
    margin = (last - first) * 0.012 or 0.5
    return first - margin, last + margin


def _draw_panel(
    axes: Axes,
    lines: Sequence[Line],
    signal: Signal,
    view: tuple[float, float],
    height: float,
    size: Size,
) -> None:
    _dress(axes, size)
    shown: list[Values] = []
    drawn = [line for line in lines if signal in line.values]
    for line in drawn:
        outline = envelope(line.steps[signal], line.values[signal], *view, size.columns)
        # The highest of each column: a spike must not vanish in a long stretch.
        axes.plot(
            outline.x,
            outline.high if outline.dense else outline.middle,
            color=COLOURS[line.colour],
            solid_capstyle="round",
            marker="o" if len(outline.x) == 1 else None,
            ms=4,
            **_STYLES[line.kind],
        )
        shown.append(outline.high)
    broken = [line for line in reversed(drawn) if not np.isfinite(line.values[signal]).all()]
    kind = set_scale(axes, shown, signal, room=0.10 + (0.14 if broken else 0.0))
    for row, line in enumerate(broken[:4]):
        _mark_broken(axes, line, signal, _FIRST_MARK - row * _MARK_ROW / height)
    _title(axes, signal, kind, size)


def _mark_broken(axes: Axes, line: Line, signal: Signal, height: float) -> None:
    """A cross (NaN) or a triangle (infinity) along the top edge, at the first step of each kind."""
    step, value = line.steps[signal], line.values[signal]
    for flag, shape in ((np.isnan(value), "x"), (np.isinf(value), "^")):
        if flag.any():
            axes.plot(
                [step[flag][0]],
                [height],
                ls="none",
                marker=shape,
                ms=6,
                mew=1.6,
                color=COLOURS[line.colour],
                transform=axes.get_xaxis_transform(),
                zorder=5,
            )


def _dress(axes: Axes, size: Size) -> None:
    axes.set_autoscale_on(False)  # limits are set by hand; autoscaling overflows on 1e308
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(GRID)
    axes.grid(axis="both", color=GRID, lw=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(axis="both", length=0, labelsize=size.font - 1, labelcolor=MUTED, pad=5)


def _title(axes: Axes, signal: Signal, kind: str, size: Size) -> None:
    for text, side, colour, weight in (
        (sentence_case(names.signal(signal)), "left", INK, "bold"),
        ("" if kind == "linear" else "log scale", "right", MUTED, "normal"),
    ):
        axes.annotate(
            text,
            (0 if side == "left" else 1, 1),
            xycoords="axes fraction",
            xytext=(0, 5),
            textcoords="offset points",
            ha=side,
            color=colour,
            fontsize=size.font if side == "left" else size.font - 1,
            fontweight=weight,
            bbox={"fc": PAPER, "ec": "none", "pad": 1.5},
        )


def _mark_suspect(every: Sequence[Axes], case: Case, view: tuple[float, float], size: Size) -> None:
    step = case.replay.suspect_step if case.replay is not None else None
    if step is None or not every:
        return
    for axes in every:
        axes.axvline(step, color=BAD, lw=1.0, ls=(0, (3, 2)), zorder=1)
    place = (step - view[0]) / (view[1] - view[0])
    every[0].annotate(
        f"suspect {unit(case.timeline.axis)} {step:,}",
        (step, 1),
        xycoords=every[0].get_xaxis_transform(),
        xytext=(0, 23),
        textcoords="offset points",
        ha="left" if place < 0.15 else "right" if place > 0.85 else "center",
        color=BAD,
        fontsize=size.font - 1,
        annotation_clip=False,
    )


def _time_axis(every: Sequence[Axes], case: Case, view: tuple[float, float], size: Size) -> None:
    for axes in every:
        axes.set_xlim(*view)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_locator(MaxNLocator(size.ticks, integer=True))
        axes.xaxis.set_major_formatter(lambda step, _: f"{step:,.0f}")
        axes.tick_params(axis="x", labelbottom=axes is every[-1])
    if every:
        every[-1].set_xlabel(
            unit(case.timeline.axis), color=MUTED, fontsize=size.font - 0.5, labelpad=3
        )
