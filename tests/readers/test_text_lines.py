import io

import pytest

from forensics.readers._text.lines import LONGEST_LINE, encoding_of, read_batches


def lines_of(data: bytes, chunk_bytes: int = 1 << 17) -> list[tuple[int, str]]:
    found = []
    for batch in read_batches(io.BytesIO(data), chunk_bytes):
        found += zip(batch.numbers, batch.texts, strict=True)
    return found


def test_an_empty_file_has_no_lines() -> None:
    assert lines_of(b"") == []


def test_plain_lines_keep_their_numbers() -> None:
    assert lines_of(b"a\n\nb\r\nc") == [(1, "a"), (2, ""), (3, "b"), (3, ""), (4, "c")]


def test_repaints_share_the_number_of_their_line() -> None:
    data = b"start\n\r 1/9\r 2/9\x08\x08\x08\r 3/9\nend\n"
    assert [(n, t) for n, t in lines_of(data) if t] == [
        (1, "start"),
        (2, " 1/9"),
        (2, " 2/9"),
        (2, " 3/9"),
        (3, "end"),
    ]


def test_colours_and_nul_bytes_are_dropped() -> None:
    assert lines_of(b"\x1b[31mstep: 1\x1b[0m \x1b[38;2;180;60;0mloss\0\0\n") == [
        (1, "step: 1 loss")
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings_are_found(encoding: str) -> None:
    text = "step 1 loss 2.5 ████▏\nstep 2 loss 2.4\n"
    assert lines_of(text.encode(encoding)) == list(enumerate(text.splitlines(), 1))


def test_bytes_that_are_no_text_do_not_stop_the_rest() -> None:
    assert [n for n, _ in lines_of(b"a\xff\xfe\x80b\nc\n")] == [1, 2]


def test_nul_bytes_of_a_crash_are_no_encoding() -> None:
    assert encoding_of(b"step 1 loss 2\n" + b"\0" * 500) == "utf-8"


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 7, 64])
def test_the_size_of_the_chunks_changes_nothing(chunk: int) -> None:
    data = "α 1\r\n  5%|▏| 1/9\r 10%|█| 2/9\nβ\n\nend without a break".encode()
    expected = [pair for pair in lines_of(data) if pair[1]]
    assert [pair for pair in lines_of(data, chunk) if pair[1]] == expected


def test_a_line_without_end_is_cut() -> None:
    texts = [text for _, text in lines_of(b"x" * (3 * LONGEST_LINE + 5) + b"\nlast\n", 1000)]
    assert max(map(len, texts)) <= LONGEST_LINE + 1000
    assert "".join(texts) == "x" * (3 * LONGEST_LINE + 5) + "last"


def test_the_last_batch_tells_whether_the_file_ended_with_a_line() -> None:
    assert [b.ended for b in read_batches(io.BytesIO(b"a\nb"))] == [False]
    assert [b.ended for b in read_batches(io.BytesIO(b"a\nb\n"))] == [True]
