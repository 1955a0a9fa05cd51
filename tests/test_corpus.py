import pytest

from tests import corpus

if not corpus.LABELS.exists():
    pytest.skip("the labelled corpus is not beside the checkout", allow_module_level=True)


@pytest.mark.parametrize("entry", corpus.labels(), ids=lambda e: e["case"])
def test_failed_runs_are_found_and_healthy_ones_left_alone(entry):
    row = corpus.analyse(entry)
    assert row.right is not False, f"{row.label} run judged {row.outcome}"
