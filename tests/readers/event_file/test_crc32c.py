"""Checksums, against the ones that TensorBoard computes byte by byte."""

import numpy as np
import pytest
from tensorboard.summary.writer.record_writer import masked_crc32c

from forensics.readers._event_file.crc32c import (
    LONGEST_ROW,
    MASK_DELTA,
    masked_crc,
    masked_crc_of_rows,
    masked_crc_of_spans,
)

RANDOM = np.random.default_rng(5)


def test_nothing_to_check():
    none = np.zeros(0, np.int64)
    assert len(masked_crc_of_spans(np.zeros(0, np.uint8), none, none)) == 0
    assert len(masked_crc_of_rows(np.zeros((0, 3), np.uint64), 24)) == 0


def test_published_check_value():
    masked = (masked_crc(b"123456789") - MASK_DELTA) & 0xFFFFFFFF
    assert (masked >> 17 | masked << 15) & 0xFFFFFFFF == 0xE3069283


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 49, 59, 128, LONGEST_ROW])
@pytest.mark.parametrize("varying", [0, 1, 5, LONGEST_ROW])
def test_rows_of_any_length_and_any_number_of_constant_bytes(length, varying):
    width = -(-length // 8) * 8
    rows = np.zeros((40, width), np.uint8)
    rows[:, width - length :] = RANDOM.integers(0, 256, length, dtype=np.uint8)
    part = rows[:, width - length :][:, :varying]
    part[:] = RANDOM.integers(0, 256, part.shape)
    got = masked_crc_of_rows(rows.view("<u8"), length)
    assert got.tolist() == [masked_crc32c(row[width - length :].tobytes()) for row in rows]


def test_more_rows_than_are_done_at_a_time():
    rows = RANDOM.integers(0, 256, (40_000, 8), dtype=np.uint8)
    got = masked_crc_of_rows(rows.view("<u8"), 8)
    assert all(got[i] == masked_crc32c(rows[i].tobytes()) for i in range(0, 40_000, 997))


def test_spans_of_all_lengths_anywhere_in_the_buffer():
    data = RANDOM.integers(0, 256, 60_000, dtype=np.uint8)
    length = np.concatenate(([1, 127, 128, 129, 256, 20_000], RANDOM.integers(1, 3000, 60)))
    start = RANDOM.integers(0, len(data) - 20_000, len(length))
    start[:3] = (0, 3, len(data) - 128)
    length[2] = 128
    expected = [
        masked_crc32c(data[a : a + n].tobytes()) for a, n in zip(start, length, strict=True)
    ]
    assert masked_crc_of_spans(data, start, length).tolist() == expected
    one = [masked_crc(data[a : a + n].tobytes()) for a, n in zip(start, length, strict=True)]
    assert one == expected
