import pytest

import forensics
from tests import cases

if not cases.CASES.exists():
    pytest.skip("the public cases are not beside the checkout", allow_module_level=True)


@pytest.mark.parametrize("form", cases.FORMS)
@pytest.mark.parametrize("number", cases.EXPECTED)
def test_outcome_and_onset_are_those_of_the_card(number, form, tmp_path):
    expected = cases.EXPECTED[number]
    found = forensics.analyze(cases.write(number, form, tmp_path))
    assert found.outcome in expected.outcomes
    if expected.onset is not None:
        assert found.onset_step == expected.onset
