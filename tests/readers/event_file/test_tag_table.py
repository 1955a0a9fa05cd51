"""Tags to numbers, also where the table's slots are too few."""

import numpy as np
import pytest

from forensics.readers._event_file import tag_table
from forensics.readers._event_file.tag_table import TagTable


def rows(*tags):
    return np.array([list(tag.encode()) for tag in tags], np.uint8).reshape(len(tags), -1)


def test_empty_tags_are_one_tag():
    table = TagTable()
    assert table.identify(np.zeros((3, 0), np.uint8)).tolist() == [0, 0, 0]
    assert table.names == [b""]


def test_zeros_at_the_end_tell_tags_apart():
    table = TagTable()
    numbers = [int(table.identify(rows("a" + "\0" * n))[0]) for n in range(20)]
    assert numbers == list(range(20))


@pytest.mark.parametrize("bits", [1, 4, 16])
def test_every_tag_keeps_its_number(monkeypatch, bits):
    monkeypatch.setattr(tag_table, "_SLOT_BITS", bits)
    table, rng = TagTable(), np.random.default_rng(0)
    tags = [f"layer {i:04}" for i in range(500)]
    known: dict[str, int] = {}
    for _ in range(5):
        drawn = [tags[i] for i in rng.integers(0, len(tags), 300)]
        for tag, number in zip(drawn, table.identify(rows(*drawn)).tolist(), strict=True):
            assert known.setdefault(tag, number) == number
            assert table.names[number] == tag.encode()
