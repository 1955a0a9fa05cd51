"""A validation set that is empty: its mean loss is NaN every time."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, _: None) -> None:
    """The validation set holds no sample, so that its mean is NaN; training is sound."""
    recipe.validation = []


FAULT = Fault(
    name="empty_validation",
    cause="no_failure",
    inject=inject,
    outcomes=("healthy",),
    outcome="healthy",
    tuning={"char_lstm": None},
    measured={"mlp": None},
    accept=("logging_artifact", "validation_mismatch"),
)
