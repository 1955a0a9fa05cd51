from dataclasses import replace
from pathlib import Path

import numpy as np

from forensics.run import Axis, Run, Series, TextEvidence, TextKind
from forensics.signals import Signal
from forensics.timeline import build
from tests import synth


def test_an_empty_run_has_an_empty_timeline():
    timeline = build(synth.run_of({}))
    assert timeline.tracks == {}
    assert timeline.attempts == ()


def test_the_per_step_loss_stands_for_the_training_loss_not_an_evaluation_on_training_data():
    every = np.linspace(3, 1, 200)
    sparse = (np.arange(0, 200, 50), np.array([3.0, 2.5, 2, 1.5]))
    timeline = build(synth.run_of({"loss": every, "train/loss": sparse}))
    assert timeline.tracks[Signal.TRAIN_LOSS].tag == "loss"
    assert [t.tag for t in timeline.others] == ["train/loss"]


def test_a_loss_logged_only_at_the_start_gives_way_to_one_that_spans_the_run():
    window = np.full(100, 6.9)
    whole = (np.linspace(0, 180_000, 120).astype(int), np.linspace(6.9, 0.4, 120))
    timeline = build(synth.run_of({"loss": window, "train/loss": whole}))
    assert timeline.tracks[Signal.TRAIN_LOSS].tag == "train/loss"


def test_keras_writes_the_same_tag_for_training_and_validation():
    run = synth.run_of({"epoch_loss": np.linspace(2, 1, 10)})
    (train,) = run.series
    both = (replace(train, source="train/events"), replace(train, source="validation/events"))
    timeline = build(replace(run, series=both))
    assert {Signal.TRAIN_LOSS, Signal.EVAL_LOSS} <= set(timeline.tracks)


def test_attempts_resumes_and_superseded_points():
    first = Series("loss", np.arange(0, 100), np.linspace(3, 9, 100), "a/events")
    second = Series("loss", np.arange(60, 150), np.linspace(2, 1, 90), "b/events")
    timeline = build(Run(synth.Path("run"), series=(first, second)))
    assert [(a.first_step, a.last_step, a.source) for a in timeline.attempts] == [
        (0, 99, "a/events"),
        (60, 149, "b/events"),
    ]
    assert [(r.step, r.rewound_from) for r in timeline.resumes] == [(60, 99)]
    assert len(timeline.tracks[Signal.TRAIN_LOSS]) == 150
    assert [len(s) for s in timeline.superseded] == [40]


def test_a_series_by_epoch_is_placed_by_the_logged_epoch():
    loss = np.linspace(3, 1, 100)
    epoch = np.arange(100) // 25
    run = synth.run_of({"loss": loss, "epoch": epoch})
    val = Series("val_loss", np.arange(4), np.array([2.5, 2, 1.5, 1]), "log", axis=Axis.EPOCH)
    timeline = build(replace(run, series=(*run.series, val)))
    assert timeline.axis is Axis.STEP
    assert timeline.tracks[Signal.EVAL_LOSS].step.tolist() == [24, 49, 74, 99]


def test_non_finite_values_are_kept():
    timeline = synth.timeline_of({"loss": np.array([1.0, np.nan, np.inf, 2.0])})
    assert timeline.tracks[Signal.TRAIN_LOSS].finite.tolist() == [True, False, False, True]


def test_the_table_tells_a_logged_nan_from_a_point_that_was_not_logged(tmp_path):
    timeline = synth.timeline_of(
        {"loss": np.array([1.0, np.nan]), "lr": (np.array([0]), np.array([0.1]))}
    )
    timeline.write_csv(tmp_path / "metrics.csv")
    assert (tmp_path / "metrics.csv").read_text().splitlines() == [
        "step,train_loss,lr",
        "0,1.0,0.1",
        "1,nan,",
    ]


def _placed(epochs_by_step, epochs):
    run = synth.run_of({"loss": np.linspace(3, 1, 100), "epoch": epochs_by_step})
    val = Series("val_loss", np.array(epochs), np.ones(len(epochs)), "log", axis=Axis.EPOCH)
    timeline = build(replace(run, series=(*run.series, val)))
    return timeline.tracks[Signal.EVAL_LOSS].step.tolist()


def test_epochs_from_1_beside_epochs_from_0_are_placed_at_their_own_ends():
    assert _placed(np.arange(100) // 25, [1, 2, 3, 4]) == [24, 49, 74, 99]
    assert _placed(np.arange(100) // 25, [1, 2, 3]) == [24, 49, 74]


def test_epochs_that_are_counted_alike_are_not_moved():
    assert _placed(1 + np.arange(100) // 25, [1, 2, 3, 4]) == [24, 49, 74, 99]
    assert _placed(np.arange(100) // 25, [2]) == [74]
    assert _placed(np.arange(100) / 25, [1, 2, 3]) == [25, 50, 75]


def _said(step, kind=TextKind.RESUMED):
    return TextEvidence(kind, "Resumed from ckpt_60.pt", "train.log", 7, step)


def test_a_line_that_says_so_is_a_resume_though_no_step_goes_back():
    run = synth.run_of({"loss": np.linspace(3, 1, 100)})
    timeline = build(replace(run, text=(_said(60), _said(60))))
    assert [(r.step, r.rewound_from) for r in timeline.resumes] == [(61, None)]
    assert len(timeline.tracks[Signal.TRAIN_LOSS]) == 100
    assert [a.first_step for a in timeline.attempts] == [0, 61]


def test_a_line_at_either_end_or_of_another_kind_is_no_resume():
    run = synth.run_of({"loss": np.linspace(3, 1, 100)})
    lines = (_said(None), _said(99), _said(500), _said(50, TextKind.CHECKPOINT_SAVED))
    assert build(replace(run, text=lines)).resumes == ()
    late = replace(run, series=tuple(replace(s, step=s.step + 60) for s in run.series))
    assert build(replace(late, text=(_said(59),))).resumes == ()


def test_a_rewind_and_its_line_are_one_resume():
    first = Series("loss", np.arange(0, 100), np.linspace(3, 2, 100), "log")
    second = Series("loss", np.arange(60, 150), np.linspace(2, 1, 90), "log")
    run = Run(synth.Path("run"), series=(first, second), text=(_said(59), _said(99)))
    assert [(r.step, r.rewound_from) for r in build(run).resumes] == [(60, 99)]


def test_the_ends_of_a_track_are_its_first_and_last_finite_values():
    loss = Series("loss", np.arange(4), np.array([np.nan, 3.0, 2.0, np.inf]), "a.csv")
    track = build(Run(synth.Path("run"), series=(loss,))).tracks[Signal.TRAIN_LOSS]
    assert track.ends == (3.0, 2.0)


def test_a_log_of_few_epochs_holds_no_epoch_300():
    loss = Series("loss", np.arange(1, 11), np.ones(10), "a.csv", axis=Axis.EPOCH)
    line = build(Run(synth.Path("run"), series=(loss,)))
    assert line.length == 10
    assert (line.axis_of(11), line.axis_of(300)) == (Axis.EPOCH, Axis.STEP)


def test_a_run_begins_with_its_loss_and_epochs_logged_in_tens_are_all_counted():
    tens = np.arange(10, 601, 10)
    logged = (
        Series("epoch", np.array([0, 10]), np.array([0.0, 10.0]), "log", axis=Axis.EPOCH),
        Series("loss", tens, 1.0 / tens, "log", axis=Axis.EPOCH),
    )
    timeline = build(Run(Path("run"), series=logged))
    assert timeline.first_step == 10
    assert timeline.length == 600
