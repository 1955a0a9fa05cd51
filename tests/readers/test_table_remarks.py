from forensics.readers.csv_log import READER as CSV
from forensics.readers.json_lines import READER as JSON_LINES
from forensics.run import TextKind
from tests.readers.tables import by_tag, lines, read

CRASH = (
    'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
)


def test_rows_prove_nothing_by_themselves(tmp_path):
    assert not read(CSV, tmp_path, "a.csv", "step,loss\n10,2.5\nsee below\n20,2.25\n").text


def test_a_traceback_below_a_pasted_table(tmp_path):
    reading = read(CSV, tmp_path, "log.txt", "step | loss\n10 | 2.5\n20 | nan\n\n" + CRASH)
    assert len(by_tag(reading)["loss"].value) == 2
    found = {evidence.kind: evidence for evidence in reading.text}
    assert found[TextKind.OUT_OF_MEMORY].line == 7
    assert found[TextKind.OUT_OF_MEMORY].step == 20


def test_a_traceback_between_lines_of_json(tmp_path):
    rows = lines({"step": 10, "loss": 2.5}, {"step": 20, "loss": 2.25})
    reading = read(JSON_LINES, tmp_path, "log.jsonl", rows + CRASH)
    assert TextKind.OUT_OF_MEMORY in {evidence.kind for evidence in reading.text}
    assert {evidence.step for evidence in reading.text} == {20}
