import pytest

from forensics.causes import _looks_told as told
from forensics.run import Config
from tests.causes.cases import make_case


@pytest.mark.parametrize("name", ["cross_entropy", "mse", "focal", "dice", "huber"])
def test_ordinary_losses_have_no_singular_point(name: str) -> None:
    assert told.singular_loss(make_case(config=Config(raw={"loss": name}))).holds is None


@pytest.mark.parametrize(
    "config",
    [
        Config(raw={"train.loss_fn": "semi-hard triplet loss"}),
        Config(raw={"criterion": "ArcFace"}),
        Config(model="WGAN-GP"),
        Config(raw={"loss": "si-snr"}),
    ],
)
def test_losses_with_a_singular_point_are_known_by_name(config: Config) -> None:
    assert told.singular_loss(make_case(config=config)).holds is True


@pytest.mark.parametrize(
    ("version", "steps", "holds"),
    [
        ("4.45.2", 4, False),
        ("4.49.0", 4, False),
        ("5.0.0", 4, False),
        ("4.47.0", 1, None),
        ("main", 4, None),
        ("4.46.0", 4, True),
        ("4.48.1", 2, True),
    ],
)
def test_releases_that_miscount(version: str, steps: int, holds: bool | None) -> None:
    config = Config(grad_accum=steps, raw={"model.transformers_version": version})
    assert told.release_miscounts(make_case(config=config)).holds is holds


def test_a_rate_that_was_logged_needs_no_guess() -> None:
    config = Config(schedule="step")
    assert told.decay_unseen(make_case([2.0, 2.0], lr=[1e-3, 1e-3], config=config)).holds is None
    assert told.decay_unseen(make_case([2.0, 2.0])).holds is None
    cosine = Config(schedule="cosine")
    assert told.decay_unseen(make_case([2.0, 2.0], config=cosine)).holds is False


def test_a_rate_that_falls_by_factors_unseen_may_fall_at_the_wrong_steps() -> None:
    assert told.decay_unseen(make_case([2.0, 2.0], config=Config(schedule="step"))).holds is True
