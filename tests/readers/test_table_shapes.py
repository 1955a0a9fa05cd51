"""Long tables, phases and runs in the rows or the header."""

from forensics.readers.csv_log import READER
from tests.readers.tables import by_tag, points, probe, read


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


def rows_of(seed, first, count=4):
    return "".join(f"{seed},{first + i},{2.5 / (i + 1)}\n" for i in range(count))


def test_a_seed_that_changes_at_a_resume_is_no_new_run(tmp_path):
    text = "seed,step,loss\n" + rows_of(0, 1) + rows_of(1, 5)
    assert {s.run for s in read(READER, tmp_path, "a.csv", text).series} == {""}


def test_a_seed_drawn_anew_for_each_row_is_no_run(tmp_path):
    text = "seed,step,loss\n" + "".join(rows_of(seed, 1, 1) for seed in range(30))
    assert {s.run for s in read(READER, tmp_path, "a.csv", text).series} == {""}


def test_seeds_that_each_count_from_the_start_are_runs(tmp_path):
    text = "seed,step,loss\n" + rows_of(0, 1) + rows_of(1, 1)
    found = read(READER, tmp_path, "a.csv", text).series
    assert {s.run for s in found} == {"seed 0", "seed 1"}


def test_an_export_of_wandb(tmp_path):
    text = (
        '"Step","one - train/loss","one - train/loss__MIN","two - train/loss"\n'
        '"0","2.5","2.5",""\n"1","2.25","2.2","nan"\n'
    )
    found = by_tag(read(READER, tmp_path, "wandb_export.csv", text))
    assert points(found["one:train/loss"]) == [(0, 2.5), (1, 2.25)]
    assert points(found["two:train/loss"]) == [(1, "nan")]
    assert len(found) == 2


def test_names_with_a_dash_are_no_export(tmp_path):
    text = "step,train - loss,val - loss\n0,2.5,2.6\n1,2.25,2.5\n"
    assert set(by_tag(read(READER, tmp_path, "a.csv", text))) == {"train - loss", "val - loss"}
    text = "step,loss,lr - Adam\n0,2.5,.1\n1,2.25,.1\n"
    assert set(by_tag(read(READER, tmp_path, "b.csv", text))) == {"loss", "lr - Adam"}


def test_a_row_without_a_run_belongs_to_the_one_before(tmp_path):
    text = "run,step,loss,val_loss\na,0,2.5,\n,0,,2.6\nb,0,3.5,\n,0,,3.6\n"
    found = by_tag(read(READER, tmp_path, "a.csv", text))
    assert points(found["a:val_loss"]) == [(0, 2.6)]
    assert points(found["b:val_loss"]) == [(0, 3.6)]


def test_names_of_rows_are_no_runs(tmp_path):
    text = "trial,step,loss\n" + "".join(f"t{i},{i},2.5\n" for i in range(900))
    assert len(by_tag(read(READER, tmp_path, "a.csv", text))["loss"].value) == 900


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
