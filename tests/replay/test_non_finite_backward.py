import pytest

from forensics.replay_facts import Phase
from tests.replay.planted import Of, found, nn, search, torch


@pytest.mark.parametrize(
    ("function", "name", "culprit"),
    [
        (lambda x: x.mul(0).sqrt(), "sqrt", "the slope of a square root at 0"),
        (lambda x: x.mul(0).pow(2).sum(-1).sqrt(), "sqrt", "the slope of a square root at 0"),
        (lambda x: x.mul(0) ** 0.5, "pow", "the slope of a power below 1 at 0"),
        (lambda x: torch.acos(x / x.detach()), "acos", "the slope of acos at 1"),
        (lambda x: torch.hypot(x * 0, x * 0), "hypot", "the length of (0, 0)"),
        (lambda x: torch.where(x > 9, 1 / (x - x), x), "reciprocal", "division by 0"),
        (lambda x: torch.where(x > 9, x / (x * 0), x), "div", "division by 0"),
    ],
)
def test_slopes_that_are_infinite_where_the_value_is_finite(function, name, culprit):
    model = nn.Sequential(nn.Linear(2, 2), Of(lambda _, x: function(x)))
    operation = found(model, lambda: model(torch.ones(1, 2)).sum())
    assert operation.operation == name
    assert operation.module == "1"
    assert operation.culprit.startswith(culprit)
    assert operation.location.startswith(f"{__file__}:")
    if name not in ("reciprocal", "div"):
        assert operation.phase is Phase.BACKWARD


def test_exponential_masked_after_the_fact():
    model = nn.Sequential(nn.Linear(2, 2), Of(lambda _, x: torch.where(x < 9, x, (x + 1e3).exp())))
    operation = found(model, lambda: model(torch.ones(1, 2)).sum())
    assert (operation.phase, operation.operation, operation.module) == (Phase.FORWARD, "exp", "1")


def test_loss_scale_that_overflows_half_precision_in_the_backward_pass_only():
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    nn.init.constant_(model[1].weight, 1.0)

    def loss():
        with torch.autocast("cpu", dtype=torch.float16):
            return model(torch.ones(2, 4)).float().sum()

    assert search(model, loss).found is None
    operation = found(model, loss, loss_scale=65536.0)
    assert operation.phase is Phase.BACKWARD
    assert operation.kind == "inf"
    assert "the gradient of the loss times 65536 is beyond 65504" in operation.culprit


class Reciprocal(torch.autograd.Function):
    """A user's own operation whose gradient divides by zero."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient / (x - x)


def test_gradient_of_a_custom_function():
    model = nn.Sequential(nn.Linear(2, 2), Of(lambda _, x: Reciprocal.apply(x)))
    operation = found(model, lambda: model(torch.ones(1, 2)).sum())
    assert (operation.operation, operation.module) == ("Reciprocal", "1")
    assert operation.phase is Phase.BACKWARD
    assert operation.culprit.startswith("division by 0")


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize(
    ("function", "phase", "name"),
    [
        (lambda x: x.mul(0).log(), Phase.FORWARD, "log"),
        (lambda x: x.mul(0).sqrt(), Phase.BACKWARD, "sqrt"),
    ],
)
def test_checkpointed_blocks(reentrant, function, phase, name):
    model = nn.ModuleDict(
        {"first": nn.Linear(2, 2), "block": nn.Sequential(Of(lambda _, x: function(x)))}
    )

    def loss():
        x = model["first"](torch.ones(1, 2))
        return torch.utils.checkpoint.checkpoint(model["block"], x, use_reentrant=reentrant).sum()

    operation = found(model, loss)
    assert (operation.phase, operation.operation) == (phase, name)
    assert operation.module == "block.0"


def test_gradient_spoilt_by_a_hook():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    model[1].register_full_backward_hook(lambda *a: tuple(g / (g - g) for g in a[1]))
    operation = found(model, lambda: model(torch.ones(1, 2, requires_grad=True)).sum())
    assert operation.phase is Phase.BACKWARD
    assert operation.operation != "unknown"
    assert operation.culprit.startswith("division by 0")
