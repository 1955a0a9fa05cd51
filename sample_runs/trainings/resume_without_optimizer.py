"""Stopped after 340 steps and resumed from step 300, of whose checkpoint only weights are read.

Adam starts again from empty moments at the full learning rate. The control restores the optimizer
state too. The order of the batches goes on where the checkpoint was written, in both.
"""

from itertools import islice
from pathlib import Path

import torch

from corpus import blocks, prose
from loop import Plan, arguments, optimizer_of, random_batches, train
from transformer import Transformer

SAVED, STOPPED = 300, 340


def main() -> None:
    options = arguments(__doc__)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    plan = Plan(
        optimizer="adamw",
        learning_rate=1.5e-2,
        steps=600,
        batch_size=16,
        warmup_steps=40,
        max_grad_norm=1.0,
        log_every=2,
        save_every=SAVED,
    )
    rows = blocks(prose(1, 4000), 65)
    model = Transformer(width=32, layers=3, length=64)
    train(model, plan, random_batches(rows, plan), last_step=STOPPED)

    saved = torch.load(Path("checkpoints") / f"step_{SAVED:06d}.pt", weights_only=True)
    model.load_state_dict(saved["model"])
    optimizer = optimizer_of(model, plan)
    if options.without_fault:
        optimizer.load_state_dict(saved["optimizer"])
    rest = islice(random_batches(rows, plan), SAVED, None)
    train(model, plan, rest, optimizer=optimizer, first_step=SAVED + 1)


if __name__ == "__main__":
    main()
