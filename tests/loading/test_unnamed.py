"""Numbers of which none can be taken for a loss: said with their names, never passed over."""

import pytest

from forensics.errors import NothingToAnalyse
from forensics.loading import load_runs


def _table(head, rows=12):
    return head + "\n" + "".join(f"{i * 0.1},{i},{3 - i * 0.1},x\n" for i in range(rows))


def _notes(folder):
    return [n for run in load_runs(folder) for n in run.notes if "known as a loss" in n.text]


def test_nothing_is_said_where_a_loss_was_read(tmp_path):
    (tmp_path / "log.csv").write_text("step,loss\n1,2.5\n2,2.4\n3,2.3\n")
    (tmp_path / "other.csv").write_text(_table("time,it,foo,name"))
    assert _notes(tmp_path) == []


def test_the_columns_of_a_table_that_no_reader_takes(tmp_path):
    (tmp_path / "config.json").write_text('{"lr": 0.1, "batch_size": 4, "epochs": 3}')
    (tmp_path / "metrics.csv").write_text(_table("time,it,foo,name"))
    (note,) = _notes(tmp_path)
    assert note.source == "metrics.csv"
    assert "seen: time, it, foo)" in note.text
    assert "'loss'" in note.text


def test_the_quantities_of_a_log_that_was_read(tmp_path):
    (tmp_path / "log.csv").write_text("step,lr,foo\n1,0.1,2.5\n2,0.1,2.4\n3,0.1,2.3\n")
    (note,) = _notes(tmp_path)
    assert "lr" in note.text
    assert "foo" in note.text


def test_a_folder_with_nothing_else_says_so_too(tmp_path):
    (tmp_path / "metrics.csv").write_text(_table("time,it,foo,name"))
    with pytest.raises(NothingToAnalyse, match="seen: time, it, foo"):
        load_runs(tmp_path)
