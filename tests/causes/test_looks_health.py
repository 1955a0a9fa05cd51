import numpy as np

from forensics.causes import rank
from forensics.causes._looks_health import nothing_failed
from forensics.causes._looks_learning import loss_fell
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case


def test_a_rate_and_a_speed_do_not_tell_how_a_training_went():
    beside = {Signal.SPEED: np.full(60, 900.0), Signal.MEMORY: np.full(60, 3.0)}
    case = make_case(np.geomspace(3, 0.5, 60), lr=np.full(60, 1e-3), tracks=beside)
    assert nothing_failed(case).text == "Nothing counts as a failure in the training loss."


def test_a_healthy_run_lacks_no_spike_and_no_failure():
    first = rank(healthy_case())[0][0]
    assert first.cause == "no_failure"
    assert not any("spike" in text or "onset" in text for text in first.missing)


def test_the_ends_are_those_of_the_log_unless_they_mislead():
    even = make_case(np.geomspace(3, 0.5, 100))
    assert loss_fell(even).text == "The training loss went from 3 to 0.5."
    noisy = np.geomspace(3, 0.5, 100)
    noisy[-1] = 3.5
    seen = loss_fell(make_case(noisy))
    assert seen.holds
    assert seen.text.startswith("The median of the first 10 training losses is")
