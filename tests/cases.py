"""Public bug reports whose cards hold a table of steps, pasted as a person would paste them.

``python -m tests.cases`` prints what the tool says about each, as CSV and as text.
"""

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).parents[2] / "shared" / "cases"


@dataclass(frozen=True)
class Expected:
    """What the card says: outcomes that fit, and the step of the onset (None: no failure)."""

    outcomes: frozenset[str]
    onset: int | None


CALM = frozenset({"healthy", "unknown", "spiked_recovered"})
EXPECTED = {
    "001": Expected(frozenset({"spiked_recovered"}), 3),
    "002": Expected(frozenset({"non_finite"}), 11),
    "019": Expected(CALM, None),
    "089": Expected(frozenset({"spiked_recovered"}), 31215),
}
FORMS = ("metrics.csv", "train.log")


def card(number: str) -> str:
    (path,) = CASES.glob(f"{number}-*.md")
    return path.read_text(encoding="utf-8")


def table(text: str) -> list[list[str]]:
    """Header and rows of the card's table of steps; '-' is a cell that was not logged."""
    block = re.search(r"^log: \|\n((?:  .*\n)+)", text, flags=re.MULTILINE)
    assert block is not None
    rows = [[c.strip() for c in line.split("|")] for line in block[1].splitlines() if "|" in line]
    return [r for r in rows if len(r) == len(rows[0]) and (r is rows[0] or r[0].isdigit())]


def write(number: str, form: str, folder: Path) -> Path:
    rows = table(card(number))
    target = folder / form
    if form.endswith(".csv"):
        lines = [",".join("" if c == "-" else c for c in row) for row in rows]
    else:
        lines = [
            " ".join(f"{k}: {v}" for k, v in zip(rows[0], r, strict=True) if v != "-")
            for r in rows[1:]
        ]
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def main() -> int:
    import forensics

    wrong = 0
    for number, expected in EXPECTED.items():
        for form in FORMS:
            with tempfile.TemporaryDirectory() as folder:
                d = forensics.analyze(write(number, form, Path(folder)))
            good = d.outcome in expected.outcomes and (
                expected.onset is None or d.onset_step == expected.onset
            )
            wrong += not good
            first = d.hypotheses[0]
            print(
                f"{'ok' if good else 'WRONG':5} {number} {form:12} {d.outcome:17} "
                f"onset {d.onset_step} (card: {expected.onset}) "
                f"{first.cause} {first.probability:.2f}"
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
