import numpy as np

from forensics.causes._looks_initial import units_alike, weights_oversized
from forensics.run import Config
from tests.causes.facts_of import save, scanned, weight

ADAM = Config(optimizer="adam")
RATE = np.full(100, 1e-3)
NAMES = ("0.weight", "2.weight", "4.weight")


def test_common_initialisations_are_not_too_large() -> None:
    for rms in (0.02, 0.073, 0.177):  # GPT-2, torch, He of 64 inputs
        case = scanned(save(10, *(weight(n, rms) for n in NAMES)), lr=RATE, config=ADAM)
        assert weights_oversized(case).holds is False


def test_what_the_steps_can_have_added_is_not_the_beginning() -> None:
    moved = scanned(save(100, *(weight(n, 1.5) for n in NAMES)), lr=20 * RATE, config=ADAM)
    assert weights_oversized(moved).holds is False


def test_without_rates_or_checkpoints_nothing_is_said() -> None:
    assert weights_oversized(scanned()).holds is None
    assert weights_oversized(scanned(save(10, *(weight(n, 3.0) for n in NAMES)))).holds is None


def test_somewhat_larger_weights_speak_neither_way() -> None:
    grown = scanned(save(100, *(weight(n, 0.4) for n in NAMES)), lr=RATE, config=ADAM)
    assert weights_oversized(grown).holds is None


def test_weights_beyond_what_any_step_adds_began_so() -> None:
    case = scanned(save(100, *(weight(n, 1.5) for n in NAMES)), lr=RATE, config=ADAM)
    assert weights_oversized(case).holds is True


def test_rows_of_different_length_are_not_alike() -> None:
    assert units_alike(scanned(save(10, *(weight(n) for n in NAMES)))).holds is False


def test_a_fresh_adapter_is_zero_in_health() -> None:
    zero = (weight(n, 0.0) for n in NAMES)
    assert units_alike(scanned(save(10, *zero), config=Config(lora=True))).holds is None


def test_zeros_and_copies_are_alike() -> None:
    assert units_alike(scanned(save(10, *(weight(n, 0.0) for n in NAMES)))).holds is True
    copies = (weight(n, 0.1, row_max=0.1) for n in NAMES)
    assert units_alike(scanned(save(10, *copies))).holds is True
