from forensics.findings import Outcome
from forensics.run import TextKind
from tests.causes.cases import healthy_case, make_case
from tests.causes.shapes import falling, probability, spiked_each_epoch, spiked_once, winner


def crashed(*text):
    return make_case(falling(), outcome=Outcome.CRASHED, onset=200, text=text)


def test_without_a_hardware_error_other_causes_come_first():
    assert probability(spiked_once(), "hardware_fault") < 0.05


def test_spikes_at_the_same_place_of_each_epoch_are_no_hardware():
    assert probability(spiked_each_epoch(8.2), "hardware_fault") < 0.01


def test_a_healthy_run_stays_healthy():
    assert probability(healthy_case(), "hardware_fault") < 0.01


def test_a_hardware_error_in_the_output_decides():
    assert winner(crashed(TextKind.HARDWARE_ERROR)) == "hardware_fault"
    assert winner(crashed(TextKind.HARDWARE_ERROR, TextKind.LOST_PEER)) == "hardware_fault"


def test_a_jump_by_a_power_of_two_speaks_for_it():
    exact, other = spiked_once(2.05 * 8), spiked_once(2.05 * 7)
    assert probability(exact, "hardware_fault") > probability(other, "hardware_fault")


def test_a_hardware_error_that_did_no_visible_harm_is_still_named():
    assert winner(healthy_case(text=[TextKind.HARDWARE_ERROR])) == "hardware_fault"
