"""A matplotlib figure as SVG: the same bytes every time, small, coloured by CSS variables."""

import io
import re

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from forensics.report.figures._style import COLOURS, RC

_NOTHING = {"Date": None, "Creator": None, "Format": None, "Type": None}
_VARIABLES = {code: f"var(--fig-{name}, {code})" for name, code in COLOURS.items()}
_CODE = re.compile("|".join(re.escape(code) for code in _VARIABLES))
_FAMILY = re.compile(r"font-family: [^;\"]*|(?<=px )'DejaVu Sans'[^;\"]*")
_PATH = re.compile(r'(?<= d=")[^"]*')
_FINE = re.compile(r"(\.\d\d)\d+")
_NO_TURN = re.compile(r' transform="rotate\(-?0 [^"]*"')
_REFERENCE = re.compile(r'((?: id="|"#|url\(#))')


def figure_svg(figure: Figure) -> str:
    """The figure as a standalone SVG document without a background, byte for byte repeatable."""
    with mpl.rc_context(RC), io.StringIO() as text:
        figure.savefig(text, format="svg", transparent=True, metadata=_NOTHING)
        return _slim(text.getvalue())


def inline_svg(figure: Figure, name: str, title: str) -> Markup:
    """The figure as an element for a page; ``name`` keeps its ids apart from other figures'."""
    svg = figure_svg(figure)
    body = svg[svg.index("<svg") :]
    body = re.sub(r' (?:xmlns|xmlns:xlink|version|width|height)="[^"]*"', "", body, count=5)
    body = body.replace("xlink:href", "href")
    body = _REFERENCE.sub(rf"\g<1>{name}-", body)
    label = f'<svg role="img" aria-label="{escape(title)}"'
    return Markup(body.replace("<svg", label, 1))


def _slim(svg: str) -> str:
    """Hundredths of a pixel, no line breaks inside paths, a generic font, colours as variables."""
    svg = re.sub(r"<!--.*?-->\s*|<style.*?</style>\s*", "", svg, flags=re.DOTALL)
    svg = _PATH.sub(lambda path: " ".join(_FINE.sub(r"\1", path.group()).split()), svg)
    svg = _NO_TURN.sub("", svg)
    svg = _FAMILY.sub("font-family: var(--fig-font, sans-serif)", svg)
    svg = _CODE.sub(lambda code: _VARIABLES[code.group()], svg)
    return re.sub(r"\n\s*", "\n", svg)
