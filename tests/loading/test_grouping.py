"""Which files are one run. Each rule with what must not set it off."""

import numpy as np
import pytest

from tests.loading.fakes import falling, pieces, tags

LOSS = falling(0, 500)
OTHER = falling(0, 500, slope=0.002)
LATER = falling(400, 900, start=4.003)


# --- different runs -------------------------------------------------------------------------


def test_logs_of_one_folder_that_differ_from_the_start_are_two_runs(folder):
    folder.log("lr0.1.alog", LOSS)
    folder.log("lr0.01.alog", OTHER)
    assert folder.names() == ["lr0.01", "lr0.1"]
    first, second = folder.runs()
    assert pieces(first) == [("lr0.01.alog", 0, 500, 51)]
    assert pieces(second) == [("lr0.1.alog", 0, 500, 51)]


def test_logs_of_one_format_that_call_their_loss_differently_and_are_far_apart(folder):
    far = falling(0, 500, start=9.0)
    folder.log("a.alog", LOSS, more=[("lr", LOSS), ("grad_norm", LOSS)])
    folder.log("b.alog", far, tag="train_loss", more=[("lr", LOSS)])
    assert folder.names() == ["a", "b"]
    folder.log("b.alog", far, tag="train_loss", more=[("grad_norm", LOSS)])
    assert folder.names() == [""]


def test_folders_with_a_log_each_are_runs_of_their_own(folder):
    folder.log("exp1/logs/a.alog", LOSS)
    folder.log("exp2/logs/a.alog", OTHER)
    folder.log("more/exp3/a.blog", falling(0, 300, start=9.0))
    assert folder.names() == ["exp1", "exp2", "more/exp3"]


def test_a_repetition_in_another_folder_is_a_run_of_its_own(folder):
    folder.log("exp1/a.alog", LOSS)
    folder.log("exp2/a.alog", falling(0, 40))
    assert folder.names() == ["exp1", "exp2"]


@pytest.mark.parametrize(
    "parent", ["lightning_logs/version_{}", "wandb/run-2024010{}_101010-abc{}x"]
)
def test_versions_that_both_start_at_the_beginning_are_two_runs(folder, parent):
    folder.log(f"{parent.format(0, 0)}/metrics.alog", LOSS)
    folder.log(f"{parent.format(1, 1)}/metrics.alog", OTHER)
    assert len(folder.names()) == 2


def test_dated_folders_of_a_plain_writer_are_two_runs(folder):
    folder.log("runs/Jan01_10-00-00_host/e.alog", LOSS)
    folder.log("runs/Jan02_10-00-00_host/e.alog", OTHER)
    assert folder.names() == ["runs/Jan01_10-00-00_host", "runs/Jan02_10-00-00_host"]


def test_a_continuation_far_from_the_level_that_was_left_is_another_run(folder):
    folder.log("version_0/m.alog", LOSS)
    folder.log("version_1/m.alog", falling(400, 900, start=90.0))
    assert len(folder.names()) == 2


def test_late_starts_of_folders_that_are_not_called_alike_are_runs(folder):
    folder.log("baseline/m.alog", LOSS)
    folder.log("distilled/m.alog", LATER)
    assert len(folder.names()) == 2


def test_labels_inside_a_file_are_runs(folder):
    folder.write(
        "all.alog",
        '{"series": [["loss", [0, 1], [2.0, 1.0], {"run": "a"}],'
        ' ["loss", [0, 1], [3.0, 1.0], {"run": "b"}], ["lr", [0, 1], [1, 1], {"run": "b"}]]}',
    )
    assert folder.names() == ["a", "b"]
    assert [tags(run) for run in folder.runs()] == [["loss"], ["loss", "lr"]]


def test_labels_of_two_files_meet(folder):
    for number, tag in enumerate(("loss", "lr")):
        more = [[tag, [0, 1], [2.0 + number, 1.0], {"run": name}] for name in ("a", "b")]
        folder.write(f"{tag}.alog", f'{{"series": {more}}}'.replace("'", '"'))
    assert [(run.name, tags(run)) for run in folder.runs()] == [
        ("a", ["loss", "lr"]),
        ("b", ["loss", "lr"]),
    ]


# --- one run --------------------------------------------------------------------------------


def test_a_log_alone_is_a_run_without_a_name(folder):
    folder.log("deep/below/exp/a.alog", LOSS)
    assert folder.names() == [""]


def test_copies_in_one_folder_are_one_run(folder):
    folder.log("scalars.alog", LOSS)
    folder.log("20230521_031449.alog", LOSS)
    assert folder.run().series[0].tag == "loss"
    assert len(pieces(folder.run())) == 1


def test_formats_of_one_folder_are_one_run_even_where_they_average_differently(folder):
    folder.log("train.alog", falling(0, 600, noise=0.02))
    folder.log("metrics.blog", LOSS)
    assert tags(folder.run()) == ["format blog: loss", "loss"]


def test_files_of_one_quantity_each_are_one_run(folder):
    folder.log("metrics/loss.alog", LOSS)
    folder.log("metrics/nll_loss.alog", falling(0, 500, start=9.0), tag="nll_loss")
    folder.log("metrics/train_loss_epoch.alog", OTHER, tag="train_loss_epoch")
    assert tags(folder.run()) == ["loss", "nll_loss", "train_loss_epoch"]


def test_formats_find_their_partners_among_several_runs(folder):
    folder.log("one.alog", LOSS)
    folder.log("two.alog", OTHER)
    folder.log("one.blog", falling(0, 500, noise=0.02))
    folder.log("unnamed.blog", (list(OTHER[0]), [round(v, 3) for v in OTHER[1]]))
    assert folder.names() == ["one", "two"]
    first, second = folder.runs()
    assert {f.path for f in first.files} == {"one.alog", "one.blog"}
    assert {f.path for f in second.files} == {"two.alog", "unnamed.blog"}


def test_a_log_that_goes_on_in_the_same_folder_is_an_attempt(folder):
    folder.log("slurm-9.alog", LOSS)
    folder.log("slurm-10.alog", LATER)
    assert pieces(folder.run()) == [("slurm-9.alog", 0, 500, 51), ("slurm-10.alog", 400, 900, 51)]


def test_an_attempt_that_repeats_its_steps_exactly_stays_an_attempt(folder):
    folder.log("a-1.alog", LOSS)
    folder.log("a-2.alog", falling(400, 900))
    assert pieces(folder.run()) == [("a-1.alog", 0, 500, 51), ("a-2.alog", 400, 900, 51)]


def test_a_version_that_continues_the_one_before_is_an_attempt(folder):
    folder.log("lightning_logs/version_9/metrics.alog", LOSS)
    folder.log("lightning_logs/version_10/metrics.alog", LATER)
    assert [p[1:] for p in pieces(folder.run())] == [(0, 500, 51), (400, 900, 51)]


def test_a_version_goes_on_from_a_run_that_broke(folder):
    steps, values = falling(0, 500)
    folder.log("version_0/m.alog", (steps, values[:45] + [float("nan")] * 6))
    folder.log("version_1/m.alog", LATER)
    assert len(pieces(folder.run())) == 2


def test_event_files_of_one_folder_are_attempts_even_from_the_start(folder):
    folder.log("events.out.tfevents.1700000900.h.alog", OTHER)
    folder.log("events.out.tfevents.1700000100.h.alog", LOSS)
    assert [p[0].split(".")[3] for p in pieces(folder.run())] == ["1700000100", "1700000900"]


def test_event_files_written_at_once_are_not_attempts(folder):
    wall = [1.7e9 + s for s in LOSS[0]]
    folder.log("events.out.tfevents.1.a.alog", LOSS, wall=wall)
    folder.log("events.out.tfevents.2.b.alog", falling(0, 500, start=4.1), wall=wall)
    assert tags(folder.run()) == ["loss", "writer 2: loss"]


def test_dated_folders_of_a_trainer_are_attempts(folder):
    folder.write("out/trainer_state.json", "{}")
    folder.log("out/trainer_state.alog", settings={"x": 1})
    for day, curve in (("01", LOSS), ("02", OTHER)):
        folder.log(f"out/runs/Jan{day}_10-00-00_host/events.blog", curve)
    folder.log("out/checkpoint-5/trainer_state.json.alog")
    assert len(folder.names()) == 2  # nothing of a Trainer was read
    folder.log("out/runs/Jan01_10-00-00_host/args.blog", settings={"logging_nan_inf_filter": True})
    assert len(pieces(folder.run())) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("20240101_101010/vis_data/scalars.alog", "20240102_101010/vis_data/scalars.alog"),
        ("20240101_101010/20240101_101010.alog", "20240102_101010/20240102_101010.alog"),
        ("job/attempt_0/0/stdout.alog", "job/attempt_1/0/stdout.alog"),
    ],
)
def test_attempts_by_place_are_one_run(folder, one, other):
    folder.log(one, LOSS)
    folder.log(other, OTHER)
    assert [p[0] for p in pieces(folder.run())] == [one, other]


def test_ranks_are_one_run_and_the_main_one_speaks(folder):
    folder.log("train_rank1.alog", falling(0, 500, start=4.1), more=[("lr", LOSS)])
    folder.log("train_rank0.alog", LOSS, more=[("lr", LOSS)])
    folder.log("train_rank2.alog", falling(0, 500, start=4.2))
    run = folder.run()
    assert tags(run) == ["loss", "lr", "rank 1: loss", "rank 2: loss"]
    assert pieces(run) == [("train_rank0.alog", 0, 500, 51)]


def test_ranks_of_two_runs_stay_apart(folder):
    for name, curve in (("a", LOSS), ("b", OTHER)):
        for rank in (0, 1):
            folder.log(f"{name}_rank{rank}.alog", (curve[0], [v + 0.1 * rank for v in curve[1]]))
    assert len(folder.names()) == 2


def test_ranks_in_folders_are_one_run(folder):
    folder.log("rank_0/log.alog", LOSS)
    folder.log("rank_1/log.alog", falling(0, 500, start=4.1))
    assert tags(folder.run()) == ["loss", "rank 1: loss"]


def test_the_history_in_checkpoints_is_the_runs_own(folder):
    for last in (100, 200, 300):
        folder.log(f"checkpoint-{last}/trainer_state.alog", falling(0, last))
    folder.log("2023-07-29-17-08-49/trainer_log.blog", LOSS)
    assert [p[1:] for p in pieces(folder.run())] == [(0, 500, 51)]


def test_a_history_that_was_abandoned_is_an_attempt(folder):
    steps, values = LOSS
    abandoned = (steps[:31], values[:21] + [v + 1.0 for v in values[21:31]])
    folder.log("checkpoint-300/trainer_state.alog", abandoned)
    folder.log("trainer_state.alog", LOSS)
    assert pieces(folder.run()) == [
        ("checkpoint-300/trainer_state.alog", 0, 300, 31),
        ("trainer_state.alog", 210, 500, 30),
    ]


def test_two_loggers_of_one_run_in_two_folders(folder):
    folder.log("lightning_logs/version_0/metrics.alog", LOSS)
    folder.log("tb/model/version_0/events.blog", (LOSS[0], np.float32(LOSS[1]).tolist()))
    assert folder.names() == [""]


def test_the_only_run_below_a_log_is_that_logs_run(folder):
    folder.log("train.alog", falling(0, 500, noise=0.02))
    folder.log("exp/metrics.blog", LOSS)
    assert folder.names() == [""]
    folder.log("exp2/metrics.blog", OTHER)
    assert len(folder.names()) == 3


def test_epochs_and_steps_of_one_run(folder):
    folder.log("steps.alog", LOSS)
    folder.log("log.alog", ([0, 1, 2], [4.0, 3.8, 3.6]), axis="epoch")
    assert tags(folder.run()) == ["loss", "loss_epoch"]


def test_a_hundred_runs_of_a_sweep_in_one_folder(folder):
    for number in range(100):
        folder.log(f"trial_{number:03}.alog", falling(0, 500, start=4 + number / 7))
    assert len(folder.names()) == 100


# --- splits ---------------------------------------------------------------------------------


def test_a_run_that_is_called_test_is_a_run(folder):
    folder.log("test.alog", LOSS)
    assert tags(folder.run()) == ["loss"]
    folder.log("runs/test/m.alog", LOSS)
    folder.log("runs/val/m.alog", OTHER)
    assert all("val/loss" not in tags(run) for run in folder.runs())


def test_validation_beside_training_is_told_apart(folder):
    folder.log("logs/train/events.out.tfevents.1.alog", LOSS, tag="epoch_loss")
    folder.log("logs/validation/events.out.tfevents.1.alog", OTHER, tag="epoch_loss")
    assert tags(folder.run()) == ["epoch_loss", "val/epoch_loss"]


def test_a_file_of_validation_results_beside_a_training_log(folder):
    folder.log("train.alog", LOSS)
    folder.log("eval_results.alog", OTHER, more=[("train/loss", OTHER), ("lr", OTHER)])
    assert tags(folder.run()) == ["loss", "lr", "train/loss", "val/loss"]


def test_curves_of_add_scalars(folder):
    folder.log("tb/events.out.tfevents.1.alog", LOSS, tag="grad_norm")
    folder.log("tb/loss_train/events.out.tfevents.2.alog", LOSS)
    folder.log("tb/loss_val/events.out.tfevents.3.alog", OTHER)
    folder.log("tb/1796046313.0756721/events.out.tfevents.4.alog", ([0], [9.0]))
    run = folder.run()
    assert tags(run) == ["grad_norm", "loss", "val/loss"]
    assert pieces(run) == [("tb/loss_train/events.out.tfevents.2.alog", 0, 500, 51)]


def test_a_log_whose_lines_are_among_those_of_another_is_of_that_run(folder):
    steps, values = falling(0, 500, noise=0.1)
    bar = sorted(set(range(0, 501, 2)))
    folder.log(
        "stderr.alog", (bar, [4.0 - 0.0009 * s for s in bar]), more=[("grad_norm", (steps, values))]
    )
    folder.log(
        "output.alog", (steps, [v + 0.1 for v in values]), more=[("grad_norm", (steps, values))]
    )
    assert folder.names() == [""]


def test_the_same_schedule_does_not_make_one_run_of_two(folder):
    lr = (list(range(0, 500, 10)), [0.1 - 0.0001 * s for s in range(0, 500, 10)])
    folder.log("one.alog", falling(0, 500, start=4.0, noise=0.2), more=[("lr", lr)])
    folder.log("two.alog", falling(0, 500, start=8.0, noise=0.3), more=[("lr", lr)])
    assert len(folder.names()) == 2
