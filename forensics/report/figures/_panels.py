"""Which quantities a figure shows, and how one panel is drawn."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from forensics.case import Case
from forensics.findings import Severity
from forensics.report import names
from forensics.report.figures._envelope import Envelope, envelope
from forensics.report.figures._nonfinite import bad_spans, draw_bad
from forensics.report.figures._scale import set_scale
from forensics.report.figures._style import COLOURS, MUTED, PAPER, WIDE, Size
from forensics.report.wording import sentence_case
from forensics.signals import Signal
from forensics.timeline import Track

_BASE: tuple[tuple[tuple[Signal, ...], int], ...] = (
    ((Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH, Signal.EVAL_LOSS), 190),
    ((Signal.GRAD_NORM, Signal.GRAD_NORM_CLIPPED), 116),
    ((Signal.LR,), 74),
)
_COLOUR = {
    Signal.TRAIN_LOSS: COLOURS["loss"],
    Signal.TRAIN_LOSS_EPOCH: COLOURS["loss"],
    Signal.EVAL_LOSS: COLOURS["eval"],
    Signal.GRAD_NORM: COLOURS["grad"],
    Signal.GRAD_NORM_CLIPPED: COLOURS["grad"],
    Signal.LR: COLOURS["lr"],
}
_EXTRA_PANELS = 2


@dataclass(frozen=True)
class Panel:
    """Quantities that share one set of axes."""

    tracks: tuple[Track, ...]
    height: float


def choose_panels(case: Case) -> tuple[Panel, ...]:
    """Loss, gradient norm and learning rate where logged, then whatever else failed."""
    panels = [Panel(_logged(case, signals), height) for signals, height in _BASE]
    shown = {track.signal for panel in panels for track in panel.tracks}
    failed = dict.fromkeys(
        e.signal for e in case.episodes if e.severity is Severity.FAILURE and e.signal not in shown
    )
    extra = [Panel(_logged(case, (signal,)), 90) for signal in failed]
    return tuple(p for p in panels + extra[:_EXTRA_PANELS] if p.tracks)


def drawn(case: Case) -> tuple[Signal, ...]:
    """The quantities the figure of a case shows."""
    return tuple(track.signal for panel in choose_panels(case) for track in panel.tracks)


def points_a_column(case: Case, size: Size = WIDE) -> int:
    """About how many points of the densest track share a pixel column; 1: every one is drawn."""
    most = max((len(t) for panel in choose_panels(case) for t in panel.tracks), default=0)
    return -(-most // size.columns) if most > 2 * size.columns else 1


def _logged(case: Case, signals: tuple[Signal, ...]) -> tuple[Track, ...]:
    tracks = [case.track(signal) for signal in signals]
    # Two forms of one quantity are not drawn over each other.
    one_of = (Signal.TRAIN_LOSS_EPOCH, Signal.GRAD_NORM_CLIPPED)
    found = [t for t in tracks if t is not None and len(t)]
    return tuple(t for n, t in enumerate(found) if n == 0 or t.signal not in one_of)


def draw_panel(
    axes: Axes, panel: Panel, old: tuple[Track, ...], view: tuple[float, float], size: Size
) -> None:
    """Draw the tracks of a panel, their superseded points and their non-finite points.

    Args:
        axes: Where to draw.
        panel: What to draw.
        old: Superseded pieces of the panel's tracks.
        view: First and last step shown.
        size: Measures of the figure.
    """
    drawn = [envelope(t.step, t.value, *view, size.columns) for t in panel.tracks]
    past = [envelope(t.step, t.value, *view, size.columns) for t in old]
    for track, line in zip(old, past, strict=True):
        colour = _colour(track.signal)
        axes.plot(line.x, line.middle, color=colour, lw=0.9, alpha=0.55, ls=(0, (2, 1.5)))
    for track, line in zip(panel.tracks, drawn, strict=True):
        _draw_line(axes, line, _colour(track.signal), sparse=track.signal is Signal.EVAL_LOSS)
    bad = [span for track in panel.tracks for span in bad_spans(track, view, size)]
    values = [v for line in drawn + past for v in (line.low, line.high)]
    kind = set_scale(axes, values, panel.tracks[0].signal, room=0.22 if bad else 0.10)
    draw_bad(axes, bad, view, size)
    _title(axes, panel, kind, size)


def _colour(signal: Signal) -> str:
    return _COLOUR.get(signal, COLOURS["extra"])


def _draw_line(axes: Axes, line: Envelope, colour: str, sparse: bool) -> None:
    if line.dense:
        # A spike is one column wide: only the outline makes it stand out.
        axes.fill_between(line.x, line.low, line.high, fc=(colour, 0.25), ec=(colour, 0.8), lw=0.6)
        axes.plot(line.x, line.middle, color=colour, lw=1.1)
        return
    axes.plot(line.x, line.middle, color=colour, lw=0.9 if sparse else 1.3)
    gap = np.isnan(np.concatenate(([np.nan], line.middle, [np.nan])))
    alone = ~gap[1:-1] & gap[:-2] & gap[2:]
    dots = np.ones(len(line.x), bool) if sparse or len(line.x) <= 60 else alone
    axes.plot(line.x[dots], line.middle[dots], ls="none", marker="o", ms=3, color=colour, mew=0)


def _title(axes: Axes, panel: Panel, kind: str, size: Size) -> None:
    """The names of the quantities above the panel, in their colours: no legend is needed."""
    offset = 0.0
    for track in panel.tracks:
        text = sentence_case(names.signal(track.signal))
        axes.annotate(
            text,
            (0, 1),
            xycoords="axes fraction",
            xytext=(offset, 5),
            textcoords="offset points",
            color=_colour(track.signal),
            fontsize=size.font,
            fontweight="bold",
            # The stroke of a label above must not run through the words.
            bbox={"fc": PAPER, "ec": "none", "pad": 1.5},
        )
        offset += len(text) * size.font * 0.6 + 12
    if kind != "linear":
        axes.annotate(
            "log scale",
            (1, 1),
            xycoords="axes fraction",
            xytext=(0, 5),
            ha="right",
            textcoords="offset points",
            color=MUTED,
            fontsize=size.font - 1,
        )
