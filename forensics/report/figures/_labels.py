"""Where the labels above the panels go, so that none lies on another."""

from typing import Protocol

from forensics.report.figures._style import Size

ROWS = 2


class Labelled(Protocol):
    """What a label stands for."""

    @property
    def step(self) -> int:
        """Where its line is."""

    @property
    def label(self) -> str:
        """What it says, '' for nothing."""


class LabelRows:
    """Which row a label fits into, given those placed before it.

    A label stands beside its line, so it must neither lie on another label nor be crossed by the
    line of one that stands higher.
    """

    def __init__(self, view: tuple[float, float], size: Size) -> None:
        self._view, self._size = view, size
        self._spans: list[list[tuple[float, float]]] = [[] for _ in range(ROWS)]
        self._strokes: list[list[float]] = [[] for _ in range(ROWS)]

    def row(self, mark: Labelled) -> int | None:
        """The lowest free row, now taken; None where there is no room or nothing to say."""
        left, right = self._span(mark)
        stroke = self._pixel(mark)
        for row in range(ROWS if mark.label else 0):
            crossed = any(left < x < right for above in self._strokes[row + 1 :] for x in above)
            below = (span for spans in self._spans[:row] for span in spans)
            crosses = any(a < stroke < b for a, b in below)
            if not crossed and not crosses and not self._met(row, left, right):
                self._spans[row].append((left, right))
                self._strokes[row].append(stroke)
                return row
        return None

    def flipped(self, mark: Labelled) -> bool:
        """True where the label must stand left of its line."""
        return self._pixel(mark) + self._width(mark) > self._size.columns

    def _met(self, row: int, left: float, right: float) -> bool:
        return any(left < b and a < right for a, b in self._spans[row])

    def _span(self, mark: Labelled) -> tuple[float, float]:
        at, width = self._pixel(mark), self._width(mark)
        return (at - width, at) if self.flipped(mark) else (at, at + width)

    def _pixel(self, mark: Labelled) -> float:
        first, last = self._view
        return (mark.step - first) / (last - first) * self._size.columns

    def _width(self, mark: Labelled) -> float:
        return len(mark.label) * self._size.font * 0.55 + 8
