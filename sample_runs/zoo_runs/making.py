"""Makes one run: trains it and its control, checks that the fault showed, writes its truth."""

import hashlib
import json
import math
import random
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from inspect import getfile
from pathlib import Path
from typing import Any

from zoo_runs.engines import engine_of
from zoo_runs.families import FAMILIES
from zoo_runs.fault import Cell, nothing
from zoo_runs.logged import Logged, draw
from zoo_runs.measure import Measured, measure, plateau
from zoo_runs.onsets import Began
from zoo_runs.recipe import Recipe
from zoo_runs.watch import Watch

NOT_FROM_LOGS = ("checkpoints", "batches")
SYMPTOM = {"stalled": "no_progress", "healthy": "none", "crashed": "crash"}
NOT_A_FAULT = ("no_failure", "logging_artifact")
SOUND = ("healthy", "spiked_recovered")


class FaultDidNotShow(Exception):
    """The training shrugged its fault off, or its control failed."""


def make(cell: Cell, home: Path) -> str:
    """Make one run in ``home/<part>/<name>`` and say in a line what it did.

    Raises:
        FaultDidNotShow: The run cannot be labelled.
    """
    target = home / cell.part / cell.name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    control, run = sound(cell), sound(cell)
    acts_at = cell.fault.inject(run, cell.strength)
    logged = _logged(cell, run)
    watch = engine_of(run)(run, logged, target)
    sound_run = kept_control(cell, control, home)
    found = measure(watch, sound_run, acts_at, of_engine(logged, run))
    if cell.fault.outcome:
        found = as_told(cell.fault.outcome, found, watch, acts_at)
    if cell.fault.cause in NOT_A_FAULT:
        found = replace(found, began=None)
    if run.engine == "lightning" and found.began is not None:  # Lightning counts from 0
        found = replace(found, began=Began(found.began.first - 1, found.began.last - 1))
    line = (
        f"{found.outcome}, {found.began}, loss {found.start:.3g} -> {found.end:.3g}, "
        f"control {found.control_end:.3g}"
    )
    try:
        _check(cell, found, sound_run, watch)
    except FaultDidNotShow:
        shutil.rmtree(target)
        raise
    truth = truth_of(cell, found, watch, logged, run)
    (target / "truth.json").write_text(json.dumps(truth, indent=2) + "\n")
    return line


def sound(cell: Cell) -> Recipe:
    """The recipe without the fault."""
    recipe = FAMILIES[cell.family](cell.seed)
    cell.fault.prepare(recipe)
    return recipe


def kept_control(cell: Cell, recipe: Recipe, home: Path) -> Watch:
    """The control, trained once for all runs that share it; thrown away when the code changes."""
    prepare = cell.fault.prepare
    own = "" if prepare is nothing else cell.fault.name
    path = (
        home
        / ".controls"
        / f"{cell.family}-{cell.seed}-{own}-{code_version(getfile(prepare))}.json"
    )
    if path.exists():
        return Watch.from_json(path.read_text())
    watch = control_of(recipe)
    path.parent.mkdir(exist_ok=True)
    path.write_text(watch.to_json())
    return watch


@cache
def code_version(fault: str) -> str:
    """A digest of what trains a control: the engines, the families, and the file that prepares."""
    here = Path(__file__).parent
    files = sorted([*here.glob("engines/*.py"), *here.glob("families/*.py")])
    files += [here / "recipe.py", Path(fault)]
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()[:12]


def control_of(recipe: Recipe) -> Watch:
    """Train the control in a folder of its own that is thrown away."""
    nothing_left = Logged("text_iter", 10**6, False, False, False, 0, False, None)
    form = {"hf": "hf_state", "lightning": "lightning_csv"}.get(recipe.engine, "text_iter")
    with tempfile.TemporaryDirectory() as folder:
        logged = replace(nothing_left, format=form, interval=10 if form != "text_iter" else 10**6)
        return engine_of(recipe)(recipe, logged, Path(folder))


def _logged(cell: Cell, recipe: Recipe) -> Logged:
    rng = random.Random(f"{cell.name} {cell.part}")
    drawn = draw(cell.part, recipe.engine, recipe.stop_after or recipe.settings.steps, rng)
    wanted: dict[str, Any] = dict(cell.fault.leaves)
    if wanted.get("checkpoints") and drawn.checkpoints:
        del wanted["checkpoints"]
    return replace(drawn, **wanted)


def of_engine(logged: Logged, recipe: Recipe) -> Logged:
    """What is written down, in an engine's own way: the Trainer logs means, Lightning samples."""
    return replace(logged, mean={"hf": True, "lightning": False}.get(recipe.engine, logged.mean))


def as_told(outcome: str, found: Measured, watch: Watch, acts_at: int | None) -> Measured:
    """The outcome that the fault declares, because the loss does not tell it."""
    began = plateau(watch) if outcome == "stalled" else None
    if began is not None and acts_at is not None:
        began = Began(acts_at, acts_at)
    return replace(found, outcome=outcome, symptom=SYMPTOM[outcome], began=began)


def _check(cell: Cell, found: Measured, control: Watch, run: Watch) -> None:
    """A label must be true: the fault showed as it was meant to, the control trained well.

    Raises:
        FaultDidNotShow: Otherwise.
    """
    proof = cell.fault.proof
    fell = found.control_end < 0.75 * found.start if proof is None else proof(control)
    if not fell:
        raise FaultDidNotShow(
            f"{cell.name}: the control only went from {found.start:.3g} to {found.control_end:.3g}"
        )
    shows = cell.fault.shows
    if found.outcome not in cell.fault.outcomes or (shows is not None and not shows(run)):
        raise FaultDidNotShow(
            f"{cell.name} (strength {cell.strength}): {found.outcome}, not "
            f"{' or '.join(cell.fault.outcomes)}; loss {found.start:.3g} -> {found.end:.3g}, "
            f"control {found.control_end:.3g}: choose another strength"
        )


def truth_of(
    cell: Cell, found: Measured, watch: Watch, logged: Logged, recipe: Recipe
) -> dict[str, Any]:
    """The run's ``truth.json``."""
    absent = left_out(logged, recipe)
    from_logs = absent | dict.fromkeys(NOT_FROM_LOGS, True)
    seen_every = logged.interval
    if found.symptom == "validation_only":
        seen_every = max(seen_every, recipe.eval_every)
    tolerance = max(3 * seen_every, math.ceil(0.01 * recipe.settings.steps))
    last, others = last_healthy(found, watch, tolerance)
    return {
        "outcome": found.outcome,
        "symptom": found.symptom,
        "cause": cell.fault.cause,
        "accept_outcomes": sorted(
            {*cell.fault.outcomes, *(() if found.seen else ("healthy",))} - {found.outcome}
        ),
        "accept": accepted(cell, absent, found.outcome, seen=found.seen),
        "seen_in_logs": found.seen,
        "onset_step": None if found.began is None else found.began.first,
        "onset_until": None if found.began is None else found.began.last,
        "onset_tolerance": None if found.began is None else tolerance,
        "last_healthy_checkpoint": last,
        "notes": cell.fault.notes or (cell.fault.inject.__doc__ or "").split("\n")[0],
        "accept_from_logs": accepted(cell, from_logs, found.outcome, seen=found.seen),
        "accept_checkpoints": others,
        "part": cell.part,
        "family": cell.family,
        "fault": cell.fault.name,
        "strength": cell.strength,
        "seed": cell.seed,
        "steps": recipe.settings.steps,
        "logged": logged.as_dict(),
        "loss": {"start": found.start, "end": found.end, "control_end": found.control_end},
    }


def left_out(logged: Logged, recipe: Recipe) -> dict[str, bool]:
    """Kind of evidence -> whether the run leaves none of it."""
    return {
        "checkpoints": not logged.checkpoints,
        "batches": not logged.batches or not recipe.shown_batches,
        "config": logged.config is None,
        "lr": not logged.lr,
        "grad_norm": not logged.grad_norm,
        "text": not (recipe.needs_text or "text" in logged.format),
    }


def label_anew(cell: Cell, home: Path) -> None:
    """Write what else is accepted into a made run's ``truth.json``, as the fault now declares."""
    path = home / cell.part / cell.name / "truth.json"
    truth = json.loads(path.read_text())
    recipe = sound(cell)
    cell.fault.inject(recipe, cell.strength)
    absent = left_out(Logged(**truth["logged"]), recipe)
    from_logs = absent | dict.fromkeys(NOT_FROM_LOGS, True)
    outcome, seen = truth["outcome"], truth["seen_in_logs"]
    truth["accept"] = accepted(cell, absent, outcome, seen=seen)
    truth["accept_from_logs"] = accepted(cell, from_logs, outcome, seen=seen)
    path.write_text(json.dumps(truth, indent=2) + "\n")


def accepted(cell: Cell, absent: dict[str, bool], outcome: str, *, seen: bool) -> list[str]:
    """Causes that what is left cannot tell from the true one.

    One of them is no failure, where the loss shows no event and what would tell of the fault is
    absent, or where a stall rests on a floor that nothing left tells from the task's own.
    """
    causes = {*cell.fault.accept, *cell.fault.alike_in.get(cell.family, ())}
    for missing, alike in cell.fault.alike.items():
        if all(absent[kind] for kind in missing.split("+")):
            causes |= {c for c in alike if c != "no_failure" or outcome == "stalled"}
    if not seen and all(absent[kind] for kind in cell.fault.told_by):
        causes.add("no_failure")
    return sorted(causes)


def last_healthy(
    found: Measured, watch: Watch, tolerance: int
) -> tuple[str | None, list[str | None]]:
    """The last healthy checkpoint, and what else is right within the onset's tolerance."""
    finite = [s for s in sorted(watch.saved, key=lambda s: s.step) if s.finite]
    if found.began is None or found.outcome in SOUND:
        return (finite[-1].path if finite else None), []

    def latest(before: int) -> str | None:
        return next((s.path for s in reversed(finite) if s.step < before), None)

    first, until = found.began.first - tolerance, found.began.last + tolerance
    last = latest(found.began.first)
    others = {latest(first), latest(until), *(s.path for s in finite if first <= s.step <= until)}
    return last, sorted(others - {last}, key=str)
