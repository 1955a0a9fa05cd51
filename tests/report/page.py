"""Reads a rendered page as a browser would, strictly: what it holds, whether it is sound."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "link", "br", "hr", "img", "input", "wbr", "col"}


@dataclass
class Found:
    """What a page holds."""

    tags: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    """Values of every attribute that names something else: href, src, and the like."""
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    text: str = ""
    faults: list[str] = field(default_factory=list)
    """Tags that close what is not open, or stay open."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = Found()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1] != tag:
            self.found.faults.append(f"</{tag}> at {self.getpos()} inside {self._open[-3:]}")
        else:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not {"style", "svg"} & set(self._open):
            self.found.text += data

    def close(self) -> None:
        super().close()
        self.found.faults += [f"<{tag}> stays open" for tag in self._open]

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.tags.append(tag)
        for name, value in attrs:
            self.found.attributes.append((tag, name, value or ""))
            if name == "id":
                self.found.ids.append(value or "")
            if name in {"href", "src", "xlink:href", "action", "data", "poster", "srcset"}:
                self.found.links.append(value or "")


def read(html: str) -> Found:
    """Parse a page."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.found
