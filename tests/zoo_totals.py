"""The figures that the zoo is for, of one part, and each run in a line."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from tests.zoo_rows import SOUND, Row

NOT_A_FAULT = ("no_failure", "logging_artifact")
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)


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
            [r.outcome not in SOUND for r in rows if r.true_outcome not in SOUND and not r.untold]
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
