import pytest

from forensics.causes import _looks_model as model
from forensics.causes import _looks_settings as configured
from forensics.run import Config
from tests.causes.cases import make_case


@pytest.mark.parametrize(
    ("name", "attention", "batchnorm"),
    [
        ("resnet50", False, True),  # holds the letters of t5
        ("flan-t5-base", True, False),
        ("google/mt5-small", True, False),
        ("nanoGPT", True, False),
        ("vit_b_16", True, False),
        ("yolov8n", False, True),
        ("lstm", False, None),
        ("my-model", None, None),
        (None, None, None),
    ],
)
def test_families_by_name(name: str | None, attention: bool | None, batchnorm: bool | None) -> None:
    case = make_case(config=Config(model=name))
    assert model.attention_used(case).holds is attention
    assert model.batchnorm_used(case).holds is batchnorm


def test_a_configured_normalisation_outweighs_the_name() -> None:
    case = make_case(config=Config(model="resnet50", normalization="groupnorm"))
    assert model.batchnorm_used(case).holds is False


@pytest.mark.parametrize(
    ("raw", "without"),
    [({}, None), ({"use_residual": False}, True), ({"no_residual": "false"}, False)],
)
def test_residuals(raw: dict[str, object], without: bool | None) -> None:
    assert model.residual_off(make_case(config=Config(raw=raw))).holds is without


@pytest.mark.parametrize(
    ("optimizer", "decay", "lr", "high"),
    [
        ("adamw", 0.1, 3e-4, False),
        ("adamw", 5.0, 1e-3, True),
        ("sgd", 5e-4, 0.1, False),
        ("sgd", 0.05, 0.1, True),
        ("adamw", 5.0, None, None),
        ("adamw", None, 1e-3, None),
    ],
)
def test_decay_is_measured_as_the_optimizer_applies_it(
    optimizer: str, decay: float | None, lr: float | None, high: bool | None
) -> None:
    config = Config(optimizer=optimizer, weight_decay=decay, lr_peak=lr)
    assert configured.weight_decay_high(make_case(config=config)).holds is high


def test_epsilon_is_compared_with_a_gradient_entry() -> None:
    large = Config(eps=1e-5, num_layers=48, hidden_size=8192)
    small = Config(eps=1e-8, num_layers=2, hidden_size=64)
    assert configured.gradient_at_epsilon(make_case(grad_norm=[0.3] * 9, config=large)).holds
    seen = configured.gradient_at_epsilon(make_case(grad_norm=[0.3] * 9, config=small))
    assert seen.holds is False
