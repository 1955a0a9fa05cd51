"""What each tool said of each run, held against the truth: cells, counts and tables."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import peer_words
from peer_tools import NEED_HOOKS, Finding

OURS = "forensics"
FROM_LOGS = "forensics, same files"


@dataclass(frozen=True)
class Truth:
    """What a run's truth.json says."""

    run: str
    outcome: str
    cause: str
    right: frozenset[str]
    """The causes that count as named rightly."""
    right_from_logs: frozenset[str]

    @property
    def healthy(self) -> bool:
        """Whether there was nothing to find."""
        return self.outcome == "healthy"


@dataclass(frozen=True)
class Verdict:
    """What one tool says of one run."""

    shown: str
    """Its own words, shortened."""
    level: int
    """2 failure, 1 warning, 0 only remarks, -1 nothing."""
    causes: tuple[str, ...]
    """In our names, in the order in which it names them."""
    seconds: float
    """Of the whole process."""
    error: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def alarm(self) -> bool:
        """Whether it says that something is wrong."""
        return self.level > 0


Row: TypeAlias = tuple[Truth, dict[str, Verdict]]
"""A run's truth, and each tool's verdict on it."""
Counts: TypeAlias = dict[str, dict[str, float]]
"""What was counted, by tool."""


def truth_of(run: Path) -> Truth:
    told = json.loads((run / "truth.json").read_text())
    right = frozenset([told["cause"], *told["accept"]])
    return Truth(
        run.name,
        told["outcome"],
        told["cause"],
        right,
        right | set(told.get("accept_from_logs", ())),
    )


def judge(findings: Sequence[Finding], seconds: float) -> Verdict:
    """The loudest finding first, otherwise in the peer's own order."""
    ranked = sorted(findings, key=lambda f: -f.level)
    causes = dict.fromkeys(c for f in ranked for c in peer_words.causes_named(f.words))
    shown = ", ".join(dict.fromkeys(f.rule for f in ranked))
    return Verdict(shown, ranked[0].level if ranked else -1, tuple(causes), seconds)


def mark(truth: Truth, tool: str, verdict: Verdict) -> str:
    """One cell: what it said, and whether that is right."""
    if verdict.error:
        return f"no answer: {verdict.error}"
    if verdict.level < 0:
        return verdict.shown or "silent"
    if truth.healthy:
        return f"{verdict.shown} ({'false alarm' if verdict.alarm else 'a remark'})"
    place = rank(truth, tool, verdict)
    named = "cause not named" if place is None else f"cause named {place} of {len(verdict.causes)}"
    return f"{verdict.shown} ({named})"


def rank(truth: Truth, tool: str, verdict: Verdict) -> int | None:
    """Place of the first right cause among those named, from 1."""
    right = truth.right if tool == OURS else truth.right_from_logs
    return next((n for n, c in enumerate(verdict.causes, 1) if c in right), None)


def totals(rows: Sequence[Row]) -> Counts:
    """Counts of each tool over all runs."""
    counts: Counts = {}
    for tool in rows[0][1]:
        healthy = [v[tool] for truth, v in rows if truth.healthy]
        failed = [(truth, v[tool]) for truth, v in rows if not truth.healthy]
        places = [rank(truth, tool, v) for truth, v in failed]
        seconds = sorted(v[tool].seconds for _, v in rows)
        counts[tool] = {
            "healthy": len(healthy),
            "false_alarms": sum(v.alarm for v in healthy),
            "false_alarms_with_remarks": sum(v.level >= 0 for v in healthy),
            "failed": len(failed),
            "noticed": sum(v.alarm for _, v in failed),
            "noticed_with_remarks": sum(v.level >= 0 for _, v in failed),
            "named_first": sum(p == 1 for p in places),
            "named": sum(p is not None for p in places),
            "causes_a_run": sum(len(v.causes) for _, v in failed) / max(1, len(failed)),
            "no_answer": sum(bool(v[tool].error) for _, v in rows),
            "median_seconds": seconds[len(seconds) // 2],
        }
    return counts


def show_runs(rows: Sequence[Row]) -> None:
    tools = [*rows[0][1], *NEED_HOOKS]
    table = [["run", "truth", *tools]]
    for truth, verdicts in rows:
        cells = [mark(truth, tool, v) for tool, v in verdicts.items()]
        cells += ["needs hooks"] * len(NEED_HOOKS)
        table.append([truth.run, f"{truth.outcome}: {truth.cause}", *cells])
    _show(table)


def show_totals(counts: Counts, versions: Mapping[str, str]) -> None:
    head = "tool, false alarms, failed runs noticed, right cause first, right cause named"
    table = [[*head.split(", "), "causes named a run", "median"]]
    for tool, n in counts.items():
        table.append(
            [
                f"{tool} {versions.get(tool, '')}".strip(),
                _of(n["false_alarms"], n["false_alarms_with_remarks"], n["healthy"]),
                _of(n["noticed"], n["noticed_with_remarks"], n["failed"]),
                f"{n['named_first']} of {n['failed']}",
                f"{n['named']} of {n['failed']}",
                f"{n['causes_a_run']:.1f}",
                f"{n['median_seconds']:.1f} s",
            ]
        )
    blank = [""] * (len(table[0]) - 2)
    table += [[tool, "needs hooks in the training", *blank] for tool in NEED_HOOKS]
    _show(table)


def _of(count: float, with_remarks: float, total: float) -> str:
    both = f"{count}" if count == with_remarks else f"{count}/{with_remarks}"
    return f"{both} of {total}"


def _show(table: Sequence[Sequence[str]]) -> None:
    """A Markdown table with aligned columns, the first row its head."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in table]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    print("\n".join(lines) + "\n")
