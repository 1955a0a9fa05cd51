"""The only place where the stages meet: runs -> timeline -> episodes -> causes -> verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from forensics.advice import advise
from forensics.case import Case
from forensics.causes import rank
from forensics.detectors import Thresholds, clip_facts, detect_all, learning_rate_facts
from forensics.diagnosis import Diagnosis
from forensics.errors import UsageError
from forensics.findings import Hypothesis, Outcome
from forensics.loading import load_runs
from forensics.outcome import judge
from forensics.run import Run
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
        path: The run's folder, or a single log.
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
    progress: Progress | None = None,
) -> Diagnosis:
    """Diagnose a run.

    Args:
        path: The run's folder, a single log, or a `Run`.
        run: Which run of a folder that holds several; without it the one that failed worst.
        thresholds: Detector thresholds to change, ``{"loss_spike": {"k": 9.0}}``.
        progress: Called with the number of bytes read since the last call.

    Raises:
        NothingToAnalyse: No reader understands anything in it.
        UsageError: It holds no run of that name, or a threshold does not exist.
    """
    if isinstance(path, Run):
        runs, others = [path], []
    else:
        every = _runs(path, None, progress)
        runs = every if run is None else _named(every, run, path)
        others = [r for r in every if r not in runs]
    cases = [_rank(_case(r, thresholds)) for r in runs]
    chosen = min(cases, key=_badness)
    rest = [c for c in cases if c is not chosen]
    rest += [_rank(_case(r, thresholds)) for r in others]
    verdict = advise(
        chosen.case,
        chosen.hypotheses,
        chosen.unexplained,
        [OtherRun(c.case.run.name, c.case.judgement.outcome, c.hypotheses[0].cause) for c in rest],
    )
    return Diagnosis(verdict)


def _runs(path: str | Path, run: str | None, progress: Progress | None) -> list[Run]:
    target = Path(path)
    found = load_runs(target) if progress is None else load_runs(target, progress=progress)
    return found if run is None else _named(found, run, target)


def _named(runs: Sequence[Run], name: str, path: object) -> list[Run]:
    chosen = [r for r in runs if r.name == name]
    if not chosen:
        known = ", ".join(repr(r.name) for r in runs[:20]) or "one run without a name"
        raise UsageError(f"{path}: no run is called {name!r}; it holds {known}")
    return chosen


def _case(run: Run, thresholds: Thresholds | None) -> Case:
    timeline = build(run)
    episodes, skipped = detect_all(timeline, run.config, thresholds)
    judgement = judge(timeline, episodes, run.text)
    return Case(
        run=run,
        timeline=timeline,
        episodes=episodes,
        judgement=judgement,
        lr=learning_rate_facts(timeline),
        clip=clip_facts(timeline, run.config, judgement.onset_step),
        skipped=skipped,
    )


def _rank(case: Case) -> _Ranked:
    return _Ranked(case, *rank(case))


def _badness(ranked: _Ranked) -> tuple[int, int]:
    """Worst outcome first, then the longest run."""
    return WORST_FIRST.index(ranked.case.judgement.outcome), -_length(ranked.case.run)


def _length(run: Run) -> int:
    return max((len(s.step) for s in run.series), default=0)
