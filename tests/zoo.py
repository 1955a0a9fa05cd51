"""The zoo, diagnosed: ``python -m tests.zoo DIR`` prints each run and the totals.

DIR is what ``sample_runs/zoo.py make DIR`` wrote. ``--logs-only`` analyses copies without
checkpoints and captured batches. ``python -m tests.zoo clues DIR`` counts, for each clue of each
cause, among the runs of that cause and among the others, how often it held. ``python -m tests.zoo
calibrate DIR`` holds what was said against what was so; see `tests.zoo_calibration`.
"""

import argparse
import json
import math
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

PARTS = ("tuning", "measured")
SOUND = ("healthy", "spiked_recovered", "unknown")
NOT_A_FAULT = ("no_failure", "logging_artifact")
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
NOT_LOGS = ("truth.json", "checkpoints", "batches", "checkpoint-*", "*.ckpt", "*.pt")


@dataclass(frozen=True)
class Row:
    """One run: its truth and what the tool says."""

    run: str
    part: str
    family: str
    true_cause: str
    accept: tuple[str, ...]
    true_outcome: str
    accept_outcomes: tuple[str, ...]
    outcome: str
    cause: str
    probability: float
    second: str
    rank: int | None
    """Best rank of a true or accepted cause; None: of no probability to speak of."""
    true_onset: tuple[int, int] | None
    """First and last step that are right; None: it did not begin at any, or nothing shows it."""
    onset: int | None
    tolerance: int
    """max(3 intervals of the log that shows it, 1 % of the run), or what the label says."""
    true_checkpoint: str | None
    checkpoint: str | None
    checkpoint_right: bool | None
    """None: the run left none."""

    @property
    def right(self) -> bool:
        return self.rank == 1

    @property
    def sound(self) -> bool:
        """True where nothing was made to fail."""
        return self.true_outcome in ("healthy", "spiked_recovered")

    @property
    def false_alarm(self) -> bool:
        return self.true_outcome == "healthy" and self.outcome not in SOUND

    @property
    def onset_right(self) -> bool | None:
        """None where the truth has no onset."""
        if self.true_onset is None:
            return None
        first, last = self.true_onset
        at = self.onset
        return at is not None and first - self.tolerance <= at <= last + self.tolerance


def runs_in(home: Path, part: str | None = None) -> list[Path]:
    parts = PARTS if part is None else (part,)
    return sorted(t.parent for p in parts for t in (home / p).glob("*/truth.json"))


def without_truth(folder: Path, into: Path, logs_only: bool) -> Path:
    """A copy in which the answer is not to be read, under a name that does not tell it."""
    hidden = NOT_LOGS if logs_only else ("truth.json",)
    return Path(shutil.copytree(folder, into / "run", ignore=shutil.ignore_patterns(*hidden)))


def look(folder: Path, logs_only: bool = False) -> Row:
    """Diagnose one run."""
    import forensics

    truth = json.loads((folder / "truth.json").read_text())
    with tempfile.TemporaryDirectory() as place:
        found = forensics.analyze(without_truth(folder, Path(place), logs_only))
    accept = truth["accept_from_logs"] if logs_only else truth["accept"]
    right = {truth["cause"], *accept}
    first = found.hypotheses[0]
    last = found.verdict.last_healthy
    return Row(
        run=folder.name,
        part=truth["part"],
        family=truth["family"],
        true_cause=truth["cause"],
        accept=tuple(accept),
        true_outcome=truth["outcome"],
        accept_outcomes=tuple(truth["accept_outcomes"]),
        outcome=str(found.outcome),
        cause=first.cause,
        probability=first.probability,
        second=found.hypotheses[1].cause,
        rank=next((h.rank for h in found.hypotheses if h.cause in right), None),
        true_onset=true_onset(truth, found.onset_step),
        onset=found.onset_step,
        tolerance=max(
            3 * truth["logged"]["interval"],
            math.ceil(0.01 * truth["steps"]),
            truth["onset_tolerance"] or 0,
        ),
        true_checkpoint=truth["last_healthy_checkpoint"],
        checkpoint=None if last is None else last.path,
        checkpoint_right=checkpoint_right(truth, None if last is None else last.path, logs_only),
    )


def true_onset(truth: dict[str, Any], found: int | None) -> tuple[int, int] | None:
    """The steps that are right; an event that no logged point shows need not be found."""
    first = truth["onset_step"]
    if first is None or (found is None and not truth.get("seen_in_logs", True)):
        return None
    return first, truth.get("onset_until", first)


def checkpoint_right(truth: dict[str, Any], found: str | None, logs_only: bool) -> bool | None:
    if logs_only or not truth["logged"]["checkpoints"]:
        return None
    return found in [truth["last_healthy_checkpoint"], *truth["accept_checkpoints"]]


def share(hits: Sequence[bool | None]) -> dict[str, float | int | None]:
    """Share of True among those that are not None, with the counts."""
    judged = [h for h in hits if h is not None]
    return {
        "hits": sum(judged),
        "of": len(judged),
        "share": sum(judged) / len(judged) if judged else None,
    }


def totals(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures that the zoo is for."""
    failed = [r for r in rows if r.true_cause not in NOT_A_FAULT]
    healthy = [r for r in rows if r.true_outcome == "healthy" and r.true_cause in NOT_A_FAULT]
    brier = [(r.probability - r.right) ** 2 for r in rows]
    return {
        "runs": len(rows),
        "true cause first": share([r.right for r in failed]),
        "among the first three": share([r.rank is not None and r.rank <= 3 for r in failed]),
        "first, healthy runs included": share([r.right for r in rows]),
        "outcome": share([r.outcome in (r.true_outcome, *r.accept_outcomes) for r in rows]),
        "failed runs found": share(
            [r.outcome not in SOUND for r in rows if r.true_outcome not in SOUND]
        ),
        "onset within max(3 intervals, 1 %)": share([r.onset_right for r in rows]),
        "last healthy checkpoint": share([r.checkpoint_right for r in rows]),
        "healthy runs without a failure": share([not r.false_alarm for r in healthy]),
        "Brier score": sum(brier) / len(brier) if brier else None,
        "reliability": reliability(rows),
    }


def reliability(rows: Sequence[Row]) -> list[dict[str, float]]:
    """Mean first probability and share that was right, by probability."""
    bins = []
    for low, high in pairwise(BINS):
        inside = [r for r in rows if low < r.probability <= high]
        if inside:
            told = sum(r.probability for r in inside) / len(inside)
            right = sum(r.right for r in inside) / len(inside)
            bins.append({"from": low, "to": high, "runs": len(inside), "said": told, "was": right})
    return bins


def line(r: Row) -> str:
    mark = "ok" if r.right else f"#{r.rank or '-'}"
    alarm = " FALSE ALARM" if r.false_alarm else ""
    true = "" if r.true_onset is None else "-".join(str(s) for s in sorted({*r.true_onset}))
    onset = "" if r.true_onset is None else f" onset {r.onset} (true {true})"
    late = "" if r.onset_right is not False else " OFF"
    place = (
        ""
        if r.checkpoint_right is not False
        else f" checkpoint {r.checkpoint} not " + (r.true_checkpoint or "none")
    )
    return (
        f"{mark:4} {r.run:42} {r.true_cause:30} {r.true_outcome:18} -> {r.outcome:18} "
        f"{r.cause} {r.probability:.2f}, {r.second}{onset}{late}{place}{alarm}"
    )


def table(name: str, found: dict[str, Any]) -> Iterator[str]:
    yield f"\n{name}"
    for key, value in found.items():
        if isinstance(value, dict):
            percent = "-" if value["share"] is None else f"{value['share']:.0%}"
            yield f"  {key:36} {value['hits']:4} of {value['of']:4}  {percent}"
        elif isinstance(value, list):
            for b in value:
                yield (
                    f"  said {b['from']:.1f}-{b['to']:.1f}{'':24} {b['runs']:4} runs: "
                    f"mean {b['said']:.2f}, right {b['was']:.2f}"
                )
        else:
            yield f"  {key:36} {value if isinstance(value, int) else round(value or 0.0, 4)}"


@dataclass
class Count:
    """How often one clue held."""

    holds: int = 0
    not_held: int = 0
    unchecked: int = 0

    def add(self, holds: bool | None) -> None:
        if holds is None:
            self.unchecked += 1
        elif holds:
            self.holds += 1
        else:
            self.not_held += 1


def looks(folder: Path) -> tuple[set[str], dict[tuple[str, str], bool | None]]:
    """The run's true causes, and (cause, clue) -> whether it held."""
    import forensics
    from forensics.causes import all_causes
    from forensics.causes._completed import completed

    truth = json.loads((folder / "truth.json").read_text())
    with tempfile.TemporaryDirectory() as place:
        case = completed(forensics.analyze(without_truth(folder, Path(place), False)).verdict.case)
        seen = {c.look: c.look(case).holds for cause in all_causes() for c in cause.clues}
    held = {(cause.name, c.name): seen[c.look] for cause in all_causes() for c in cause.clues}
    return {truth["cause"], *truth["accept"]}, held


def ratio(among: Count, others: Count, held: bool) -> float:
    """ln P(held | cause) / P(held | others), one added to each count."""
    a, b = (among.holds, others.holds) if held else (among.not_held, others.not_held)
    checked = among.holds + among.not_held, others.holds + others.not_held
    return math.log((a + 1) / (checked[0] + 2)) - math.log((b + 1) / (checked[1] + 2))


def clue_table(found: Sequence[tuple[set[str], dict[tuple[str, str], bool | None]]]) -> None:
    """Print each clue's counts and the weight they imply beside the declared one."""
    from forensics.causes import all_causes

    print("holds / not / unchecked among the runs of the cause and among the others;")
    print("then for 'holds' and 'not': implied ln ratio (declared)\n")
    for cause in all_causes():
        print(cause.name)
        for clue in cause.clues:
            among, others = Count(), Count()
            for causes, held in found:
                (among if cause.name in causes else others).add(held[cause.name, clue.name])
            print(
                f"  {clue.name:40} {_counts(among):>12} {_counts(others):>14}"
                f"   {ratio(among, others, True):+5.1f} ({clue.present:+.1f})"
                f"   {ratio(among, others, False):+5.1f} ({clue.absent:+.1f})"
                f"{'  ' + clue.group if clue.group else ''}"
            )


def _counts(c: Count) -> str:
    return f"{c.holds}/{c.not_held}/{c.unchecked}"


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["calibrate"]:
        from tests import zoo_calibration

        return zoo_calibration.main(words[1:])
    clues = words[:1] == ["clues"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path, help="folder that the zoo was made in")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--jobs", type=int, default=2)
    if not clues:
        parser.add_argument("--logs-only", action="store_true")
        parser.add_argument("--json", type=Path, help="also write rows and totals here")
        parser.add_argument("--wrong", action="store_true", help="only runs named wrongly")
    options = parser.parse_args(words[1:] if clues else words)
    folders = runs_in(options.home, options.part)
    if not folders:
        print(f"{options.home}: no runs; make them with python sample_runs/zoo.py make DIR")
        return 2
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        if clues:
            clue_table(list(pool.map(looks, folders)))
            return 0
        rows = []
        for row in pool.map(look, folders, [options.logs_only] * len(folders)):
            rows.append(row)
            if not (options.wrong and row.right and not row.false_alarm):
                print(line(row), flush=True)
    results = {p: totals([r for r in rows if r.part == p]) for p in PARTS}
    results = {p: found for p, found in results.items() if found["runs"]}
    for part, found in results.items():
        print("\n".join(table(part + (" (logs only)" if options.logs_only else ""), found)))
    if options.json:
        written = {"totals": results, "rows": [asdict(r) for r in rows]}
        options.json.write_text(json.dumps(written, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
