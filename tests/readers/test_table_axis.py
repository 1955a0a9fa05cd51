"""What the x-axis of a table counts, and when its rows were written."""

import pytest

from forensics.readers.csv_log import READER
from forensics.run import Axis
from tests.readers.tables import by_tag, points, read


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
