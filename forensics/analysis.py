"""The only place where the stages meet: runs -> timeline -> episodes -> causes -> verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from forensics.advice import advise
from forensics.case import Case
from forensics.causes import rank
from forensics.detectors import Thresholds
from forensics.diagnosis import Diagnosis
from forensics.errors import UsageError
from forensics.findings import Hypothesis, Outcome
from forensics.loading import load_runs
from forensics.run import Run
from forensics.scan import ScanMode
from forensics.stages.judging import agreed, judged, judged_again
from forensics.stages.replaying import Ask, replayed
from forensics.stages.scanning import Progress, scanned
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
    ask = None if replay is None else Ask(str(replay), device, budget, suspect_step)
    if isinstance(path, Run):
        runs, others = [path], []
    else:
        every = _runs(path, None, progress)
        runs = every if run is None else _named(every, run, path)
        others = [r for r in every if r not in runs]
    cases = [judged(r, thresholds) for r in runs]
    worst = min(cases, key=_badness)
    rest = [_rank(c) for c in cases if c is not worst]
    rest += [_rank(judged(r, thresholds)) for r in others]
    case = judged_again(scanned(worst, mode, dask, progress), thresholds)
    if ask is not None:
        case = replayed(case, ask)
    chosen = _rank(case)
    settled = agreed(chosen.case, chosen.hypotheses)
    chosen = chosen if settled is chosen.case else _rank(settled)
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


def _runs(path: str | Path, run: str | None, progress: Progress | None) -> list[Run]:
    found = load_runs(path) if progress is None else load_runs(path, progress=progress)
    return found if run is None else _named(found, run, path)


def _named(runs: Sequence[Run], name: str, path: object) -> list[Run]:
    chosen = [r for r in runs if r.name == name]
    if not chosen:
        known = ", ".join(repr(r.name) for r in runs[:20]) or "one run without a name"
        raise UsageError(f"{path}: no run is called {name!r}; it holds {known}")
    return chosen


def _rank(case: Case) -> _Ranked:
    return _Ranked(case, *rank(case))


def _badness(case: Case) -> tuple[int, int]:
    """Worst outcome first, then the longest run."""
    return WORST_FIRST.index(case.judgement.outcome), -_length(case.run)


def _length(run: Run) -> int:
    return max((len(s.step) for s in run.series), default=0)
