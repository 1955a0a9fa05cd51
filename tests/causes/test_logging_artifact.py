import numpy as np

from forensics.causes._looks_logging import perplexity_capped, placeholder_metric, quantised
from forensics.findings import Ending, EpisodeKind, Outcome, Severity
from forensics.run import Config
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case, make_episode
from tests.causes.shapes import POINTS, falling, plateau, probability, steady, turned_nan, winner

NOISE = np.random.default_rng(3).standard_normal(POINTS)


def stalled(loss, held_out):
    return make_case(
        loss,
        steady(0.6),
        eval_loss=held_out,
        outcome=Outcome.STALLED,
        onset=10,
        episodes=[plateau(2.0, "unnamed", onset=10, improvement=0.02)],
    )


def test_a_lasting_nan_is_no_artifact():
    case = turned_nan([100], lasting=True, gradient_too=True)
    assert probability(case, "logging_artifact") < 0.01


def test_a_validation_that_stands_still_too_is_no_artifact():
    case = stalled(2.0 + 0.8 * NOISE, np.full(12, 2.0))
    assert probability(case, "logging_artifact") < 0.1


def test_full_precision_is_not_quantised():
    assert quantised(healthy_case()).holds is False


def test_a_clean_healthy_run_shows_no_artifact():
    assert winner(healthy_case()) == "no_failure"


def test_a_noisy_training_loss_beside_a_smooth_validation_is_an_artifact():
    case = stalled(2.0 + 0.8 * NOISE, np.linspace(2, 1, 12))
    assert winner(case) == "logging_artifact"


def test_losses_of_eight_bits_are_quantised():
    coarse = np.round((1.7 + 0.02 * NOISE) * 128) / 128
    case = stalled(coarse, np.linspace(2, 1, 12))
    assert quantised(case).holds
    assert winner(case) == "logging_artifact"


def test_a_first_gradient_norm_of_nan_under_fp16_is_seen_and_harmless():
    norm = steady(0.6)
    norm[0] = np.nan
    blip = make_episode(
        EpisodeKind.NON_FINITE,
        1,
        signal=Signal.GRAD_NORM,
        severity=Severity.WARNING,
        ending=Ending.RECOVERED,
        persistent=False,
    )
    plain = healthy_case(POINTS)
    case = healthy_case(
        POINTS, grad_norm=norm, episodes=[blip], config=Config(precision="fp16"), loss=falling()
    )
    assert winner(case) == "no_failure"
    assert probability(case, "logging_artifact") > probability(plain, "logging_artifact")


def test_a_perplexity_at_its_cap_is_seen():
    capped = np.minimum(np.exp(np.linspace(30, 5, POINTS)), np.exp(20))
    assert perplexity_capped(make_case(tracks={Signal.TRAIN_ERROR: capped})).holds
    assert perplexity_capped(make_case(tracks={Signal.TRAIN_ERROR: steady(30)})).holds is False


def test_a_place_holder_is_told_only_where_it_was_logged():
    assert placeholder_metric(healthy_case()).holds is None
