"""Edits of a recipe that several faults make."""

from collections.abc import Callable

from torch import nn

from zoo_runs.recipe import Batch, Recipe


def change_batches(recipe: Recipe, change: Callable[[int, Batch], Batch]) -> None:
    """Pass every training batch, with its number, through ``change``."""
    sound = recipe.batch
    recipe.batch = lambda number: change(number, dict(sound(number)))


def change_batch(recipe: Recipe, at: int, change: Callable[[Batch], Batch]) -> None:
    """Change the one batch of step ``at``; those around it are kept where a run keeps batches."""
    change_batches(recipe, lambda number, batch: change(batch) if number == at else batch)
    recipe.shown_batches = range(at - 3, at + 3)


def change_model(recipe: Recipe, change: Callable[[nn.Module], None]) -> None:
    """Change the freshly built model in place."""
    build = recipe.build

    def built() -> nn.Module:
        model = build()
        change(model)
        return model

    recipe.build = built


def at_share(recipe: Recipe, share: float) -> int:
    """The step at a share of the run."""
    return max(2, round(share * recipe.settings.steps))


def is_text(recipe: Recipe) -> bool:
    """True for language models."""
    return "input_ids" in recipe.batch(1)


def inputs_of(batch: Batch) -> str:
    """Name of a batch's inputs."""
    return "input_ids" if "input_ids" in batch else "inputs"
