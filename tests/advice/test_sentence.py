from dataclasses import replace

import numpy as np
import pytest

from forensics.advice.sentence import verdict_sentence
from forensics.causes import rank
from forensics.findings import EpisodeKind, Hypothesis, Outcome, Status
from tests.advice.checkpointed import exploded
from tests.causes.cases import healthy_case, make_case, make_episode
from tests.causes.shapes import spiked_once


def hypothesis(probability):
    return Hypothesis(
        1,
        "learning_rate_too_high",
        "Learning rate too high",
        "optimisation",
        probability,
        Status.LIKELY,
        (),
        (),
        "",
        (),
    )


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_makes_one_sentence(outcome):
    case = healthy_case(outcome=outcome, onset=100 if outcome.is_failure else None)
    text = verdict_sentence(case, *rank(case))
    assert text.endswith(".")
    assert ". " not in text
    assert "None" not in text
    assert text[0].isupper()


def test_a_bare_run_promises_nothing():
    case = make_case(outcome=Outcome.UNKNOWN)
    assert verdict_sentence(case, *rank(case)) == "Too little was logged to say how the run went."


def test_an_unknown_outcome_shows_no_numbers():
    case = make_case([3.0, 2.0], outcome=Outcome.UNKNOWN)
    assert "(" not in verdict_sentence(case, *rank(case))


def test_a_healthy_run_names_no_cause():
    assert "cause" not in verdict_sentence(healthy_case(), *rank(healthy_case()))


def test_what_fits_badly_is_said_to():
    assert "none of the known causes fits well" in verdict_sentence(
        exploded(), [hypothesis(0.2)], 0.5
    )
    assert "no cause stands out" in verdict_sentence(exploded(), [hypothesis(0.2)], 0.1)


@pytest.mark.parametrize(
    ("probability", "words"),
    [(0.95, "almost certainly"), (0.75, "most likely"), (0.55, "probably"), (0.3, "possibly")],
)
def test_how_sure_it_is_stands_in_words_and_numbers(probability, words):
    text = verdict_sentence(exploded(), [hypothesis(probability)], 0.01)
    assert f"the cause is {words} learning rate too high" in text
    assert f"{100 * probability:.0f} %" in text


def test_it_says_when_with_the_resolution_of_the_log():
    assert "at step 151" in verdict_sentence(exploded(), [], 1.0)
    coarse = make_case(
        [3.0, 2.0, 9.0], interval=100, first_step=100, outcome=Outcome.DIVERGED, onset=300
    )
    assert "between steps 200 and 300" in verdict_sentence(coarse, [], 1.0)
    assert "from its first step" in verdict_sentence(exploded(onset=1), [], 1.0)


def test_a_spike_that_came_back_names_its_cause():
    case = spiked_once()
    text = verdict_sentence(case, *rank(case))
    assert "came back" in text
    assert "bad batch" in text


def test_a_loss_that_was_best_at_first_is_told_from_there():
    loss = np.r_[0.698, 5.9, np.full(60, 8.0)]
    episode = make_episode(EpisodeKind.DIVERGENCE, 2, baseline=5.96, peak_value=8.56)
    case = make_case(loss, episodes=[episode], outcome=Outcome.DIVERGED, onset=2)
    case = replace(case, judgement=replace(case.judgement, decisive=episode))
    assert "(training loss 0.698 to 8.56)" in verdict_sentence(case, *rank(case))


def test_infinity_and_nan_are_told_apart():
    for last, words in ((np.nan, "2 to NaN"), (np.inf, "2 to infinity, then NaN")):
        loss = np.r_[np.full(50, 2.0), last, np.full(10, np.nan)]
        episode = make_episode(EpisodeKind.NON_FINITE, 51, last_finite=2.0)
        case = make_case(loss, episodes=[episode], outcome=Outcome.NON_FINITE, onset=51)
        case = replace(case, judgement=replace(case.judgement, decisive=episode))
        assert f"(training loss {words})" in verdict_sentence(case, *rank(case))
