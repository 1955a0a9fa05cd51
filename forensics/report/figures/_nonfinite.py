"""NaN and infinity have no height: they are drawn along the top edge of their panel."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from forensics.report.figures._envelope import spans
from forensics.report.figures._style import BAD, Size
from forensics.timeline import Track

_TOP = 0.94
"""Height of the marks as a share of the panel's."""
_BAR, _ROOMY = 6, 60
"""Pixels from which a span is a bar rather than a mark, and holds its own label."""


@dataclass(frozen=True)
class BadSpan:
    """Steps in a row without a finite value."""

    word: str
    """``NaN`` or ``Inf``."""
    first: float
    last: float


def bad_spans(track: Track, view: tuple[float, float], size: Size) -> Iterator[BadSpan]:
    """The spans of a track within the view, those that touch on the page drawn together."""
    if track.finite.all():
        return
    pixel = (view[1] - view[0]) / size.columns
    for word, flag in (("NaN", np.isnan(track.value)), ("Inf", np.isinf(track.value))):
        for first, last in spans(track.step, flag, max(pixel * 2, track.interval)):
            if last >= view[0] and first <= view[1]:
                yield BadSpan(word, max(first, view[0]), min(last, view[1]))


def draw_bad(axes: Axes, bad: Sequence[BadSpan], view: tuple[float, float], size: Size) -> None:
    """Draw a bar for a long span, a cross (NaN) or a triangle (infinity) for a short one."""
    edge = axes.get_xaxis_transform()
    pixel = (view[1] - view[0]) / size.columns
    for span in (s for s in bad if s.last - s.first > _BAR * pixel):
        axes.plot(
            [span.first, span.last],
            [_TOP, _TOP],
            color=BAD,
            lw=4,
            solid_capstyle="butt",
            transform=edge,
        )
    for word, shape in (("NaN", "x"), ("Inf", "^")):
        short = [s for s in bad if s.word == word and s.last - s.first <= _BAR * pixel]
        at = [(s.first + s.last) / 2 for s in short]
        axes.plot(
            at, [_TOP] * len(at), ls="none", marker=shape, ms=5, color=BAD, mew=1.4, transform=edge
        )
    if bad:
        _label(axes, max(bad, key=lambda s: s.last - s.first), view, size)


def _label(axes: Axes, span: BadSpan, view: tuple[float, float], size: Size) -> None:
    pixel = (view[1] - view[0]) / size.columns
    if span.last - span.first > _ROOMY * pixel:
        at, offset, side, height = (span.first + span.last) / 2, (0, -7), "center", "top"
    elif span.last > view[1] - _ROOMY * pixel:
        at, offset, side, height = span.first, (-6, 0), "right", "center"
    else:
        at, offset, side, height = span.last, (6, 0), "left", "center"
    axes.annotate(
        span.word,
        (at, _TOP),
        xycoords=axes.get_xaxis_transform(),
        xytext=offset,
        textcoords="offset points",
        color=BAD,
        fontsize=size.font - 1,
        ha=side,
        va=height,
    )
