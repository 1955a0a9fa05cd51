"""A folder as a user has it: what is missing, broken, foreign or too much."""

import json

import pytest

from forensics.errors import NothingToAnalyse
from forensics.loading import load_runs
from tests.loading.fakes import READERS, ROOT_MAY_READ, falling, tags

LOSS = falling(0, 500)


# --- nothing to analyse ---------------------------------------------------------------------


def one_line(error):
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_missing_path_is_said_in_one_line(folder):
    with pytest.raises(NothingToAnalyse) as error:
        folder.runs("missing")
    assert one_line(error).endswith("missing: no such file or folder")


def test_an_empty_folder_is_said_to_be_empty(folder):
    with pytest.raises(NothingToAnalyse) as error:
        folder.runs()
    assert one_line(error).endswith("the folder is empty")


def test_a_folder_of_images_names_what_was_looked_for(folder):
    for number in range(3):
        folder.write(f"{number}.png", "x")
    with pytest.raises(NothingToAnalyse) as error:
        folder.runs()
    assert "among 3 files" in one_line(error)
    assert "TensorBoard" in str(error.value)


def test_the_reason_is_named_where_a_log_is_broken(folder):
    folder.write("a.alog", "{broken")
    with pytest.raises(NothingToAnalyse) as error:
        folder.runs()
    assert "a.alog: no valid log" in one_line(error)


def test_a_device_is_no_run():
    with pytest.raises(NothingToAnalyse, match="neither a folder nor a regular file"):
        load_runs("/dev/null", readers=READERS)


@pytest.mark.skipif(ROOT_MAY_READ, reason="root may read everything")
def test_a_folder_without_permission(folder):
    folder.root.chmod(0)
    try:
        with pytest.raises(NothingToAnalyse, match="may not be read"):
            folder.runs()
    finally:
        folder.root.chmod(0o700)


# --- one fault, one note --------------------------------------------------------------------


def test_a_broken_file_is_one_note_and_the_rest_is_read(folder):
    folder.log("a.alog", LOSS)
    folder.write("b.alog", "{broken")
    run = folder.run()
    assert [str(note) for note in run.notes] == ["b.alog: no valid log"]
    assert tags(run) == ["loss"]


def test_a_fault_of_a_reader_is_a_note_unless_asked_for(folder):
    folder.log("a.alog", LOSS)
    folder.write("b.alog", json.dumps({"bug": True}))
    (run,) = load_runs(folder.root, readers=READERS)
    assert [str(note) for note in run.notes] == ["b.alog: could not be read (ZeroDivisionError)"]
    with pytest.raises(ZeroDivisionError):
        folder.runs()


def test_empty_logs_are_noted_where_they_promise_something(folder):
    folder.log("a.alog", LOSS)
    folder.write("events.out.tfevents.1")
    folder.write("stderr.err")
    assert [note.source for note in folder.run().notes] == ["events.out.tfevents.1"]


def test_links_are_not_followed(folder, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "b.alog"
    folder.log("a.alog", LOSS)
    outside.write_text((folder.root / "a.alog").read_text())
    (folder.root / "loop").symlink_to(folder.root)
    (folder.root / "b.alog").symlink_to(outside)
    run = folder.run()
    assert [f.path for f in run.files] == ["a.alog"]
    assert [note.source for note in run.notes] == ["b.alog"]


def test_a_report_of_this_tool_is_not_read_again(folder):
    folder.log("a.alog", LOSS)
    folder.log("forensics-report.alog", falling(0, 500, start=9.0))
    assert len(folder.names()) == 1


# --- what a run gets ------------------------------------------------------------------------


def test_a_single_file_is_a_run(folder):
    path = folder.log("a.alog", LOSS)
    folder.log("b.alog", falling(0, 500, start=9.0))
    run = folder.runs("a.alog")[0]
    assert run.path == path
    assert [f.path for f in run.files] == ["a.alog"]


def test_every_file_is_in_the_inventory_with_what_was_read(folder):
    folder.log("a.alog", LOSS, settings={"lr": 0.1})
    folder.write("notes.md", "x")
    folder.write("plot.png", "x")
    records = {f.path: (f.format, f.summary) for f in folder.run().files}
    assert records["a.alog"] == ("format alog", "1 series, 51 points, 1 settings")
    assert records["notes.md"] == records["plot.png"] == ("", "neither log nor configuration")


def test_the_inventory_of_very_many_files_is_summed_up(folder):
    folder.log("a.alog", LOSS)
    (folder.root / "images").mkdir()
    for number in range(2_100):
        (folder.root / f"images/{number}.png").write_bytes(b"x")
    files = folder.run().files
    assert [f.path for f in files] == ["a.alog", "images/"]
    assert (files[1].size, files[1].summary) == (2_100, "2,100 more files")


def test_progress_reaches_every_byte_that_was_offered(folder):
    path = folder.log("a.alog", LOSS)
    folder.write("notes.md", "x" * 100)
    done = []
    folder.runs(progress=done.append)
    assert sum(done) == path.stat().st_size + 100


def test_settings_above_are_shared_and_own_settings_win(folder):
    folder.log("base.alog", settings={"seed": 1, "lr": 0.5})
    for name, lr in (("a", 0.1), ("b", 0.2)):
        folder.log(f"{name}/log.alog", falling(0, 500, start=4 + lr))
        folder.log(f"{name}/conf/args.alog", settings={"lr": lr})
    first, second = folder.runs()
    assert [(r.config.lr_peak, r.config.seed) for r in (first, second)] == [(0.1, 1), (0.2, 1)]
    assert first.config.sources == {"lr_peak": "a/conf/args.alog", "seed": "base.alog"}


def test_settings_called_after_a_run_are_its_own(folder):
    for name, lr in (("one", 0.1), ("two", 0.2)):
        folder.log(f"{name}.alog", falling(0, 500, start=4 + lr))
        folder.log(f"{name}_args.blog", settings={"lr": lr})
    assert [r.config.lr_peak for r in folder.runs()] == [0.1, 0.2]


def test_checkpoints_go_to_their_run(folder):
    for name in ("one", "two"):
        folder.log(f"logs/{name}/log.alog", falling(0, 500, start=len(name) + ord(name[0])))
        folder.write(f"checkpoints/{name}/step_100.ckpt")
    folder.write("checkpoints/step_7.ckpt")
    first, second = folder.runs()
    assert [c.path for c in first.checkpoints] == ["checkpoints/one/step_100.ckpt"]
    assert [c.path for c in second.checkpoints] == ["checkpoints/two/step_100.ckpt"]
    assert "checkpoints/step_7.ckpt" in [n.source for n in first.notes]


def test_a_checkpoint_named_after_its_epoch_gets_the_epochs_last_step(folder):
    steps = list(range(0, 60, 10))
    folder.log("a.alog", falling(0, 50), more=[("epoch", (steps, [0, 0, 0, 1, 1, 1]))])
    folder.write("epoch_0.ckpt")
    folder.write("epoch_9.ckpt")
    assert [(c.path, c.step) for c in folder.run().checkpoints] == [
        ("epoch_0.ckpt", 20),
        ("epoch_9.ckpt", None),
    ]


def test_a_run_counted_in_epochs_has_checkpoints_counted_in_epochs(folder):
    folder.log("a.alog", ([0, 1, 2], [3, 2, 1]), axis="epoch")
    folder.write("epoch_2.ckpt")
    assert folder.run().checkpoints[0].step == 2


def test_a_traceback_beside_the_log_belongs_to_its_run(folder):
    folder.log("exp1/log.alog", LOSS)
    folder.log("exp1/stderr.blog", text=["traceback"])
    folder.log("exp2/log.alog", falling(0, 500, start=7.0))
    folder.log("exp3/stderr.blog", text=["out_of_memory"])
    folder.log("slurm.blog", text=["killed"])
    runs = folder.runs()
    assert [(r.name, [t.kind.value for t in r.text]) for r in runs] == [
        ("exp1", ["traceback"]),
        ("exp2", []),
        ("exp3", ["out_of_memory"]),
    ]
    assert all("slurm.blog" in [n.source for n in r.notes] for r in runs)


def test_logs_without_a_training_loss_join_the_only_run(folder):
    folder.log("a/train.alog", LOSS)
    folder.log("b/eval.alog", falling(0, 500, start=2.0), tag="eval_loss")
    assert tags(folder.run()) == ["eval_loss", "loss"]


def test_a_log_without_a_training_loss_is_still_a_run(folder):
    folder.log("eval.alog", LOSS, tag="eval_loss")
    folder.log("conf/args.blog", settings={"lr": 0.1})
    run = folder.run()
    assert (tags(run), run.config.lr_peak) == (["eval_loss"], 0.1)


@pytest.mark.parametrize("what", [{"settings": {"lr": 0.1}}, {"text": ["traceback"]}])
def test_settings_or_a_traceback_alone_are_a_run(folder, what):
    folder.log("args.alog", **what)
    run = folder.run()
    assert (run.series, run.name) == ((), "")
    assert run.config.lr_peak == 0.1 or run.text


def test_a_checkpoint_alone_is_a_run(folder):
    folder.write("checkpoint-5/model.safetensors")
    assert [c.step for c in folder.run().checkpoints] == [5]


def test_ranks_in_the_names_of_saved_states_tell_the_number_of_processes(folder):
    folder.log("a.alog", LOSS)
    folder.write("checkpoint-5/model.safetensors")
    for rank in range(4):
        folder.write(f"checkpoint-5/rng_state_{rank}.pth", "x")
    assert folder.run().config.world_size == 4


def test_the_order_of_runs_and_series_is_the_same_each_time(folder):
    for number in (10, 9, 2):
        folder.log(f"run{number}/a.alog", falling(0, 500, start=number), more=[("lr", LOSS)])
    once, twice = folder.runs(), folder.runs()
    assert [r.name for r in once] == ["run2", "run9", "run10"]
    assert [[s.tag for s in r.series] for r in once] == [[s.tag for s in r.series] for r in twice]
