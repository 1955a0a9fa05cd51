"""SGD at a learning rate that a fresh model bears only after a warm-up, and there is none.

The control warms up over 100 steps to the same rate.
"""

import torch

from corpus import blocks, prose
from loop import Plan, arguments, random_batches, train
from transformer import Transformer


def main() -> None:
    options = arguments(__doc__)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    plan = Plan(
        optimizer="sgd",
        learning_rate=0.3,
        steps=300,
        batch_size=16,
        warmup_steps=100 if options.without_fault else 0,
        log_every=1,
        save_every=150,
    )
    model = Transformer(width=32, layers=6, length=64)
    train(model, plan, random_batches(blocks(prose(1, 4000), 65), plan))


if __name__ == "__main__":
    main()
