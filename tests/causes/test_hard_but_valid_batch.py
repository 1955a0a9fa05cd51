from dataclasses import replace

from forensics.findings import Outcome
from forensics.run import Config
from tests.causes.cases import healthy_case
from tests.causes.shapes import (
    built_up,
    falling,
    probability,
    spiked_each_epoch,
    spiked_once,
    winner,
)


def test_a_tall_spike_is_not_merely_hard():
    case = spiked_once()
    assert probability(case, "hard_but_valid_batch") < probability(case, "bad_batch")


def test_a_gradient_that_built_up_is_not_merely_hard():
    assert probability(built_up(), "hard_but_valid_batch") < 0.05


def test_a_batch_is_not_why_a_run_stalled():
    case = spiked_each_epoch(2.6, eval_loss=falling()[::20])
    stalled = replace(case, judgement=replace(case.judgement, outcome=Outcome.STALLED))
    assert probability(stalled, "hard_but_valid_batch") < 0.05


def test_a_healthy_run_wins_as_healthy():
    assert probability(healthy_case(), "hard_but_valid_batch") < 0.01


def test_a_small_spike_at_the_same_place_of_each_epoch_is_hard_but_valid():
    case = spiked_each_epoch(2.6, eval_loss=falling()[::20])
    assert winner(case) == "hard_but_valid_batch"


def test_batches_grouped_by_length_speak_for_it():
    grouped = Config(raw={"train.group_by_length": True})
    plain, by_length = spiked_once(2.6), spiked_once(2.6, config=grouped)
    assert probability(by_length, "hard_but_valid_batch") > probability(
        plain, "hard_but_valid_batch"
    )


def test_the_twins_share_what_the_logs_cannot_tell():
    case = spiked_once(2.6)
    assert probability(case, "bad_batch") > 0.1
    assert probability(case, "hard_but_valid_batch") > 0.1
