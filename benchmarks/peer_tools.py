"""The other diagnosers of training logs: what each is given, how it is called, how it answers.

All get the same scalars, taken from `forensics.open_run(run).frame`: step, training loss, gradient
norm, learning rate and evaluation loss, as logged, in the order of the file. Each is called with
its defaults by the command or function that its documentation names.

    losslint      `losslint check metrics.csv`
    gradsnitch    `gradsnitch.lint_csv`; it takes an empty loss for NaN, so its table has only the
                  rows with a training loss, what lies between moved to the one before
    runmedic      `runmedic diagnose FOLDER`: the table, and the text logs for its crash patterns
    trainspotter  `trainspotter analyze metrics.csv`
    trainproof    `trainproof doctor metrics.csv`
    trainscope    reads only what its own hooks recorded in a live training: left blank
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {"train_loss": "loss", "grad_norm": "grad_norm", "lr": "lr", "eval_loss": "eval_loss"}
"""The quantity in our frame, and the column under which every peer knows it."""
TEXT_LOGS = {".log", ".txt", ".out", ".err"}
GRADSNITCH = (
    "import dataclasses, json, sys, gradsnitch; "
    "print(json.dumps([dataclasses.asdict(f) for f in gradsnitch.lint_csv(sys.argv[1])]))"
)
LEVELS = {"critical": 2, "error": 2, "fail": 2, "warning": 1, "warn": 1}
"""How loud a peer's severity is; what is not here is a remark."""


@dataclass(frozen=True)
class Finding:
    """One thing that a peer reports."""

    rule: str
    level: int
    """2 failure, 1 warning, 0 a remark."""
    words: str
    """Title, message, likely causes and fixes, in the peer's own order."""


@dataclass(frozen=True)
class Given:
    """The files that a peer may read of one run."""

    folder: Path
    """Holds metrics.csv and the text logs."""
    table: Path
    dense: Path
    """The table with a training loss in every row."""


@dataclass(frozen=True)
class Peer:
    """How to ask one peer."""

    command: Callable[[Path, Given], list[str]]
    """From the folder of its programs and the files of the run."""
    findings: Callable[[str], list[Finding]]
    """From what it prints."""


def quantities(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The scalars side by side, one row a step of each attempt; a gap is what was not logged.

    A quantity logged under several names is taken from the one with most points.
    """
    import pandas as pd

    parts = []
    for signal, column in COLUMNS.items():
        logged = frame[frame.signal == signal]
        if logged.empty:
            continue
        kind = logged.source.str.rpartition(".")[2].where(
            ~logged.source.str.contains("tfevents"), "tfevents"
        )
        name = logged.tag + "\0" + kind
        logged = logged[name == name.value_counts().idxmax()]
        attempt = (logged.step.diff() < 0).cumsum()
        keyed = pd.DataFrame(
            {"attempt": attempt, "step": logged.step, column: logged.value.map(repr)}
        )
        parts.append(keyed.drop_duplicates(["attempt", "step"]).set_index(["attempt", "step"]))
    if not parts:
        return pd.DataFrame(columns=["step", "loss"])
    return pd.concat(parts, axis=1).sort_index().reset_index().drop(columns="attempt")


def with_loss_in_every_row(table: "pd.DataFrame") -> "pd.DataFrame":
    """Only the rows with a training loss.

    What was logged between two of them moves to the one before, where that one has none.
    """
    if "loss" not in table:
        return table
    row = table.loss.notna().cumsum().clip(lower=1).rename("row")
    return (
        table.groupby(row)
        .first()
        .dropna(subset="loss")
        .assign(step=table.step[table.loss.notna()].to_numpy())
    )


def give(run: Path, frame: "pd.DataFrame", home: Path) -> Given:
    """Write what the peers may read of a run below ``home``."""
    folder = home / "logs"
    folder.mkdir(parents=True)
    given = Given(folder, folder / "metrics.csv", home / "dense.csv")
    table = quantities(frame)
    table.to_csv(given.table, index=False)
    with_loss_in_every_row(table).to_csv(given.dense, index=False)
    for number, log in enumerate(sorted(p for p in run.rglob("*") if p.suffix in TEXT_LOGS)):
        shutil.copyfile(log, folder / f"{number}-{log.name}")
    return given


def _finding(rule: str, level: str, *words: str) -> Finding:
    return Finding(rule, LEVELS.get(level.lower(), 0), "; ".join(filter(None, words)))


def losslint(printed: str) -> list[Finding]:
    return [
        _finding(f["check"], f["severity"], f["check"], f["message"])
        for f in json.loads(printed)["findings"]
    ]


def gradsnitch(printed: str) -> list[Finding]:
    return [
        _finding(f["code"], f["severity"], f["name"], f["likely_cause"], f["suggestion"])
        for f in json.loads(printed)
    ]


def runmedic(printed: str) -> list[Finding]:
    """Of the text logs only the crash patterns count: their curves are in the table already."""
    found: list[Any] = [
        f
        for run in json.loads(printed)
        for f in run["findings"]
        if run["source"] == "csv" or f["check"].startswith("log:")
    ]
    return [
        _finding(f["check"], f["severity"], f["title"], *f["likely_causes"], *f["fixes"])
        for f in found
    ]


def trainspotter(printed: str) -> list[Finding]:
    return [
        _finding(f["detector"], f["severity"], f["title"], *f["fixes"])
        for f in json.loads(printed)["findings"]
    ]


def trainproof(printed: str) -> list[Finding]:
    return [
        _finding(f["id"], f["level"], f["message"], f["evidence"])
        for report in json.loads(printed)["reports"]
        for f in report["findings"]
        if f["level"] in ("FAIL", "WARN")
    ]


def _call(*words: str) -> Callable[[Path, Given], list[str]]:
    """A command; ``{table}``, ``{dense}`` and ``{folder}`` stand for the files given."""
    return lambda programs, given: [
        str(programs / words[0]),
        *(w.format_map({k: str(v) for k, v in vars(given).items()}) for w in words[1:]),
    ]


PEERS = {
    "losslint": Peer(_call("losslint", "check", "--format", "json", "{table}"), losslint),
    "gradsnitch": Peer(_call("python", "-c", GRADSNITCH, "{dense}"), gradsnitch),
    "runmedic": Peer(_call("runmedic", "diagnose", "--json", "{folder}"), runmedic),
    "trainspotter": Peer(
        _call("trainspotter", "analyze", "{table}", "--output", "json"), trainspotter
    ),
    "trainproof": Peer(_call("trainproof", "doctor", "--json", "{table}"), trainproof),
}
NEED_HOOKS = ("trainscope",)
"""These watch a live training; there is no log to hand them afterwards."""
