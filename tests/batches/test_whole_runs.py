"""Run directories with a log and captured batches: the batches decide between the causes."""

from pathlib import Path

import numpy as np
import pytest

import forensics
from forensics.batch_facts import Oddity
from tests.batches import made
from tests.batches.test_captured import write

ONSET = 150


def run(root: Path, batches: dict[int, made.Batch], loss_at_onset: float | None) -> Path:
    """A run of 250 steps whose loss at `ONSET` is given, finite or not; None: a healthy one."""
    rng = np.random.default_rng(0)
    t = np.arange(250)
    loss = 2 + 4 * np.exp(-t / 30) + 0.02 * rng.standard_normal(250)
    norm = 0.6 * (1 + 0.05 * rng.standard_normal(250))
    if loss_at_onset is not None:
        loss[ONSET - 1] = loss_at_onset
        norm[ONSET - 1] = 25.0 if np.isfinite(loss_at_onset) else np.nan
    rows = zip(t + 1, loss, norm, strict=True)
    text = "\n".join(f"{step},{a:.6g},{b:.6g},0.001" for step, a, b in rows)
    (root / "metrics.csv").write_text(f"step,loss,grad_norm,lr\n{text}\n")
    (root / "config.json").write_text('{"num_classes": 10, "batch_size": 32, "max_steps": 250}')
    write(root, batches)
    return root


def batches_around(make=made.images) -> dict[int, made.Batch]:
    return made.series(make, steps=range(ONSET - 8, ONSET + 3))


def first(root: Path) -> tuple[str, float]:
    found = forensics.analyze(root).hypotheses[0]
    return found.cause, found.probability


def chance(root: Path, cause: str) -> float:
    return next(h.probability for h in forensics.analyze(root).hypotheses if h.cause == cause)


@pytest.mark.parametrize("make", [made.images, made.pretraining, made.chat, made.table])
def test_a_healthy_run_with_sound_batches_stays_silent(tmp_path, make):
    diagnosis = forensics.analyze(run(tmp_path, batches_around(make), None))
    assert diagnosis.hypotheses[0].cause == "no_failure"
    audited = diagnosis.to_dict()["batches"]
    assert len(audited["audits"]) == 11
    assert not audited["everywhere"]
    assert not any(a["findings"] for a in audited["audits"])
    assert "nothing is odd" in diagnosis.to_markdown()


def test_odd_batches_of_a_healthy_run_make_no_failure(tmp_path):
    batches = batches_around()
    batches[ONSET]["x"][3] = np.nan
    assert first(run(tmp_path, batches, None))[0] == "no_failure"


def test_nan_in_the_batch_of_the_first_nan(tmp_path):
    batches = batches_around()
    batches[ONSET]["x"][3] = np.nan
    cause, probability = first(run(tmp_path, batches, np.nan))
    assert cause == "non_finite_input"
    assert probability > 0.8


def test_finite_batches_acquit_the_input(tmp_path):
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    sound = chance(run(tmp_path / "with", batches_around(), np.nan), "non_finite_input")
    bare = chance(run(tmp_path / "without", {}, np.nan), "non_finite_input")
    assert sound < 0.1 * bare


def test_the_same_tokens_over_and_over_are_a_bad_batch(tmp_path):
    batches = batches_around(made.pretraining)
    batches[ONSET]["input_ids"][:6, 20:] = 7
    batches[ONSET]["input_ids"][:6, -5:] = 9
    batches[ONSET]["labels"] = batches[ONSET]["input_ids"].copy()
    cause, probability = first(run(tmp_path, batches, 9.0))
    assert cause == "bad_batch"
    assert probability > 0.95


def test_a_batch_in_which_nothing_is_odd_may_be_hard_and_valid(tmp_path):
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    sound = run(tmp_path / "with", batches_around(made.pretraining), 2.9)
    bare = run(tmp_path / "without", {}, 2.9)
    assert chance(sound, "bad_batch") < chance(bare, "bad_batch")
    assert chance(sound, "hard_but_valid_batch") > chance(bare, "hard_but_valid_batch")


def test_labels_all_masked_where_the_loss_was_nan(tmp_path):
    batches = batches_around(made.chat)
    batches[ONSET]["labels"][:] = -100
    assert first(run(tmp_path, batches, np.nan))[0] == "labels_all_masked"


def test_batches_of_other_steps_prove_nothing(tmp_path):
    batches = made.series(made.images, steps=range(20, 31))
    root = run(tmp_path, batches, np.nan)
    diagnosis = forensics.analyze(root)
    of_one_batch = ("bad_batch", "hard_but_valid_batch", "non_finite_input", "labels_all_masked")
    evidence = [e for h in diagnosis.hypotheses if h.cause in of_one_batch for e in h.evidence]
    assert not any(e.source == "batches" for e in evidence)
    told = [text for h in diagnosis.hypotheses for text in h.missing]
    assert any("could not be checked" in text for text in told)


def test_damaged_batches_become_warnings(tmp_path):
    root = run(tmp_path, batches_around(), 9.0)
    for path in (root / "batches").iterdir():
        path.write_bytes(path.read_bytes()[:40])
    diagnosis = forensics.analyze(root)
    assert diagnosis.hypotheses[0].cause == "bad_batch"
    assert any("step_150" in str(w) for w in diagnosis.warnings)


def test_the_report_shows_the_finding_with_its_controls(tmp_path):
    batches = batches_around()
    batches[ONSET]["x"] *= 255
    diagnosis = forensics.analyze(run(tmp_path, batches, 9.0))
    diagnosis.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert 'id="batches"' in page
    assert "control batches it is at most" in page
    (odd,) = [a for a in diagnosis.to_dict()["batches"]["audits"] if a["findings"]]
    assert odd["step"] == ONSET
    assert odd["findings"][0]["oddity"] == Oddity.INPUT_SCALE
