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
