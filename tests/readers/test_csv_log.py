import numpy as np
import pytest

from forensics.readers.csv_log import READER
from forensics.run import Axis
from tests.readers.tables import by_tag, points, probe, read, takes

PLAIN = "step,loss,lr\n0,2.5,0.1\n10,2.25,0.1\n20,nan,0.2\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", ""),
        ("text.csv", "name,comment\nalice,hello\nbob,step by step\n"),
        ("data.csv", "age,income,label\n31,40000,1\n25,20000,0\n"),
        (
            "claims.csv",
            "id," + ",".join(f"cont{i}" for i in range(60)) + ",loss\n1" + ",0.5" * 61 + "\n",
        ),
        ("payments.csv", "step,type,amount,isFraud\n1,PAYMENT,9839.64,0\n1,TRANSFER,181.0,1\n"),
        ("sweep.csv", "model,gamma,outcome\nA,0.9,NaN\nB,0.5,explodes\n"),
        ("xy.csv", "0,1.5\n1,1.25\n2,1.0\n3,0.5\n4,0.25\n5,0.1\n"),
        ("gpu.csv", "timestamp, name, utilization.gpu [%]\n2024/01/01 10:00:00, H100, 99 %\n"),
        ("train.log", "step 10: loss 2.5, time 135ms\nstep 20: loss 2.25, time 134ms\n" * 30),
        ("pipes.log", " iteration 100/ 500 | lm loss: 9.1E+00 | grad norm: 1.2 |\n" * 30),
        ("kv.txt", "-----\n| grad_norm | 68.3 |\n| loss | 13.0 |\n-----\n" * 9),
        ("notes.md", "# Loss and step\n\nThe loss rose at step 10.\n" + "More words here.\n" * 20),
        (
            "prose.txt",
            "Loss and gradient norm per step\n" + "we saw 3 of 5 runs fail at once\n" * 20,
        ),
        ("model.json", '{"step": 1, "loss": 2.5}\n'),
        ("weights.bin", b"\x80\x02}q\x00" + bytes(range(256)) * 9),
        ("zeros.csv", b"\0" * 5000),
        ("vocab.txt", "loss\nstep\nepoch\nlearning\n"),
    ],
)
def test_what_is_no_log_of_a_training_is_declined(tmp_path, name, content):
    assert not takes(READER, tmp_path, name, content)


def test_empty_is_not_logged_and_nan_is_a_value(tmp_path):
    text = "step,loss,grad_norm\n0,2.5,\n1,NA,1.5\n2,nan,null\n3,inf,-\n4,-Infinity,None\n"
    found = by_tag(read(READER, tmp_path, "log.csv", text))
    assert points(found["loss"]) == [(0, 2.5), (2, "nan"), (3, "inf"), (4, "-inf")]
    assert points(found["grad_norm"]) == [(1, 1.5)]


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "|"),
        PLAIN.replace(",", " | "),
        PLAIN.replace(",", "   "),
        PLAIN.replace(",", " "),
        PLAIN.replace(",", " , "),
        "\n".join(f"| {line.replace(',', ' | ')} |" for line in PLAIN.splitlines()),
        "| step | loss | lr |\n|:---|---:|---|\n| 0 | 2.5 | .1 |\n| 10 | 2.25 | .1 |\n| 20 | nan | .2 |\n",
        "+----+\n│ step │ loss │ lr │\n├────┤\n│ 0 │ 2.5 │ .1 │\n│ 10 │ 2.25 │ .1 │\n│ 20 │ nan │ .2 │\n",
        '"step","loss","lr"\n"0","2.5","0.1"\n"10","2.25","0.1"\n"20","nan","0.2"\n',
        "    step,     loss,   lr\n   0,  2.5, 0.1\n  10, 2.25, 0.1\n  20,  nan, 0.2\n",
        "# step,loss,lr\n0,2.5,0.1\n10,2.25,0.1\n20,nan,0.2\n",
        "# started today\n" + PLAIN.replace("10,", "# resumed\n10,"),
        "My run, second try:\n\n" + PLAIN,
        "step;loss;lr\n0;2,5;0,1\n10;2,25;0,1\n20;nan;0,2\n",
        ",step,loss,lr\n0,0,2.5,0.1\n1,10,2.25,0.1\n2,20,nan,0.2\n",
        PLAIN.encode("utf-16"),
        PLAIN.encode("utf-16-le"),
        PLAIN.encode("utf-8-sig"),
        PLAIN.replace("2.25", "np.float64(2.25)").encode(),
        PLAIN.rstrip("\n"),
    ],
)
def test_every_way_to_write_a_table(tmp_path, content):
    found = by_tag(read(READER, tmp_path, "log.csv", content))
    assert points(found["loss"]) == [(0, 2.5), (10, 2.25), (20, "nan")]
    assert points(found["lr"]) == [(0, 0.1), (10, 0.1), (20, 0.2)]
    assert found["loss"].axis is Axis.STEP


def test_a_header_that_comes_again_is_a_restart(tmp_path):
    reading = read(READER, tmp_path, "log.csv", PLAIN + PLAIN)
    assert by_tag(reading)["loss"].step.tolist() == [0, 10, 20, 0, 10, 20]
    assert "comes again 1 time" in str(reading.notes[0])


def test_a_new_header_renames_the_columns_from_there_on(tmp_path):
    text = PLAIN + "step,grad_norm,loss\n30,1.5,2.0\n"
    found = by_tag(read(READER, tmp_path, "log.csv", text))
    assert points(found["loss"])[-1] == (30, 2.0)
    assert points(found["grad_norm"]) == [(30, 1.5)]


def test_ragged_rows_keep_what_is_sure(tmp_path):
    text = "step,loss,lr\n0,2.5\n1,2.25,0.1,9,9\n2\nabc\n3,2.0,0.1\nx4,9.0,0.1\n"
    reading = read(READER, tmp_path, "log.csv", text)
    found = by_tag(reading)
    assert points(found["loss"]) == [(0, 2.5), (1, 2.25), (3, 2.0)]
    assert points(found["lr"]) == [(1, 0.1), (3, 0.1)]
    notes = " ".join(map(str, reading.notes))
    assert "1 rows have more cells" in notes
    assert "2 lines are no rows" in notes


def test_quotes_may_hold_delimiters_and_line_ends(tmp_path):
    text = 'step,comment,loss\n0,"one, two\n3,4",2.5\n1,"a ""b""",2.25\n'
    found = by_tag(read(READER, tmp_path, "log.csv", text))
    assert points(found["loss"]) == [(0, 2.5), (1, 2.25)]


def test_a_last_row_that_was_cut_gives_its_whole_cells(tmp_path):
    found = by_tag(read(READER, tmp_path, "log.csv", "step,loss,lr\n0,2.5,0.1\n1,2.25,0.1\n2,1"))
    assert points(found["loss"]) == [(0, 2.5), (1, 2.25)]


def test_a_counter_that_was_cut_is_no_rewind(tmp_path):
    text = "loss,step\n2.5,80\n2.25,90\n2.0,10"
    assert points(by_tag(read(READER, tmp_path, "a.csv", text))["loss"]) == [(80, 2.5), (90, 2.25)]
    text = "loss,step\n2.5,80\n2.25,90\n2.0,100"
    assert points(by_tag(read(READER, tmp_path, "b.csv", text))["loss"])[-1] == (100, 2.0)


@pytest.mark.parametrize("name", ["plain.csv", "quoted.csv", "pipes.md"])
def test_a_file_cut_at_any_byte_is_read_or_declined(tmp_path, name):
    content = {
        "plain.csv": PLAIN + "30,tensor(2.0),1e-3\n",
        "quoted.csv": 'step,note,loss\n0,"a\nb",2.5\n1,"é",1.5\n',
        "pipes.md": "| step | loss |\n|---|---|\n| 0 | 2.5 |\n| 10 | - |\n",
    }[name].encode()
    whole = by_tag(read(READER, tmp_path, name, content))["loss"]
    for size in range(len(content)):
        file = probe(tmp_path, name, content[:size])
        if READER.sniff(file):
            for series in READER.read(file, lambda _: None).series:
                if series.tag == "loss":
                    assert set(series.step.tolist()) <= set(whole.step.tolist()) | {1, 2, 3}


def test_the_optimizer_step_is_preferred_to_a_counter_of_rows(tmp_path):
    text = "_step,iter,epoch,loss\n0,0,0,2.5\n1,10,0,2.25\n2,20,1,2.0\n"
    found = by_tag(read(READER, tmp_path, "wandb.csv", text))
    assert found["loss"].step.tolist() == [0, 10, 20]
    assert points(found["epoch"]) == [(0, 0.0), (10, 0.0), (20, 1.0)]
    text = "step,trainer/global_step,loss\n0,0,2.5\n1,50,2.25\n2,100,2.0\n"
    assert by_tag(read(READER, tmp_path, "a.csv", text))["loss"].step.tolist() == [0, 50, 100]


def test_a_counter_on_few_rows_does_not_count(tmp_path):
    text = (
        "_step,global_step,loss\n" + "".join(f"{i},,{3 - i / 10}\n" for i in range(9)) + "9,9,2\n"
    )
    assert by_tag(read(READER, tmp_path, "a.csv", text))["loss"].step.tolist() == list(range(10))


@pytest.mark.parametrize(
    ("text", "axis", "steps"),
    [
        ("epoch,loss,val_loss\n0,2.5,2.6\n1,2.25,2.4\n0,2.2,2.3\n", Axis.EPOCH, [0, 1, 0]),
        ("samples,loss\n512,2.5\n1024,2.25\n1536,2.0\n", Axis.SAMPLES, [512, 1024, 1536]),
        ("tokens_seen,loss\n4096,2.5\n8192,2.25\n12288,2.0\n", Axis.SAMPLES, [4096, 8192, 12288]),
        ("loss,lr\n2.5,0.1\n2.25,0.1\n2.0,0.1\n", Axis.ROW, [0, 1, 2]),
        ("epoch,loss\n0.01,2.5\n0.02,2.25\n0.03,2.0\n", Axis.ROW, [0, 1, 2]),
        ("epoch,loss\n0,2.5\n0,2.25\n0,2.0\n", Axis.ROW, [0, 1, 2]),
        ("idx,loss,lr\n4,2.5,.1\n5,2.25,.1\n6,2.0,.1\n", Axis.ROW, [4, 5, 6]),
        ("epoch,step,loss\n0,5,2.5\n1,10,2.25\n2,15,2.0\n", Axis.STEP, [5, 10, 15]),
    ],
)
def test_the_axis(tmp_path, text, axis, steps):
    loss = by_tag(read(READER, tmp_path, "log.csv", text))["loss"]
    assert loss.axis is axis
    assert loss.step.tolist() == steps


def test_an_iteration_that_starts_anew_in_each_epoch_is_counted_through(tmp_path):
    rows = "".join(f"{e},{i},{3 - e - i / 100}\n" for e in range(3) for i in (10, 20, 30))
    loss = by_tag(read(READER, tmp_path, "log.csv", "epoch,iter,loss\n" + rows))["loss"]
    assert loss.step.tolist() == [10, 20, 30, 40, 50, 60, 70, 80, 90]


def test_a_restart_is_no_new_epoch(tmp_path):
    text = "epoch,step,loss\n0,10,3\n1,20,2\n2,30,1\n1,20,2\n2,30,1\n"
    loss = by_tag(read(READER, tmp_path, "log.csv", text))["loss"]
    assert loss.step.tolist() == [10, 20, 30, 20, 30]


def test_a_row_without_a_step_happened_after_the_row_before(tmp_path):
    text = "step,loss,val_loss\n10,2.5,\n20,2.25,\n,,2.4\n30,2.0,\n"
    assert points(by_tag(read(READER, tmp_path, "a.csv", text))["val_loss"]) == [(20, 2.4)]


def test_runs_in_one_file_are_told_apart(tmp_path):
    text = "run_name,step,loss\na,0,2.5\nb,0,3.5\na,1,2.25\nb,1,nan\n"
    found = by_tag(read(READER, tmp_path, "runs.csv", text))
    assert points(found["a:loss"]) == [(0, 2.5), (1, 2.25)]
    assert points(found["b:loss"]) == [(0, 3.5), (1, "nan")]
    text = "run,step,loss\n7,0,2.5\n8,0,3.5\n7,1,2.25\n"
    assert points(by_tag(read(READER, tmp_path, "n.csv", text))["7:loss"]) == [(0, 2.5), (1, 2.25)]


def test_one_run_needs_no_name(tmp_path):
    found = by_tag(read(READER, tmp_path, "a.csv", "run_name,step,loss\na,0,2.5\na,1,2.25\n"))
    assert points(found["loss"]) == [(0, 2.5), (1, 2.25)]


def test_an_export_of_wandb(tmp_path):
    text = (
        '"Step","one - train/loss","one - train/loss__MIN","one - train/loss__MAX","two - train/loss"\n'
        '"0","2.5","2.5","2.5",""\n"1","2.25","2.2","2.3","nan"\n'
    )
    found = by_tag(read(READER, tmp_path, "wandb_export.csv", text))
    assert points(found["one:train/loss"]) == [(0, 2.5), (1, 2.25)]
    assert points(found["two:train/loss"]) == [(1, "nan")]
    assert len(found) == 2


def test_a_long_table_names_its_quantities_in_the_rows(tmp_path):
    text = "step,tag,value\n0,train/loss,2.5\n0,lr,0.1\n10,train/loss,nan\n10,lr,\n"
    found = by_tag(read(READER, tmp_path, "scalars.csv", text))
    assert points(found["train/loss"]) == [(0, 2.5), (10, "nan")]
    assert points(found["lr"]) == [(0, 0.1)]


def test_a_long_table_of_something_else_gives_no_series(tmp_path):
    text = "step,name,value\n0,alice,2.5\n1,bob,3.5\n"
    file = probe(tmp_path, "people.csv", text)
    assert not READER.sniff(file) or not READER.read(file, lambda _: None).series


def test_phases_are_told_apart(tmp_path):
    text = "split,step,loss\ntrain,0,2.5\nval,0,2.6\ntrain,1,2.25\nval,1,nan\n"
    found = by_tag(read(READER, tmp_path, "log.csv", text))
    assert points(found["loss"]) == [(0, 2.5), (1, 2.25)]
    assert points(found["val/loss"]) == [(0, 2.6), (1, "nan")]


def test_moments_become_wall_times_and_durations_do_not(tmp_path):
    text = "_timestamp,wall_time,step,loss\n1700000000.5,0.1,0,2.5\n1700000009.5,9.1,1,2.25\n"
    found = by_tag(read(READER, tmp_path, "log.csv", text))
    assert found["loss"].wall_time.tolist() == [1700000000.5, 1700000009.5]
    assert points(found["wall_time"]) == [(0, 0.1), (1, 9.1)]
    text = "timestamp,step,loss\n2023-11-14 22:13:20,0,2.5\n2023-11-14 22:13:29,1,2.25\n"
    found = by_tag(read(READER, tmp_path, "text.csv", text))
    assert found["loss"].wall_time.tolist() == [1700000000.0, 1700000009.0]


def test_rounding_is_seen(tmp_path):
    text = "step,loss,lr\n" + "".join(
        f"{i},{2.5 - i / 1000:.3f},{1 / (i + 3)!r}\n" for i in range(9)
    )
    found = by_tag(read(READER, tmp_path, "log.csv", text))
    assert found["loss"].digits == 3
    assert found["lr"].digits is None


def test_a_position_of_a_total(tmp_path):
    reading = read(READER, tmp_path, "log.csv", "step,loss\n10/40,2.5\n20/40,2.25\n")
    assert by_tag(reading)["loss"].step.tolist() == [10, 20]
    assert reading.settings == {"max_steps": 40}


def test_a_header_without_rows_is_said(tmp_path):
    reading = read(READER, tmp_path, "log.csv", "step,loss\n")
    assert not reading.series
    assert "no values" in str(reading.notes[0])


def test_the_table_of_a_model_card(tmp_path):
    text = (
        "# my-model\n\nThis model was fine-tuned.\n\n## Training results\n\n"
        "| Training Loss | Epoch | Step | Validation Loss |\n|:---:|:---:|:---:|:---:|\n"
        "| No log | 0.5 | 100 | 2.5 |\n| 2.25 | 1.0 | 200 | 2.4 |\n\n### Framework versions\n\n"
        "- Transformers 4.41.2\n- Pytorch 2.3\n" + "words\n" * 40
    )
    found = by_tag(read(READER, tmp_path, "README.md", text))
    assert points(found["Training Loss"]) == [(200, 2.25)]
    assert points(found["Validation Loss"]) == [(100, 2.5), (200, 2.4)]


@pytest.mark.parametrize(
    ("name", "content", "tag", "axis", "expected"),
    [
        ("ds/Train_Samples_lr.csv", "step,lr\n32,0.1\nstep,lr\n32,0.1\n", "lr", Axis.SAMPLES, [(32, 0.1)] * 2),
        ("dvclive/plots/metrics/train/loss.tsv", "step\tloss\n0\t2.5\n1\tnan\n", "train/loss", Axis.STEP, [(0, 2.5), (1, "nan")]),
        ("dvclive/plots/metrics/eval/dice.tsv", "timestamp\tstep\tdice\n1\t0\t.5\n", "eval/dice", Axis.STEP, [(0, 0.5)]),
        (f"mlruns/0/{'a' * 32}/metrics/train/loss", "1700000000000 2.5 0\n1700000001000 nan 10\n", "train/loss", Axis.STEP, [(0, 2.5), (10, "nan")]),
        ("run-a-tag-train_loss.csv", "Wall time,Step,Value\n1700000000.5,0,2.5\n", "train_loss", Axis.STEP, [(0, 2.5)]),
        ("losses.txt", "0 2.5\n1 2.4\n2 2.3\n3 2.2\n4 2.1\n5 2.0\n", "loss", Axis.STEP, [(i, (25 - i) / 10) for i in range(6)]),
    ],
)  # fmt: skip
def test_files_whose_name_tells_the_quantity(tmp_path, name, content, tag, axis, expected):
    found = by_tag(read(READER, tmp_path, name, content))
    assert found[tag].axis is axis
    assert points(found[tag]) == expected


def test_a_store_of_mlflow_says_when(tmp_path):
    name = f"mlruns/0/{'a' * 32}/metrics/loss"
    found = by_tag(read(READER, tmp_path, name, "1700000000000 2.5 0 data abc123\n"))
    assert found["loss"].wall_time.tolist() == [1700000000.0]


def test_a_guess_is_said(tmp_path):
    reading = read(
        READER, tmp_path, "train_log.csv", "".join(f"{i},{3 - i / 10}\n" for i in range(9))
    )
    assert "no header" in str(reading.notes[0])
    assert len(by_tag(reading)["loss"].value) == 9


def test_a_monitor_of_stable_baselines(tmp_path):
    text = '#{"t_start": 1700000000.1, "env_id": "CartPole-v1"}\nr,l,t\n20.0,20,0.5\n31.0,31,0.9\n'
    found = by_tag(read(READER, tmp_path, "0.monitor.csv", text))
    assert points(found["episode_reward"]) == [(0, 20.0), (1, 31.0)]


def test_a_large_file_is_read_as_a_small_one(tmp_path):
    rows = [
        f"{i},{'' if i % 7 == 0 else repr(2 + 1 / (i + 1))},{'nan' if i % 11 == 0 else repr(i / 3)}\n"
        for i in range(250_000)
    ]
    text = "step,loss,grad_norm\n" + "".join(rows)
    assert len(text) > 8 << 20
    found = by_tag(read(READER, tmp_path, "big.csv", text))
    kept = [i for i in range(250_000) if i % 7]
    assert found["loss"].step.tolist() == kept
    assert found["loss"].value.tolist() == [2 + 1 / (i + 1) for i in kept]
    assert np.isnan(found["grad_norm"].value).sum() == len(range(0, 250_000, 11))
