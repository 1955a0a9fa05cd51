import pytest

from forensics.causes import rank
from forensics.findings import Change, Outcome
from forensics.run import Config, TextKind
from tests.causes.cases import healthy_case, make_case
from tests.causes.shapes import falling, probability, turned_nan, winner


def crashed(*text, **more):
    return make_case(falling(), outcome=Outcome.CRASHED, onset=200, text=text, **more)


def test_a_numerical_failure_is_not_a_killed_process():
    case = turned_nan([100], lasting=True, gradient_too=True, text=[TextKind.KILLED])
    assert probability(case, "process_killed") < 0.05


@pytest.mark.parametrize(
    "fault", [TextKind.LABEL_OUT_OF_RANGE, TextKind.INDEX_OUT_OF_RANGE, TextKind.HARDWARE_ERROR]
)
def test_a_fault_named_in_the_output_is_not_a_killed_process(fault):
    assert winner(crashed(fault)) != "process_killed"


def test_a_healthy_run_was_not_killed():
    assert winner(healthy_case(text=[TextKind.OUT_OF_MEMORY])) == "no_failure"


@pytest.mark.parametrize(
    "reason",
    [
        TextKind.OUT_OF_MEMORY,
        TextKind.KILLED,
        TextKind.TIME_LIMIT,
        TextKind.LOST_PEER,
        TextKind.DISK_FULL,
    ],
)
def test_each_named_reason_decides(reason):
    assert winner(crashed(reason)) == "process_killed"


def test_an_unexplained_end_of_a_healthy_curve_is_the_first_guess():
    assert winner(crashed()) == "process_killed"


def test_out_of_memory_halves_the_batch_and_keeps_the_effective_one():
    case = crashed(TextKind.OUT_OF_MEMORY, config=Config(micro_batch=8, grad_accum=2))
    changes = rank(case)[0][0].changes
    assert changes == (Change("micro_batch", 8, 4), Change("grad_accum", 2, 4))
