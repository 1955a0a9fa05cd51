"""Colours and sizes of a figure, and how they become CSS variables on a page.

Each colour is a hex code that nothing else uses. In an SVG it is written as
``var(--fig-NAME, #hex)``, so one drawing serves the light page, the dark page and a viewer that
knows no variables. The codes keep at least 3:1 contrast on white and on near-black alike.
"""

from dataclasses import dataclass
from typing import Any

COLOURS = {
    "ink": "#3d4550",
    "muted": "#6b7580",
    "grid": "#dfe3e8",
    "loss": "#2f6fd0",
    "eval": "#c4661f",
    "grad": "#8455c4",
    "lr": "#0e8577",
    "extra": "#8a6d1d",
    "bad": "#d0342c",
    "good": "#23894e",
    "warn": "#b87503",
    "paper": "#fefefe",
}
INK, MUTED, GRID = COLOURS["ink"], COLOURS["muted"], COLOURS["grid"]
BAD, GOOD, WARN, PAPER = COLOURS["bad"], COLOURS["good"], COLOURS["warn"], COLOURS["paper"]

RC: Any = {
    "svg.hashsalt": "forensics",
    "svg.fonttype": "none",
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "axes.unicode_minus": False,
    "path.simplify": True,
    "path.simplify_threshold": 0.2,
    "text.usetex": False,
    "text.parse_math": False,
}
"""The user's own matplotlibrc must not change a report."""


@dataclass(frozen=True)
class Size:
    """Measures of a figure in pixels (1 px is 1/72 inch here, so an SVG unit)."""

    width: float
    left: float
    right: float
    font: float
    scale: float
    """Factor on the height of every panel."""
    ticks: int
    """About how many labels the time axis takes."""

    @property
    def columns(self) -> int:
        """Pixel columns of a panel: finer detail than this cannot be seen."""
        return int(self.width - self.left - self.right)


WIDE = Size(width=880, left=72, right=14, font=12, scale=1.0, ticks=8)
NARROW = Size(width=350, left=48, right=8, font=11, scale=0.82, ticks=4)
