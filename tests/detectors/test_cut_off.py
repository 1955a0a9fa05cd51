"""Logs that end within a spike."""

from pathlib import Path

import numpy as np
import pytest

import forensics
from forensics.findings import Outcome


def _run(folder: Path, tail: list[float], points: int = 140) -> Outcome:
    step = np.arange(points)
    loss = 1.2 + 8.0 * np.exp(-step / 25) + np.random.default_rng(0).normal(0, 0.01, points)
    rows = [*loss.tolist(), *tail]
    lines = [f"{10 * (i + 1)},{value!r}" for i, value in enumerate(rows)]
    (folder / "metrics.csv").write_text("\n".join(["step,loss", *lines]) + "\n")
    return forensics.analyze(folder).outcome


@pytest.mark.parametrize("tail", [[], [1.5], [2.0, 2.1], [3.0], [16000.0, 1.2, 1.2, 1.2, 1.2, 1.2]])
def test_a_last_point_that_is_merely_high_is_no_failure(tmp_path: Path, tail: list[float]) -> None:
    assert not _run(tmp_path, tail).is_failure


@pytest.mark.parametrize("tail", [[16000.0], [16000.0] * 2, [16000.0] * 3, [9e8, 9e9]])
def test_a_log_that_ends_far_above_its_start_has_diverged(
    tmp_path: Path, tail: list[float]
) -> None:
    assert _run(tmp_path, tail) is Outcome.DIVERGED
