"""Public bug reports, given as the files a person would have had in the folder of the run.

``python -m tests.cases`` prints what the tool says about each: the outcome and the onset of those
whose cards hold a table of steps (as CSV and as text), then the first three causes of every card
whose evidence can be given as files. That is a card which states at least one value that the
failed run logged (NaN included) and whose cause the tool has a name for.
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


@dataclass(frozen=True)
class Given:
    """How a card becomes files.

    Attributes:
        causes: Our names that fit the cause the card establishes.
        rows: Finds the logged values in the card: each named group is one field of a line.
            Empty: the card holds a table of steps.
        settings: Find settings that the card states outside its ``config`` line.
        lasts: Lines that the value stayed for, where the card says that it did.
        first: The first line, where the card only says that it was normal and it can be no other.
    """

    causes: frozenset[str]
    rows: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    lasts: int = 1
    first: str = ""


RATE = frozenset({"learning_rate_too_high"})
HALF = frozenset({"fp16_overflow"})
NUMBER = r"[\d.]+(?:e-?\d+)?"
TABLES = {
    "001": Given(HALF),
    "008": Given(
        frozenset({"gradient_accumulation_scaling"}),
        (
            rf"ga=2.*?e(?P<epoch>{NUMBER})\s*\|\s*(?P<loss>{NUMBER})\s*"
            rf"\|\s*(?P<grad_norm>{NUMBER})\s*\|\s*(?P<lr>{NUMBER})",
        ),
        (r"ga=(?P<gradient_accumulation_steps>2)",),
    ),
    "019": Given(frozenset({"no_failure", "logging_artifact"})),
    "089": Given(frozenset({"no_failure", "hard_but_valid_batch"})),
}
# Single values told in words: the lines the run must have printed, nothing in between.
STATED = {
    "004": Given(HALF | RATE, (r"loss -> (?P<loss>0)",), lasts=10),
    "006": Given(
        HALF,
        (r"iter (?P<iter>\d+) -> (?P<loss>nan)",),
        (r"precision: apex (?P<opt_level>O\d)",),
    ),
    "011": Given(
        RATE,
        (r"(?P<loss>nan) at ~(?P<iter>\d+)",),
        (
            r"(?P<warmup_iters>(?<=warmup_iters )\d+)",
            rf"peak lr (?P<learning_rate>{NUMBER})",
        ),
    ),
    "022": Given(
        RATE,
        (r"loss (?P<loss>NaN)",),
        (r"initial lr = (?P<learning_rate>\d+)", r"Keras/(?P<optimizer>Adam)"),
    ),
    # DPO begins at ln 2: the policy is still its own reference.
    "047": Given(
        HALF,
        (r"step >=(?P<step>\d+): (?P<loss>[\d.]+)",),
        lasts=10,
        first="step: 1 loss: 0.6931",
    ),
    "048": Given(
        HALF,
        (r"step (?P<step>\d+) loss (?P<loss>[\d.]+)", r"step (?P<step>\d+) logits (?P<loss>nan)"),
    ),
    "052": Given(
        RATE,
        (
            r"nan @(?P<iter>\d+) \(loss_cls (?P<loss_cls>nan), "
            r"loss_box_reg (?P<loss_box_reg>[\d.]+)",
        ),
        (rf"base_lr (?P<base_lr>{NUMBER}) -> nan",),
    ),
    "062": Given(
        RATE, (rf"(?P<step>\d+)/\d+ \| (?P<loss>{NUMBER}) *\| (?P<learning_rate>{NUMBER})",)
    ),
    "065": Given(
        RATE, (r"1 +\| \d+ \| (?P<loss>[\d.]+) ", r"1 +\| (?P<step>\d+) \| [\d.]+ \| (?P<loss>\d+)")
    ),
    "067": Given(
        frozenset({"learning_rate_too_low"}),
        (rf"buggy: (?P<loss>{NUMBER}) flat",),
        (rf"initial lr (?P<learning_rate>{NUMBER})",),
        lasts=3,
    ),
    "108": Given(
        frozenset({"gradient_clipping_missing"}),
        (r"(?P<loss>NaN) cross-entropy at ~(?P<iter>\d+)",),
        (r"clip (?P<max_grad_norm>[\d.]+) -> still nan",),
    ),
}
GIVEN = TABLES | STATED

OUTSIDE = "the cause is outside the table of causes"
PROSE = "told in words or charts, without a value that the run logged"
NEEDS_DATA = "needs the batch, its labels or its lengths"
OTHER_RUN = "holds values of other or mended runs only"
NOT_GIVEN = {
    OUTSIDE: "002 013 055 088 095 115 119 126 130",
    PROSE: "009 018 024 027 028 031 032 035 036 044 045 056 078 096 100 107 116 121",
    NEEDS_DATA: "069 071 110 112 124",
    OTHER_RUN: "051 077 080 084",
    "only ranges, without steps": "063",
    "distinct values, without their order": "098",
}


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
    for pattern in given.rows:
        found = list(re.finditer(pattern, text))
        assert found, pattern
        for match in found:
            for later in range(given.lasts):
                fields = match.groupdict()
                if "step" in fields:
                    fields["step"] = str(int(fields["step"]) + later)
                lines.append(" ".join(f"{key}: {value}" for key, value in fields.items()))
    return lines


def give(number: str, folder: Path) -> Path:
    """Write the card's evidence as ``train.log`` and ``config.yaml``."""
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
    plain = re.compile(rf"{NUMBER}$|\w+$")
    entries = [f"{k}: {v if plain.match(v) else repr(v)}" for k, v in settings.items()]
    (folder / "config.yaml").write_text("\n".join(entries) + "\n", encoding="utf-8")
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
