"""Gradients of several processes that are summed and not averaged."""

from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe

RANKS = 8


def prepare(recipe: Recipe) -> None:
    """SGD over eight processes, each with a small batch."""
    s = recipe.settings
    s.world_size, s.optimizer, s.weight_decay, s.max_grad_norm = RANKS, "sgd", 0.0, None
    s.batch_size = max(4, s.batch_size // 4)
    s.steps = min(s.steps, 400)
    s.learning_rate = {"mlp": 0.1, "cnn": 0.05, "char_lstm": 0.8, "regression": 0.05}[recipe.family]


def inject(recipe: Recipe, rate: float) -> None:
    """The gradients of the processes are added up, which makes each step eight times too long."""
    recipe.divide = False
    recipe.settings.learning_rate *= rate


FAULT = Fault(
    name="summed_over_ranks",
    cause="distributed_reduction",
    prepare=prepare,
    inject=inject,
    outcomes=("diverged", "non_finite", "stalled", "spiked_unrecovered"),
    tuning={"mlp": 3.0},
    measured={"char_lstm": 4.0, "regression": 2.0},
    accept=("learning_rate_too_high",),
    alike={"config": ("gradient_accumulation_scaling", "gradient_clipping_missing")},
)
