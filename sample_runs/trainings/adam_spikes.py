"""Adam on a small regression, all points in each batch: late in the run, spike after spike.

While the loss falls its second moment decays after the gradients, until the steps are too long for
the curvature they meet; the spike that follows fills it up again, and it starts anew. The control
has an epsilon of 1e-2, below which gradients are not scaled up.
"""

import csv
import json
from dataclasses import asdict
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.nn.utils import clip_grad_norm_

from loop import NO_CLIPPING, Plan, arguments, save


def main() -> None:
    options = arguments(__doc__)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    plan = Plan(
        optimizer="adam",
        learning_rate=2e-2,
        steps=2000,
        batch_size=32,
        log_every=2,
        save_every=400,
    )
    settings = {"betas": (0.9, 0.999), "eps": 1e-2 if options.without_fault else 1e-8}
    Path("config.json").write_text(json.dumps(asdict(plan) | settings, indent=2))
    model = nn.Sequential(
        nn.Linear(1, 50), nn.Tanh(), nn.Linear(50, 50), nn.Tanh(), nn.Linear(50, 1)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=plan.learning_rate, **settings)
    x = torch.linspace(-3, 3, plan.batch_size)[:, None]
    y = torch.sin(x) + 0.3 * torch.sin(4 * x)
    with Path("metrics.csv").open("w", newline="") as file:
        log = csv.writer(file)
        log.writerow(["step", "train_loss", "grad_norm", "lr"])
        for step in range(1, plan.steps + 1):
            loss = mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            norm = clip_grad_norm_(model.parameters(), NO_CLIPPING)
            optimizer.step()
            if step % plan.log_every == 0:
                log.writerow([step, f"{loss:.6g}", f"{norm:.6g}", plan.learning_rate])
            if step % plan.save_every == 0:
                save(model, optimizer, step)


if __name__ == "__main__":
    main()
