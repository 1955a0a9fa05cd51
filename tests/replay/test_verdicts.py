"""Each planted fault is confirmed because of the replay, and by nothing else.

The same run is diagnosed without and with its replay file; the table of both is printed by
``pytest -rA tests/replay/test_verdicts.py -k table``.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

torch = pytest.importorskip("torch")

import forensics  # noqa: E402
from forensics.findings import Hypothesis, Status  # noqa: E402
from forensics.replay_facts import ReplayFacts, Role, Variant  # noqa: E402
from tests.replay.runs import planted_runs  # noqa: E402

RUNS = {run.name: run for run in planted_runs()}
BUDGET = 60.0


@dataclass(frozen=True)
class Diagnosed:
    """One planted run, diagnosed both ways."""

    harmed: bool
    healthy_harmed: bool
    without: Hypothesis
    ranked: tuple[Hypothesis, ...]
    facts: ReplayFacts

    @property
    def first(self) -> Hypothesis:
        """The diagnosis with replay."""
        return self.ranked[0]


def trained(run, folder):
    """Both logs: with the fault and without it."""
    logs = []
    for name in ("faulty", "healthy"):
        (folder / name).mkdir(parents=True)
        logs.append(run.write(folder / name, healthy=name == "healthy"))
    return logs


def diagnosed(run, folder, rows, healthy):
    where = folder / "faulty/run"
    without = forensics.analyze(where)
    found = forensics.analyze(
        where, replay=folder / "faulty/replay.py", device="cpu", budget=BUDGET
    )
    return Diagnosed(
        run.harmed(rows),
        run.harmed(healthy),
        without.hypotheses[0],
        tuple(found.hypotheses),
        found.verdict.case.replay,
    )


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """Every run, trained one after the other (torch has one generator), replayed two at a time."""
    folder = tmp_path_factory.mktemp("planted")
    with ThreadPoolExecutor(2) as pool:
        jobs = {}
        for name, run in RUNS.items():
            logs = trained(run, folder / name)
            jobs[name] = pool.submit(diagnosed, run, folder / name, *logs)
        return {name: job.result() for name, job in jobs.items()}


@pytest.mark.parametrize("name", RUNS)
def test_the_fault_does_harm_and_its_absence_none(results, name):
    assert results[name].harmed
    assert not results[name].healthy_harmed


@pytest.mark.parametrize("name", RUNS)
def test_the_battery_fits_its_budget(results, name):
    facts = results[name].facts
    assert facts.failures == ()
    assert facts.seconds < BUDGET + 5


@pytest.mark.parametrize("name", RUNS)
def test_the_replay_confirms_the_cause(results, name):
    run, result = RUNS[name], results[name]
    assert result.first.cause in (run.cause, *run.accept)
    assert result.first.status is Status.CONFIRMED
    assert any(e.source == "replay" and e.supports for e in result.first.evidence)


@pytest.mark.parametrize("name", RUNS)
def test_nothing_but_the_cause_is_confirmed(results, name):
    run = RUNS[name]
    confirmed = {h.cause for h in results[name].ranked if h.status is Status.CONFIRMED}
    assert confirmed <= {run.cause, *run.accept}


def test_table(results, capsys):
    """Prints both diagnoses side by side; the replay is never the worse of the two."""
    with capsys.disabled():
        for name, result in results.items():
            before, after = result.without, result.first
            print(
                f"\n{name:28} {before.cause:26} {before.probability:.2f} {before.status:10}"
                f" -> {after.cause:26} {after.probability:.2f} {after.status:10}"
                f" {result.facts.seconds:5.1f} s",
                end="",
            )
    right = [r.without.cause in (RUNS[n].cause, *RUNS[n].accept) for n, r in results.items()]
    assert sum(right) < len(right)


# -- the facts ---------------------------------------------------------------------------------

REPRODUCED = (
    "bad_batch",
    "fp16_overflow",
    "gradient_clipping_missing",
    "hard_but_valid_batch",
    "labels_all_masked",
    "lr_too_high",
    "stale_second_moment",
    "unstable_loss_function",
    "warmup_missing",
)
NOT_REPRODUCED = ("accumulation_not_divided", "bit_flip", "lost_optimizer_state", "sum_over_ranks")
REMOVED_BY = {
    "bad_batch": Variant.SKIP_BATCH,
    "fp16_overflow": Variant.FLOAT32,
    "gradient_clipping_missing": Variant.CLIP_ONE,
    "hard_but_valid_batch": Variant.SKIP_BATCH,
    "labels_all_masked": Variant.SKIP_BATCH,
    "lr_too_high": Variant.RATE_THIRD,
    "stale_second_moment": Variant.BETA2,
    "warmup_missing": Variant.WARMUP,
}
KEPT_BY = {
    "bad_batch": Variant.RATE_TENTH,
    "gradient_clipping_missing": Variant.SKIP_BATCH,
    "hard_but_valid_batch": Variant.RATE_TENTH,
    "labels_all_masked": Variant.CLIP_ONE,
    "lr_too_high": Variant.SKIP_BATCH,
    "unstable_loss_function": Variant.RATE_THIRD,
}
BROUGHT_ABOUT_BY = {
    "accumulation_not_divided": Variant.MICRO_BATCHES_SUMMED,
    "lost_optimizer_state": Variant.FRESH_MOMENTS,
    "sum_over_ranks": Variant.RANKS_SUMMED,
}


@pytest.mark.parametrize("name", REPRODUCED)
def test_what_is_in_data_or_settings_comes_again(results, name):
    assert results[name].facts.as_run.reproduces is True


@pytest.mark.parametrize("name", NOT_REPRODUCED)
def test_what_the_replay_does_right_does_not_come_again(results, name):
    assert results[name].facts.as_run.reproduces is False


@pytest.mark.parametrize("name", REMOVED_BY)
def test_the_change_that_undoes_the_fault_removes_the_failure(results, name):
    assert results[name].facts.variant(REMOVED_BY[name]).removes


@pytest.mark.parametrize("name", KEPT_BY)
def test_a_change_beside_the_point_does_not(results, name):
    assert not results[name].facts.variant(KEPT_BY[name]).removes


@pytest.mark.parametrize("name", BROUGHT_ABOUT_BY)
def test_the_fault_itself_comes_closest_to_the_log(results, name):
    facts = results[name].facts
    fault = facts.variant(BROUGHT_ABOUT_BY[name])
    others = [c.matches_log for c in facts.counterfactuals if c is not fault]
    assert fault.matches_log < 0.5 * min(others)


@pytest.mark.parametrize(
    ("name", "factor"),
    [("accumulation_not_divided", 8), ("sum_over_ranks", 2), ("lr_too_high", 1)],
)
def test_the_logged_norm_tells_the_factor(results, name, factor):
    moments = results[name].facts.moments
    assert moments.logged_ratio == pytest.approx(factor, rel=0.1)
    assert moments.logged_spread < 1.5


@pytest.mark.parametrize("name", ["bad_batch", "hard_but_valid_batch"])
def test_a_batch_stands_out_at_both_checkpoints(results, name):
    facts = results[name].facts
    for role in (Role.BEFORE, Role.EARLIER):
        assert facts.comparison(role).loss_z > 8
    assert facts.suspect_step == 131


def test_labels_fit_at_another_shift(results):
    facts = results["label_shift"].facts
    assert facts.shifts.best != 0
    assert facts.shifts.losses[facts.shifts.best] < 0.5 * facts.shifts.losses[0]


def test_batchnorm_differs_between_its_modes(results):
    modes = results["batchnorm_tiny_batches"].facts.modes
    assert modes.batch_size == 1
    assert modes.eval_loss > 10 * modes.train_loss


@pytest.mark.parametrize(
    ("name", "operation"), [("unstable_loss_function", "log"), ("labels_all_masked", "div")]
)
def test_the_first_operation_that_is_not_finite(results, name, operation):
    search = results[name].facts.searches[0]
    assert search.found.operation == operation
    assert search.found.module == ""
    assert "replay.py:" in search.found.location
