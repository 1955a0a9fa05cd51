"""Lightning's TensorBoard log: ``hp_metric`` is -1, the rate is constant."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, _: None) -> None:
    """The logger writes a place-holder metric of -1; the learning rate never changes."""


FAULT = Fault(
    name="hp_metric",
    cause="no_failure",
    inject=inject,
    outcomes=("healthy",),
    tuning={"lightning_mlp": None},
    measured={"lightning_cnn": None},
    leaves={"format": "lightning_tensorboard", "config": "yaml", "lr": True},
)
