"""A run that logs no loss by that name: what it minimises, or the sum of its parts."""

from pathlib import Path

import numpy as np
import pytest

from forensics.run import Axis, Run, Series
from forensics.signals import Signal, adversary_of
from forensics.timeline import Timeline, build

FALLING = [3.0, 2.0, 1.5, 1.25]


def _line(**logged: list[float]) -> Timeline:
    return _timeline(logged)


def _timeline(logged: dict[str, list[float]]) -> Timeline:
    series = (
        Series(tag, np.arange(1, len(v) + 1), np.array(v, float), "results.csv", axis=Axis.EPOCH)
        for tag, v in logged.items()
    )
    return build(Run(Path("run"), series=tuple(series)))


@pytest.mark.parametrize(
    "names",
    [
        ("Loss_D", "Loss_G"),
        ("d_loss", "g_loss"),
        ("train/loss_disc", "train/loss_gen", "train/loss_rec"),
        ("train/actor_loss", "train/critic_loss"),
        ("loss_max", "loss_min"),
        ("val/box_loss", "val/cls_loss"),
        ("aux_loss", "z_loss"),
        ("box_loss",),
    ],
)
def test_what_has_no_sum(names: tuple[str, ...]) -> None:
    assert build_loss(dict.fromkeys(names, FALLING)) is None


def build_loss(logged: dict[str, list[float]]) -> list[float] | None:
    track = _timeline(logged).get(Signal.TRAIN_LOSS)
    return None if track is None else track.value.tolist()


def test_parts_beside_a_total_are_left_alone() -> None:
    line = _line(loss=[9.0, 8, 7, 6], box_loss=FALLING, cls_loss=FALLING)
    assert line.tracks[Signal.TRAIN_LOSS].tag == "loss"


def test_parts_logged_at_other_rows_are_not_added_up() -> None:
    assert build_loss({"box_loss": FALLING, "cls_loss": FALLING[:3]}) is None


def test_several_validation_sets_are_no_parts() -> None:
    line = _timeline({"loss": FALLING, "eval_a_loss": FALLING, "eval_b_loss": FALLING})
    assert line.tracks[Signal.EVAL_LOSS].tag == "eval_a_loss"


def test_parts_are_added_up_for_training_and_for_validation() -> None:
    parts = ("box_loss", "cls_loss", "dfl_loss")
    line = _timeline({f"{s}/{p}": FALLING for s in ("train", "val") for p in parts})
    for signal in (Signal.TRAIN_LOSS, Signal.EVAL_LOSS):
        assert line.tracks[signal].value.tolist() == [9.0, 6.0, 4.5, 3.75]
    assert sum(t.signal is Signal.LOSS_COMPONENT for t in line.others) == 6


def test_a_part_that_is_not_finite_makes_the_sum_so() -> None:
    found = build_loss({"box_loss": FALLING, "cls_loss": [1.0, np.nan, np.nan, np.nan]})
    assert found is not None
    assert np.isnan(found[1:]).all()


@pytest.mark.parametrize("name", ["neg_elbo", "train/neg_elbo", "bits/dim", "energy", "nelbo"])
def test_another_name_for_what_is_minimised(name: str) -> None:
    assert build_loss({name: FALLING, "rec_nll": [1, 1, 1, 1], "kl_div": [0, 0, 0, 0]}) == FALLING


@pytest.mark.parametrize(
    "tag", ["dfl_loss", "loss_dice", "loss_depth", "gradient_loss", "log_loss"]
)
def test_no_side_of_a_game(tag: str) -> None:
    assert adversary_of(tag) == ""


@pytest.mark.parametrize("tag", ["Loss_D", "lossD", "errD", "d_loss", "D_real", "disc_loss"])
def test_the_discriminator(tag: str) -> None:
    assert adversary_of(tag) == "D"
