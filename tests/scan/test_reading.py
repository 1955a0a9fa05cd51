"""Ranges of files, in whole elements."""

import os

import pytest

from forensics.checkpoints import Extent
from forensics.scan import reading
from forensics.scan.reading import EndedEarlyError, Files


def read(extents, itemsize=1):
    with Files() as files:
        return b"".join(chunk.tobytes() for chunk in files.chunks(tuple(extents), itemsize))


def test_nothing_is_read_of_nothing(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert read([]) == b""
    assert read([Extent(str(path), 1, 0)]) == b""


def test_ranges_follow_one_another(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(name.encode() * 10)
    extents = [Extent(str(tmp_path / n), 3, c) for n, c in (("a", 2), ("b", 5), ("a", 1))]
    assert read(extents) == b"aabbbbba"


def test_a_rest_that_is_no_element_is_left_out(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    assert read([Extent(str(path), 0, 10)], itemsize=4) == b"01234567"
    assert read([Extent(str(path), 0, 3)], itemsize=4) == b""


def test_what_is_there_comes_before_the_error(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    got = []
    with pytest.raises(EndedEarlyError, match="a"), Files() as files:
        got.extend(c.tobytes() for c in files.chunks((Extent(str(path), 4, 60),), 4))
    assert b"".join(got) == b"4567"


def test_longer_than_the_buffer(tmp_path):
    data = os.urandom(3 * reading.CHUNK + 17)
    path = tmp_path / "a"
    path.write_bytes(data)
    assert read([Extent(str(path), 5, len(data) - 5)]) == data[5:]


def test_holes_are_zeros(tmp_path):
    """Before, between and behind what was written, and where the file shrank."""
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.seek(1 << 20)
        file.write(b"x" * 5000)
        file.seek(5 << 20)
        file.write(b"y")
        file.truncate(8 << 20)
    assert read([Extent(str(path), 0, 8 << 20)]) == path.read_bytes()
    os.truncate(path, 6 << 20)
    with pytest.raises(EndedEarlyError):
        read([Extent(str(path), 5 << 20, 3 << 20)])


def test_more_files_than_may_be_open(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_MOST_OPEN", 2)
    extents = []
    for place in range(7):
        path = tmp_path / str(place)
        path.write_bytes(str(place).encode())
        extents.append(Extent(str(path), 0, 1))
    assert read([*extents, *extents]) == b"01234560123456"
