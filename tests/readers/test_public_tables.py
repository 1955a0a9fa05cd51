"""Tables from public reports and runs, as a person would paste or keep them."""

import csv
import json
import math
import re

import pytest

from forensics.readers import csv_log, hf_trainer_state, json_lines, json_log, lightning_csv
from forensics.readers._base import Probe, no_progress
from tests.readers.tables import by_tag, points, read, shared

READERS = sorted(
    (m.READER for m in (csv_log, hf_trainer_state, json_lines, json_log, lightning_csv)),
    key=lambda reader: reader.order,
)
FAILED = "genadam"  # these runs lost their NaN when pandas wrote them
PASTED = {"001": "loss", "002": "loss", "019": "loss", "089": "lm_loss"}


def log_block(case):
    """The lines under ``log: |``, without their indentation."""
    block = re.search(r"^log: \|\n((?:  .*\n|\n)*)", case.read_text(), re.MULTILINE)
    return "".join(line[2:] + "\n" for line in block[1].splitlines())


def naive(text, tag):
    """First cell and the cell of ``tag``, of each row with a whole number first and a value."""
    header, *rows = ([c.strip() for c in line.split("|")] for line in text.splitlines())
    place = header.index(tag)
    found = [(r[0], r[place]) for r in rows if len(r) == len(header) and r[0].isdigit()]
    return [(int(step), value) for step, value in found if value != "-"]


@pytest.mark.parametrize("name", ["table.csv", "log.txt"])
@pytest.mark.parametrize("number", PASTED)
def test_a_table_from_a_report(tmp_path, number, name):
    (case,) = shared("cases").glob(f"{number}-*.md")
    text = log_block(case)
    found = by_tag(read(csv_log.READER, tmp_path, name, text))
    expected = naive(text, PASTED[number])
    assert len(expected) > 1
    assert [(s, str(v)) for s, v in points(found[PASTED[number]])] == [
        (s, v if v == "nan" else str(float(v))) for s, v in expected
    ]


def test_words_from_a_report_are_no_table(tmp_path):
    declined = 0
    for case in sorted(shared("cases").glob("*.md")):
        text = log_block(case)
        if "|" not in text and not re.search(r"^[\d.e+-]+[,\s]", text, re.MULTILINE):
            (tmp_path / "log.txt").write_text(text)
            probe = Probe(tmp_path / "log.txt", tmp_path, len(text))
            assert not csv_log.READER.sniff(probe), case.name
            declined += 1
    assert declined > 10


def reader_of(path):
    probe = Probe(path, path.parent, path.stat().st_size)
    reader = next((r for r in READERS if r.sniff(probe)), None)
    return reader, reader.read(probe, no_progress) if reader else None


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def test_csv_of_public_runs():
    paths = sorted(shared("corpus").rglob("*.csv"))
    assert paths
    for path in paths:
        reader, reading = reader_of(path)
        assert reader is csv_log.READER, path
        notes = " ".join(note.text for note in reading.notes)
        assert not notes or (FAILED in path.parent.name and "taken for NaN" in notes)
        with path.open() as file:
            rows = list(csv.DictReader(file))
        for tag, series in by_tag(reading).items():
            if f"{tag} is empty" in notes:
                continue
            logged = [float(row[tag]) for row in rows if row[tag] != ""]
            assert len(logged) == len(series.value)
            assert all(map(same, logged, series.value.tolist()))


def test_json_lines_of_public_runs():
    names = ("*.jsonl", "scalars.json", "2023*.json")
    paths = sorted(path for name in names for path in shared("corpus").rglob(name))
    assert paths
    for path in paths:
        reader, reading = reader_of(path)
        assert reader is json_lines.READER, path
        assert not reading.notes
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        for tag, series in by_tag(reading).items():
            logged = [row[tag] for row in rows if row.get(tag) is not None]
            assert len(logged) == len(series.value)
            assert all(map(same, logged, series.value.tolist()))


def test_settings_of_public_runs_are_left_to_others():
    paths = [p for p in shared("corpus").rglob("*.json") if re.match("hparams|flags|meta", p.name)]
    assert paths
    for path in paths:
        assert reader_of(path) == (None, None)


def test_the_axis_of_public_runs():
    corpus = shared("corpus")
    for path, last in (
        ("nanogpt_B2_post_ln/B2_post_ln_seed2026_qrph5xpl_history.csv", 5000),
        ("improved_diffusion_kl/progress.csv", 24480),
        ("mmengine_scalars/scalars.json", 700),
        ("llamafactory_router_plateau/trainer_log.jsonl", 14),
    ):
        _, reading = reader_of(corpus / path)
        assert {int(s.step.max()) for s in reading.series} == {last}
