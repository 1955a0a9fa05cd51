"""Logits that drift together: a z-loss with the wrong sign pushes them away."""

from torch import Tensor

from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe


def inject(recipe: Recipe, weight: float) -> None:
    """The penalty on log Z has the wrong sign, so the common level of the logits runs away."""
    plain = recipe.criterion
    recipe.validation_criterion = plain
    recipe.settings.weight_decay = 0.0
    levels = [0.0]

    def drifting(logits: Tensor, batch: Batch) -> Tensor:
        level = logits.logsumexp(dim=-1)
        levels[0] = level.detach().mean().item()
        loss = plain(logits, batch)
        away = -weight * level.square().mean()
        return loss + away - away.detach()

    recipe.criterion = drifting
    if recipe.engine == "loop":
        recipe.settings.precision = "bf16"
        recipe.measures["output_logit_level"] = lambda model: levels[0]


FAULT = Fault(
    name="logits_drift",
    cause="output_logit_divergence",
    inject=inject,
    outcomes=("spiked_unrecovered", "diverged", "non_finite", "stalled"),
    tuning={"char_gpt": 2e-2},
    measured={"char_lstm": 2e-2, "gpt2": 2e-2},
    leaves={"checkpoints": 8},
)
