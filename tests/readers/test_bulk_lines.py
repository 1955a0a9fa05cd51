"""The hot loop against its slow twin: the same table, bit for bit, whatever the lines hold."""

import json
import struct
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.readers._tables.csv_grammar import CsvGrammar
from forensics.readers._tables.dialect import Dialect
from forensics.readers._tables.doubles_numba import UNSURE, double_bits
from forensics.readers._tables.jsonl_grammar import JsonLinesGrammar
from forensics.readers._tables.lines import read_lines

COLUMNS = ("step", "loss", "run_name", "lr", "note")


def plain(table):
    columns = {
        name: (c.rows.tolist(), c.values.view(np.int64).tolist())
        for name, c in table.columns.items()
    }
    labels = {
        name: [(r, t.names[c]) for r, c in zip(t.rows.tolist(), t.codes.tolist(), strict=True)]
        for name, t in table.labels.items()
    }
    return table.length, columns, labels


def twins(text, make, block=1 << 20):
    data = text.encode() if isinstance(text, str) else text
    ends = [0]
    while ends[-1] < len(data):
        ends.append(data.find(b"\n", min(ends[-1] + block, len(data) - 1)) + 1 or len(data))
    blocks = [data[a:b] for a, b in pairwise(ends)]
    slow, fast = make(), make()
    expected = plain(read_lines([data], slow, bulk=False))
    assert plain(read_lines(blocks, fast, bulk=True)) == expected
    return expected, slow, fast


def csv(delimiter=",", columns=COLUMNS, comma=False):
    return lambda: CsvGrammar(Dialect(delimiter, columns, -1, comma))


def exact(decimal):
    """Bits of the double that Python reads."""
    return struct.unpack("<Q", struct.pack("<d", float(decimal)))[0]


@settings(deadline=None)
@given(st.integers(0, 2**64 - 1), st.integers(-360, 320))
def test_a_decimal_becomes_the_double_that_python_reads(digits, power):
    bits = int(double_bits(np.uint64(digits), power))
    assert bits in (UNSURE, exact(f"{digits}e{power}"))


@settings(deadline=None)
@given(st.integers(2**52, 2**53 - 1), st.integers(-4, 4))
def test_ties_go_to_even(mantissa, nudge):
    halfway = 2 * mantissa + 1 + nudge
    assert int(double_bits(np.uint64(halfway), 0)) == exact(halfway)


def test_what_is_common_is_within_reach():
    for decimal in ("2.3456789012345678", "1e-05", "9.900990099009901e-06", "1.7e308", "5e-300"):
        mantissa, _, exponent = decimal.partition("e")
        whole, _, fraction = mantissa.partition(".")
        power = int(exponent or 0) - len(fraction)
        assert int(double_bits(np.uint64(int(whole + fraction)), power)) == exact(decimal)


numbers = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.floats(allow_nan=False).map(lambda x: f"{x:.25f}"),
    st.integers(-(10**25), 10**25).map(str),
    st.sampled_from(
        ["nan", "NaN", "-inf", "Infinity", "1e5", "-0.0", "0.0000001", "1e400", "5e-324"]
    ),
)
cells = st.one_of(
    numbers,
    st.sampled_from(
        ["", " ", "NA", "None", "-", "1.2.3", "tensor(2.5)", "93%", "10/12", "1,5", "x"]
    ),
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            cells,
            cells,
            st.sampled_from(["a", "b", "", "7"]),
            numbers,
            st.text("ab\"'#, é", max_size=4),
        ),
        max_size=30,
    ),
    st.sampled_from([",", "\t", ";", "|"]),
)
def test_rows_of_csv(rows, delimiter):
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    twins(text, csv(delimiter), block=64)


def test_blank_separated_rows():
    text = "  1   2.5  a  0.1 x\n 2 nan a 0.1 y\n" * 20
    (length, columns, _), *_ = twins(text, csv(" "), block=100)
    assert length == 40
    assert len(columns["loss"][0]) == 40


def test_decimal_commas():
    twins("1;2,5;a;0,001;x\n2;2,25;a;1e-3;x\n" * 30, csv(";", comma=True), block=100)


def test_a_new_header_between_blocks_renames_what_follows():
    first = "".join(f"{i},{i}.5\n" for i in range(300))
    text = first + "step,grad_norm\n" + first + "step,loss\n" + first
    (length, columns, _), _, fast = twins(text, csv(columns=("step", "loss")), block=200)
    assert length == 900
    assert len(columns["loss"][0]) == 600
    assert columns["grad_norm"][0] == list(range(300, 600))
    assert fast.generation == 2


def test_quotes_that_span_lines_are_one_row():
    text = '1,2.5,a,0.1,"x\n5,6.5,a,0.1,y"\n' + "2,3.5,a,0.1,z\n" * 50
    (length, *_), *_ = twins(text, csv())
    assert length == 51


def test_interleaved_runs_keep_their_names():
    text = "".join(f"{i},{i / 7!r},run{i % 3},0.1,x\n" for i in range(500))
    (_, _, labels), *_ = twins(text, csv(), block=1000)
    assert labels["run_name"][4] == (4, "run1")


values = st.one_of(
    st.floats(),
    st.integers(-(10**20), 10**20),
    st.none(),
    st.booleans(),
    st.text(max_size=3),
    numbers,
    st.lists(st.integers(), max_size=2),
)
objects = st.dictionaries(
    st.sampled_from(["step", "loss", "lr", "run_name", "mode", "eta", "timestamp", "a b", "é"]),
    st.one_of(values, st.dictionaries(st.sampled_from(["loss", "x"]), values, max_size=2)),
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(objects, max_size=20), st.booleans(), st.integers(0, 3))
def test_lines_of_json(rows, compact, cut):
    separators = (",", ":") if compact else (", ", ": ")
    text = '{"step": 0, "loss": 1}\n' + "".join(
        json.dumps(row, separators=separators) + "\n" for row in rows
    )
    twins(text[: len(text) - cut], JsonLinesGrammar, block=64)


def test_rows_of_training_and_evaluation_take_turns():
    text = "".join(
        f'{{"step": {i}, "eval_loss": NaN}}\n'
        if i % 5 == 0
        else f'{{"step": {i}, "loss": {i / 3}}}\n'
        for i in range(400)
    )
    (length, columns, _), *_ = twins(text, JsonLinesGrammar, block=500)
    assert length == 400
    assert len(columns["eval_loss"][0]) == 80


def test_a_number_that_was_text_before_is_not_passed_over():
    text = '{"step": 1, "loss": "overflow", "x": "a"}\n{"step": 2, "loss": "2.5", "x": "b"}\n' * 9
    (_, columns, _), *_ = twins(text, JsonLinesGrammar)
    assert len(columns["loss"][0]) == 9


@pytest.mark.parametrize("cut", range(0, 30))
def test_a_last_line_that_is_cut(cut):
    text = "".join(f'{{"step": {i}, "loss": {i / 3}}}\n' for i in range(20))
    (length, *_), slow, fast = twins(text[: len(text) - cut], JsonLinesGrammar)
    assert length >= 18
    assert slow.damaged == fast.damaged
