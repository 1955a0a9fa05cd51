"""What a report must bear: nothing at all, hostile names, very much of everything."""

from dataclasses import replace
from pathlib import PureWindowsPath

import numpy as np

from forensics.case import Case
from forensics.findings import Change, Ending, Episode, EpisodeKind, Outcome, Severity, Symptom
from forensics.run import Config, FileRecord, TextEvidence, TextKind
from forensics.signals import Signal
from forensics.timeline import Resume
from forensics.verdict import CheckpointState, OtherRun, Recommendation, Verdict
from tests.report.samples import build

EVIL = "<script>alert('x')</script>&{{7*7}}{% raw %} $x$ \x1b[31m\x00\u202e `a` | @admin #1 \udcff"


def bare() -> Verdict:
    """A folder with one configuration file: no track, no checkpoint, no hypothesis."""
    line = build.timeline(())
    case = Case(
        build.run("empty", line, Config(), (FileRecord("config.json", 2, "JSON settings", ""),)),
        line,
        (),
        build.judgement(Outcome.UNKNOWN, Symptom.NONE, "Nothing was logged."),
    )
    return build.verdict(case, "Nothing was logged, so nothing can be said.", unexplained=1.0)


def only_numbers(value: np.ndarray, signal: Signal = Signal.TRAIN_LOSS) -> Verdict:
    """A run that logged one quantity, with these values."""
    line = build.timeline((build.track(signal, np.arange(len(value)), value),))
    case = Case(
        build.run("r", line, Config(), ()),
        line,
        (),
        build.judgement(Outcome.UNKNOWN, Symptom.NONE, "", onset=0),
    )
    return build.verdict(case, "A run.")


def hostile() -> Verdict:
    """Every text of the run is markup, template code and control characters."""
    step = np.arange(50)
    line = build.timeline((build.track(Signal.TRAIN_LOSS, step, step / 7, EVIL, EVIL),))
    path = PureWindowsPath(r"C:\Users\me\runs\50% <b>off</b>")
    config = Config(
        framework=EVIL, model=EVIL, sources={"model": EVIL}, raw={EVIL: EVIL, "n": float("nan")}
    )
    spike = Episode(
        EpisodeKind.LOSS_SPIKE,
        Signal.TRAIN_LOSS,
        3,
        Severity.WARNING,
        Ending.CENSORED,
        details={"ratio": float("nan"), EVIL: EVIL, "speed": EVIL, "level_name": EVIL},
    )
    run = build.run(
        path,
        line,
        config,
        (FileRecord(EVIL, 3, EVIL, EVIL),),
        (build.found(EVIL, None),),
        (TextEvidence(TextKind.TRACEBACK, EVIL, EVIL, 1),),
        EVIL,
    )
    case = Case(
        run,
        line,
        (spike,),
        build.judgement(Outcome.CRASHED, Symptom.CRASH, EVIL, 3),
        skipped=(EVIL,),
    )
    bad = build.judged(EVIL, None, CheckpointState.POISONED, EVIL, (EVIL,))
    changes = (Change(EVIL, EVIL, {EVIL: [EVIL, float("inf")]}),)
    first = build.hypothesis(
        1,
        "bad_batch",
        EVIL,
        0.9,
        (build.seen(EVIL, 9.0, EVIL, (3,)), build.seen(EVIL, -0.1)),
        family=EVIL,
        missing=(EVIL,),
        verify=EVIL + "\n" + EVIL,
        fix=(EVIL,),
        changes=changes,
    )
    return build.verdict(
        case,
        EVIL,
        hypotheses=(first,),
        checkpoints=(bad,),
        first_bad=bad,
        recommendation=Recommendation(None, None, EVIL, (), changes),
        pilot=(EVIL,),
        other_runs=(OtherRun(EVIL, Outcome.HEALTHY, "no_failure"),),
        warnings=(EVIL,),
    )


def huge() -> Verdict:
    """2,000 files, 1,500 checkpoints, 400 episodes, a million points, steps by the ten thousand."""
    rng = np.random.default_rng(1)
    count = 1_000_000
    step = np.arange(count)
    loss = 3 + 7 * np.exp(-step / 60_000) + rng.normal(0, 0.06, count)
    loss[654_321] = 4_000.0
    loss[700_000:700_400] = np.nan
    grad = rng.lognormal(0, 0.4, count)
    line = build.timeline(
        (
            build.track(Signal.TRAIN_LOSS, step, loss),
            build.track(Signal.GRAD_NORM, step, grad),
            build.track(Signal.LR, step, 3e-4 * np.minimum(step / 3000, 1) * (1 - step / count)),
        ),
        resumes=tuple(
            Resume(s, s + 900, n + 1) for n, s in enumerate(range(50_000, count, 50_000))
        ),
    )
    files = tuple(
        FileRecord(
            f"logs/rank_{n % 64}/part-{n:05d}.log",
            1000 + n,
            "training text" if n % 3 else "",
            f"{n} points" if n % 3 else "no reader takes it",
        )
        for n in range(2000)
    )
    episodes = tuple(
        Episode(
            EpisodeKind.LOSS_SPIKE,
            Signal.TRAIN_LOSS,
            s,
            Severity.WARNING,
            Ending.RECOVERED,
            s - 1,
            s + 2,
            8.0,
            s + 40,
            details={"ratio": 2.6, "recovery_steps": 40},
        )
        for s in range(1000, count, 2500)
    )
    steps = range(500, count, 666)
    found = tuple(build.found(f"ckpt/{s}", s) for s in steps)
    checkpoints = tuple(
        build.judged(f"ckpt/{s}", s, CheckpointState.NOT_SCANNED, "not needed") for s in steps
    )
    case = Case(
        build.run("big", line, Config(), files, found),
        line,
        episodes,
        build.judgement(Outcome.DIVERGED, Symptom.CONSECUTIVE_SPIKES, "400 spikes.", 654_321),
    )
    many = tuple(range(0, 30_000, 3))
    first = build.hypothesis(
        1,
        "bad_batch",
        "Bad batch",
        0.7,
        (build.seen("Many steps.", 2.0, "logs", many),),
        skip_steps=many,
        missing=tuple(f"Check {n}" for n in range(300)),
    )
    base = build.verdict(
        case,
        "400 spikes in a million steps.",
        hypotheses=(first,),
        checkpoints=checkpoints,
        recommendation=Recommendation(None, None, "No checkpoint was scanned.", many, ()),
        warnings=tuple(f"warning {n}" for n in range(5000)),
    )
    return replace(
        base,
        other_runs=tuple(OtherRun(f"run {n}", Outcome.HEALTHY, "no_failure") for n in range(500)),
    )
