"""The Jinja environment: where the templates are, and how text becomes harmless in them."""

from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from forensics.report.wording import clean

_PACKAGE = Path(__file__).resolve().parents[1]


def template_folder() -> Path:
    """``_templates`` of an installed wheel, else ``reports/templates`` of the checkout."""
    installed = _PACKAGE / "_templates"
    return installed if installed.is_dir() else _PACKAGE.parent / "reports" / "templates"


@cache
def environment() -> jinja2.Environment:
    """The one environment: everything is escaped, an unknown name is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_folder()),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["prose"] = prose
    return made


def _harmless(value: object) -> object:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return clean(value)


def prose(text: str) -> Markup:
    """A sentence in which pairs of backticks mark code; everything else is escaped."""
    pieces = clean(text).split("`")
    if len(pieces) % 2 == 0:
        return escape("`".join(pieces))
    marked = [
        Markup("<code>{}</code>").format(piece) if n % 2 else escape(piece)
        for n, piece in enumerate(pieces)
    ]
    return Markup().join(marked)
