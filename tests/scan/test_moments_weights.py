"""Weights over checkpoints: never moved, damaged, grown; copies of ranks; running statistics."""

from dataclasses import replace
from pathlib import Path

import pytest

from forensics.causes import _looks_damage as damage
from forensics.causes import _looks_weights as weights
from forensics.scan.paths import scan_path
from forensics.scan.series import ScanMode
from tests.scan.trained import STEPS, case_of, model, surveyed, torch, train


def test_weights_that_never_move(tmp_path):
    kept = model().state_dict()

    def bound_to_others(step, save):
        save["model"] = kept

    assert weights.never_updated(case_of(train(tmp_path, bound_to_others))).holds


def test_a_run_that_stands_still_at_its_end_was_updated(tmp_path):
    kept = {}

    def stands(step, save):
        if step >= 80:
            save["model"] = kept.setdefault("model", save["model"])

    assert weights.never_updated(case_of(train(tmp_path, stands))).holds is False


@pytest.mark.parametrize("factor", [2.0**8, 2.0**40])
def test_one_flipped_bit_stands_out(tmp_path, factor):
    def flip(step, save):
        if step == 120:
            held = save["model"]["0.weight"]
            held[5, 5] = held.abs().max() * factor

    found = damage.value_stands_out(case_of(train(tmp_path, flip)))
    assert found.holds
    assert "element 85 of 0.weight" in found.text


def test_one_damaged_row_stands_out(tmp_path):
    def scale(step, save):
        if step == 120:
            save["model"]["2.weight"][7] *= 1000.0

    found = damage.value_stands_out(case_of(train(tmp_path, scale)))
    assert found.holds
    assert "row 7 of 2.weight" in found.text


def test_what_stood_out_from_the_first_checkpoint_on_is_reported_once(tmp_path):
    def flip(step, save):
        save["model"]["0.weight"][5, 5] = 1e6

    found = damage.value_stands_out(case_of(train(tmp_path, flip)))
    assert found.steps == (STEPS[0],)


def test_shrinking_weights(tmp_path):
    def shrink(step, save):
        for name in save["model"]:
            save["model"][name] = save["model"][name] * (0.5 if step == 120 else 1.0)

    assert weights.weights_shrank(case_of(train(tmp_path, shrink))).holds


@pytest.mark.parametrize(
    ("name", "value", "holds"),
    [
        ("bn.running_var", [1.0, 0.5], False),
        ("bn.running_var", [1.0, -0.5], True),
        ("bn.running_var", [1.0, float("nan")], True),
        ("bn.running_mean", [1e9, 0.0], True),
        ("bn.running_mean", [-3.0, 0.0], False),
    ],
)
def test_running_statistics(tmp_path, name, value, holds):
    def add(step, save):
        save["model"][name] = torch.tensor(value)

    assert damage.statistics_bad(case_of(train(tmp_path, add))).holds is holds


def _copies(root: Path, change=lambda rank, save: None) -> Path:
    for rank in range(2):
        folder = root / f"rank_{rank}"
        folder.mkdir(parents=True)
        torch.manual_seed(1)
        train(folder, lambda step, save, rank=rank: change(rank, save))
    return root


def test_copies_of_ranks_that_agree(tmp_path):
    found = damage.copies_differ(case_of(_copies(tmp_path)))
    assert found.holds is False


def test_copies_of_ranks_that_drifted_apart(tmp_path):
    def drift(rank, save):
        for name in save["model"]:
            save["model"][name] = save["model"][name] + 1e-3 * rank

    case = case_of(_copies(tmp_path, drift))
    assert damage.copies_differ(case).holds
    assert not damage.few_elements_differ(case).holds


def test_a_single_element_that_differs_between_ranks(tmp_path):
    def flip(rank, save):
        save["model"]["2.weight"][0, 0] += rank

    assert damage.few_elements_differ(case_of(_copies(tmp_path, flip))).holds


def test_parts_of_a_split_model_are_no_copies(tmp_path):
    def split(rank, save):
        save["model"]["norm.weight"] = torch.ones(64)
        for name in ("0.weight", "2.weight", "3.weight"):
            save["model"][name] = save["model"][name] + rank

    assert damage.copies_differ(case_of(_copies(tmp_path, split))).holds is False


def test_bisecting_looks_at_few(tmp_path):
    train(tmp_path)
    assert [c.step for c in surveyed(tmp_path, ScanMode.BISECT).checkpoints] == [40, 80, 120]


def test_an_element_that_only_the_full_scan_saw(tmp_path):
    case = case_of(train(tmp_path))
    tensors = list(scan_path(tmp_path).tensors)
    assert not damage.value_stands_out(replace(case, tensors=tuple(tensors))).holds
    place = next(i for i, t in enumerate(tensors) if t.step == 120 and t.name == "2.weight")
    tensors[place] = replace(tensors[place], abs_max=1e9)
    found = damage.value_stands_out(replace(case, tensors=tuple(tensors)))
    assert found.holds
    assert found.steps == (120,)
