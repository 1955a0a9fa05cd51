"""Kaldi's logs of single iterations: an objective is read as its negative, a code as an end."""

import math
from pathlib import Path

import numpy as np
import pytest

from forensics.loading import load_runs
from forensics.readers._base import Probe, Reading, no_progress
from forensics.readers.kaldi_log import READER
from forensics.run import TextKind
from forensics.signals import Signal

_LOG = "LOG (nnet3-train[5.5.1]:PrintTotalStats():nnet-training.cc:345) "


def _train(value: str, rate: float = 0.01, code: int = 0, output: str = "output") -> str:
    return (
        f'# nnet3-train --momentum=0.0 "nnet3-am-copy --learning-rate={rate} exp/1.mdl -|" x\n'
        f"{_LOG}Average objective function for 'output' for minibatches 0-9 is -9.5 over 9.\n"
        f"{_LOG}Overall average objective function for '{output}' is {value} over 1280 frames.\n"
        f"# Ended (code {code}) at Mon Nov 30 23:47:16 UTC 2026, elapsed time 1 seconds\n"
    )


def _valid(value: float) -> str:
    return (
        f"{_LOG}Overall log-likelihood for 'output' is {value} per frame, over 1000 frames.\n"
        f"{_LOG}Overall accuracy for 'output' is 0.5 per frame, over 1000 frames.\n"
    )


def _probe(folder: Path, name: str, text: str) -> Probe:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return Probe(path, folder, path.stat().st_size)


def _read(folder: Path, name: str, text: str) -> Reading:
    probe = _probe(folder, name, text)
    assert READER.sniff(probe)
    return READER.read(probe, no_progress)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("train.1.log", "objective function is -0.5 over 10 frames\nloss: 0.5\n"),
        ("train.log", _train("-0.5")),
        ("objective.3.log", _train("-0.5")),
    ],
)
def test_other_logs_are_not_taken(tmp_path: Path, name: str, text: str) -> None:
    assert not READER.sniff(_probe(tmp_path, name, text))


def test_a_model_at_the_end_has_no_iteration(tmp_path: Path) -> None:
    assert _read(tmp_path, "compute_prob_valid.final.log", _valid(-0.5)).series == ()


@pytest.mark.parametrize(
    ("value", "loss"), [("-1.5", 1.5), ("-0.1 + -0.02 = -0.12", 0.12), ("nan", math.nan)]
)
def test_the_objective_is_read_as_its_negative(tmp_path: Path, value: str, loss: float) -> None:
    found = {s.tag: s for s in _read(tmp_path, "train.7.1.log", _train(value)).series}
    assert found["train_loss"].step.tolist() == [7]
    np.testing.assert_allclose(found["train_loss"].value, [loss])
    assert found["lr"].value.tolist() == [0.01]


def test_a_further_output_is_a_part(tmp_path: Path) -> None:
    found = _read(tmp_path, "train.7.1.log", _train("-1.5", output="output-xent")).series
    assert Signal.TRAIN_LOSS not in {s.signal for s in found}


def test_a_code_says_how_the_program_ended(tmp_path: Path) -> None:
    good = _read(tmp_path, "train.7.1.log", _train("-1.5")).text
    bad = _read(tmp_path, "train.8.1.log", _train("-1.5", code=1)).text
    assert [(t.kind, t.step) for t in good] == [(TextKind.RUN_FINISHED, 7)]
    assert [(t.kind, t.step) for t in bad] == [(TextKind.TRACEBACK, 8)]


def _write_run(folder: Path) -> None:
    for n in range(12):
        for job in (1, 2):
            text = _train(f"{-3 + n / 10 + job / 100:.2f}", rate=0.02 / (n + 1))
            _probe(folder, f"log/train.{n}.{job}.log", text)
        _probe(folder, f"log/compute_prob_valid.{n + 1}.log", _valid(-2 + n / 10))


def test_iterations_are_one_run_with_a_schedule(tmp_path: Path) -> None:
    _write_run(tmp_path)
    (run,) = load_runs(tmp_path)
    found = {s.signal: s for s in run.series}
    assert found[Signal.TRAIN_LOSS].step.tolist() == list(range(12))
    np.testing.assert_allclose(found[Signal.TRAIN_LOSS].value[0], 3 - 0.015)
    assert found[Signal.EVAL_LOSS].step.tolist() == list(range(1, 13))
    assert len(found[Signal.LR].step) == 12
    assert not any("learning rate" in note.text for note in run.notes)


def test_only_a_final_model_proves_that_all_iterations_were_done(tmp_path: Path) -> None:
    _write_run(tmp_path)
    assert TextKind.RUN_FINISHED not in {t.kind for t in load_runs(tmp_path)[0].text}
    (tmp_path / "final.mdl").write_bytes(b"\0B<Nnet3>")
    ends = [t.step for t in load_runs(tmp_path)[0].text if t.kind is TextKind.RUN_FINISHED]
    assert ends == [11]
