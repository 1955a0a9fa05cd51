"""Of several losses one is what was trained; metrics beside it are quantities of their own."""

from pathlib import Path

import numpy as np
import pytest

from forensics.run import Run, Series
from forensics.signals import Signal, classify, names_distance
from forensics.timeline import build


def _run(**curves: list[float]) -> Run:
    logged = (
        Series(tag, np.arange(1, len(v) + 1), np.array(v, float), "log.csv")
        for tag, v in curves.items()
    )
    return Run(Path("run"), series=tuple(logged))


def _tag(run: Run, signal: Signal) -> str | None:
    track = build(run).get(signal)
    return None if track is None else track.tag


@pytest.mark.parametrize("tag", ["loss_g", "loss_d", "loss_m", "mse_x", "mse_1", "loss_kg"])
def test_a_part_of_the_loss_is_no_unit(tag: str) -> None:
    assert classify(tag) in (Signal.LOSS_COMPONENT, Signal.OTHER)


@pytest.mark.parametrize("tag", ["ppl", "val_wer", "error_rate", "loss", "mse"])
def test_what_is_no_distance_never_stands_in_as_one(tag: str) -> None:
    assert not names_distance(tag)


@pytest.mark.parametrize("metric", ["mse", "mae", "rmse", "nll", "ce", "reconstruction_loss"])
@pytest.mark.parametrize("prefix", ["", "val_"])
def test_a_metric_never_takes_the_place_of_the_loss(metric: str, prefix: str) -> None:
    loss, other = [-0.5, -0.8, -0.9], [0.17, 0.08, 0.05]
    run = _run(**{f"{prefix}{metric}": other, f"{prefix}loss": loss})
    signal = Signal.EVAL_LOSS if prefix else Signal.TRAIN_LOSS
    track = build(run).get(signal)
    assert track is not None
    assert track.tag == f"{prefix}loss"
    assert track.value.tolist() == loss
    assert not any(t.signal is signal for t in build(run).others)


def test_a_loss_that_was_logged_now_and_then_leaves_the_metric_in_its_place() -> None:
    fine = _run(mse=[1.0 / n for n in range(1, 101)], loss=[1.0, 0.5])
    assert _tag(fine, Signal.TRAIN_LOSS) == "mse"


def test_where_nothing_is_called_the_loss_the_metric_is_it() -> None:
    assert _tag(_run(mse=[1.0, 0.5, 0.2]), Signal.TRAIN_LOSS) == "mse"
    run = _run(train_mae=[1.0, 0.5, 0.2], val_rmse_MW=[30.0, 20.0, 10.0])
    assert _tag(run, Signal.TRAIN_LOSS) == "train_mae"
    assert _tag(run, Signal.EVAL_LOSS) == "val_rmse_MW"


def test_an_error_rate_is_never_the_loss() -> None:
    assert _tag(_run(error_rate=[1.0, 0.5, 0.2]), Signal.TRAIN_LOSS) is None


@pytest.mark.parametrize(
    ("tag", "signal"),
    [
        ("train_mse_MW2", Signal.TRAIN_LOSS),
        ("val_mse_MW2", Signal.EVAL_LOSS),
        ("val_rmse_MW", Signal.EVAL_ERROR),
        ("train mse [MW^2]", Signal.TRAIN_LOSS),
        ("RMSE (m/s)", Signal.TRAIN_ERROR),
        ("val_mae_eV", Signal.EVAL_ERROR),
        ("val_loss (kWh)", Signal.EVAL_LOSS),
    ],
)
def test_a_unit_does_not_hide_what_was_measured(tag: str, signal: Signal) -> None:
    assert classify(tag) is signal


def test_a_loss_of_the_first_steps_alone_leaves_the_metric_in_its_place() -> None:
    start = Series("loss", np.arange(100), np.full(100, 6.9), "log")
    whole = Series("ctc_loss", np.arange(0, 18_000, 300), np.linspace(6.9, 0.4, 60), "log")
    assert _tag(Run(Path("run"), series=(start, whole)), Signal.TRAIN_LOSS) == "ctc_loss"


@pytest.mark.parametrize("left", [[900.0, 450.0, 10.0], [0.0, 0.0, 0.0], [2.0, 1.0, 0.1]])
def test_the_time_that_is_left_is_no_rate(left: list[float]) -> None:
    assert _tag(_run(loss=[3, 2, 1], eta=left), Signal.LR) is None


def test_a_rate_called_eta_stands_where_none_is_called_so() -> None:
    assert _tag(_run(loss=[3, 2, 1], eta=[4e-3, 4e-3, 2e-3]), Signal.LR) == "eta"
    assert _tag(_run(loss=[3, 2, 1], eta=[0.9, 0.5, 0.1], lr=[1, 1, 1]), Signal.LR) == "lr"


@pytest.mark.parametrize(
    ("tag", "signal"),
    [
        ("max_margin_loss", Signal.LOSS_COMPONENT),
        ("std_loss", Signal.LOSS_COMPONENT),
        ("loss_metrics/global_avg_loss", Signal.TRAIN_LOSS),
        ("loss_metrics/global_max_loss", Signal.OTHER),
        ("best_val_loss", Signal.OTHER),
        ("loss_min", Signal.OTHER),
        ("tok_acc", Signal.TRAIN_ACCURACY),
        ("train/seq_acc", Signal.TRAIN_ACCURACY),
        ("token_accuracy", Signal.TRAIN_ACCURACY),
        ("val_tok_acc", Signal.EVAL_ACCURACY),
    ],
)
def test_an_extreme_of_the_loss_is_not_the_loss(tag: str, signal: Signal) -> None:
    assert classify(tag) is signal


def test_a_metric_beside_the_training_loss_is_still_what_validation_is_measured_by() -> None:
    values = [3.0, 2.0, 1.0, 0.9]
    run = _run(**{"loss": values, "train/ctc_loss": values, "validation/ctc_loss": values})
    assert _tag(run, Signal.TRAIN_LOSS) == "loss"
    assert _tag(run, Signal.EVAL_LOSS) == "validation/ctc_loss"


def test_a_mean_beside_its_value_is_neither_the_loss_nor_a_part_of_it() -> None:
    noisy, mean = [3.0, 1.0, 2.0], [3.0, 2.0, 2.0]
    run = _run(**{"loss": noisy, "loss/avg": mean, "loss_cls": noisy, "loss_cls/avg": mean})
    timeline = build(run)
    assert _tag(run, Signal.TRAIN_LOSS) == "loss"
    parts = [t.tag for t in timeline.others if t.signal is Signal.LOSS_COMPONENT]
    assert parts == ["loss_cls"]


def test_a_mean_stands_for_a_loss_that_was_not_logged_itself() -> None:
    assert _tag(_run(**{"loss/avg": [3.0, 2.0, 1.0]}), Signal.TRAIN_LOSS) == "loss/avg"
