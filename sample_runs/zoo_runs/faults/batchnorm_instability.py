"""Running statistics of batch normalisation that do not describe the data."""

from torch import nn

from zoo_runs.edits import change_batches, change_model
from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def prepare(recipe: Recipe) -> None:
    """Images as they come, which batch normalisation takes care of."""

    def raw(batch: Batch) -> Batch:
        return batch | {"inputs": 6 * batch["inputs"] + 4}

    change_batches(recipe, lambda number, batch: raw(batch))
    recipe.validation = [raw(b) for b in recipe.validation]


def inject(recipe: Recipe, momentum: float) -> None:
    """Running statistics that lag hundreds of steps behind, or are those of one small batch."""

    def change(model: nn.Module) -> None:
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.momentum = momentum

    change_model(recipe, change)
    if momentum == 1.0:
        recipe.settings.batch_size = 2
        recipe.settings.learning_rate *= 0.3
    recipe.eval_every = max(10, recipe.settings.steps // 30)


FAULT = Fault(
    name="statistics_of_few",
    cause="batchnorm_instability",
    prepare=prepare,
    inject=inject,
    outcomes=("validation_failed", "overfit"),
    tuning={"cnn": 1e-4},
    measured={"lightning_cnn": 3e-5},
    seeds=2,
    alike={"config": ("validation_mismatch",), "checkpoints": ("validation_mismatch",)},
)
