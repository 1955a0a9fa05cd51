"""Public bug reports, given as the files a person would have had in the folder of the run.

``python -m tests.cases`` prints what the tool says about each: the outcome and the onset of those
whose cards hold a table of steps (as CSV and as text), then the first three causes of every card
that `case_cards` says can be given.
"""

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from tests.case_cards import GIVEN, NOT_GIVEN, NUMBER, STATED, TABLES, Given

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


SPELLED = {
    "bs": "batch_size",
    "batch": "batch_size",
    "block": "block_size",
    "clip": "max_grad_norm",
    "gbs": "global_batch_size",
    "lr": "learning_rate",
}
"""Settings as the frameworks spell them."""


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


def configured(text: str) -> dict[str, str]:
    """The card's ``config`` line: entries with a colon, a number after a name, or a precision."""
    line = re.search(r"^config: \{(.*)\}", text, flags=re.MULTILINE)
    assert line is not None
    found: dict[str, str] = {}
    for entry in re.split(r"[,;] ", re.sub(r" ?\([^)]*\)", "", line[1])):
        named = re.match(r"(\w+): (.+)", entry)
        valued = re.search(rf"\b({'|'.join(SPELLED)}) ({NUMBER})", entry)
        precise = re.search(r"\b(?:fp16|bf16|fp32)\b", entry)
        if named:
            number = re.match(rf"({NUMBER})(?: |$)", named[2])
            found[named[1]] = number[1] if number else named[2]
        elif valued:
            found[valued[1]] = valued[2]
        elif precise:
            found["torch_dtype" if "torch_dtype" in entry else "precision"] = precise[0]
    return {SPELLED.get(key, key): value for key, value in found.items()}


def stated(text: str, given: Given) -> list[str]:
    """The lines of the log that the card's words state, counted on where a value stayed."""
    lines = [given.first] if given.first else []
    last = 0
    for pattern in given.rows:
        found = list(re.finditer(pattern, text))
        assert found, pattern
        for match in found:
            for _ in range(given.lasts):
                fields = {key: printed(key, value) for key, value in match.groupdict().items()}
                if "step" in fields:
                    # Before and after one step are two lines.
                    last = max(int(fields["step"]), last + 1)
                    fields["step"] = str(last)
                if given.counter:
                    fields = {given.counter: str(len(lines) + 1), **fields}
                whole = fields.get("line")
                lines.append(whole or " ".join(f"{key}: {value}" for key, value in fields.items()))
    return lines


def printed(key: str, value: str) -> str:
    """A value as programs print it: a loss is no whole number, and a million is written out."""
    value = re.sub(r"M$", "000000", value) if key == "loss" else value
    return f"{value}.0" if key == "loss" and value.isdigit() else value


def give(number: str, folder: Path) -> Path:
    """Write the card's evidence: ``train.log``, ``config.yaml``, and a tensor where it has one."""
    # What was deduced later and what mended it are not evidence of the run.
    text, given = card(number).partition("\ncause_detail:")[0], GIVEN[number]
    if given.rows:
        lines = stated(text, given)
        (folder / "train.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        write(number, "train.log", folder)
    settings = configured(text)
    for pattern in given.settings:
        match = re.search(pattern, text)
        assert match, pattern
        settings |= match.groupdict()
    settings |= dict(given.meant)
    plain = re.compile(rf"{NUMBER}$|\w+$")
    entries = [f"{k}: {v if plain.match(v) else repr(v)}" for k, v in settings.items()]
    (folder / "config.yaml").write_text("\n".join(entries) + "\n", encoding="utf-8")
    if given.saved:
        held = re.search(given.saved, text)
        assert held, given.saved
        tensor = np.array([float(held["value"])], dtype=np.float32)
        save_file({f"bn.{held['name']}": tensor}, folder / "checkpoint-1.safetensors")
    return folder


def told(number: str) -> tuple[str, list[str]]:
    """The tool's outcome and its first three causes for a card's files."""
    import forensics

    with tempfile.TemporaryDirectory() as folder:
        try:
            d = forensics.analyze(give(number, Path(folder)))
        except forensics.ForensicsError as error:
            return f"refused: {error}", []
    return d.outcome, [h.cause for h in d.hypotheses[:3]]


def rank(number: str, causes: list[str]) -> int | None:
    """Place of the first cause that fits the card, from 1; None where none of three does."""
    fitting = (place for place, c in enumerate(causes, 1) if c in GIVEN[number].causes)
    return next(fitting, None)


def outcomes() -> int:
    """Print outcome and onset of the cards with a table; how many were wrong."""
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
    return wrong


def ranks() -> None:
    """Print the first three causes of every card given as files, and the totals."""
    for title, cards in (("tables of steps", TABLES), ("values told in words", STATED)):
        places = []
        for number in cards:
            outcome, causes = told(number)
            places.append(rank(number, causes))
            print(
                f"{places[-1] or 'MISS'!s:5} {number} {outcome:17} {', '.join(causes)} "
                f"(card: {' or '.join(sorted(cards[number].causes))})"
            )
        three = sum(place is not None for place in places)
        print(f"{title}: {len(places)} given, {places.count(1)} first, {three} among three")
    for reason, numbers in NOT_GIVEN.items():
        print(f"not given: {numbers} ({reason})")


def main() -> int:
    wrong = outcomes()
    ranks()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
