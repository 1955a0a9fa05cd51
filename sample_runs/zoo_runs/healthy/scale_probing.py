"""A loss scaler that finds its level: skipped steps at first, or at each attempt to grow."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, how: str) -> None:
    """float16 with a scale that starts far too high, or grows too often: steps are skipped."""
    recipe.settings.precision = "fp16"
    recipe.first_scale = 2.0**30 if how == "high" else 2.0**20
    recipe.growth_interval = 2000 if how == "high" else 15


FAULT = Fault(
    name="scale_probing",
    cause="no_failure",
    inject=inject,
    outcomes=("healthy", "spiked_recovered"),
    tuning={"mlp": "high", "regression": "growing"},
    measured={"cnn": "high", "mlp": "growing"},
    accept=("logging_artifact",),
)
