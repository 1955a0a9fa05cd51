"""What a log does not name is only unknown where no log of the process was read."""

from dataclasses import replace

import pytest

from forensics.causes._looks_text import says
from forensics.run import FileRecord, TextKind
from tests.causes.cases import healthy_case


def _holds(*formats: str) -> bool | None:
    case = healthy_case()
    files = tuple(FileRecord(f"file{n}", 9, one, "") for n, one in enumerate(formats))
    return says(TextKind.OUT_OF_MEMORY)(replace(case, run=replace(case.run, files=files))).holds


def test_tables_alone_do_not_tell_what_the_process_wrote() -> None:
    assert _holds("CSV", "checkpoint") is None


@pytest.mark.parametrize("output", ["training log", "Kaldi log"])
def test_a_log_that_names_nothing_speaks_against_it(output: str) -> None:
    assert _holds("CSV", output) is False
