"""A generator and a discriminator whose losses oscillate."""

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from zoo_runs.fault import Fault
from zoo_runs.recipe import Batch, Optimizer, Recipe
from zoo_runs.watch import Watch


def real(number: int, size: int, seed: int) -> Tensor:
    """Points on a ring, (size, 2)."""
    generator = torch.Generator().manual_seed(1_000_003 * seed + number)
    angle = torch.rand(size, generator=generator) * 2 * torch.pi
    noise = 0.05 * torch.randn(size, 2, generator=generator)
    return torch.stack([angle.cos(), angle.sin()], dim=1) + noise


def prepare(recipe: Recipe) -> None:
    """A small GAN on a ring of points."""
    s = recipe.settings
    s.steps, s.learning_rate, s.schedule, s.betas = 800, 1e-3, "constant", (0.5, 0.9)
    s.optimizer, s.batch_size, s.max_grad_norm = "adam", 64, None
    s.extra = {"model": "gan", "latent_dim": 4}
    torch.manual_seed(s.seed + 7)
    judge = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
    judge_optimizer = torch.optim.Adam(judge.parameters(), lr=1e-3, betas=(0.5, 0.9))
    judged = [0.0]

    def latent(number: int) -> Batch:
        generator = torch.Generator().manual_seed(1_000_003 * s.seed + number)
        return {"inputs": torch.randn(s.batch_size, 4, generator=generator)}

    def train_judge(step: int, model: nn.Module, optimizer: Optimizer) -> None:
        made = model(latent(step + 10_000_000)["inputs"]).detach()
        scores = judge(real(step, s.batch_size, s.seed)), judge(made)
        loss = softplus(-scores[0]).mean() + softplus(scores[1]).mean()
        judge_optimizer.zero_grad()
        loss.backward()
        judge_optimizer.step()
        judged[0] = loss.item()

    recipe.build = lambda: nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 2))
    recipe.batch = latent
    recipe.criterion = lambda made, batch: softplus(-judge(made)).mean()
    recipe.after_step.append(train_judge)
    recipe.classes, recipe.validation, recipe.eval_every = False, [], 0
    recipe.loss_name = "loss_G"
    recipe.measures["loss_D"] = lambda model: judged[0]
    recipe.measures["radius_error"] = lambda model: ring_error(model, latent(77)["inputs"])


def ring_error(model: nn.Module, latent: Tensor) -> float:
    """Mean distance of generated points from the ring."""
    with torch.no_grad():
        return (model(latent).norm(dim=1) - 1).abs().mean().item()


def inject(recipe: Recipe, _: None) -> None:
    """The two losses of a GAN swing against each other and do not fall."""


def on_the_ring(watch: Watch) -> bool:
    """Generated points lie near the ring at the end."""
    errors = watch.extra["radius_error"]
    return sum(errors[-50:]) < 0.9 * sum(errors[:50])


FAULT = Fault(
    name="gan",
    cause="no_failure",
    prepare=prepare,
    inject=inject,
    outcomes=("healthy",),
    outcome="healthy",
    proof=on_the_ring,
    tuning={"regression": None},
    measured={"regression": None},
)
