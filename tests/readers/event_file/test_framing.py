"""Records and damage, against the slow twin; what is found must not depend on the pieces."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.readers._base import no_progress
from forensics.readers._event_file import chain, stream
from tests.readers.event_file.twin import VERSION, naive_records, record, scalar

PIECES = (64, 100, 333, 1 << 22)


@pytest.fixture(autouse=True)
def _short_stretches(monkeypatch):
    """Make repetitions be looked for in small files too."""
    monkeypatch.setattr(chain, "_STRETCH", 8)
    monkeypatch.setattr(chain, "_AHEAD", 500)


def found(path, size):
    """Payloads in file order and what was lost, neighbours made one."""
    payloads, lost = [], []
    for piece in stream.read_pieces(path, no_progress, size):
        rows = [
            (number, row.tobytes())
            for batch in piece.batches
            for number, row in zip(batch.number.tolist(), batch.rows, strict=True)
        ]
        payloads += [payload for _, payload in sorted(rows)]
        lost += [(span.begin, span.end, span.cut) for span in piece.lost]
    return payloads, merged(lost)


def merged(lost):
    whole = []
    for begin, end, cut in lost:
        if whole and whole[-1][1] == begin and not whole[-1][2] and not cut:
            whole[-1] = (whole[-1][0], end, cut)
        else:
            whole.append((begin, end, cut))
    return whole


def check(path, data, pieces=PIECES):
    path.write_bytes(data)
    expected = naive_records(data)
    for size in pieces:
        payloads, lost = found(path, size)
        assert payloads == expected.payloads
        assert lost == merged(expected.lost)
    return expected


def log(seed, count=60):
    """An event file with several tags, a few other records and records inside records."""
    rng = random.Random(seed)
    tags = ["x" * rng.randrange(6) + str(i) for i in range(rng.randint(1, 4))]
    parts = [VERSION]
    for step in range(count):
        parts += [scalar(tag, step * 5, rng.random()) for tag in tags if rng.random() < 0.95]
        if rng.random() < 0.05:
            parts.append(record(rng.randbytes(rng.randint(1, 900))))
        if rng.random() < 0.03:
            parts.append(record(b"inside: " + b"".join(parts[-3:])))
    return bytearray(b"".join(parts))


def flip(data, at, size):
    data[at : at + 1] = bytes(byte ^ 1 << size % 8 for byte in data[at : at + 1])


def zero(data, at, size):
    data[at : at + size] = bytes(len(data[at : at + size]))


def garble(data, at, size):
    data[at : at + size] = random.Random(size).randbytes(len(data[at : at + size]))


def delete(data, at, size):
    del data[at : at + size]


def insert(data, at, size):
    data[at:at] = random.Random(size).randbytes(size)


def repeat(data, at, size):
    data[at:at] = data[max(0, at - size) : at]


def cut(data, at, size):
    del data[at:]


DAMAGE = st.tuples(
    st.sampled_from([flip, zero, garble, delete, insert, repeat, cut]),
    st.floats(0, 1),
    st.integers(1, 300),
)


def test_an_empty_file_gives_nothing(tmp_path):
    check(tmp_path / "f", b"")
    assert found(tmp_path / "f", 64) == ([], [])


@pytest.mark.parametrize("size", [1, 11, 12, 15, 5000])
def test_zeros_and_noise_give_nothing(tmp_path, size):
    assert not check(tmp_path / "f", bytes(size)).payloads
    assert not check(tmp_path / "f", random.Random(size).randbytes(size)).payloads


@pytest.mark.parametrize("seed", range(4))
def test_an_undamaged_file_loses_nothing(tmp_path, seed):
    assert not check(tmp_path / "f", bytes(log(seed))).lost


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 50), damage=st.lists(DAMAGE, min_size=1, max_size=4))
def test_damage_costs_what_it_costs_the_twin(tmp_path_factory, seed, damage):
    data = log(seed, 30)
    for spoil, place, size in damage:
        spoil(data, int(place * len(data)), size)
    check(tmp_path_factory.getbasetemp() / "damaged", bytes(data), (100, 1 << 22))


def test_truncation_at_every_byte(tmp_path):
    data = VERSION + b"".join(scalar("loss", step, 1.0) for step in range(4)) + record(b"other")
    for size in range(len(data)):
        expected = check(tmp_path / "f", data[:size], (128, 1 << 22))
        assert len(expected.lost) <= 1
        assert all(is_cut for _, _, is_cut in expected.lost)


def test_a_block_in_the_middle_costs_its_own_records_alone(tmp_path):
    events = [scalar("loss", step, 1.0) for step in range(1000)]
    data = bytearray(b"".join(events))
    size = len(events[500])
    begin = data.index(events[500]) + 5
    data[begin : begin + 10 * size] = bytes(10 * size)
    (tmp_path / "f").write_bytes(data)
    payloads, lost = found(tmp_path / "f", 1 << 22)
    assert len(payloads) == 1000 - 11
    assert lost == [(begin - 5, begin - 5 + 11 * size, False)]


def test_records_after_one_that_was_never_finished_are_found(tmp_path):
    """A process killed while writing, and another that appended to its file."""
    data = b"".join([VERSION, scalar("loss", 1, 1.0)[:-20], scalar("loss", 2, 1.0), VERSION])
    assert len(check(tmp_path / "f", data).payloads) == 3


def test_a_length_that_is_no_event_fills_no_memory(tmp_path):
    header = (1 << 40).to_bytes(8, "little")
    forged = header + chain.masked_crc(header).to_bytes(4, "little")
    expected = check(tmp_path / "f", VERSION + forged + scalar("loss", 1, 1.0))
    assert len(expected.payloads) == 2


def test_a_record_longer_than_a_piece(tmp_path):
    data = VERSION + record(bytes(range(256)) * 40) + scalar("loss", 1, 1.0)
    check(tmp_path / "f", data)
    assert len(found(tmp_path / "f", 64)[0]) == 3


def test_long_repetitions_with_breaks(tmp_path):
    parts = [VERSION]
    for step in range(2000):
        parts += [scalar("train/loss", step, 1.0), scalar("lr", step, 1.0)]
        parts += [scalar("eval/loss", step, 1.0)] * (step % 100 == 99)
    (tmp_path / "f").write_bytes(b"".join(parts))
    for size in (1000, 1 << 22):
        payloads, lost = found(tmp_path / "f", size)
        assert [record(payload) for payload in payloads] == parts
        assert not lost


@pytest.mark.parametrize("lengths", [[5] * 9, [1, 2, 3] * 5, [7, 7, 8] * 3 + [7], [9, 1] * 40])
def test_cycle_is_what_a_sequence_goes_on_with(lengths):
    cycle = chain._cycle(np.array(lengths))
    assert len(cycle)
    assert lengths[len(lengths) // 2 :] == lengths[len(lengths) // 2 - len(cycle) : -len(cycle)]


@pytest.mark.parametrize("lengths", [[], [3], [1, 2], [1, 2, 3, 4, 5, 6], [257, 257, 257, 1]])
def test_no_cycle(lengths):
    assert len(chain._cycle(np.array(lengths, np.int64))) == 0


def test_progress_adds_up_and_comes_often(tmp_path):
    (tmp_path / "f").write_bytes(bytes(20 << 20))
    steps = []
    for _ in stream.read_pieces(tmp_path / "f", steps.append):
        pass
    assert sum(steps) == 20 << 20
    assert max(steps) <= 8 << 20
