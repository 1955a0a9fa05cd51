"""Fault: one declared way in which a training goes wrong, and where it is made to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from zoo_runs.recipe import Recipe
from zoo_runs.watch import Watch


def nothing(_: Recipe) -> None:
    """No change."""


@dataclass(frozen=True)
class Fault:
    """One mechanism, of one cause; a trap is a fault that is none."""

    name: str
    cause: str
    inject: Callable[[Recipe, Any], int | None]
    """Edits a sound recipe, with the strength its cell gives, into the faulty one; returns the step
    at which the fault acts, None where it does so from the start or bit by bit."""
    outcomes: tuple[str, ...]
    """Outcomes that show that it acted; any other stops the generator."""
    tuning: Mapping[str, Any]
    """Family -> strength, of the runs that weights may be tuned on."""
    measured: Mapping[str, Any]
    """Family -> strength, of the runs that are only measured."""
    prepare: Callable[[Recipe], None] = nothing
    """What run and control share and the family alone does not have."""
    accept: tuple[str, ...] = ()
    """Causes that nothing left of the run can tell from this one."""
    alike: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Causes that cannot be told apart where something is not left: 'checkpoints', 'batches',
    'config', 'lr', 'grad_norm' or 'text', several joined with '+' -> causes."""
    told_by: tuple[str, ...] = ()
    """What tells of it though the loss does not: names as in ``alike``."""
    alike_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Family -> causes that cannot be told apart there."""
    leaves: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `Logged` without which nothing of the fault could be seen."""
    seeds: int = 1
    """Runs per cell."""
    notes: str = ""
    outcome: str = ""
    """The outcome, where the loss alone does not tell it; '' for that measured."""
    shows: Callable[[Watch], bool] | None = None
    """What shows that the fault acted, where the loss against the control does not."""
    proof: Callable[[Watch], bool] | None = None
    """What shows that the control trained well; None: its loss fell by a quarter."""


@dataclass(frozen=True)
class Cell:
    """One run to make."""

    fault: Fault
    part: str
    family: str
    strength: Any
    seed: int

    @property
    def name(self) -> str:
        """Folder of the run."""
        return f"{self.fault.name}-{self.family}-{self.seed}"


FIRST_SEED = {"tuning": 1, "measured": 501}


def repeat(families: list[str], place: int) -> int:
    """Ten times how often the family of a place stands before it.

    A family's first run has one seed in all faults, so that it shares its control.
    """
    names = [name.partition(":")[0] for name in families[: place + 1]]
    return 10 * (names.count(names[-1]) - 1)


def cells(fault: Fault, part: str, later: int = 0) -> list[Cell]:
    """All runs of a fault in one part; ``later`` is added to every seed."""
    families = fault.tuning if part == "tuning" else fault.measured
    first = FIRST_SEED[part] + later
    return [
        Cell(fault, part, name.partition(":")[0], strength, first + repeat(list(families), at) + n)
        for at, (name, strength) in enumerate(families.items())
        for n in range(fault.seeds)
    ]
