"""Direct preference optimisation: the loss starts at ln 2 and falls a little."""

import copy

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe
from zoo_runs.watch import Watch

BETA, NOISE = 0.1, 1.5


def prepare(recipe: Recipe) -> None:
    """Pairs of answers, of which a noisy judge prefers one; the policy against its first self."""
    s = recipe.settings
    s.steps, s.learning_rate, s.batch_size, s.schedule = 400, 1e-3, 32, "constant"
    s.extra = {"trainer": "dpo", "beta": BETA}
    taste = torch.randn(12, generator=torch.Generator().manual_seed(s.seed))
    first: list[nn.Module] = []

    def pairs(number: int) -> Batch:
        generator = torch.Generator().manual_seed(1_000_003 * s.seed + number)
        answers = torch.randn(s.batch_size, 2, 12, generator=generator)
        worth = answers @ taste + NOISE * torch.randn(s.batch_size, 2, generator=generator)
        order = worth.argsort(dim=1, descending=True)[..., None].expand_as(answers)
        return {"inputs": answers.gather(1, order)}

    def margin(model: nn.Module, batch: Batch) -> Tensor:
        if not first:
            first.append(copy.deepcopy(model))
        with torch.no_grad():
            before = first[0](batch["inputs"])[..., 0]
        return model(batch["inputs"])[..., 0] - before

    recipe.build = lambda: nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
    recipe.batch, recipe.forward = pairs, margin
    recipe.criterion = lambda m, batch: -logsigmoid(BETA * (m[:, 0] - m[:, 1])).mean()
    recipe.classes, recipe.validation, recipe.eval_every = False, [], 0


def inject(recipe: Recipe, _: None) -> None:
    """The loss begins at ln 2, the value of indifference, and falls by little."""


def fell(watch: Watch) -> bool:
    """The loss fell by more than its noise."""
    losses = list(watch.losses.values())
    return sum(losses[-40:]) < 0.95 * sum(losses[:40])


FAULT = Fault(
    name="preference",
    cause="no_failure",
    prepare=prepare,
    inject=inject,
    outcomes=("healthy",),
    outcome="healthy",
    proof=fell,
    tuning={"mlp": None},
    measured={"regression": None},
)
