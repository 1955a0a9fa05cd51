import json

import pytest

from forensics.readers.csv_log import READER as CSV
from forensics.readers.hf_trainer_state import READER as TRAINER_STATE
from forensics.readers.json_lines import READER as JSON_LINES
from tests.readers.tables import by_tag, lines, points, read


@pytest.mark.parametrize(
    "rows",
    [
        # logged every second row
        ["0,3,.1", "1,,.1", "2,2,.1", "3,,.1", "4,1,.1", "5,,.1", "6,,.1", "7,,.1"],
        # stops too shortly before the end
        ["0,3,.1", "1,2.5,.1", "2,2,.1", "3,,.1", "4,,.1"],
        # comes back
        ["0,3,.1", "1,2.5,.1", "2,2,.1", "3,,.1", "4,,.1", "5,,.1", "6,1,.1"],
        # this writer spells NaN
        ["0,3,nan", "1,2.5,.1", "2,2,.1", "3,,.1", "4,,.1", "5,,.1"],
    ],
)
def test_a_loss_that_was_not_logged_is_no_nan(tmp_path, rows):
    text = "step,loss,grad_norm\n" + "\n".join(rows) + "\n"
    found = by_tag(read(CSV, tmp_path, "a.csv", text))
    assert "nan" not in [value for _, value in points(found["loss"])]


def test_a_quantity_that_is_no_loss_may_stop(tmp_path):
    rows = "".join(f"{i},{3 - i / 10},{i if i < 4 else ''}\n" for i in range(9))
    found = by_tag(read(CSV, tmp_path, "a.csv", "step,loss,grad_norm\n" + rows))
    assert len(found["grad_norm"].value) == 4


def test_training_ends_and_evaluation_goes_on(tmp_path):
    rows = "".join(f"{i},{3 - i / 10},.1,\n" for i in range(5))
    rows += "".join(f"{i},,,0.5\n" for i in range(5, 9))
    found = by_tag(read(CSV, tmp_path, "a.csv", "step,loss,lr,eval_accuracy\n" + rows))
    assert len(found["loss"].value) == 5


def test_a_loss_that_stops_while_its_companion_goes_on_is_nan(tmp_path):
    rows = "".join(f"{i},{3 - i / 10 if i < 5 else ''},.1\n" for i in range(9))
    reading = read(CSV, tmp_path, "a.csv", "step,loss,lr\n" + rows)
    assert points(by_tag(reading)["loss"])[4:] == [(4, 2.6), *((i, "nan") for i in range(5, 9))]
    assert "loss is empty from step 5 on while lr goes on" in str(reading.notes[0])


def test_a_gap_before_a_logged_nan_is_nan(tmp_path):
    rows = ["0,3,.1", "1,2.5,.1", "2,2,.1", "3,,.1", "4,nan,.1", "5,,.1"]
    reading = read(CSV, tmp_path, "a.csv", "step,loss,lr\n" + "\n".join(rows) + "\n")
    assert points(by_tag(reading)["loss"])[2:] == [(2, 2.0), (3, "nan"), (4, "nan"), (5, "nan")]


def test_null_is_nan_to_some_writers(tmp_path):
    rows = [{"step": i, "loss": 2.5 if i < 5 else None, "grad_norm": 1.0} for i in range(9)]
    found = by_tag(read(JSON_LINES, tmp_path, "a.jsonl", lines(*rows)))
    assert points(found["loss"])[5:] == [(i, "nan") for i in range(5, 9)]


def test_the_trainer_spells_nan(tmp_path):
    rows = [{"step": i, "loss": 2.5, "learning_rate": 0.1} for i in range(5)]
    rows += [{"step": i, "reward": 1.0, "learning_rate": 0.1} for i in range(5, 9)]
    text = json.dumps({"log_history": rows})
    found = by_tag(read(TRAINER_STATE, tmp_path, "trainer_state.json", text))
    assert len(found["loss"].value) == 5
