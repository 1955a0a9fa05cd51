"""Which values are not finite: checkpoints across, depth downwards, one panel a role."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from forensics.case import Case
from forensics.findings import TensorStats
from forensics.report.figures._depth import by_depth
from forensics.report.figures._style import BAD, GOOD, GRID, INK, MUTED, RC, Size

ROLES = {
    "weights": ("param", "buffer", "master"),
    "1st moment": ("exp_avg",),
    "2nd moment": ("exp_avg_sq",),
}
MOST_ROWS, MOST_COLUMNS = 36, 16
_ROW, _TITLE, _AXIS, _GAP = 13.0, 24.0, 40.0, 14.0
"""Heights of a row, of the titles and of the axis, and the space between panels, in pixels."""
_LETTER = 0.56
"""Width of a letter as a share of the font's size, on average."""
SOME, MOST = 0.4, 1.0
"""Opacity of a cell with some values that are not finite, and with half of them or more."""

Cells = dict[tuple[str, str], tuple[int, int]]
"""(checkpoint, tensor) -> values that are not finite, all values."""


@dataclass(frozen=True)
class _Grid:
    """What is drawn."""

    columns: tuple[tuple[str, str], ...]
    """Path and label of each checkpoint."""
    rows: tuple[tuple[str, frozenset[str]], ...]
    panels: tuple[tuple[str, Cells], ...]


def has_non_finite(case: Case) -> bool:
    """True where there is a map to draw."""
    return any(t.is_poisoned for t in case.tensors or ())


def draw_heat_map(case: Case, size: Size) -> Figure:
    """Draw the map of a case for which `has_non_finite` holds."""
    grid = _grid(case)
    longest = max(len(label) for label, _ in grid.rows)
    left = min(longest * _LETTER * size.font + 10, size.width * 0.35)
    height = len(grid.rows) * _ROW
    total = _TITLE + height + _AXIS
    width = (size.width - left - size.right - _GAP * (len(grid.panels) - 1)) / len(grid.panels)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(size.width / 72, total / 72))
        for place, (title, cells) in enumerate(grid.panels):
            x = (left + place * (width + _GAP)) / size.width
            box = (x, _AXIS / total, width / size.width, height / total)
            axes = figure.add_axes(box)
            _dress(axes, grid, title, size, width)
            if place == 0:
                axes.set_yticks(range(len(grid.rows)), [label for label, _ in grid.rows])
            _fill(axes, grid, cells)
        return figure


def _grid(case: Case) -> _Grid:
    tensors = case.tensors or ()
    columns = _columns(case, {t.checkpoint for t in tensors})
    panels = []
    for title, roles in ROLES.items():
        cells = _cells(t for t in tensors if t.role in roles)
        if cells:
            panels.append((title, cells))
    known = {role for roles in ROLES.values() for role in roles}
    rows = by_depth((t.name for t in tensors if t.role in known), MOST_ROWS)
    return _Grid(tuple(columns), tuple(rows), tuple(panels))


def _columns(case: Case, scanned: set[str]) -> list[tuple[str, str]]:
    """Checkpoints in step order, those that were not scanned too where there is room for all."""
    found = sorted(case.run.checkpoints, key=lambda c: (c.step is None, c.step or 0, c.path))
    if len(found) > MOST_COLUMNS:
        found = [c for c in found if c.path in scanned]
    if len(found) > MOST_COLUMNS:
        every = -(-len(found) // MOST_COLUMNS)
        broken = {t.checkpoint for t in case.tensors or () if t.is_poisoned}
        first = next((i for i, c in enumerate(found) if c.path in broken), 0)
        found = found[first % every :: every]
    return [(c.path, "?" if c.step is None else f"{c.step:,}") for c in found]


def _cells(tensors: Iterable[TensorStats]) -> Cells:
    cells: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for tensor in tensors:
        cell = cells[tensor.checkpoint, tensor.name]
        cell[0] += tensor.nan + tensor.pos_inf + tensor.neg_inf if tensor.is_poisoned else 0
        cell[1] += 0 if tensor.missing else tensor.size
    return {key: (bad, size) for key, (bad, size) in cells.items()}


def _dress(axes: Axes, grid: _Grid, title: str, size: Size, width: float) -> None:
    axes.set_autoscale_on(False)
    axes.set_xlim(-0.5, len(grid.columns) - 0.5)
    axes.set_ylim(len(grid.rows) - 0.5, -0.5)
    axes.set_title(title, fontsize=size.font, color=INK, loc="left", pad=6)
    for spine in axes.spines.values():
        spine.set_color(GRID)
    room = max(1, int(width / (max(len(label) for _, label in grid.columns) * size.font * 0.62)))
    every = -(-len(grid.columns) // room)
    shown = range(len(grid.columns) - 1, -1, -every)
    axes.set_xticks(list(shown), [grid.columns[i][1] for i in shown])
    axes.set_yticks([])
    axes.tick_params(axis="both", length=0, labelsize=size.font - 2, labelcolor=MUTED, pad=4)
    axes.set_xlabel("step", fontsize=size.font - 1, color=MUTED, labelpad=2)


def _fill(axes: Axes, grid: _Grid, cells: Cells) -> None:
    for x, (path, _) in enumerate(grid.columns):
        shades = [_shade(path, names, cells) for _, names in grid.rows]
        for shade, run in groupby(enumerate(shades), key=lambda item: item[1]):
            if shade is not None:
                _bar(axes, x, [y for y, _ in run], *shade)


def _shade(path: str, names: frozenset[str], cells: Cells) -> tuple[str, float] | None:
    """Colour and opacity of a cell; None where nothing was read."""
    found = [cells[path, name] for name in names if (path, name) in cells]
    bad, size = sum(b for b, _ in found), sum(s for _, s in found)
    if not size:
        return None
    if not bad:
        return GOOD, 0.3
    return BAD, MOST if bad * 2 >= size else SOME


def _bar(axes: Axes, x: int, rows: Sequence[int], colour: str, opacity: float) -> None:
    """Cells of one shade, one below the other, as one rectangle."""
    corner = (x - 0.46, rows[0] - 0.5)
    axes.add_patch(Rectangle(corner, 0.92, len(rows), fc=colour, ec="none", alpha=opacity))
