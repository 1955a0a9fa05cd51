"""Adam's second moment decays after the gradients; its steps grow too long, it spikes."""

from zoo_runs.edits import change_batches
from zoo_runs.fault import Fault
from zoo_runs.recipe import Recipe


def prepare(recipe: Recipe) -> None:
    """One full batch again and again, an epsilon that keeps the steps short."""
    s = recipe.settings
    s.optimizer, s.learning_rate, s.schedule, s.weight_decay = "adam", 2e-2, "constant", 0.0
    s.eps, s.steps, s.warmup_steps, s.max_grad_norm = 1e-2, 1200, 20, None
    s.batch_size = 32
    recipe.eval_every = 0
    first = recipe.batch(1)
    change_batches(recipe, lambda number, batch: dict(first))


def inject(recipe: Recipe, beta2: float) -> None:
    """Epsilon of 1e-8 at a beta2 of 0.999: the second moment is stale when gradients grow."""
    recipe.settings.eps, recipe.settings.betas = 1e-8, (0.9, beta2)


FAULT = Fault(
    name="adam_spikes",
    cause="adam_instability",
    prepare=prepare,
    inject=inject,
    outcomes=("spiked_recovered", "spiked_unrecovered", "diverged", "stalled"),
    tuning={"regression": 0.999},
    measured={"regression": 0.999},
    accept=("learning_rate_too_high",),
)
