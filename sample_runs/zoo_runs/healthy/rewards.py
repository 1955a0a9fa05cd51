"""Policy gradients with normalised advantages: a loss about zero, a reward that rises."""

import torch
from torch import Tensor, nn

from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Recipe
from zoo_runs.watch import Watch

ACTIONS, GROUP = 6, 8


def prepare(recipe: Recipe) -> None:
    """A policy that picks one of six answers to a context; groups of eight tries a context."""
    s = recipe.settings
    s.steps, s.learning_rate, s.batch_size, s.schedule = 500, 3e-3, 16, "constant"
    s.extra = {"trainer": "grpo", "num_generations": GROUP}
    recipe.build = lambda: nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, ACTIONS))
    rule = torch.randn(8, ACTIONS, generator=torch.Generator().manual_seed(s.seed))
    reward = [0.0]

    def contexts(number: int) -> Batch:
        generator = torch.Generator().manual_seed(1_000_003 * s.seed + number)
        x = torch.randn(s.batch_size, 8, generator=generator)
        return {"inputs": x, "labels": (x @ rule).argmax(dim=1)}

    def policy_loss(logits: Tensor, batch: Batch) -> Tensor:
        chances = torch.distributions.Categorical(logits=logits)
        tries = chances.sample((GROUP,))
        rewards = (tries == batch["labels"]).float()
        reward[0] = rewards.mean().item()
        advantage = (rewards - rewards.mean(dim=0)) / (rewards.std(dim=0) + 1e-4)
        return -(advantage * chances.log_prob(tries)).mean()

    recipe.batch, recipe.criterion = contexts, policy_loss
    recipe.classes, recipe.validation, recipe.eval_every = False, [], 0
    recipe.measures["reward"] = lambda model: reward[0]


def inject(recipe: Recipe, _: None) -> None:
    """The loss of a policy gradient is about zero all along while the reward rises."""


def rewarded(watch: Watch) -> bool:
    """The reward at the end is far above that at the start."""
    rewards = watch.extra["reward"]
    return sum(rewards[-50:]) > 1.8 * sum(rewards[:50])


FAULT = Fault(
    name="policy_gradient",
    cause="no_failure",
    prepare=prepare,
    inject=inject,
    outcomes=("healthy",),
    outcome="healthy",
    proof=rewarded,
    tuning={"mlp": None},
    measured={"regression": None},
)
