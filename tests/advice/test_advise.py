"""The whole room on cases with parts missing at random."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forensics.advice import advise
from forensics.causes import rank
from forensics.findings import Outcome
from forensics.run import Axis, Config
from forensics.signals import Signal
from forensics.verdict import OtherRun
from tests.advice.checkpointed import checkpoint, with_checkpoints
from tests.causes.cases import healthy_case, make_case

ODD = st.one_of(
    st.floats(-10, 1e4), st.sampled_from([float("nan"), float("inf"), float("-inf"), 0.0, 1e300])
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.sampled_from(["fp16", "bf16", "fp32"]),
        "optimizer": st.sampled_from(["adamw", "sgd"]),
        "clip_threshold": st.sampled_from([0.0, 1.0, 5.0]),
        "total_steps": st.integers(0, 10_000),
        "warmup_steps": st.integers(0, 1000),
        "warmup_ratio": st.floats(0, 1),
        "lr_peak": st.floats(0, 1),
        "schedule": st.sampled_from(["cosine", "constant", ""]),
        "micro_batch": st.integers(1, 64),
        "save_interval": st.integers(1, 1000),
        "save_total_limit": st.integers(1, 5),
        "lora": st.booleans(),
        "pretrained": st.booleans(),
        "vocab_size": st.integers(2, 50_000),
        "nan_filter": st.booleans(),
        "seed": st.integers(0, 10),
    },
)


@st.composite
def cases(draw):
    """A run of up to forty points of which anything may be missing."""
    points = draw(st.integers(0, 40))
    names = draw(st.sets(st.sampled_from([s for s in Signal if s is not Signal.STEP]), max_size=5))
    tracks = {s: draw(st.lists(ODD, min_size=points, max_size=points)) for s in names}
    outcome = draw(st.sampled_from(list(Outcome)))
    interval = draw(st.sampled_from([1, 10, 500]))
    onset = draw(st.one_of(st.none(), st.integers(0, 40 * interval)))
    made = make_case(
        tracks={s: np.array(v) for s, v in tracks.items()},
        outcome=outcome,
        onset=onset,
        interval=interval,
        axis=draw(st.sampled_from(list(Axis))),
        config=Config(**draw(SETTINGS)),
    )
    steps = draw(st.lists(st.one_of(st.none(), st.integers(0, 40 * interval)), max_size=4))
    return with_checkpoints(made, [checkpoint(s, draw(st.booleans())) for s in steps])


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(cases())
def test_missing_parts_break_nothing_and_are_never_called_good(case):
    verdict = advise(case, *rank(case))
    assert verdict.sentence
    assert verdict.pilot
    onset = case.judgement.onset_step
    resumed = verdict.recommendation.resume_step
    outcome = case.judgement.outcome
    failed = outcome.is_failure and outcome is not Outcome.CRASHED
    if failed and onset is not None and resumed is not None:
        assert resumed < onset
    for item in verdict.checklist:
        assert item.good is None or item.found != "unknown"
    for monitor in verdict.monitors:
        stop = monitor.would_stop_at
        assert stop is None or stop <= max(case.timeline.last_step, 40 * 500)


def test_a_bare_case_is_advised():
    case = make_case(outcome=Outcome.UNKNOWN)
    verdict = advise(case, *rank(case))
    assert verdict.checkpoints == ()
    assert verdict.recommendation.resume_from is None


def test_skipped_checks_and_other_runs_are_handed_on():
    case = healthy_case(skipped=["loss_scale: not logged"])
    other = OtherRun("lr1", Outcome.DIVERGED, "learning_rate_too_high")
    verdict = advise(case, *rank(case), [other])
    assert "loss_scale: not logged" in verdict.warnings
    assert verdict.other_runs == (other,)
    assert verdict.hypotheses[0].cause == "no_failure"
