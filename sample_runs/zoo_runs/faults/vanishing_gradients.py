"""Many saturating layers without shortcuts: nothing reaches the first of them."""

from torch import nn

from zoo_runs.families.cnn import CLASSES as PATTERNS
from zoo_runs.families.points import CLASSES, WIDTH
from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def deep(inputs: int, outputs: int, layers: int, activation: type[nn.Module]) -> nn.Sequential:
    """A plain stack of layers."""
    hidden = 48
    parts: list[nn.Module] = [nn.Flatten(), nn.Linear(inputs, hidden), activation()]
    for _ in range(layers):
        parts += [nn.Linear(hidden, hidden), activation()]
    return nn.Sequential(*parts, nn.Linear(hidden, outputs))


def inject(recipe: Recipe, layers: int) -> None:
    """A deep stack of sigmoids without shortcuts or normalisation."""
    shapes = {"mlp": (WIDTH, CLASSES), "regression": (4, 1), "cnn": (100, PATTERNS)}
    inputs, outputs = shapes[recipe.family.removeprefix("lightning_")]
    recipe.build = lambda: deep(inputs, outputs, layers, nn.Sigmoid)
    recipe.settings.extra |= {
        "model": "deep_mlp",
        "num_layers": layers + 2,
        "activation": "sigmoid",
    }
    recipe.settings.extra.pop("norm", None)


FAULT = Fault(
    name="deep_sigmoids",
    cause="vanishing_gradients",
    inject=inject,
    outcomes=("stalled",),
    tuning={"mlp": 12, "cnn": 10},
    measured={"regression": 14, "lightning_cnn": 12},
    accept=("poor_initialization",),
    alike={
        "config": ("label_misalignment", "dead_units"),
        "checkpoints": ("label_misalignment", "dead_units"),
    },
)
