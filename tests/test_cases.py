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


def test_every_card_is_given_or_has_a_reason_not_to_be():
    declared = [*cases.GIVEN, *" ".join(cases.NOT_GIVEN.values()).split()]
    assert sorted(declared) == sorted(path.name[:3] for path in cases.CASES.glob("*.md"))


@pytest.mark.parametrize("number", cases.GIVEN)
def test_the_files_of_a_card_hold_nothing_that_was_deduced_later(number, tmp_path):
    cases.give(number, tmp_path)
    later = cases.card(number).partition("\ncause_detail:")[2].splitlines()[0].strip()
    given = [(tmp_path / n).read_text(encoding="utf-8") for n in ("train.log", "config.yaml")]
    assert all(text.strip() and later not in text for text in given)


@pytest.mark.parametrize(("cards", "least"), [(cases.TABLES, 6), (cases.STATED, 16)])
def test_the_cause_of_the_card_is_among_the_first_three_as_often_as_measured(cards, least):
    places = [cases.rank(number, cases.told(number)[1]) for number in cards]
    assert sum(place is not None for place in places) >= least
