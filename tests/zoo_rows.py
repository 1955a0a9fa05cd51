"""One run of the zoo: its truth, and what the tool says of a copy that does not tell it."""

import json
import math
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PARTS = ("tuning", "measured")
SOUND = ("healthy", "spiked_recovered", "unknown")
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
    untold: bool
    """True where nothing left tells of the fault and the tool says so."""
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


def no_runs(home: Path) -> str:
    return f"{home}: no runs; make them with python sample_runs/zoo.py make DIR"


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
    untold = "no_failure" in accept and found.outcome.value in SOUND
    first = found.hypotheses[0]
    last = found.verdict.last_healthy
    return Row(
        run=folder.name,
        part=truth["part"],
        family=truth["family"],
        true_cause=truth["cause"],
        accept=tuple(accept),
        true_outcome=truth["outcome"],
        accept_outcomes=(*truth["accept_outcomes"], *((found.outcome.value,) if untold else ())),
        outcome=str(found.outcome),
        cause=first.cause,
        probability=first.probability,
        second=found.hypotheses[1].cause,
        rank=next((h.rank for h in found.hypotheses if h.cause in right), None),
        true_onset=None if untold else true_onset(truth, found.onset_step),
        onset=found.onset_step,
        tolerance=max(
            3 * truth["logged"]["interval"],
            math.ceil(0.01 * truth["steps"]),
            truth["onset_tolerance"] or 0,
        ),
        untold=untold,
        true_checkpoint=truth["last_healthy_checkpoint"],
        checkpoint=None if last is None else last.path,
        checkpoint_right=None
        if untold
        else checkpoint_right(truth, None if last is None else last.path, logs_only),
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
