"""A log without steps beside one that has them: its telling lines are placed on the same steps."""

import json
from pathlib import Path

import forensics
from forensics.findings import Outcome

EPOCH = 100


def _hf_run(folder: Path, rows: int, printed: str, interval: int = 5) -> Path:
    """A trainer_state.json with steps and a printed log with epochs alone."""
    history = [
        {"step": interval * i, "epoch": interval * i / EPOCH, "loss": round(3.0 - 0.01 * i, 4)}
        for i in range(1, rows + 1)
    ]
    (folder / "checkpoint-50").mkdir(parents=True)
    state = {"log_history": history, "global_step": history[-1]["step"], "max_steps": 1000}
    (folder / "checkpoint-50" / "trainer_state.json").write_text(json.dumps(state))
    lines = [
        f"{{'loss': {r['loss']}, 'grad_norm': 1.0, 'learning_rate': 1e-3, 'epoch': {r['epoch']}}}"
        for r in history
    ]
    (folder / "train.log").write_text("\n".join([*lines, printed]) + "\n")
    return folder


def test_a_run_that_finished_has_not_crashed(tmp_path: Path) -> None:
    run = _hf_run(tmp_path, 40, "{'train_runtime': 12.0, 'train_loss': 2.7, 'epoch': 2.0}")
    assert forensics.analyze(run).outcome is Outcome.HEALTHY


def test_the_last_row_is_the_last_step(tmp_path: Path) -> None:
    end = (
        "Traceback (most recent call last):\n  File 'a.py'\nIndexError: index out of range in self"
    )
    run = _hf_run(tmp_path, 40, end)
    assert {line.step for line in forensics.open_run(run).text} == {200}
    found = forensics.analyze(run)
    assert found.outcome is Outcome.CRASHED
    assert found.onset_step == 200


def _quoted(step: int, loss: float, rate: float) -> str:
    values = {"loss": loss, "grad_norm": 1.25, "learning_rate": rate, "epoch": step / 750}
    return str({key: f"{value:.4g}" for key, value in values.items()})


def _resumed_elsewhere(folder: Path, *, beside: bool) -> Path:
    """Printed above the folder of the checkpoints: killed at 325, gone on from 300."""

    def loss(step: int) -> float:
        return 6.0 - 0.004 * step + 0.05 * (step * 7919 % 13) / 13

    first = [(s, loss(s), 6e-3) for s in range(5, 326, 5)]
    later = [(s, loss(s) + 1e-4, 6e-3 if s > 320 else 1e-4 * (s - 300)) for s in range(305, 501, 5)]
    history = [
        {"step": s, "epoch": s / 750, "loss": v, "learning_rate": r}
        for s, v, r in [*(row for row in first if row[0] <= 300), *later]
    ]
    kept = folder / "out" / "checkpoint-500"
    kept.mkdir(parents=True)
    if beside:
        state = {"log_history": history, "global_step": 500, "max_steps": 500}
        (kept / "trainer_state.json").write_text(json.dumps(state))
    printed = "\n".join(_quoted(*row) for row in [*first, *later])
    (folder / "run.log").write_text(printed + "\n")
    return folder


def test_quoted_numbers_above_the_checkpoints_are_the_same_run(tmp_path: Path) -> None:
    run = forensics.open_run(_resumed_elsewhere(tmp_path, beside=True))
    tags = {s.tag for s in run.series}
    assert not any("training log" in tag for tag in tags)
    for tag in ("loss", "learning_rate", "grad_norm"):
        steps = [int(x) for s in run.series if s.tag == tag for x in s.step]
        assert max(steps) == 500, tag
        assert len(steps) == 105, tag


def test_a_restart_in_quoted_rows_alone_goes_back(tmp_path: Path) -> None:
    run = forensics.open_run(_resumed_elsewhere(tmp_path, beside=False))
    (loss,) = (s for s in run.series if s.tag == "loss")
    assert len(loss.step) == 105
    assert int(loss.step.max()) == 100
    assert [int(loss.step[65]), int(loss.step[64])] == [61, 65]
