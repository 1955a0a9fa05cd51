"""The only place where the stages meet: runs -> timeline -> episodes -> causes -> verdict."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from forensics.advice import advise
from forensics.advice.checkpoints import starts
from forensics.batches import limits_of, survey_captured, suspect_steps
from forensics.case import Case
from forensics.causes import rank
from forensics.causes._completed import completed
from forensics.detectors import (
    Thresholds,
    clip_facts,
    detect_all,
    learning_rate_facts,
    plateau_again,
)
from forensics.diagnosis import Diagnosis
from forensics.errors import UsageError
from forensics.findings import EpisodeKind, Hypothesis, Outcome
from forensics.loading import load_runs
from forensics.outcome import judge
from forensics.remote import is_remote
from forensics.replay import Start, check_call, make_plan, run_replay
from forensics.run import Note, Run
from forensics.scan import ScanMode
from forensics.scan.cluster import dask_executor
from forensics.scan.engine import no_progress
from forensics.scan.moments import survey
from forensics.scan.paths import scan_found
from forensics.timeline import build
from forensics.verdict import OtherRun

WORST_FIRST = (
    Outcome.NON_FINITE,
    Outcome.DIVERGED,
    Outcome.SPIKED_UNRECOVERED,
    Outcome.STALLED,
    Outcome.VALIDATION_FAILED,
    Outcome.OVERFIT,
    Outcome.CRASHED,
    Outcome.SPIKED_RECOVERED,
    Outcome.HEALTHY,
    Outcome.UNKNOWN,
)

Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class _Ranked:
    case: Case
    hypotheses: tuple[Hypothesis, ...]
    unexplained: float


def open_run(path: str | Path, run: str | None = None, progress: Progress | None = None) -> Run:
    """Read the logs and configuration of a run and find its checkpoints; scans nothing.

    Args:
        path: The run's folder, a single log, or an fsspec address of one.
        run: Which run of a folder that holds several; without it the one that went furthest.
        progress: Called with the number of bytes read since the last call.

    Raises:
        NothingToAnalyse: No reader understands anything in it.
        UsageError: It holds no run of that name.
    """
    runs = _runs(path, run, progress)
    return max(runs, key=_length)


def analyze(
    path: str | Path | Run,
    *,
    run: str | None = None,
    thresholds: Thresholds | None = None,
    scan: str = "bisect",
    dask: str | None = None,
    replay: str | Path | None = None,
    device: str = "auto",
    budget: float = 60.0,
    suspect_step: int | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Diagnose a run.

    Args:
        path: The run's folder, a single log, an fsspec address of one, or a `Run`.
        run: Which run of a folder that holds several; without it the one that failed worst.
        thresholds: Detector thresholds to change, ``{"loss_spike": {"k": 9.0}}``.
        scan: Which checkpoints are scanned: ``bisect`` (as few as show where the damage began),
            ``all`` or ``none``.
        dask: Address of a Dask scheduler that does the scanning; by default threads here.
        replay: The user's replay file, which is run; or ``auto`` for a run whose model and batches
            can be had without one. By default nothing is replayed.
        device: Where the replay runs: ``auto``, ``cpu``, ``cuda`` or ``cuda:N``.
        budget: Seconds that the replay may take.
        suspect_step: Step whose batch the replay suspects; by default the one at the onset.
        progress: Called with the number of bytes read since the last call.

    Raises:
        NothingToAnalyse: No reader understands anything in it.
        UsageError: It holds no run of that name, there is no such way to scan, a threshold does
            not exist, or there is no such replay file.
    """
    mode = _mode(scan)
    ask = None if replay is None else _Replay(str(replay), device, budget, suspect_step)
    if isinstance(path, Run):
        runs, others = [path], []
    else:
        every = _runs(path, None, progress)
        runs = every if run is None else _named(every, run, path)
        others = [r for r in every if r not in runs]
    cases = [_case(r, thresholds) for r in runs]
    worst = min(cases, key=_badness)
    rest = [_rank(c) for c in cases if c is not worst]
    rest += [_rank(_case(r, thresholds)) for r in others]
    case = completed(_audited(_scanned(worst, mode, dask, progress)))
    case = _judged_again(case, thresholds)
    if ask is not None:
        case = _replayed(case, ask)
    chosen = _rank(case)
    verdict = advise(
        chosen.case,
        chosen.hypotheses,
        chosen.unexplained,
        [OtherRun(c.case.run.name, c.case.judgement.outcome, c.hypotheses[0].cause) for c in rest],
    )
    return Diagnosis(verdict)


def _mode(scan: str) -> ScanMode:
    try:
        return ScanMode(scan)
    except ValueError:
        known = ", ".join(repr(str(mode)) for mode in ScanMode)
        raise UsageError(f"scan={scan!r}: it is one of {known}") from None


def _scanned(case: Case, mode: ScanMode, dask: str | None, progress: Progress | None) -> Case:
    """The case with what its checkpoints hold; as it is where there are none."""
    if mode is ScanMode.NONE or not case.run.checkpoints:
        return case
    run, onset = case.run, case.judgement.onset_step
    root = run.path if run.path.is_dir() else run.path.parent
    advance = progress or no_progress
    with ExitStack() as stack:
        executor = None
        if dask is not None:
            executor = stack.enter_context(dask_executor(dask))
        scan = scan_found(
            root, run.checkpoints, mode, onset_step=onset, executor=executor, progress=advance
        )
    facts = survey(
        root, run.checkpoints, mode, onset_step=onset, betas=run.config.betas, progress=advance
    )
    blamed = {note.source for note in scan.notes} - set(scan.scanned)
    return replace(
        case,
        run=replace(run, notes=(*run.notes, *_relative(scan.notes, root))),
        tensors=scan.tensors if scan.scanned else None,
        unreadable=tuple(c.path for c in run.checkpoints if c.path in blamed),
        survey=facts,
    )


def _audited(case: Case) -> Case:
    """The case with what its captured batches hold; as it is where there are none."""
    run = case.run
    if not run.batches:
        return case
    suspects = suspect_steps(case.timeline, case.episodes, case.judgement)
    found, notes = survey_captured(
        run.path if run.path.is_dir() else run.path.parent,
        run.batches,
        suspects,
        limits_of(run.config, case.tensors),
    )
    return replace(case, run=replace(run, notes=(*run.notes, *notes)), batches=found)


def _judged_again(case: Case, thresholds: Thresholds | None) -> Case:
    """The completed case judged with the labels too that only checkpoints and batches tell.

    A run that seemed to have gone well may have stopped far from done.
    """
    if case.judgement.outcome.is_failure or (case.survey is None and case.batches is None):
        return case
    line, run = case.timeline, case.run
    found = plateau_again(line, run.config, case.survey, case.batches, thresholds)
    if not found:
        return case
    kept = [e for e in case.episodes if e.kind is not EpisodeKind.PLATEAU]
    episodes = tuple(sorted([*kept, *found], key=lambda e: (e.onset_step, e.kind)))
    judgement = judge(line, episodes, run.text, run.config.total_steps)
    clip = clip_facts(line, case.config, judgement.onset_step)
    return replace(case, episodes=episodes, judgement=judgement, clip=clip)


@dataclass(frozen=True)
class _Replay:
    """What was asked to be replayed; refused at once where it cannot be."""

    source: str
    device: str
    budget: float
    suspect: int | None

    def __post_init__(self) -> None:
        check_call(self.source, self.device, self.budget)


def _replayed(case: Case, ask: _Replay) -> Case:
    """The case with what running the suspect batch again told."""
    line, run = case.timeline, case.run
    if is_remote(run.path):
        raise UsageError(f"{run.path}: a replay needs the run on this machine; copy it here first")
    if ask.suspect is not None and not line.first_step <= ask.suspect <= line.last_step:
        logged = f"steps {line.first_step} to {line.last_step}"
        raise UsageError(f"step {ask.suspect} cannot be replayed: the run logged {logged}")
    before, after = starts(case)
    plan = make_plan(
        run,
        line,
        case.judgement,
        case.episodes,
        [Start(c.path, c.step) for c in before],
        [Start(c.path, c.step) for c in after],
        source=ask.source,
        device=ask.device,
        budget=ask.budget,
        suspect=ask.suspect,
        limits=limits_of(run.config, case.tensors),
    )
    facts = run_replay(plan)
    return completed(replace(case, replay=facts, batches=case.batches or facts.audit))


def _runs(path: str | Path, run: str | None, progress: Progress | None) -> list[Run]:
    found = load_runs(path) if progress is None else load_runs(path, progress=progress)
    return found if run is None else _named(found, run, path)


def _named(runs: Sequence[Run], name: str, path: object) -> list[Run]:
    chosen = [r for r in runs if r.name == name]
    if not chosen:
        known = ", ".join(repr(r.name) for r in runs[:20]) or "one run without a name"
        raise UsageError(f"{path}: no run is called {name!r}; it holds {known}")
    return chosen


def _case(run: Run, thresholds: Thresholds | None) -> Case:
    timeline = build(run)
    episodes, skipped = detect_all(timeline, run.config, thresholds)
    judgement = judge(timeline, episodes, run.text, run.config.total_steps)
    case = Case(
        run=run,
        timeline=timeline,
        episodes=episodes,
        judgement=judgement,
        lr=learning_rate_facts(timeline),
        clip=clip_facts(timeline, run.config, judgement.onset_step),
        skipped=skipped,
    )
    return completed(case)


def _rank(case: Case) -> _Ranked:
    return _Ranked(case, *rank(case))


def _relative(notes: Sequence[Note], root: Path) -> list[Note]:
    """Notes on files by their place in the run; what is said of many of them is said once."""
    kept: dict[str, Note] = {}
    for note in notes:
        inside = note.source.removeprefix(str(root)).lstrip("/")
        kept.setdefault(note.text, Note(note.text, inside or note.source))
    return list(kept.values())


def _badness(case: Case) -> tuple[int, int]:
    """Worst outcome first, then the longest run."""
    return WORST_FIRST.index(case.judgement.outcome), -_length(case.run)


def _length(run: Run) -> int:
    return max((len(s.step) for s in run.series), default=0)
