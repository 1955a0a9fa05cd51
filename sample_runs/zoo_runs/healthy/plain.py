"""Sound trainings as they are."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, _: None) -> None:
    """Nothing is wrong."""


FAULT = Fault(
    name="sound",
    cause="no_failure",
    inject=inject,
    outcomes=("healthy",),
    tuning={"char_gpt": None, "mlp": None, "cnn": None, "qwen2": None, "char_lstm": None},
    measured={
        "gpt2": None,
        "regression": None,
        "lightning_mlp": None,
        "lightning_cnn": None,
        "post_norm_gpt": None,
    },
)
