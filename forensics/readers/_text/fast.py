"""Reads what the templates know, many lines at once."""

from dataclasses import dataclass, field

from forensics.readers._text.layout import Kind, Reading
from forensics.readers._text.lines import Batch
from forensics.readers._text.rows import Store
from forensics.readers._text.templates import Template, learn

_MOST_TEMPLATES = 96
_NEARLY_ALL = 0.99


@dataclass(eq=False)
class Fast:
    """The templates learned so far, the most used first."""

    _templates: list[Template] = field(default_factory=list)
    _known: int = 0
    """How many of them the lines of this batch were matched against."""
    _uniform: bool = False
    """Whether nearly all lines of the last batch were known."""

    def take(self, batch: Batch, texts: list[str]) -> list[int]:
        """Read the lines that are known; returns the indices of all others."""
        self._templates.sort(key=lambda template: -template.uses)
        self._known = len(self._templates)
        if self._take_all(batch):
            return []
        pending = list(range(len(texts)))
        for template in self._templates:
            if not pending:
                break
            matches = list(map(template.match.fullmatch, [texts[k] for k in pending]))
            template.at += [k for k, match in zip(pending, matches, strict=True) if match]
            template.rows += [match.groups() for match in matches if match]
            pending = [k for k, match in zip(pending, matches, strict=True) if not match]
        self._uniform = len(pending) <= (1 - _NEARLY_ALL) * len(texts)
        return pending

    def _take_all(self, batch: Batch) -> bool:
        """Read all lines at once where they are all of the make that is usual in this file."""
        usual = self._templates[0] if self._templates and self._uniform else None
        if usual is None or batch.body is None:
            return False
        rows = usual.match_all.findall(batch.body)
        if len(rows) != len(batch.texts):
            return False
        usual.at = list(range(len(rows)))
        usual.rows = rows if usual.match_all.groups > 1 else [(row,) for row in rows]
        return True

    def take_new(self, text: str, k: int) -> bool:
        """Read a line that may look like one learned since the batch began."""
        for template in self._templates[self._known :]:
            match = template.match.fullmatch(text)
            if match:
                template.at.append(k)
                template.rows.append(match.groups())
                return True
        return False

    def learn(self, text: str, reading: Reading) -> None:
        """Read lines like this one fast from now on."""
        template = learn(text, reading) if len(self._templates) < _MOST_TEMPLATES else None
        if template is not None:
            self._templates.append(template)

    def forget_uncounted(self) -> None:
        """What a line without a counter means depends on the heading above it from now on."""
        for template in self._templates:
            if not template.layout.counts:
                template.retired = True

    def flush(self, store: Store, base: int) -> int | None:
        """Hand the rows over; ``base`` is the place of the batch's first line in the file.

        Returns:
            The place of the first row that is no progress bar.
        """
        first = None
        for template in self._templates:
            at, rows = template.take()
            if not at:
                continue
            places = [base + k for k in at]
            if template.layout.kind is not Kind.BAR:
                first = places[0] if first is None else min(first, places[0])
            _store(template, places, rows, store)
        full = len(self._templates) >= _MOST_TEMPLATES
        self._templates = [
            template
            for template in self._templates
            if not (template.retired or (full and not template.uses))
        ]
        return first


def _store(template: Template, at: list[int], rows: list[tuple[str, ...]], store: Store) -> None:
    columns = list(zip(*rows, strict=True))
    stamps = columns.pop(0) if template.stamped else None
    try:
        store.add(template.layout, at, columns, stamps)
    except ValueError:  # some row is not made of numbers after all: leave out that one
        for place, row in zip(at, rows, strict=True) if len(rows) > 1 else ():
            _store(template, [place], [row], store)
