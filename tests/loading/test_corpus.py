"""Runs that people left behind, where the collection is at hand: one run for each folder."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from forensics.loading import load_runs
from forensics.signals import Signal, classify

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
CASES = sorted(p.name for p in CORPUS.iterdir() if p.is_dir()) if CORPUS.is_dir() else []
pytestmark = pytest.mark.skipif(not CASES, reason="the corpus of real runs is not here")


def losses(run):
    return [s for s in run.series if classify(s.tag) is Signal.TRAIN_LOSS]


@pytest.mark.parametrize("case", CASES)
def test_each_folder_is_one_run_with_a_training_loss(case):
    (run,) = load_runs(CORPUS / case, strict=True)
    assert run.name == ""
    assert losses(run)
    assert all(len(s.step) == len(s.value) > 0 for s in run.series)


@pytest.mark.parametrize("case", CASES)
def test_no_quantity_is_there_twice(case):
    (run,) = load_runs(CORPUS / case, strict=True)
    seen = [(s.tag, s.axis, s.step.tobytes(), s.value.tobytes()) for s in run.series]
    assert len(set(seen)) == len(seen)


def test_the_whole_collection_is_as_many_runs_as_folders():
    assert sorted(run.name for run in load_runs(CORPUS, strict=True)) == CASES


@pytest.mark.parametrize(
    ("pattern", "count"),
    [("cs336*/*.jsonl", 3), ("nanogpt*/*.csv", 2), ("pgolf*/*.log", 2), ("pgolf*/*.txt", 2)],
)
def test_logs_of_several_runs_in_one_folder_are_told_apart(tmp_path, pattern, count):
    for path in CORPUS.glob(pattern):
        shutil.copy(path, tmp_path / f"{path.parent.name}{path.suffix}")
    runs = load_runs(tmp_path, strict=True)
    assert len(runs) == count
    assert all(len(losses(run)) >= 1 for run in runs)


def test_checkpoints_hold_prefixes_of_one_history():
    (run,) = load_runs(CORPUS / "llamafactory_chatglm2_v0729", strict=True)
    (loss,) = losses(run)
    assert (loss.step[0], loss.step[-1], len(loss.step)) == (5, 360, 72)
    assert np.all(np.diff(loss.step) > 0)


def test_the_precise_copy_is_kept():
    (run,) = load_runs(CORPUS / "improved_diffusion_kl", strict=True)
    assert {s.source for s in run.series if s.tag == "loss"} == {"progress.csv"}
