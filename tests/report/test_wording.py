import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.report import wording
from forensics.run import Axis


@pytest.mark.parametrize(
    "text", ["\x00", "\x1b[31m", "\u202e", "\u2066", "\x9b", "\udcff", "\r", "\ufeff"]
)
def test_characters_that_act_are_made_visible(text: str) -> None:
    assert wording.clean(text).isprintable()


@settings(deadline=None)
@given(st.text(alphabet=st.characters(codec=None)))
def test_cleaned_text_can_be_written_and_holds_no_control_character(text: str) -> None:
    cleaned = wording.clean(text)
    cleaned.encode("utf-8")
    assert not any(ord(c) < 32 and c != "\n" for c in cleaned)


def test_ordinary_text_is_left_alone() -> None:
    text = "Größe ≥ 3 · 学習率 🙂\nnext line"
    assert wording.clean(text) == text


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (0.0, "0"),
        (1234567, "1,234,567"),
        (2e-5, "2e-5"),
        (1.25e-7, "1.25e-7"),
        (0.01, "0.01"),
        (1.0, "1"),
        (123.456, "123.5"),
        (65504.0, "65,504"),
        (3.3e38, "3.3e38"),
        (float("nan"), "NaN"),
        (float("inf"), "infinity"),
        (float("-inf"), "-infinity"),
        (np.float32(0.5), "0.5"),
        (np.int64(7), "7"),
        (123456 * 10**400, "1.235e405"),
        pytest.param(-(10**5000), "-1e5000", id="beyond every float"),
        (10**15, "1e15"),
    ],
)
def test_numbers(value: float, said: str) -> None:
    assert wording.number(value) == said


@settings(deadline=None)
@given(st.floats(-1e308, 1e308))
def test_a_number_keeps_its_size_and_sign(value: float) -> None:
    read = float(wording.number(value).replace(",", ""))
    assert read == pytest.approx(value, rel=1e-3, abs=1e-300)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "not set"),
        (True, "yes"),
        (False, "no"),
        (2e-4, "2e-4"),
        ((0.9, 0.999), "0.9, 0.999"),
        ([], "none"),
        ({"a": 1}, "a: 1"),
        (np.bool_(True), "yes"),
        ("cosine", "cosine"),
        ("", "''"),
        (2048, "2048"),
    ],
)
def test_settings(value: object, said: str) -> None:
    assert wording.setting(value) == said


def test_a_long_setting_is_cut() -> None:
    assert len(wording.setting(list(range(10_000)))) <= 400


def test_plurals() -> None:
    assert wording.plural(0, "step") == "no steps"
    assert wording.plural(1, "captured batch") == "1 captured batch"
    assert wording.plural(2, "captured batch") == "2 captured batches"


def test_a_share_is_never_rounded_to_certainty() -> None:
    said = [wording.percent(share).replace("\u00a0", " ") for share in (0, 0.004, 0.5, 0.996, 1)]
    assert said == ["0 %", "<1 %", "50 %", ">99 %", "100 %"]
    assert wording.percent(float("nan")) == "unknown"


def test_durations_and_sizes() -> None:
    assert [wording.hours(h).replace("\u00a0", " ") for h in (0.001, 0.5, 4.6, 250)] == [
        "4 s",
        "30 min",
        "4.6 h",
        "250 h",
    ]
    assert wording.file_size(0).replace("\u00a0", " ") == "0 B"
    assert wording.file_size(988_097_824).replace("\u00a0", " ") == "988 MB"
    assert wording.file_size(5 * 10**15).replace("\u00a0", " ") == "5,000 TB"


def test_neighbouring_steps_are_drawn_together() -> None:
    assert wording.step_list([3, 1, 2, 9, 9, 11]) == "1 to 3, 9 and 11"
    assert wording.step_list(range(0, 3000, 3)) == "0, 3, 6, 9, 12, 15 and 994 more"
    assert wording.step_list([]) == ""


def test_steps_are_named_after_what_the_run_counts_by() -> None:
    assert wording.at(1240).replace("\u00a0", " ") == "step 1,240"
    assert wording.at(3, Axis.EPOCH).replace("\u00a0", " ") == "epoch 3"


def test_a_clause_becomes_a_sentence_but_code_keeps_its_case() -> None:
    assert wording.sentence("the latest; finite") == "The latest; finite."
    assert wording.sentence("grad_norm > 3 (10 x)") == "grad_norm > 3 (10 x)."
    assert wording.sentence("beta2 is 0.999") == "beta2 is 0.999."
    assert wording.sentence("Done!") == "Done!"
    assert wording.sentence("  ") == ""
