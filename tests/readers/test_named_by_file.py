"""Files that hold one quantity and tell its name by their own."""

import pytest

from forensics.readers.csv_log import READER
from forensics.run import Axis
from tests.readers.tables import by_tag, points, read

MLFLOW = f"mlruns/0/{'a' * 32}/metrics"


@pytest.mark.parametrize(
    ("name", "content", "tag", "expected"),
    [
        (
            "plots/metrics/train/loss.tsv",
            "step\tloss\n0\t2.5\n1\tnan\n",
            "train/loss",
            [2.5, "nan"],
        ),
        ("plots/metrics/eval/dice.tsv", "timestamp\tstep\tdice\n1\t0\t.5\n", "eval/dice", [0.5]),
        (
            f"{MLFLOW}/train/loss",
            "1700000000000 2.5 0\n1700000001000 inf 1\n",
            "train/loss",
            [2.5, "inf"],
        ),
        (
            "run-a-tag-train_loss.csv",
            "Wall time,Step,Value\n1700000000.5,0,2.5\n",
            "train_loss",
            [2.5],
        ),
        ("loss_history.csv", "step,value\n0,2.5\n1,2.25\n", "loss", [2.5, 2.25]),
        (
            "losses.txt",
            "0 2.5\n1 2.4\n2 2.3\n3 2.2\n4 2.1\n5 2.0\n",
            "loss",
            [2.5, 2.4, 2.3, 2.2, 2.1, 2.0],
        ),
    ],
)
def test_files_whose_name_tells_the_quantity(tmp_path, name, content, tag, expected):
    found = by_tag(read(READER, tmp_path, name, content))
    assert points(found[tag]) == list(enumerate(expected))


def test_deepspeed_counts_samples(tmp_path):
    text = "step,lr\n32,0.1\n64,0.2\nstep,lr\n64,0.2\n"
    found = by_tag(read(READER, tmp_path, "ds/Train_Samples_lr.csv", text))
    assert found["lr"].axis is Axis.SAMPLES
    assert points(found["lr"]) == [(32, 0.1), (64, 0.2), (64, 0.2)]


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


def test_one_number_a_line(tmp_path):
    text = "2.5\n2.25\nnan\n2.0\n1.75\n1.5\n"
    found = by_tag(read(READER, tmp_path, "train_losses.txt", text))
    assert found["train_loss"].axis is Axis.ROW
    assert points(found["train_loss"])[:3] == [(0, 2.5), (1, 2.25), (2, "nan")]


def test_a_monitor_of_stable_baselines(tmp_path):
    text = '#{"t_start": 1700000000.1, "env_id": "CartPole-v1"}\nr,l,t\n20.0,20,0.5\n31.0,31,0.9\n'
    found = by_tag(read(READER, tmp_path, "0.monitor.csv", text))
    assert points(found["episode_reward"]) == [(0, 20.0), (1, 31.0)]
