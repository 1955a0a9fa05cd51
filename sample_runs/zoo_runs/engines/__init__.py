"""Three ways to run a recipe: a loop in plain torch, the Trainer of transformers, Lightning."""

from collections.abc import Callable
from pathlib import Path

from zoo_runs.logged import Logged
from zoo_runs.recipe import Recipe
from zoo_runs.watch import Watch

Engine = Callable[[Recipe, Logged, Path], Watch]


def engine_of(recipe: Recipe) -> Engine:
    """The engine that a recipe names; its framework is imported with it."""
    if recipe.engine == "hf":
        from zoo_runs.engines.hf_trainer import train
    elif recipe.engine == "lightning":
        from zoo_runs.engines.lightning_trainer import train
    else:
        from zoo_runs.engines.loop import train
    return train
