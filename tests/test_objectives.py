from pathlib import Path

import numpy as np
import pytest

from forensics.objectives import objective_of
from forensics.run import Run, Series
from forensics.signals import Signal
from forensics.timeline import build

FALLING = 3.0 * np.exp(-np.arange(12) / 5.0) + 0.1


def series(**curves):
    return [
        Series(tag.replace("__", "/"), np.arange(len(v)), np.asarray(v, float), "x.csv")
        for tag, v in curves.items()
    ]


@pytest.mark.parametrize(
    "curves",
    [
        {"recon__train": FALLING},  # no part for validation
        {"acc__train": FALLING, "acc__val": FALLING},
        {"time__train": FALLING, "time__val": FALLING},
        {"x__train": np.arange(12), "x__val": np.arange(12)},  # a count
        {"x__train": 1 - FALLING / 4, "x__val": 1 - FALLING / 4},  # a share that rises
        {"elbo__train": -FALLING, "elbo__val": -FALLING},  # to be maximised
        {"a__train": FALLING, "a__val": FALLING, "b__train": FALLING, "b__val": FALLING},
    ],
)
def test_what_may_be_something_else_is_no_objective(curves):
    assert objective_of(series(**curves)) is None


@pytest.mark.parametrize(
    ("train", "held_out"),
    [("recon/train_step", "recon/val"), ("elbo/train", "elbo/valid"), ("x/train", "x/valid")],
)
def test_a_quantity_with_both_parts_is_the_loss(train, held_out):
    logged = series(**{train.replace("/", "__"): FALLING, held_out.replace("/", "__"): FALLING})
    timeline = build(Run(Path("run"), series=tuple(logged)))
    assert timeline.tracks[Signal.TRAIN_LOSS].tag == train
    assert timeline.tracks[Signal.EVAL_LOSS].tag == held_out


def test_beside_a_loss_it_is_none():
    logged = series(x__train=FALLING, x__val=FALLING, loss=FALLING)
    timeline = build(Run(Path("run"), series=tuple(logged)))
    assert timeline.tracks[Signal.TRAIN_LOSS].tag == "loss"
    assert Signal.EVAL_LOSS not in timeline.tracks
