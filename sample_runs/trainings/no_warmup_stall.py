"""Adam on a post-norm transformer without warm-up: it falls to the unigram level and stays there.

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
        optimizer="adamw",
        learning_rate=3e-2,
        steps=400,
        batch_size=16,
        warmup_steps=100 if options.without_fault else 0,
        max_grad_norm=1.0,
        save_every=200,
    )
    model = Transformer(width=32, layers=6, length=64, norm_first=False)
    train(model, plan, random_batches(blocks(prose(1, 4000), 65), plan))


if __name__ == "__main__":
    main()
