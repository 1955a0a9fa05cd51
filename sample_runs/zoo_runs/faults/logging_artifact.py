"""Numbers that look wrong in a training that is sound."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, how: str) -> None:
    """The logger rounds to eight bits, sums over tokens, or writes a place-holder."""
    import torch

    if how == "bf16":
        recipe.shown = lambda loss: torch.tensor(loss).bfloat16().item()
    elif how == "fp16_norm":
        recipe.settings.precision = "fp16"


FAULT = Fault(
    name="logger_only",
    cause="logging_artifact",
    inject=inject,
    outcomes=("healthy",),
    tuning={"char_lstm": "bf16", "mlp": "fp16_norm"},
    measured={"char_gpt": "bf16", "cnn": "fp16_norm"},
    accept=("no_failure",),
    leaves={"mean": False},
)
