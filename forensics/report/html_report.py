"""The HTML report: one file that needs nothing else, and a card for notebooks."""

from dataclasses import dataclass, replace

from markupsafe import Markup

from forensics.case import Case
from forensics.report import figures
from forensics.report.captions import Caption, caption
from forensics.report.replay_caption import ReplayCaption, replay_caption
from forensics.report.templates import environment
from forensics.report.view import build_page
from forensics.verdict import Verdict

_ZOOM_HEIGHT = 0.8
"""The second figure is the smaller one."""


@dataclass(frozen=True)
class Drawing:
    """A figure in two widths, one for the page and one for a phone."""

    wide: Markup
    narrow: Markup


@dataclass(frozen=True)
class ReplayDrawing:
    """The figure of a replay and its caption."""

    figure: Drawing
    caption: ReplayCaption


def render(verdict: Verdict) -> str:
    """The whole report as an HTML page without scripts, links to the network or other files."""
    case = verdict.case
    window = figures.zoom_window(case)
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            page=build_page(verdict),
            caption=_caption(verdict),
            timeline=_draw(verdict, "timeline", None) if figures.drawn(case) else None,
            zoom=None if window is None else _draw(verdict, "zoom", window),
            trajectories=_draw_replay(case),
            heat_map=_draw_heat_map(case) if figures.has_non_finite(case) else None,
        )
    )


def _draw_heat_map(case: Case) -> Drawing:
    wide, narrow = (
        figures.inline_svg(
            figures.draw_heat_map(case, size),
            f"heat-{word}",
            "Map of the values that are not finite, by checkpoint and depth.",
        )
        for word, size in (("wide", figures.WIDE), ("narrow", figures.NARROW))
    )
    return Drawing(wide, narrow)


def _draw_replay(case: Case) -> ReplayDrawing | None:
    lines = figures.replay_lines(case)
    if not lines:
        return None
    words = replay_caption(lines)
    wide, narrow = (
        figures.inline_svg(figures.draw_replay(case, lines, size), f"replay-{word}", words.title)
        for word, size in (("wide", figures.WIDE), ("narrow", figures.NARROW))
    )
    return ReplayDrawing(Drawing(wide, narrow), words)


def html_fragment(verdict: Verdict) -> str:
    """A compact card for a notebook cell: the sentence, the figure, the first hypotheses."""
    figure = figures.draw_timeline(verdict)
    words = _caption(verdict)
    return (
        environment()
        .get_template("fragment.html.j2")
        .render(
            page=build_page(verdict),
            caption=words,
            figure=figures.inline_svg(figure, "card", words.title),
        )
    )


def _caption(verdict: Verdict) -> Caption:
    case = verdict.case
    return caption(verdict, figures.drawn(case), figures.points_a_column(case))


def _draw(verdict: Verdict, name: str, window: tuple[int, int] | None) -> Drawing:
    words = _caption(verdict)
    title = words.title if window is None else words.zoom
    height = 1.0 if window is None else _ZOOM_HEIGHT
    wide, narrow = (
        figures.inline_svg(
            figures.draw_timeline(verdict, replace(size, scale=size.scale * height), window),
            f"{name}-{word}",
            title,
        )
        for word, size in (("wide", figures.WIDE), ("narrow", figures.NARROW))
    )
    return Drawing(wide, narrow)
