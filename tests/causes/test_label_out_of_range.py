from forensics.findings import Outcome
from forensics.run import TextKind
from tests.causes.cases import healthy_case, make_case
from tests.causes.shapes import falling, probability, winner


def crashed(*text):
    return make_case(falling(), outcome=Outcome.CRASHED, onset=200, text=text)


def test_a_lack_of_memory_is_no_label():
    assert probability(crashed(TextKind.OUT_OF_MEMORY), "label_out_of_range") < 0.01


def test_an_index_error_of_the_position_table_is_no_label():
    case = crashed(TextKind.INDEX_OUT_OF_RANGE, TextKind.SEQUENCE_TOO_LONG)
    assert probability(case, "label_out_of_range") < 0.05


def test_a_healthy_run_stays_healthy_whatever_a_line_says():
    case = healthy_case(text=[TextKind.LABEL_OUT_OF_RANGE])
    assert winner(case) == "no_failure"


def test_the_named_label_decides():
    case = crashed(TextKind.LABEL_OUT_OF_RANGE, TextKind.DEVICE_ASSERT)
    assert winner(case) == "label_out_of_range"
    assert probability(case, "label_out_of_range") > 0.9


def test_a_bare_device_assertion_is_enough_for_a_first_guess():
    assert winner(crashed(TextKind.DEVICE_ASSERT)) == "label_out_of_range"
