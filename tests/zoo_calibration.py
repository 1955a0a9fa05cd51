"""Are the percentages meant? ``python -m tests.zoo calibrate DIR [--part P] [--svg FILE]``.

Prints, for one part of the zoo, how often the first cause was right among the runs in which the
tool said so much, the Brier score, and the temperature that would suit this part best. ``--svg``
draws the diagram, and ``--readme`` writes the table into README.md, both of the measured part.
"""

import argparse
import json
import math
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

from tests.zoo_rows import PARTS, no_runs, runs_in, without_truth

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- calibration: ", "<!-- end of calibration -->"
EDGES = (0.0, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0)
LEAST = 1e-12
"""Probabilities below this one are all alike."""


@dataclass(frozen=True)
class Told:
    """What was said of one run: the probabilities, and which causes are right."""

    said: dict[str, float]
    """Of every cause, and under '' of none of them."""
    right: frozenset[str]
    outcome: bool
    """Whether the outcome was judged rightly: what follows a wrong one no temperature can mend."""

    def first(self, temperature: float = 1.0) -> tuple[float, bool]:
        """The first cause's probability at a relative temperature, and whether it is right."""
        powers = {c: max(p, LEAST) ** (1 / temperature) for c, p in self.said.items()}
        total = sum(powers.values())
        top = max((c for c in powers if c), key=lambda c: powers[c])
        return powers[top] / total, top in self.right

    def surprise(self, temperature: float) -> float:
        """Minus the logarithm of what the right causes were given together."""
        powers = {c: max(p, LEAST) ** (1 / temperature) for c, p in self.said.items()}
        held = sum(p for c, p in powers.items() if c in self.right)
        return -math.log(max(held / sum(powers.values()), LEAST))


def listen(folder: Path) -> Told:
    """Diagnose one run."""
    import forensics

    truth = json.loads((folder / "truth.json").read_text())
    with tempfile.TemporaryDirectory() as place:
        found = forensics.analyze(without_truth(folder, Path(place), False))
    said = {h.cause: h.probability for h in found.hypotheses}
    said[""] = max(0.0, 1.0 - sum(said.values()))
    outcome = found.outcome in (truth["outcome"], *truth["accept_outcomes"])
    return Told(said, frozenset({truth["cause"], *truth["accept"]}), outcome)


def brier(told: Sequence[Told], temperature: float = 1.0) -> float:
    """Mean square of said minus was, of the first cause."""
    pairs = [t.first(temperature) for t in told]
    return sum((said - was) ** 2 for said, was in pairs) / len(pairs)


def best_temperature(told: Sequence[Told]) -> float:
    """The relative temperature of the least mean surprise, to a twentieth."""
    grid = [0.5 + 0.05 * n for n in range(51)]
    return min(grid, key=lambda t: sum(one.surprise(t) for one in told))


def bins(told: Sequence[Told]) -> list[tuple[float, float, int, float, float]]:
    """From, to, runs, mean of what was said, share that was right; empty bins are left out."""
    rows = []
    pairs = [t.first() for t in told]
    for low, high in pairwise(EDGES):
        inside = [p for p in pairs if low < p[0] <= high]
        if inside:
            said = sum(p for p, _ in inside) / len(inside)
            was = sum(w for _, w in inside) / len(inside)
            rows.append((low, high, len(inside), said, was))
    return rows


def interval(share: float, runs: int) -> tuple[float, float]:
    """Wilson's 90 % interval of a share."""
    z = 1.645
    centre = (share + z**2 / (2 * runs)) / (1 + z**2 / runs)
    half = z * math.sqrt(share * (1 - share) / runs + z**2 / (4 * runs**2)) / (1 + z**2 / runs)
    return max(0.0, centre - half), min(1.0, centre + half)


def table(told: Sequence[Told]) -> list[str]:
    """The bins as Markdown."""
    rows = [
        f"| {low:.0%} to {high:.0%} | {runs} | {said:.0%} | {was:.0%} |".replace("%", " %")
        for low, high, runs, said, was in bins(told)
    ]
    return ["| said | runs | on average | was right |", "|---|---|---|---|", *rows]


def svg(told: Sequence[Told], side: int = 300, edge: int = 44) -> str:
    """The reliability diagram; what lies on the diagonal was meant."""

    def place(x: float, y: float) -> tuple[float, float]:
        return round(edge + x * side, 1), round(edge / 2 + (1 - y) * side, 1)

    (x0, y0), (x1, y1) = place(0, 0), place(1, 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side + 2 * edge} '
        f'{side + 2 * edge}" font-family="sans-serif" font-size="12" fill="#444">',
        f'<rect x="{x0}" y="{y1}" width="{side}" height="{side}" fill="#fff" stroke="#bbb"/>',
        f'<path d="M{x0} {y0}L{x1} {y1}" stroke="#bbb" stroke-dasharray="4 4"/>',
    ]
    for percent in (0, 25, 50, 75, 100):
        (x, _), (_, y) = place(percent / 100, 0), place(0, percent / 100)
        parts.append(f'<text x="{x}" y="{y0 + 16}" text-anchor="middle">{percent} %</text>')
        parts.append(f'<text x="{x0 - 6}" y="{y + 4}" text-anchor="end">{percent} %</text>')
    for _, _, runs, said, was in bins(told):
        low, high = interval(was, runs)
        (x, y), (_, top), (_, bottom) = place(said, was), place(said, high), place(said, low)
        radius = round(3 + math.sqrt(runs) / 2, 1)
        parts.append(f'<path d="M{x} {top}L{x} {bottom}" stroke="#2a6fb0" stroke-width="1.5"/>')
        parts.append(f'<circle cx="{x}" cy="{y}" r="{radius}" fill="#2a6fb0"/>')
    middle = x0 + side / 2
    parts.append(f'<text x="{middle}" y="{y0 + 36}" text-anchor="middle">said</text>')
    parts.append(f'<text x="{x0}" y="{y1 - 6}">was right (bars: 90 % interval)</text>')
    return "\n".join([*parts, "</svg>", ""])


def into_readme(told: Sequence[Told], home: Path) -> None:
    """Replace the block of README between the two comments."""
    text = README.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN, 1)
    note, rest = rest.split("-->\n", 1)
    _, tail = rest.split(END, 1)
    count = f"{len(told)} runs, Brier score {brier(told):.3f}."
    body = "\n".join([count, "", *table(told)])
    README.write_text(f"{head}{BEGIN}{note}-->\n{body}\n{END}{tail}", encoding="utf-8")


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.zoo calibrate", description=__doc__)
    parser.add_argument("home", type=Path, help="folder that the zoo was made in")
    parser.add_argument("--part", choices=PARTS, default="measured")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--svg", type=Path, help="draw the diagram here")
    parser.add_argument("--readme", action="store_true", help="write the table into README.md")
    options = parser.parse_args(words)
    folders = runs_in(options.home, options.part)
    if not folders:
        print(no_runs(options.home))
        return 2
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        told = list(pool.map(listen, folders))
    print(f"{options.part}: {len(told)} runs, Brier score {brier(told):.4f}")
    print("\n".join(table(told)))
    for some, which in ((told, "all"), ([t for t in told if t.outcome], "of a right outcome")):
        best = best_temperature(some)
        print(
            f"runs {which}: {len(some)}, Brier score {brier(some):.4f}; with {best:.2f} times the "
            f"present temperature, which suits them best, {brier(some, best):.4f}"
        )
    if options.svg:
        options.svg.write_text(svg(told), encoding="utf-8")
    if options.readme:
        into_readme(told, options.home)
    return 0
