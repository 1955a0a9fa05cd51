"""A sum over 512 positions in half precision: once the model has learned enough, it overflows.

The model adds up a contribution of each position, and the largest totals lie above 65504, the
largest number of float16. While its sums are still too small it trains; then batch after batch
overflows, the scaler skips the steps and halves its scale until nothing is left of the gradients.
The control trains in float32.
"""

from dataclasses import asdict
from pathlib import Path

import torch
import yaml
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.utils.tensorboard import SummaryWriter

from loop import Plan, arguments

POSITIONS, UNIT = 512, 1e4
"""Positions of a sequence; the loss is taken in units of 10,000."""


def sequences(count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs (count, positions, 4) and their totals (count,), some 40,000 each."""
    size = torch.exp(0.3 * torch.randn(count, 1, 1, generator=generator))
    x = torch.randn(count, POSITIONS, 4, generator=generator).abs() * size
    return x, (70 * x[..., 0] * x[..., 1] + 40 * x[..., 2]).sum(dim=1)


def contribution() -> nn.Module:
    """Network from a position's four inputs to what it adds to the total."""
    return nn.Sequential(
        nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1)
    )


def main() -> None:
    options = arguments(__doc__)
    half = not options.without_fault
    torch.set_num_threads(1)
    torch.manual_seed(0)
    plan = Plan(
        optimizer="adam",
        learning_rate=2e-3,
        steps=600,
        batch_size=48,
        max_grad_norm=1.0,
        log_every=2,
        save_every=120,
        precision="fp16" if half else "fp32",
    )
    Path("config.yaml").write_text(yaml.safe_dump(asdict(plan), sort_keys=False))
    Path("checkpoints").mkdir()
    generator = torch.Generator().manual_seed(1)
    model = contribution()
    optimizer = torch.optim.Adam(model.parameters(), lr=plan.learning_rate)
    scaler = torch.amp.GradScaler("cpu", enabled=half)
    with SummaryWriter("tensorboard") as writer:
        for step in range(1, plan.steps + 1):
            x, total = sequences(plan.batch_size, generator)
            with torch.autocast("cpu", dtype=torch.float16, enabled=half):
                found = model(x).sum(dim=1).squeeze(1)
            loss = torch.mean(((found.float() - total) / UNIT) ** 2)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            norm = clip_grad_norm_(model.parameters(), plan.max_grad_norm or float("inf"))
            scaler.step(optimizer)
            scaler.update()
            if step % plan.log_every == 0:
                writer.add_scalar("train/loss", loss.item(), step)
                writer.add_scalar("train/grad_norm", norm.item(), step)
                writer.add_scalar("train/lr", plan.learning_rate, step)
                writer.add_scalar("train/loss_scale", scaler.get_scale(), step)
            if step % plan.save_every == 0:
                state = {
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "scaler": scaler.state_dict(),
                    "step": step,
                }
                torch.save(state, f"checkpoints/step_{step:06d}.pt")


if __name__ == "__main__":
    main()
