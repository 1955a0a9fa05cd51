"""SGD without clipping on a post-norm transformer: spike after spike, the last one for good.

The control clips the global norm at 1.0 and is otherwise the same.
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
        learning_rate=0.42,
        steps=800,
        batch_size=8,
        warmup_steps=60,
        max_grad_norm=1.0 if options.without_fault else None,
        save_every=160,
    )
    model = Transformer(width=32, layers=3, length=64, norm_first=False)
    train(model, plan, random_batches(blocks(prose(1, 4000), 65), plan))


if __name__ == "__main__":
    main()
