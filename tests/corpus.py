"""Every labelled run of the corpus, analysed: ``python -m tests.corpus`` prints the table."""

import csv
import sys
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
LABELS = CORPUS / "LABELS.tsv"


@dataclass(frozen=True)
class Row:
    case: str
    label: str
    outcome: str
    symptom: str
    onset: int | None
    cause: str
    probability: float
    others: int

    @property
    def right(self) -> bool | None:
        """None where the label itself is ambiguous."""
        failed = self.outcome not in ("healthy", "spiked_recovered", "unknown")
        return None if self.label == "ambiguous" else failed == (self.label == "failed")


def labels() -> list[dict[str, str]]:
    with LABELS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def analyse(entry: dict[str, str]) -> Row:
    import forensics

    found = forensics.analyze(CORPUS / entry["case"])
    first = found.hypotheses[0]
    return Row(
        entry["case"],
        entry["label"],
        found.outcome,
        found.symptom,
        found.onset_step,
        first.cause,
        first.probability,
        len(found.verdict.other_runs),
    )


def main() -> int:
    if not LABELS.exists():
        print(f"{CORPUS} is not here: nothing to check")
        return 0
    rows = [analyse(entry) for entry in labels()]
    for r in rows:
        mark = {True: "ok", False: "WRONG", None: "-"}[r.right]
        onset = "" if r.onset is None else str(r.onset)
        print(
            f"{mark:5} {r.case:40} {r.label:10} {r.outcome:19} {r.symptom:22} {onset:>7} "
            f"{r.cause} {r.probability:.2f}" + (f" (+{r.others} runs)" if r.others else "")
        )
    judged = [r for r in rows if r.right is not None]
    wrong = [r for r in judged if not r.right]
    print(f"{len(judged) - len(wrong)} of {len(judged)} labelled runs right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
