import numpy as np

from forensics.advice.monitors import monitors_for
from forensics.findings import ClipFacts, Outcome
from forensics.run import Config
from forensics.signals import Signal
from forensics.verdict import Scale
from tests.advice.checkpointed import exploded
from tests.causes.cases import healthy_case, make_case
from tests.causes.shapes import POINTS, falling, steady


def rule(case, *words):
    found = [m for m in monitors_for(case) if all(w in m.rule for w in words)]
    assert len(found) == 1, [m.rule for m in monitors_for(case)]
    return found[0]


def test_no_alarm_stops_a_healthy_run():
    assert [m.rule for m in monitors_for(healthy_case()) if m.would_stop_at is not None] == []


def test_a_bare_run_is_told_what_to_log():
    rules = [m.rule for m in monitors_for(make_case(outcome=Outcome.UNKNOWN))]
    assert any("log the gradient norm" in r for r in rules)
    assert any("no validation loss was logged" in r for r in rules)


def test_every_scale_has_an_alarm():
    assert {m.scale for m in monitors_for(healthy_case())} == set(Scale)


def test_the_first_non_finite_step_stops_the_run():
    norm = steady(0.6)
    norm[119:] = np.nan
    case = make_case(falling(), norm, outcome=Outcome.NON_FINITE, onset=120)
    assert rule(case, "NaN or infinite").would_stop_at == 120


def test_the_gradient_alarm_carries_this_runs_numbers():
    norm = np.full(POINTS, 0.5)
    norm[160] = 7.0
    found = rule(exploded(grad_norm=norm), "skip the step")
    assert "grad_norm > 5 (10 x its median 0.5)" in found.rule
    assert found.would_stop_at == 161


def test_an_explosion_is_stopped_soon_after_it_began():
    found = rule(exploded(), "robust standard deviations")
    assert found.would_stop_at is not None
    assert 151 <= found.would_stop_at <= 156


def test_a_loss_far_above_its_start_stops_a_young_run():
    case = make_case([9.0, 7.0, 8.0, 40.0, 90.0], outcome=Outcome.DIVERGED, onset=4)
    assert rule(case, "2 x where training began").would_stop_at == 4


def test_a_run_without_progress_is_stopped_at_a_tenth():
    case = make_case(
        steady(2.3, noise=0.001), outcome=Outcome.STALLED, onset=1, config=Config(total_steps=200)
    )
    assert rule(case, "unless the loss is below").would_stop_at == 20


def test_clipping_is_watched_only_where_its_threshold_is_known():
    always = ClipFacts(1.0, 1.0, 1.0)
    case = make_case(falling(), steady(3.0), clip=always)
    assert rule(case, "clipped at 1").would_stop_at is not None
    assert not [m for m in monitors_for(make_case(falling(), steady(3.0))) if "clipped" in m.rule]


def test_validation_stops_an_overfit():
    held_out = np.concatenate([np.linspace(4, 1.9, 4), np.linspace(2, 2.6, 6)])
    case = make_case(falling(), eval_loss=held_out, outcome=Outcome.OVERFIT, onset=80)
    step = rule(case, "validation loss").would_stop_at
    assert step is not None
    assert 80 < step < 150


def test_a_loss_scale_is_watched_where_it_was_logged():
    scale = np.full(POINTS, 65536.0)
    scale[150:] = 1.0
    case = make_case(falling(), tracks={Signal.LOSS_SCALE: scale})
    assert rule(case, "loss scale").would_stop_at == 151
