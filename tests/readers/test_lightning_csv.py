from forensics.readers.csv_log import READER as CSV
from forensics.readers.lightning_csv import READER
from tests.readers.tables import by_tag, points, read, takes

METRICS = """\
epoch,lr-AdamW,step,train_loss_epoch,train_loss_step,val_loss
,0.0006,2,,,
0,,2,,2.5,
0,,5,,nan,
0,,7,,,0.4255
0,,7,2.4,,
1,,8,,2.0,
"""


def test_only_its_own_file_is_taken(tmp_path):
    assert not takes(READER, tmp_path, "results.csv", METRICS)
    assert not takes(READER, tmp_path, "metrics.csv", "name,comment\na,b\n")
    assert not takes(READER, tmp_path, "metrics.csv", "loss,iteration\n2.5,1\n")
    assert takes(READER, tmp_path, "metrics.csv", METRICS)
    assert READER.order < CSV.order


def test_several_rows_of_one_step(tmp_path):
    found = by_tag(read(READER, tmp_path, "lightning_logs/version_0/metrics.csv", METRICS))
    assert points(found["train_loss_step"]) == [(2, 2.5), (5, "nan"), (8, 2.0)]
    assert points(found["train_loss_epoch"]) == [(7, 2.4)]
    assert points(found["val_loss"]) == [(7, 0.4255)]
    assert points(found["lr-AdamW"]) == [(2, 0.0006)]
    assert points(found["epoch"])[-1] == (8, 1.0)


def test_the_rows_of_one_call_are_no_new_epochs(tmp_path):
    text = "epoch,step,train_loss\n" + "".join(
        f"{e},{e * 4 + i},{3 - e}.5\n" for e in range(3) for i in range(4)
    )
    found = by_tag(read(READER, tmp_path, "metrics.csv", text))
    assert found["train_loss"].step.tolist() == list(range(12))


def test_a_file_cut_at_any_byte(tmp_path):
    whole = [2, 5, 7, 8]
    for size in range(METRICS.index("\n") + 1, len(METRICS)):
        found = by_tag(read(READER, tmp_path, "metrics.csv", METRICS[:size]))
        for series in found.values():
            assert set(series.step.tolist()) <= set(whole)
