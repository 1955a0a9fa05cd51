"""Running statistics of batch normalisation that do not describe the data."""

from torch import nn

from zoo_runs.edits import change_model
from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def inject(recipe: Recipe, batch_size: int) -> None:
    """Two to four samples a batch and statistics of the last batch: validation jumps about."""
    recipe.settings.batch_size = batch_size
    recipe.settings.learning_rate *= 0.4

    def hasty(model: nn.Module) -> None:
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.momentum = 0.9

    change_model(recipe, hasty)
    recipe.eval_every = max(10, recipe.settings.steps // 30)


FAULT = Fault(
    name="statistics_of_few",
    cause="batchnorm_instability",
    inject=inject,
    outcomes=("validation_failed", "stalled"),
    tuning={"cnn": 3},
    measured={"lightning_cnn": 3},
    seeds=2,
    alike={"config": ("validation_mismatch",), "checkpoints": ("validation_mismatch",)},
)
