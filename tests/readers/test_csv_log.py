import numpy as np
import pytest

from forensics.readers import config_yaml
from forensics.readers.csv_log import READER
from forensics.run import Axis
from tests.readers.tables import by_tag, points, probe, read, takes


def framed(bar, rule):
    """The plain table as Markdown or a terminal shows it."""
    header, *rows = (f"{bar} {line.replace(',', f' {bar} ')} {bar}" for line in PLAIN.splitlines())
    return "\n".join([header, rule, *rows]) + "\n"


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
        ("sweep.csv", "run_id,lr,batch_size,final_loss,epochs\na,0.1,32,2.3,10\nb,0.2,32,1.3,10\n"),
        ("values.txt", "10.5\n10.2\n9.8\n9.1\n8.5\n8.2\n"),
        ("results.csv", "model,lr,epochs,val_acc\nA,0.1,10,0.9\nB,0.2,20,0.8\n"),
        (
            "README.md",
            "# Zoo\n\n| Model | Epoch | Acc |\n|---|---|---|\n| A | 9 | 0.9 |\n" + "text\n" * 9,
        ),
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
        framed("|", "|:---|---:|---|"),
        framed("│", "├──────┼──────┼────┤"),
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
    assert str(reading.notes[0]).endswith("the header comes again: 1")


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
    assert "cells beyond the header were left out: 1" in notes
    assert "no rows and were left out: 2" in notes


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


def test_a_header_longer_than_the_head_of_a_file(tmp_path):
    names = [f"grad_norm/layer_{i}" for i in range(5000)]
    text = ",".join(["step", "loss", *names]) + "\n" + ",".join(["7", *["1.5"] * 5001]) + "\n"
    assert text.index("\n") > 1 << 16
    found = by_tag(read(READER, tmp_path, "wide.csv", text))
    assert len(found) == 5001
    assert points(found["grad_norm/layer_4999"]) == [(7, 1.5)]


def test_an_index_is_no_quantity(tmp_path):
    for first in ("", "Unnamed: 0"):
        text = f"{first},step,loss\n0,10,2.5\n1,20,2.25\n"
        assert set(by_tag(read(READER, tmp_path, "a.csv", text))) == {"loss"}


def test_counters_in_words(tmp_path):
    text = "Epoch, Loss\nEpoch 1/3, 2.5\nEpoch 2/3, 2.25\n"
    assert points(by_tag(read(READER, tmp_path, "a.csv", text))["Loss"]) == [(1, 2.5), (2, 2.25)]


def test_a_header_without_rows_is_said(tmp_path):
    reading = read(READER, tmp_path, "log.csv", "step,loss\n")
    assert not reading.series
    assert "no values" in str(reading.notes[0])


def test_the_table_of_a_model_card(tmp_path):
    text = (
        "# my-model\n\nThis model was fine-tuned.\n\n## Training results\n\n"
        "| Training Loss | Epoch | Step | Validation Loss |\n|:---:|:---:|:---:|:---:|\n"
        "| No log | 0.5 | 100 | 2.5 |\n| 2.25 | 1.0 | 200 | 2.4 |\n\n### Framework versions\n\n"
        "- Transformers 4.41.2\n- CUDA out of memory\n" + "words\n" * 40 + "| 0.9 | 3.0 | 4 | 5 |\n"
    )
    reading = read(READER, tmp_path, "README.md", text)
    assert not reading.text
    assert not reading.notes
    found = by_tag(reading)
    assert points(found["Training Loss"]) == [(200, 2.25)]
    assert points(found["Validation Loss"]) == [(100, 2.5), (200, 2.4)]


def test_a_large_file_is_read_as_a_small_one(tmp_path):
    text = "step,loss,grad_norm\n"
    for i in range(250_000):
        loss = repr(2 + 1 / (i + 1)) if i % 7 else ""
        text += f"{i},{loss},{i / 3 if i % 11 else 'nan'}\n"
    assert len(text) > 8 << 20
    found = by_tag(read(READER, tmp_path, "big.csv", text))
    kept = [i for i in range(250_000) if i % 7]
    assert found["loss"].step.tolist() == kept
    assert found["loss"].value.tolist() == [2 + 1 / (i + 1) for i in kept]
    assert np.isnan(found["grad_norm"].value).sum() == len(range(0, 250_000, 11))


def test_settings_that_name_a_step_schedule_are_no_table(tmp_path):
    found = probe(tmp_path, "config.yaml", "learning_rate: 1e-3\nlr_scheduler: step\n")
    assert not READER.sniff(found)
    assert config_yaml.READER.sniff(found)
