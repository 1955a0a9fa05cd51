"""What was tried: the changes that were replayed, and the suspect batch beside its controls."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forensics.replay_facts import Comparison, Counterfactual, NonFiniteSearch, Role
from forensics.replay_reading import ReplayReading, stands_out
from forensics.report.names import Tone
from forensics.report.wording import at, number, percent, plural

MOST_INPUTS = 6
_ROLES = {
    Role.BEFORE: "just before",
    Role.EARLIER: "much earlier",
    Role.INITIAL: "freshly built weights",
}

_VERDICTS = {
    True: ("stands out", Tone.BAD),
    False: ("as the others", Tone.GOOD),
    None: ("not clear", Tone.NEUTRAL),
}


@dataclass(frozen=True)
class ChangeRow:
    """One change that was replayed."""

    setting: str
    before: str
    after: str
    result: str
    tone: Tone
    excess: str
    """Nats above the level before the onset."""
    distance: str
    """Median distance from the logged losses, in nats."""


@dataclass(frozen=True)
class ComparisonRow:
    """The suspect batch beside the control batches at one checkpoint."""

    weights: str
    checkpoint: str
    loss: str
    control_loss: str
    loss_z: str
    norm: str
    control_norm: str
    norm_z: str
    verdict: str
    tone: Tone
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Operation:
    """One step watched operation by operation, in one precision."""

    precision: str
    tone: Tone
    sentence: str
    inputs: tuple[str, ...]
    location: str
    """``file:line`` of the user's code, or ''."""


def change_rows(reading: ReplayReading) -> tuple[ChangeRow, ...]:
    """The changes, those that removed the failure first, the smallest of them on top."""
    return (
        *(_change(c, "removed", Tone.GOOD) for c in reading.removed_by),
        *(_change(c, "comes again", Tone.BAD) for c in reading.kept_by),
        *(_change(c, _undecided(c), Tone.NEUTRAL) for c in reading.undecided),
    )


def _undecided(change: Counterfactual) -> str:
    return "nothing to remove" if change.trajectory.complete else "cut short by the budget"


def _change(change: Counterfactual, result: str, tone: Tone) -> ChangeRow:
    far = change.matches_log
    return ChangeRow(
        setting=change.setting,
        before=change.before,
        after=change.after,
        result=result,
        tone=tone,
        excess=excess(change.trajectory.excess),
        distance="" if far is None else number(far, 3),
    )


def excess(value: float) -> str:
    """Nats above the level before; a failure without a height is said in words."""
    if math.isnan(value):
        return "unknown"
    return "not finite" if math.isinf(value) else number(value, 3)


def comparison_rows(comparisons: Sequence[Comparison]) -> tuple[ComparisonRow, ...]:
    """The suspect batch at each checkpoint at which it was measured."""
    return tuple(_compared(c) for c in comparisons)


def _compared(item: Comparison) -> ComparisonRow:
    verdict, tone = _VERDICTS[stands_out(item)]
    step = "" if item.step is None else f" ({at(item.step)})"
    norms = [c.grad_norm for c in item.controls]
    return ComparisonRow(
        weights=f"{_ROLES[item.role]}{step}",
        checkpoint=item.checkpoint,
        loss=number(item.suspect.loss),
        control_loss=number(item.control_loss),
        loss_z=_sigmas(item.loss_z),
        norm=number(item.suspect.grad_norm, 3),
        control_norm=number(float(np.median(norms)), 3) if norms else "none",
        norm_z=_sigmas(item.grad_z),
        verdict=verdict,
        tone=tone,
        notes=tuple(_notes(item)),
    )


def _sigmas(z: float) -> str:
    """A distance in robust standard deviations; beyond 100 the digits mean nothing."""
    if not math.isfinite(z):
        return "–" if math.isnan(z) else "beyond measure"
    return f"{z:+.1f} σ" if abs(z) < 100 else f"{'>' if z > 0 else '<'} {math.copysign(100, z):g} σ"


def _notes(item: Comparison) -> list[str]:
    notes = [f"against {plural(len(item.controls), 'control batch')}"]
    share = item.suspect.worst_share
    if share is not None:
        notes.append(f"its worst tenth of samples carries {percent(share)} of its loss")
    if item.suspect.update_ratio > 0:
        notes.append(
            f"its update moves the weights by {number(item.suspect.update_ratio, 2)} of their norm"
        )
    largest = _largest_groups(item)
    if largest:
        notes.append(f"gradient against the controls': {largest}")
    return notes


def _largest_groups(item: Comparison) -> str:
    """The three groups of parameters whose gradient is furthest above the controls'."""
    factors = {}
    for name, norm in item.suspect.group_norms.items():
        usual = float(np.median([c.group_norms.get(name, math.nan) for c in item.controls] or [0]))
        if usual > 0 and math.isfinite(norm):
            factors[name] = norm / usual
    top = sorted(factors, key=lambda name: -factors[name])[:3]
    return ", ".join(f"{name} × {number(factors[name], 2)}" for name in top)


def operations(searches: Sequence[NonFiniteSearch]) -> tuple[Operation, ...]:
    """The first non-finite operation in each precision that was tried."""
    return tuple(_operation(search) for search in searches)


def _operation(search: NonFiniteSearch) -> Operation:
    found = search.found
    if found is None:
        words = f"everything in {at(search.step)} stays finite"
        return Operation(search.precision, Tone.GOOD, words, (), "")
    where = f"in `{found.module}`" if found.module else "outside every module"
    why = f": {found.culprit}" if found.culprit else ""
    kind = "NaN" if found.kind == "nan" else "infinity"
    words = f"`{found.operation}` {where} gives {kind} first, {found.phase.value} of "
    return Operation(
        search.precision,
        Tone.BAD,
        f"{words}{at(search.step)}{why}",
        found.inputs[:MOST_INPUTS],
        found.location,
    )
