"""The optimizer holds the weights of a model that is replaced afterwards, so nothing is learned.

The control builds the optimizer after the model it is for.
"""

import torch

from corpus import blocks, prose
from loop import Plan, arguments, optimizer_of, random_batches, train
from transformer import Transformer


def main() -> None:
    options = arguments(__doc__)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    plan = Plan(
        optimizer="adamw",
        learning_rate=1e-2,
        steps=300,
        batch_size=16,
        warmup_steps=20,
        decay=True,
        max_grad_norm=1.0,
        log_every=2,
        save_every=150,
    )
    model = Transformer(width=32, layers=3, length=64)
    optimizer = optimizer_of(model, plan)
    if not options.without_fault:
        model = Transformer(width=32, layers=3, length=64)  # "a fresh start", after the optimizer
    rows = blocks(prose(1, 4000), 65)
    train(model, plan, random_batches(rows, plan), optimizer=optimizer)


if __name__ == "__main__":
    main()
