import numpy as np

from forensics.findings import Outcome
from forensics.run import Config
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case, make_track
from tests.causes.shapes import POINTS, plateau, probability, steady, winner


def two_ranks(ratio, processes=8):
    steps, norm = np.arange(1, POINTS + 1), steady(0.6)
    ranks = [
        make_track(Signal.GRAD_NORM, steps, norm * scale, source=f"rank_{k}/log.csv")
        for k, scale in enumerate((1.0, ratio))
    ]
    return make_case(
        steady(3.0, noise=0.005),
        outcome=Outcome.STALLED,
        onset=40,
        episodes=[plateau(3.0, "unnamed", onset=40, improvement=0.3)],
        config=Config(world_size=processes),
        others=ranks,
    )


def test_one_process_has_nothing_to_reduce():
    assert probability(two_ranks(1.3, processes=1), "distributed_reduction") < 0.1


def test_ranks_that_agree_speak_against_it():
    assert probability(two_ranks(1.0), "distributed_reduction") < 0.05


def test_a_healthy_run_is_healthy():
    assert winner(healthy_case(config=Config(world_size=8))) == "no_failure"


def test_ranks_that_disagree_decide():
    assert winner(two_ranks(1.3)) == "distributed_reduction"
