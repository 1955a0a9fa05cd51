"""Logs of a handful of values: what must not be read into them, and what they say."""

from pathlib import Path

import numpy as np
import pytest

import forensics
from forensics.findings import Outcome, Symptom
from tests.detectors.test_silence import outcome_of


def _analyze(folder: Path, lines: list[str], settings: str = "") -> forensics.Diagnosis:
    (folder / "train.log").write_text("\n".join(lines) + "\n")
    if settings:
        (folder / "config.yaml").write_text(settings)
    return forensics.analyze(folder)


def _by(counter: str, losses: list[str], more: str = "", stride: int = 1) -> list[str]:
    return [f"{counter}: {(i + 1) * stride} loss: {v}{more}" for i, v in enumerate(losses)]


@pytest.mark.parametrize(
    "lines",
    [
        _by("step", ["2.3", "2.1"]),
        _by("step", ["1.2", "12.0"]),
        _by("step", ["1.2", "20000.0", "1.1"]),
        _by("step", ["0.01", "0.9"], " reward: 3.1"),
        _by("step", ["8.1", "8.1", "8.1"]),
        _by("epoch", ["0.5", "0.5", "0.5"]),
        _by("epoch", ["2.31", "2.30", "2.29"]),
        _by("epoch", ["8.1", "8.1"]),
        _by("epoch", ["0.0", "0.0", "0.0"]),
    ],
)
def test_few_ordinary_values_are_no_failure(tmp_path: Path, lines: list[str]) -> None:
    assert not _analyze(tmp_path, lines).outcome.is_failure


def test_a_flat_loss_is_no_failure_where_accuracy_improves(tmp_path: Path) -> None:
    lines = [f"epoch: {i} loss: 2.303 val_acc: {0.1 * i:.2f}" for i in range(1, 9)]
    assert not _analyze(tmp_path, lines).outcome.is_failure


@pytest.mark.parametrize(
    "losses", [["1.2", "16000.0"], ["0.07", "732000000.0"], ["3.0", "2.9", "99.0"]]
)
def test_a_loss_far_above_all_before_it_has_diverged(tmp_path: Path, losses: list[str]) -> None:
    found = _analyze(tmp_path, _by("step", losses, stride=100))
    assert (found.outcome, found.onset_step) == (Outcome.DIVERGED, 100 * len(losses))


@pytest.mark.parametrize(
    "losses", [["8.1"] * 3, ["8.1"] * 10, ["6.9078"] * 4, ["6.9080", "6.9078", "6.9079"]]
)
def test_whole_epochs_that_change_nothing_are_a_stall(tmp_path: Path, losses: list[str]) -> None:
    found = _analyze(tmp_path, _by("epoch", losses))
    assert (found.outcome, found.onset_step) == (Outcome.STALLED, 1)


def test_a_line_cut_out_of_the_middle_is_no_first_step(tmp_path: Path) -> None:
    found = _analyze(tmp_path, ["iter: 1200 loss: nan"])
    assert (found.outcome, found.symptom) == (Outcome.NON_FINITE, Symptom.LATE_NON_FINITE)


def test_a_first_step_is_one(tmp_path: Path) -> None:
    found = _analyze(tmp_path, ["iter: 1 loss: nan"])
    assert found.symptom is Symptom.FIRST_STEP_NON_FINITE


ROW = "{{'loss': {}, 'grad_norm': {}, 'learning_rate': 1e-05, 'epoch': {}}}"


@pytest.mark.parametrize(
    ("rows", "settings"),
    [
        ([("2.1", "nan")], "fp16: true\n"),
        ([("0.0", "0.3"), ("0.0", "0.2"), ("0.0", "0.4")], "model: gpt2\nfp16: true\n"),
        ([("2.1", "1.0"), ("0.0", "nan"), ("2.0", "1.0")], "fp16: true\n"),
    ],
)
def test_a_zero_or_a_lost_norm_alone_hides_nothing(
    tmp_path: Path, rows: list[tuple[str, str]], settings: str
) -> None:
    lines = [ROW.format(*row, i + 1) for i, row in enumerate(rows)]
    assert not _analyze(tmp_path, lines, settings).outcome.is_failure


@pytest.mark.parametrize("more", [" reward: 0.4", " eval_loss: 2.1"])
def test_a_loss_of_zero_may_be_one_that_is_not_measured(tmp_path: Path, more: str) -> None:
    lines = _by("step", ["0.0"] * 6, more)
    assert not _analyze(tmp_path, lines, "model: gpt2\nfp16: true\n").outcome.is_failure


def test_a_loss_of_zero_is_ordinary_where_it_is_not_known_to_be_one_of_text(tmp_path: Path) -> None:
    lines = _by("step", ["0.0"] * 6)
    assert not _analyze(tmp_path, lines, "model: vae\nfp16: true\n").outcome.is_failure


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_zero_beside_a_lost_norm_is_a_nan(tmp_path: Path, count: int) -> None:
    lines = [ROW.format("0.0", "nan", i + 1) for i in range(count)]
    found = _analyze(tmp_path, lines, "learning_rate: 1e-5\nfp16: true\n")
    assert found.outcome is Outcome.NON_FINITE


def test_no_text_costs_nothing_from_the_first_step_on(tmp_path: Path) -> None:
    found = _analyze(tmp_path, _by("step", ["0.0"] * 6), "model: CodeLlama-7B\nfp16: true\n")
    assert found.outcome is Outcome.NON_FINITE


def test_a_loss_of_few_digits_with_one_answer_throughout_is_stalled():
    right = np.array([10.6] + [11.1] * 11)
    found, _ = outcome_of({"loss": np.full(12, 3.6), "train_accuracy": right}, 50)
    assert found.outcome is Outcome.STALLED


@pytest.mark.parametrize("right", [[11.1, 11.4] * 6, [97.0] * 12, [0.0] * 12])
def test_answers_that_move_or_are_right_or_are_not_measured_say_nothing(right):
    tags = {"loss": np.full(12, 3.6), "train_accuracy": np.array(right)}
    assert outcome_of(tags, 50)[0].outcome is not Outcome.STALLED


def test_a_loss_that_falls_beside_a_still_accuracy_is_progress():
    tags = {"loss": np.linspace(3.6, 2.9, 12), "train_accuracy": np.full(12, 11.1)}
    assert outcome_of(tags, 50)[0].outcome is not Outcome.STALLED
