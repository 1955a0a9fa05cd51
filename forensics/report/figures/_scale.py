"""The value axis of a panel: linear, or logarithmic where the range needs it."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, SymmetricalLogLocator

from forensics.report.wording import number
from forensics.run import Values
from forensics.signals import Signal

WIDE_RANGE, TALL_SPIKE = 50.0, 8.0
"""Largest over smallest and over typical value from which a linear axis hides the rest."""
_TINY, _EDGE = 1e-290, 1e290
"""Beyond them the limits of an axis would underflow or overflow."""


def scale_of(finite: Values, signal: Signal) -> tuple[str, float]:
    """``linear``, ``log`` or ``symlog``, and the width of the linear part of the last.

    Args:
        finite: Shape (n,), every finite value of the panel.
        signal: A learning rate is always shown linear: its shape is what is recognised.
    """
    if not len(finite) or signal is Signal.LR:
        return "linear", 0.0
    low, high = float(finite.min()), float(np.abs(finite).max())
    typical = max(float(np.median(np.abs(finite))), _TINY)
    if low > 0:
        wide = high / max(low, _TINY) > WIDE_RANGE or high / typical > TALL_SPIKE
        return ("log", 0.0) if wide else ("linear", 0.0)
    wide = typical > _TINY and high / typical > WIDE_RANGE
    return ("symlog", typical) if wide else ("linear", 0.0)


def set_scale(axes: Axes, values: list[Values], signal: Signal, room: float) -> str:
    """Set scale, limits and ticks of the value axis.

    Args:
        axes: The panel.
        values: What is drawn in it, NaN where nothing is.
        signal: The panel's first quantity.
        room: Share of the height to leave free above the highest value.

    Returns:
        The name of the scale.
    """
    shown = np.concatenate(values)
    finite = np.clip(shown[np.isfinite(shown)], -_EDGE, _EDGE)
    digits = 3
    kind, threshold = scale_of(finite, signal)
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if kind == "log":
        _set_log(axes, max(low, _TINY), high, room)
    elif kind == "symlog":
        axes.set_yscale("symlog", linthresh=threshold)
        axes.set_ylim(low * 1.6, high * 3 if high > 0 else -low * 0.1)
        axes.yaxis.set_major_locator(
            SymmetricalLogLocator(base=10, linthresh=threshold, subs=[1.0])
        )
    else:
        span = (high - low) or abs(high) * 0.2 or 1.0
        axes.set_ylim(low - 0.06 * span, high + room * span)
        axes.yaxis.set_major_locator(MaxNLocator(4))
        digits = _digits(span, max(abs(low), abs(high)))
    if not len(finite):
        axes.yaxis.set_major_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, _: number(float(value), digits))
    return kind


def _digits(span: float, largest: float) -> int:
    """Significant digits that tell neighbouring ticks apart."""
    return min(max(3, int(np.ceil(np.log10(max(largest, _TINY) / span))) + 2), 8)


def _set_log(axes: Axes, low: float, high: float, room: float) -> None:
    bottom, top = np.log10(low), np.log10(high)
    span = top - bottom
    axes.set_yscale("log")
    ends = np.clip([bottom - 0.06 * span, top + room * span], -300.0, 300.0)
    axes.set_ylim(*(10.0**ends))
    axes.yaxis.set_major_locator(FixedLocator(_log_ticks(*ends)))


def _log_ticks(bottom: float, top: float) -> list[float]:
    """At most six whole decades between two exponents; threes as well where there are few."""
    stride = max(int(np.ceil((top - bottom) / 6)), 1)
    decades = range(int(np.floor(bottom / stride)) * stride, int(top) + 1, stride)
    factors = (1.0, 3.0) if top - bottom < 2.5 else (1.0,)
    return [factor * 10.0**decade for decade in decades for factor in factors]
