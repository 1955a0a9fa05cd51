"""What pandas reads of a large file, against what the common loop reads."""

import warnings

import pytest

from forensics.readers import csv_log
from forensics.readers._base import no_progress
from forensics.readers._tables.blocks import read_blocks
from forensics.readers._tables.clean_csv import read_clean
from forensics.readers._tables.csv_grammar import CsvGrammar
from forensics.readers._tables.lines import read_lines
from tests.readers.tables import probe

ROWS = "0,2.5,0.1\n1,2.25,1e-05\n2,2.0,-0.0\n" * 3


def clean(root, text):
    """The table that pandas gives, None where it refuses; checked against the common loop."""
    file = probe(root, "log.csv", text)
    dialect = csv_log.dialect_of(file)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read_clean(file, no_progress, dialect)
    if table is not None:
        expected = read_lines(read_blocks(file.path, no_progress), CsvGrammar(dialect), bulk=False)
        assert table.length == expected.length
        assert set(table.columns) == set(expected.columns)
        for name, column in table.columns.items():
            assert column.rows.tolist() == expected.columns[name].rows.tolist()
            assert column.values.tobytes() == expected.columns[name].values.tobytes()
    return table


@pytest.mark.parametrize(
    "line",
    [
        "3,,0.1",
        "3,2.5",
        "3",
        "3,2.5,0.1,9",
        "3,NA,0.1",
        "3,-,0.1",
        "3,overflow,0.1",
        "3,1_0,0.1",
        "3,93%,0.1",
        "3,tensor(2.5),0.1",
        "step,loss,lr",
        "step,lr,loss",
        "# resumed",
        '3,"two\nlines",0.1',
    ],
)
def test_whatever_is_not_plain_is_refused(tmp_path, line):
    assert clean(tmp_path, f"step,loss,lr\n{ROWS}{line}\n{ROWS}") is None


@pytest.mark.parametrize("header", ["run_name,loss,lr", "split,loss,lr"])
def test_names_of_runs_and_phases_are_refused(tmp_path, header):
    assert clean(tmp_path, f"step,{header}\n" + "0,a,2.5,0.1\n" * 9) is None


def test_other_encodings_are_refused(tmp_path):
    assert clean(tmp_path, f"step,loss,lr\n{ROWS}".encode("utf-16")) is None
    assert clean(tmp_path, f"step,loss,lr\n{ROWS}".encode("utf-8-sig")) is None


@pytest.mark.parametrize(
    "text",
    [
        f"step,loss,lr\n{ROWS}",
        f"step,loss,lr\n{ROWS}".replace("\n", "\r\n"),
        f"step,loss,lr\n{ROWS}".replace(",", "\t"),
        f"title\n\nstep,loss,lr\n{ROWS}".replace("\n", "\n\n"),
        f"step,loss,lr\n{ROWS}".rstrip("\n"),
        "step;loss;lr\n0;2,5;0,1\n1;2,25;1e-5\n2;nan;3\n",
        "step,loss,lr\n0,nan,inf\n1,NaN,-inf\n2,1e400,Infinity\n3,5e-324,0.1\n",
        "step,loss,lr\n0, 2.5 ,0.30000000000000004\n1,0.1234567890123456789012345,1e-5\n",
        'step,loss,lr\n"0","2.5","0.1"\n"1","2.25","0.1"\n',
        "step,loss,lr\n"
        + "9007199254740993,2.2250738585072011e-308,179769313486231580793e289\n" * 2,
    ],
)
def test_plain_numbers_are_the_same(tmp_path, text):
    assert clean(tmp_path, text) is not None


def test_text_of_no_interest_is_passed_over(tmp_path):
    table = clean(tmp_path, "step,note,loss\n0,abc,2.5\n1,d e,2.25\n2,f,nan\n")
    assert list(table.columns) == ["step", "loss"]
