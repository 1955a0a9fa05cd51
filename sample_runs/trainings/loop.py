"""The training loop of the plain torch runs: TensorBoard log, checkpoints, a configuration."""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import yaml
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_
from torch.utils.tensorboard import SummaryWriter

NO_CLIPPING = float("inf")


@dataclass(frozen=True)
class Plan:
    """What a run was meant to do; written to ``config.yaml`` as it stands."""

    optimizer: str
    learning_rate: float
    steps: int
    batch_size: int
    warmup_steps: int = 0
    decay: bool = False
    """Linear decay to zero after the warm-up."""
    max_grad_norm: float | None = None
    log_every: int = 4
    save_every: int = 150
    seed: int = 0
    precision: str = "fp32"

    def rate(self, step: int) -> float:
        """Learning rate of a step, counted from 1."""
        warm = min(1.0, step / self.warmup_steps) if self.warmup_steps else 1.0
        left = (self.steps - step) / max(1, self.steps - self.warmup_steps)
        return self.learning_rate * (min(warm, left) if self.decay else warm)


def arguments(description: str | None) -> argparse.Namespace:
    """Command line of every training here: ``--without-fault`` makes it the control."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--without-fault", action="store_true", help="train the control instead")
    return parser.parse_args()


def optimizer_of(model: nn.Module, plan: Plan) -> torch.optim.Optimizer:
    """SGD with momentum 0.9, or AdamW."""
    if plan.optimizer == "sgd":
        return torch.optim.SGD(model.parameters(), lr=plan.learning_rate, momentum=0.9)
    return torch.optim.AdamW(model.parameters(), lr=plan.learning_rate, weight_decay=0.01)


def random_batches(rows: torch.Tensor, plan: Plan) -> Iterator[torch.Tensor]:
    """Batches of token ids (batch, length), drawn with replacement, for ever."""
    generator = torch.Generator().manual_seed(plan.seed + 1)
    while True:
        yield rows[torch.randint(len(rows), (plan.batch_size,), generator=generator)]


def next_token_loss(model: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    """Mean cross entropy of predicting ids[:, 1:] from ids[:, :-1], in nats."""
    return cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def train(
    model: nn.Module,
    plan: Plan,
    batches: Iterator[torch.Tensor],
    *,
    optimizer: torch.optim.Optimizer | None = None,
    first_step: int = 1,
    last_step: int | None = None,
    rate: Callable[[int], float] | None = None,
) -> torch.optim.Optimizer:
    """Train from ``first_step`` to ``last_step`` (the plan's end) and return the optimizer.

    The loss is logged as its mean since the last logged step, the gradient norm before clipping.
    """
    optimizer = optimizer or optimizer_of(model, plan)
    Path("config.yaml").write_text(yaml.safe_dump(asdict(plan), sort_keys=False))
    window: list[float] = []
    with SummaryWriter("tensorboard") as writer:
        for step in range(first_step, (last_step or plan.steps) + 1):
            for group in optimizer.param_groups:
                group["lr"] = (rate or plan.rate)(step)
            loss = next_token_loss(model, next(batches))
            optimizer.zero_grad()
            loss.backward()
            norm = clip_grad_norm_(model.parameters(), plan.max_grad_norm or NO_CLIPPING)
            optimizer.step()
            window.append(loss.item())
            if step % plan.log_every == 0:
                writer.add_scalar("train/loss", sum(window) / len(window), step)
                window.clear()
                writer.add_scalar("train/grad_norm", norm.item(), step)
                writer.add_scalar("train/lr", optimizer.param_groups[0]["lr"], step)
            if step % plan.save_every == 0:
                save(model, optimizer, step)
    return optimizer


def save(model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Write ``checkpoints/step_<N>.pt`` with the weights, the optimizer state and the step."""
    Path("checkpoints").mkdir(exist_ok=True)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
    torch.save(state, f"checkpoints/step_{step:06d}.pt")
