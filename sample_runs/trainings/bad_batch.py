"""One batch of a damaged shard: for one step the model is taught noise, then it recovers.

The bytes of that batch are random printable characters, as a shard gives that was decompressed
wrongly. The control reads the same shard undamaged. The batches around the step are kept, as a
training script does that writes out its last few batches when the loss jumps.
"""

from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import save_file

from corpus import blocks, prose
from loop import Plan, arguments, random_batches, train
from transformer import Transformer

DAMAGED_STEP = 317
KEPT = range(DAMAGED_STEP - 2, DAMAGED_STEP + 2)


def batches(plan: Plan, damaged: bool) -> Iterator[torch.Tensor]:
    """The batches of the run, one of them damaged."""
    generator = torch.Generator().manual_seed(7)
    rows = random_batches(blocks(prose(1, 4000), 65), plan)
    for step, ids in enumerate(rows, start=1):
        if damaged and step == DAMAGED_STEP:
            ids = torch.randint(32, 127, ids.shape, generator=generator)
        if step in KEPT:
            Path("batches").mkdir(exist_ok=True)
            tensors = {"input_ids": ids[:, :-1], "labels": ids[:, 1:]}
            save_file(
                {name: tensor.contiguous() for name, tensor in tensors.items()},
                f"batches/step_{step}.safetensors",
            )
        yield ids


def main() -> None:
    options = arguments(__doc__)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    plan = Plan(
        optimizer="adamw",
        learning_rate=1e-2,
        steps=600,
        batch_size=16,
        warmup_steps=40,
        decay=True,
        max_grad_norm=1.0,
        log_every=1,
        save_every=200,
    )
    model = Transformer(width=32, layers=3, length=64)
    train(model, plan, batches(plan, damaged=not options.without_fault))


if __name__ == "__main__":
    main()
