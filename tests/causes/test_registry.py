"""What every cause of the room must keep to, whoever wrote it."""

import re
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forensics.case import Case
from forensics.causes import Cause, all_causes, rank
from forensics.findings import (
    Ending,
    EpisodeKind,
    Outcome,
    Severity,
)
from forensics.run import Axis, Config, TextKind
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case, make_episode

SECTIONS = ("What it claims", "How it shows", "For", "Against", "What to do", "References")
WEIGHTS = {0.0, 0.5, 1.0, 2.0, 4.0}
BARE = make_case(outcome=Outcome.UNKNOWN)
each_cause = pytest.mark.parametrize("cause", all_causes(), ids=lambda c: c.name)

VALUES = {
    "ratio": st.floats(0, 1e6),
    "share": st.floats(0, 1),
    "count": st.integers(0, 50),
    "form": st.sampled_from(["after_spike", "drift", "from_start", "jump", "non_finite", "flat"]),
    "level_kind": st.sampled_from(["ln_classes", "label_entropy", "initial", "post_jump"]),
    "level_name": st.just("ln 10 = 2.303"),
    "level": st.floats(0, 20),
    "improvement": st.floats(0, 1),
    "from_start": st.booleans(),
    "kind": st.sampled_from(["nan", "inf"]),
    "persistent": st.booleans(),
    "at_start": st.booleans(),
    "how": st.sampled_from(["nan_filter", "guard"]),
    "escalating": st.booleans(),
    "before": st.floats(0, 10),
    "after": st.floats(0, 10),
    "direction": st.sampled_from(["up", "down"]),
    "lr_before": st.floats(0, 1),
    "lr_after": st.floats(0, 1),
    "recovery_steps": st.one_of(st.none(), st.integers(0, 5000)),
    "from_scale": st.floats(1, 65536),
    "to_scale": st.floats(1, 65536),
    "train_level": st.floats(0, 10),
    "eval_level": st.floats(0, 10),
}
LOGGED = (
    Signal.TRAIN_LOSS,
    Signal.GRAD_NORM,
    Signal.LR,
    Signal.EVAL_LOSS,
    Signal.LOSS_SCALE,
    Signal.PARAM_NORM,
    Signal.UPDATE_RATIO,
    Signal.ACTIVATION,
    Signal.ZERO_GRADS,
    Signal.EPOCH,
)
number = st.one_of(
    st.floats(-10, 1e6), st.sampled_from([0.0, float("nan"), float("inf"), 1e-300, 2.3])
)


@st.composite
def configs(draw: st.DrawFn) -> Config:
    maybe = {
        "optimizer": st.sampled_from(["adamw_torch", "SGD", "Muon", ""]),
        "precision": st.sampled_from(["fp16", "bf16", "fp32", "fp8"]),
        "lr_peak": st.sampled_from([0.0, 1e-9, 2e-5, 1e-3, 2.0]),
        "schedule": st.sampled_from(["constant", "cosine"]),
        "warmup_steps": st.integers(0, 500),
        "warmup_ratio": st.floats(0, 0.5),
        "total_steps": st.integers(0, 5000),
        "betas": st.sampled_from([(0.9, 0.999), (0.9, 0.95), (0.9, 1.0)]),
        "eps": st.sampled_from([0.0, 1e-8, 1e-3]),
        "weight_decay": st.sampled_from([0.0, 0.1, 10.0]),
        "clip_threshold": st.sampled_from([0.0, 1.0, 100.0]),
        "micro_batch": st.integers(0, 64),
        "grad_accum": st.integers(0, 8),
        "world_size": st.integers(0, 8),
        "num_classes": st.integers(0, 1000),
        "vocab_size": st.integers(0, 50000),
        "num_layers": st.integers(0, 40),
        "hidden_size": st.integers(0, 4096),
        "model": st.sampled_from(["resnet50", "llama-7b", "lstm", "x"]),
        "pretrained": st.booleans(),
        "lora": st.booleans(),
        "normalization": st.sampled_from(["batchnorm", "rmsnorm", "none"]),
        "activation": st.sampled_from(["relu", "gelu", "tanh"]),
        "resume_from": st.just("checkpoint-100"),
        "raw": st.just({"model.qk_norm": "true", "residual": 0, "group_by_length": None}),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(maybe)), unique=True))
    return Config(**{name: draw(maybe[name]) for name in chosen})


@st.composite
def random_cases(draw: st.DrawFn) -> Case:
    """Any mixture of parts, most of them missing, most of them contradicting each other."""
    points = draw(st.sampled_from([0, 1, 2, 5, 40, 120]))
    signals = draw(st.lists(st.sampled_from(LOGGED), unique=True))
    shape = st.lists(number, min_size=points, max_size=points)
    tracks = {s: np.asarray(draw(shape)) for s in signals if points}
    interval = draw(st.sampled_from([1, 10, 500]))
    step = st.integers(0, max(points * interval, 1) + 10)
    episodes = [
        make_episode(
            draw(st.sampled_from(EpisodeKind)),
            draw(step),
            signal=draw(st.sampled_from(Signal)),
            severity=draw(st.sampled_from(Severity)),
            ending=draw(st.sampled_from(Ending)),
            peak=draw(st.one_of(st.none(), step)),
            peak_value=draw(st.one_of(st.none(), number)),
            recovery=draw(st.one_of(st.none(), step)),
            **{
                k: draw(VALUES[k])
                for k in draw(st.lists(st.sampled_from(sorted(VALUES)), unique=True))
            },
        )
        for _ in range(draw(st.integers(0, 4)))
    ]
    return make_case(
        tracks=tracks,
        interval=interval,
        first_step=draw(st.sampled_from([0, 1, 5000])),
        config=draw(configs()),
        episodes=episodes,
        outcome=draw(st.sampled_from(Outcome)),
        onset=draw(st.one_of(st.none(), step)),
        first_mover=draw(st.one_of(st.none(), st.sampled_from(LOGGED))),
        text=draw(st.lists(st.sampled_from(TextKind), max_size=3)),
        resumes=sorted(set(draw(st.lists(step, max_size=2)))),
        axis=draw(st.sampled_from(Axis)),
    )


def is_sentence(text: str) -> bool:
    return "\n" not in text and text.endswith((".", "!", "?")) and not text.startswith(" ")


@given(random_cases())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_case_breaks_a_cause(case: Case) -> None:
    hypotheses, unexplained = rank(case)
    total = sum(h.probability for h in hypotheses) + unexplained
    assert total == pytest.approx(1.0)
    for hypothesis in hypotheses:
        assert hypothesis.verify.strip()
        assert hypothesis.fix
        assert all(fix.strip() and "\n" not in fix for fix in hypothesis.fix)
        for evidence in hypothesis.evidence:
            assert is_sentence(evidence.text), (hypothesis.cause, evidence.clue, evidence.text)
        assert all(isinstance(step, int) for step in hypothesis.skip_steps)


def test_no_cause_of_a_failure_is_likely_on_a_healthy_run() -> None:
    hypotheses, _ = rank(healthy_case())
    assert hypotheses[0].cause == "no_failure"
    assert hypotheses[0].probability > 0.9


def test_nothing_known_gives_no_likely_failure() -> None:
    hypotheses, unexplained = rank(BARE)
    failures = [h for h in hypotheses if h.cause not in ("no_failure", "logging_artifact")]
    assert max(h.probability for h in failures) < 0.2
    assert unexplained > 0.1


def test_every_cause_of_the_contract_is_there() -> None:
    names = {c.name for c in all_causes()}
    assert len(names) == len(all_causes()) == 39


@each_cause
def test_name_is_the_module(cause: Cause) -> None:
    module = sys.modules[f"forensics.causes.{cause.name}"]
    assert module.CAUSE is cause


@each_cause
def test_page_has_its_sections(cause: Cause) -> None:
    page = sys.modules[f"forensics.causes.{cause.name}"].__doc__ or ""
    found = [s for s in SECTIONS if re.search(rf"^{s}:$", page, re.MULTILINE)]
    assert found == list(SECTIONS)
    assert page.splitlines()[0].endswith(".")


@each_cause
def test_weights_have_names_and_speak_both_ways(cause: Cause) -> None:
    weights = [w for clue in cause.clues for w in (clue.present, clue.absent)]
    assert {abs(w) for w in weights} <= WEIGHTS | {a + b for a in WEIGHTS for b in WEIGHTS}
    assert min(weights) < 0 < max(weights)
    assert 0 < cause.prior <= 1
    assert len({clue.name for clue in cause.clues}) == len(cause.clues)
    assert is_sentence(cause.claim)


@each_cause
def test_advice_needs_no_log(cause: Cause) -> None:
    assert cause.verify(BARE).strip()
    assert all(fix.strip() for fix in cause.fix(BARE))
    assert cause.fix(BARE)
    assert isinstance(cause.changes(BARE), tuple)
    assert isinstance(cause.skip(BARE), tuple)


def test_of_a_group_only_what_counts_is_shown() -> None:
    config = Config(optimizer="adam", lr_peak=0.1, clip_threshold=0.0)
    case = make_case(loss=np.ones(50), outcome=Outcome.DIVERGED, onset=30, config=config)
    groups = {c.name: {k.name: k.group or k.name for k in c.clues} for c in all_causes()}
    for hypothesis in rank(case)[0]:
        shown = [(groups[hypothesis.cause][e.clue], e.supports) for e in hypothesis.evidence]
        assert len(shown) == len(set(shown))
